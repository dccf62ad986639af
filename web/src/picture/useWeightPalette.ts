/** The palette of weights in the page's theme. */
import { useMemo } from "preact/hooks";
import { useShell } from "../shared/shell";
import { type ColourCurve, type ColourRange, type Palette, weightPalette } from "./colour";

export function useWeightPalette({
  range,
  curve,
}: {
  range: ColourRange;
  curve: ColourCurve;
}): Palette {
  const { theme } = useShell();
  return useMemo(() => weightPalette(range, curve, theme), [range, curve, theme]);
}
