/** Weights whose colours run from 0 to the largest of the picture, on a curve of one's choice. */
import { useMemo } from "preact/hooks";
import { type Curve, type Palette, weightLegends, weightShare } from "../../picture/colour";
import { formatWeight } from "../../shared/format";
import { useShell } from "../../shared/shell";

export const curves = [
  ["linear", "linear"],
  ["sqrt", "√"],
  ["log", "log"],
] as const satisfies readonly (readonly [Curve, string])[];

export function useSharesPalette(largest: number, curve: Curve): Palette {
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
