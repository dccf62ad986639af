/** Measures that describe a head in one number. */
import type { Alignment } from "heed/models";

export const measureNames = [
  "places",
  "heldOut",
  "entropy",
  "largest",
  "previous",
  "first",
  "diagonal",
] as const;

export type MeasureName = (typeof measureNames)[number];

export interface MeasureWords {
  readonly name: string;
  /** What the number is. */
  readonly about: string;
}

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
  entropy: {
    name: "entropy",
    about:
      "In bits: 0 if each row attends to one token only, 3 if it attends to eight tokens equally.",
  },
  largest: { name: "largest weight", about: "The mean of each row's largest weight." },
  previous: { name: "previous token", about: "The mean weight on the previous token." },
  first: {
    name: "first token",
    about: "The mean weight on the first token; in self-attention, over later rows only.",
  },
  diagonal: { name: "diagonal", about: "The mean weight on the token at the row's own position." },
};

/** Weights of one head: rows × columns. */
export interface WeightsToMeasure {
  readonly weights: Float32Array;
  readonly rows: number;
  readonly columns: number;
}

function mean(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
}

export function weightsOfRow({ weights, columns }: WeightsToMeasure, row: number): Float32Array {
  return weights.subarray(row * columns, (row + 1) * columns);
}

function entropyOf(row: Float32Array): number {
  // 0 log 0 is 0; adding 0 at the end turns -0 into 0.
  return row.reduce((sum, w) => (w > 0 ? sum - w * Math.log2(w) : sum), 0) + 0;
}

/**
 * @param places for each row the columns that its answer comes from
 * @param isSelf whether rows and columns are the same tokens
 */
export function measuresOf(
  head: WeightsToMeasure,
  { places, isSelf }: { places: Alignment | null; isSelf: boolean },
): Record<Exclude<MeasureName, "heldOut">, number | null> {
  const rows = Array.from({ length: head.rows }, (_, i) => weightsOfRow(head, i));
  const later = rows.slice(1);
  const aligned = rows.flatMap((row, i) => {
    const columns = places?.[i] ?? [];
    return columns.length > 0 ? [columns.reduce((sum, j) => sum + (row[j] ?? 0), 0)] : [];
  });
  return {
    places: mean(aligned),
    entropy: mean(rows.map(entropyOf)),
    largest: mean(rows.map((row) => Math.max(...row))),
    previous: isSelf ? mean(later.map((row, i) => row[i] as number)) : null,
    first: mean((isSelf ? later : rows).map((row) => row[0] as number)),
    diagonal: mean(rows.flatMap((row, i) => (i < head.columns ? [row[i] as number] : []))),
  };
}
