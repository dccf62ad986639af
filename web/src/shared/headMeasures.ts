/** Measures that describe what a head attends to in one number. */

export interface MeasureWords {
  readonly name: string;
  /** What the number is. */
  readonly about: string;
}

export const patternNames = ["entropy", "largest", "previous", "first", "diagonal"] as const;

export type PatternName = (typeof patternNames)[number];

export const patterns: Readonly<Record<PatternName, MeasureWords>> = {
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

/** Null of no number. */
export function mean(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
}

export function rowsOf({ weights, rows, columns }: WeightsToMeasure): Float32Array[] {
  return Array.from({ length: rows }, (_, row) =>
    weights.subarray(row * columns, (row + 1) * columns),
  );
}

function entropyOf(row: Float32Array): number {
  // 0 log 0 is 0; adding 0 at the end turns -0 into 0.
  return row.reduce((sum, w) => (w > 0 ? sum - w * Math.log2(w) : sum), 0) + 0;
}

/** @param isSelf whether rows and columns are the same tokens */
export function patternsOf(
  head: WeightsToMeasure,
  isSelf: boolean,
): Record<PatternName, number | null> {
  const rows = rowsOf(head);
  const later = rows.slice(1);
  return {
    entropy: mean(rows.map(entropyOf)),
    largest: mean(rows.map((row) => row.reduce((most, w) => Math.max(most, w), 0))),
    previous: isSelf ? mean(later.map((row, i) => row[i] as number)) : null,
    first: mean((isSelf ? later : rows).map((row) => row[0] as number)),
    diagonal: mean(rows.flatMap((row, i) => (i < head.columns ? [row[i] as number] : []))),
  };
}
