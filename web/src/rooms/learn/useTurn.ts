/** Spreads the drawing of parts over several frames, so that no frame takes long. */
import { useEffect, useRef, useState } from "preact/hooks";

/** A queue of the parts that wait for their turn. */
const waiting = new Set<() => void>();
/** The number of frames over which the waiting parts are spread: all are drawn long before the next numbers arrive. */
const frames = 4;
let frame = 0;

function takeTurns(): void {
  const parts = [...waiting].slice(0, Math.ceil(waiting.size / frames));
  for (const draw of parts) {
    waiting.delete(draw);
    draw();
  }
  frame = waiting.size > 0 ? requestAnimationFrame(takeTurns) : 0;
}

function queue(draw: () => void): void {
  waiting.add(draw);
  if (frame === 0) frame = requestAnimationFrame(takeTurns);
}

/**
 * The latest value, updated only when it is the caller's turn.
 *
 * @param isWanted while false, the value is not updated
 */
export function useTurn<T>(value: T, isWanted = true): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  const draw = useRef(() => setShown(() => latest.current));
  useEffect(() => {
    if (isWanted && shown !== value) queue(draw.current);
  }, [value, shown, isWanted]);
  useEffect(() => () => void waiting.delete(draw.current), []);
  return shown;
}

/** Whether an element is on the screen or near it. */
export function useIsSeen<E extends Element>() {
  const ref = useRef<E>(null);
  const [isSeen, setIsSeen] = useState(true);
  useEffect(() => {
    if (!ref.current) return;
    const observer = new IntersectionObserver(
      (entries) => setIsSeen(entries.at(-1)?.isIntersecting ?? true),
      { rootMargin: "64px" },
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, isSeen] as const;
}
