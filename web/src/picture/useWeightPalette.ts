/** The palette of weights in the page's theme. */
import { useMemo } from "preact/hooks";
import { type ColourCurve, type ColourRange, type Palette, weightPalette } from "#parts";
import { useShell } from "../shared/shell";

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
