/** The palette of weights from 0 to the largest of a picture. */
import { useMemo } from "preact/hooks";
import { type ColourCurve, formatWeight, type Palette, weightLegends, weightShare } from "#parts";
import { useShell } from "../../shared/shell";

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
