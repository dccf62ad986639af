/** Weights from 0 to the largest of a picture: their palette, and the largest of them. */

import {
  type ColourCurve,
  formatWeight,
  type Palette,
  weightLegends,
  weightShare,
} from "heed/view/parts";
import { useMemo } from "preact/hooks";
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

/** The `count` largest weights with their positions, the largest first. NaN is ignored. */
export function largestWeights(
  weights: Float32Array,
  count: number,
): readonly (readonly [place: number, weight: number])[] {
  return [...weights.entries()]
    .filter(([, weight]) => !Number.isNaN(weight))
    .sort(([, a], [, b]) => b - a)
    .slice(0, count);
}
