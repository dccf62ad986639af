/** Calls `release` when Escape is pressed, independent of the focus. */
import { useEffect, useRef } from "preact/hooks";

export function useEscape(release: () => void): void {
  const latest = useRef(release);
  latest.current = release;
  useEffect(() => {
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === "Escape") latest.current();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}
