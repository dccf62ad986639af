/** Measures of a head's attention pattern, each as one number. */
import { finished, type Job, pausing } from "../picture/job.js";
import { at, largestOf, type MatrixView, tolerance } from "../picture/view.js";

export interface MeasureWords {
  readonly name: string;
  /** The meaning of the number. */
  readonly about: string;
}

export const patternNames = ["entropy", "largest", "previous", "first", "diagonal"] as const;

export type PatternName = (typeof patternNames)[number];

export const patterns: Readonly<Record<PatternName, MeasureWords>> = {
  entropy: {
    name: "entropy",
    about: "In bits: 0 on one token only, 3 evenly on eight.",
  },
  largest: { name: "largest weight", about: "The mean of each row's largest weight." },
  previous: { name: "previous token", about: "The mean weight on the previous token." },
  first: {
    name: "first token",
    about: "The mean weight on the first token; in self-attention, over later rows only.",
  },
  diagonal: { name: "diagonal", about: "The mean weight on the token at the row's own position." },
};

/**
 * The entropy in bits, of the shares of the row's sum. 0 log 0 is 0. A missing (NaN) or negative
 * weight also adds 0.
 */
function entropyOf(view: MatrixView, row: number): number {
  const { data, cols, offset, rowStride, colStride, hides } = view;
  let [sum, total] = [0, 0];
  for (let j = 0, p = offset + row * rowStride; j < cols; ++j, p += colStride) {
    const weight = data[p] as number;
    if (!(weight > 0) || hides?.(row, j)) continue;
    sum -= weight * Math.log2(weight);
    total += weight;
  }
  if (total === 0 || Math.abs(total - 1) <= tolerance) return sum;
  return Math.log2(total) + sum / total;
}

/** The weight of a cell: 0 if it is hidden. */
const weightAt = (view: MatrixView, row: number, col: number) =>
  view.hides?.(row, col) ? 0 : at(view, row, col);

/** A measure is the mean, over some rows, of one number for each. */
interface Measure {
  /** The first row to measure, and the row after the last one; null if the measure does not apply. */
  rows(view: MatrixView, isSelf: boolean): readonly [number, number] | null;
  of(view: MatrixView, row: number): number;
  /** Whether it reads all numbers of a row. */
  readsAll: boolean;
}

const all = ({ rows }: MatrixView) => [0, rows] as const;

const pattern: Readonly<Record<PatternName, Measure>> = {
  entropy: { rows: all, of: entropyOf, readsAll: true },
  largest: { rows: all, of: largestOf, readsAll: true },
  previous: {
    rows: ({ rows }, isSelf) => (isSelf ? [1, rows] : null),
    of: (view, row) => weightAt(view, row, row - 1),
    readsAll: false,
  },
  first: {
    rows: ({ rows }, isSelf) => [isSelf ? 1 : 0, rows],
    of: (view, row) => weightAt(view, row, 0),
    readsAll: false,
  },
  diagonal: {
    rows: ({ rows, cols }) => [0, Math.min(rows, cols)],
    of: (view, row) => weightAt(view, row, row),
    readsAll: false,
  },
};

/**
 * Measures the weights of one head, rows × columns; null if there is no row to measure. The job
 * pauses often: see `Slices`.
 *
 * @param isSelf whether rows and columns are the same tokens
 */
export function* measuringHead(
  view: MatrixView,
  name: PatternName,
  isSelf: boolean,
): Job<number | null> {
  const { rows, of, readsAll } = pattern[name];
  const [first, end] = rows(view, isSelf) ?? [0, 0];
  let sum = 0;
  const isDue = pausing(1 << 15);
  for (let row = first; row < end; ++row) {
    sum += of(view, row);
    if (isDue(readsAll ? view.cols : 1)) yield (row - first) / (end - first);
  }
  return end > first ? sum / (end - first) : null;
}

/** All measures of one head; see `measuringHead`. */
export function patternsOf(view: MatrixView, isSelf: boolean): Record<PatternName, number | null> {
  return Object.fromEntries(
    patternNames.map((name) => [name, finished(measuringHead(view, name, isSelf))]),
  ) as Record<PatternName, number | null>;
}
