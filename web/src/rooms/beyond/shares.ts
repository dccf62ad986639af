/** A palette for weights from 0 to the largest of the picture, with a choice of the curve. */
import { useMemo } from "preact/hooks";
import { type ColourCurve, type Palette, weightLegends, weightShare } from "../../picture/colour";
import { formatWeight } from "../../shared/format";
import { useShell } from "../../shared/shell";

export const curveChoices = [
  ["linear", "linear"],
  ["sqrt", "√"],
  ["log", "log"],
] as const satisfies readonly (readonly [ColourCurve, string])[];

export function useSharesPalette(largest: number, curve: ColourCurve): Palette {
  const { theme } = useShell();
  return useMemo(() => {
    const share = weightShare("row", curve);
    return {
      ends: [curve === "log" ? formatWeight(largest / 1000) : "0", formatWeight(largest)],
      place: (weight) => share(weight, largest),
      legend: weightLegends[theme],
    };
  }, [largest, curve, theme]);
}
