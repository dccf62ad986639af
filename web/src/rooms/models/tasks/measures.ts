/** Measures that describe a head by one number. */
import type { Alignment } from "heed/models";
import { type MeasureWords, patternNames, patterns, patternsOf, viewOn } from "#parts";

export const measureNames = ["places", "heldOut", ...patternNames] as const;

export type MeasureName = (typeof measureNames)[number];

export const measures: Readonly<Record<MeasureName, MeasureWords>> = {
  places: {
    name: "answer positions, here",
    about:
      "The share of attention on the answer positions, where the answer comes from: they are outlined.",
  },
  heldOut: {
    name: "answer positions, unseen examples",
    about:
      "The same, measured once over examples that the model had never seen: a mean over easy and hard ones.",
  },
  ...patterns,
};

/** Weights of one head: rows × columns. */
export interface WeightsToMeasure {
  readonly weights: Float32Array;
  readonly rows: number;
  readonly columns: number;
}

/** The mean; null if there are no numbers. */
function mean(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
}

/**
 * @param places for each row the columns that determine its answer
 * @param isSelf whether rows and columns are the same tokens
 */
export function measuresOf(
  { weights, rows, columns }: WeightsToMeasure,
  { places, isSelf }: { places: Alignment | null; isSelf: boolean },
): Record<Exclude<MeasureName, "heldOut">, number | null> {
  const aligned = (places ?? []).slice(0, rows).flatMap((right, row) => {
    const weight = (col: number) => (col < columns ? (weights[row * columns + col] as number) : 0);
    return right.length > 0 ? [right.reduce((sum, col) => sum + weight(col), 0)] : [];
  });
  return { places: mean(aligned), ...patternsOf(viewOn(weights, rows, columns), isSelf) };
}
