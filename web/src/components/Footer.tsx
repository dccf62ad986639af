/** Which engine computed this, and how fast. */
import type { EngineInfo } from "../protocol";

/** How many threads compute and, where the engine gives a reason, why not more. */
function threadsOf({ threads, reason }: EngineInfo): string {
  const count = `${threads} ${threads === 1 ? "thread" : "threads"}`;
  return reason?.startsWith(count) ? reason : [count, reason].filter(Boolean).join("; ");
}

export function Footer({
  info,
  failure,
  milliseconds,
}: {
  info: EngineInfo | null;
  failure: string | null;
  milliseconds: number | null;
}) {
  return (
    <footer class="faint number">
      {info ? (
        <p>
          Heed {info.version}, {info.variant} WebAssembly, {threadsOf(info)}
          {milliseconds !== null && (
            <span data-time> · all stages computed in {milliseconds.toFixed(1)} ms</span>
          )}
        </p>
      ) : (
        <p>{failure ? "The engine is not running." : "The engine is starting."}</p>
      )}
    </footer>
  );
}
