/** Hands a new value to the parts of a panel one after the other, so that no frame has to draw them all. */
import { useEffect, useState } from "preact/hooks";
import { useShell } from "../../../shared/shell";

/** The latest value for the parts that have it already, and the one before for the others. */
export function useRowByRow<T>(value: T, count: number): (row: number) => T | null {
  const [state, setState] = useState<{ value: T | null; before: T | null; upTo: number }>({
    ...{ value: null, before: null, upTo: 0 },
  });
  useEffect(() => {
    let frame = 0;
    let upTo = 0;
    setState((now) => ({ value, before: now.value, upTo: 0 }));
    const draw = () => {
      upTo += 1;
      setState((now) => ({ ...now, upTo }));
      if (upTo < count) frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [value, count]);
  const { isPrinting } = useShell();
  // A printed page has no second frame.
  if (isPrinting) return () => value;
  return (row) => (row < state.upTo ? state.value : state.before);
}
