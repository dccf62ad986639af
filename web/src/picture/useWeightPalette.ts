/** The palette of weights in the page's theme. */
import { useMemo } from "preact/hooks";
import { useShell } from "../shared/shell";
import { type Curve, type Palette, type Range, weightPalette } from "./colour";

export function useWeightPalette({ range, curve }: { range: Range; curve: Curve }): Palette {
  const { theme } = useShell();
  return useMemo(() => weightPalette(range, curve, theme), [range, curve, theme]);
}
