/** Facts about the engine, and the room's footnote. */
import { counted } from "../shared/format";
import type { EngineInfo } from "../worker/engineClient";

/** The number of threads and, if the engine gives one, the reason why there are not more. */
function threadsOf({ threads, reason }: EngineInfo): string {
  const count = counted(threads, "thread");
  return reason?.startsWith(count) ? reason : [count, reason].filter(Boolean).join("; ");
}

interface FooterProps {
  info: EngineInfo | null;
  hasFailed: boolean;
  footnote: string | null;
}

export function Footer({ info, hasFailed, footnote }: FooterProps) {
  return (
    <footer class="faint number">
      {info && !hasFailed ? (
        <p>
          Heed {info.version}, {info.variant} WebAssembly, {threadsOf(info)}
          {footnote !== null && <span data-footnote> · {footnote}</span>}
        </p>
      ) : (
        <p>{hasFailed ? "The engine is not running." : "The engine is starting."}</p>
      )}
    </footer>
  );
}
