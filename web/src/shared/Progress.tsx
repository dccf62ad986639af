/** The progress of a model's download, and the reason if it waits. */
import { useEffect, useState } from "preact/hooks";
import { Announced } from "./Announced";
import { formatBytes } from "./format";
import type { Loading } from "./loading";

/** "12 s left", at the rate of the last seconds. */
function timeLeft({ loaded, total, rate }: Loading): string {
  if (rate === null || loaded >= total) return "";
  const seconds = Math.ceil((total - loaded) / rate / 1000);
  return seconds < 90 ? ` · ${seconds} s left` : ` · ${Math.ceil(seconds / 60)} minutes left`;
}

/** Shorter breaks are not reported, in milliseconds. */
const longBreak = 4000;

/** A time in which nothing has come, in whole seconds, and the reason if it is known. */
interface Break {
  readonly seconds: number;
  readonly why: string;
}

/** Null while data arrives. */
function useBreak({ loaded, total }: Loading): Break | null {
  const [now, setNow] = useState<Break | null>(null);
  useEffect(() => {
    setNow(null);
    if (total > 0 && loaded >= total) return;
    let isOver = false;
    const begin = performance.now();
    const look = async () => {
      // The parts of a file that is kept are stored by one page at a time.
      const pending = (await navigator.locks?.query())?.pending ?? [];
      const isTheirTurn = pending.some(({ name }) => name?.startsWith("heed: "));
      const seconds = Math.round((performance.now() - begin) / 1000);
      const why = isTheirTurn ? "; another page is loading this model" : "";
      if (!isOver) setNow({ seconds, why });
    };
    const timer = setInterval(() => void look(), longBreak);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [loaded, total]);
  return now;
}

export function Progress({ loading, cancel }: { loading: Loading; cancel(): void }) {
  const { name, loaded, total } = loading;
  const silence = useBreak(loading);
  const share = total > 0 ? loaded / total : 0;
  return (
    <div class="loading line">
      <progress aria-label={`Loading ${name}`} max={1} value={share} />
      <span class="number" data-loaded={loaded}>
        {total === 0
          ? `Opening ${name}`
          : `${name}: ${formatBytes(loaded)} of ${formatBytes(total)}${timeLeft(loading)}`}
      </span>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
      {silence && (
        <span class="faint">
          Nothing has come for {silence.seconds} s{silence.why}.
        </span>
      )}
      {/* Once for each break, and not for each of its seconds. */}
      <Announced>{silence ? `Nothing comes at the moment${silence.why}.` : ""}</Announced>
    </div>
  );
}
