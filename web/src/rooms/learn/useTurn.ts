/** Parts that take turns: each is drawn in a frame of its own, so that no frame is long. */
import { useEffect, useRef, useState } from "preact/hooks";

/**
 * The latest value, so many frames after it came.
 *
 * @param isWanted while it is not, the value stays what it was
 */
export function useTurn<T>(value: T, turn: number, isWanted = true): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  const frame = useRef(0);
  latest.current = value;
  useEffect(() => {
    if (!isWanted || shown === value || frame.current !== 0) return;
    let left = turn;
    const wait = () => {
      left -= 1;
      frame.current = left > 0 ? requestAnimationFrame(wait) : 0;
      if (left <= 0) setShown(() => latest.current);
    };
    frame.current = requestAnimationFrame(wait);
  }, [value, shown, isWanted, turn]);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  return shown;
}

/** Whether an element is on the screen, or near it. */
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
