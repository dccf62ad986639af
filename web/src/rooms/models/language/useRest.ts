/** Whether nothing has changed in a room for a while. */
import { useEffect, useState } from "preact/hooks";

/** In milliseconds: longer than the delay before a room starts to play. */
const patience = 1500;

/** @param now the same object while nothing changes; null while something moves */
export function useRest(now: object | null): boolean {
  const [rested, setRested] = useState<object | null>(null);
  useEffect(() => {
    if (!now) return;
    const timer = setTimeout(() => setRested(now), patience);
    return () => clearTimeout(timer);
  }, [now]);
  return now !== null && rested === now;
}
