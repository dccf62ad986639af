/** Measures that describe a head in one number. */
import type { Alignment } from "heed/models";
import {
  type MeasureWords,
  mean,
  patternNames,
  patterns,
  patternsOf,
  rowsOf,
  type WeightsToMeasure,
} from "../../shared/headMeasures";

export const measureNames = ["places", "heldOut", ...patternNames] as const;

export type MeasureName = (typeof measureNames)[number];

export const measures: Readonly<Record<MeasureName, MeasureWords>> = {
  places: {
    name: "right places, here",
    about:
      "The share of attention on the right places, where the answer comes from: they are outlined.",
  },
  heldOut: {
    name: "right places, held out",
    about:
      "The same, measured once over examples that the model had never seen: a mean over easy and hard ones.",
  },
  ...patterns,
};

/**
 * @param places for each row the columns that its answer comes from
 * @param isSelf whether rows and columns are the same tokens
 */
export function measuresOf(
  head: WeightsToMeasure,
  { places, isSelf }: { places: Alignment | null; isSelf: boolean },
): Record<Exclude<MeasureName, "heldOut">, number | null> {
  const aligned = rowsOf(head).flatMap((row, i) => {
    const columns = places?.[i] ?? [];
    return columns.length > 0 ? [columns.reduce((sum, j) => sum + (row[j] ?? 0), 0)] : [];
  });
  return { places: mean(aligned), ...patternsOf(head, isSelf) };
}
