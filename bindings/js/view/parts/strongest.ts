/** Chooses the weights to draw as lines: the largest ones of every query, until they carry a share of its attention. */
import { type ColourCurve, type ColourRange, largestIn, weightPalette } from "../picture/colour.js";
import { type Job, pausing } from "../picture/job.js";
import { at, findingRange, type MatrixView, tolerance } from "../picture/view.js";

export interface Line {
  readonly row: number;
  readonly col: number;
  /** The strength from 0 to 1, by the range and the curve. */
  readonly strength: number;
}

/** With more lines than this, drawing is slow and the picture does not show more. */
export const mostLines = 2000;

/** The number at index `place` in descending order (Hoare, "Algorithm 65: Find", 1961). Reorders `numbers`. */
function inFallingOrder(numbers: Float32Array, place: number): number {
  for (let low = 0, high = numbers.length - 1; low < high; ) {
    const middle = numbers[(low + high) >> 1] as number;
    let [i, j] = [low, high];
    while (i <= j) {
      while ((numbers[i] as number) > middle) ++i;
      while ((numbers[j] as number) < middle) --j;
      if (i > j) break;
      const moved = numbers[i] as number;
      numbers[i++] = numbers[j] as number;
      numbers[j--] = moved;
    }
    if (place <= j) high = j;
    else if (place >= i) low = i;
    else break;
  }
  return numbers[place] as number;
}

/** The strongest lines, in their given order. Of equally strong lines, the first ones are chosen. */
function strongestOf(lines: readonly Line[], count: number): Line[] {
  if (lines.length <= count) return [...lines];
  const strengths = Float32Array.from(lines, ({ strength }) => strength);
  const least = inFallingOrder(strengths.slice(), count - 1);
  let alike = count;
  for (const strength of strengths) if (strength > least) --alike;
  return lines.filter(
    (_, i) =>
      (strengths[i] as number) > least || ((strengths[i] as number) === least && --alike >= 0),
  );
}

/** The smallest weight that becomes a line, and the number of weights of exactly this size that do. */
interface Limit {
  readonly least: number;
  readonly alike: number;
}

/** The weights that are not 0 and not below `least`. */
function atLeast(weights: Float32Array, least: number): Float32Array {
  const found = new Float32Array(weights.length);
  let count = 0;
  for (const weight of weights) if (weight > 0 && weight >= least) found[count++] = weight;
  return found.subarray(0, count);
}

/**
 * @param weights the weights of one row, which are not negative
 * @param mass a share of the row's sum, which need not be 1
 * @param floor weights below this never become lines
 */
function limitOf(weights: Float32Array, mass: number, floor: number): Limit {
  if (mass >= 1) return { least: floor, alike: floor > 0 ? weights.length : 0 };
  let sum = 0;
  for (const weight of weights) sum += weight;
  const wanted = Math.abs(sum - 1) < tolerance ? mass : mass * sum;
  // The sum of all weights below this is smaller than the share that may be omitted, so they need not be sorted.
  const tiny = Math.max(floor, Math.max(0, sum - wanted) / weights.length);
  const sorted = atLeast(weights, tiny).sort();
  let carried = 0;
  let next = sorted.length;
  // Rounding must not drop the last line if `mass` includes all attention.
  while (next > 0 && carried <= wanted - 1e-6) carried += sorted[--next] as number;
  if (next === sorted.length) return { least: Number.POSITIVE_INFINITY, alike: 0 };
  const least = sorted[next] as number;
  let alike = 0;
  while (sorted[next + alike] === least) ++alike;
  return { least, alike };
}

/** A weight up to `largest` such that every smaller weight is weaker than `strong`. */
function weightBelow(
  strength: (weight: number) => number,
  strong: number,
  largest: number,
): number {
  let [low, high] = [0, largest];
  for (let turn = 0; turn < 24; ++turn) {
    const middle = (low + high) / 2;
    if (strength(middle) < strong * (1 - 1e-6)) low = middle;
    else high = middle;
  }
  return low;
}

/** Reads a row of weights. A missing (NaN), negative or hidden weight counts as 0. */
function readRow(weights: MatrixView, row: number, into: Float32Array): number {
  let largest = 0;
  for (let col = 0; col < weights.cols; ++col) {
    const weight = at(weights, row, col);
    const isLine = weight > 0 && !weights.hides?.(row, col);
    into[col] = isLine ? weight : 0;
    if (isLine && weight > largest) largest = weight;
  }
  return largest;
}

/** Adds the lines of one row, in the order of its columns, to `lines`. */
function addRow(
  lines: Line[],
  own: Float32Array,
  row: number,
  strength: (weight: number) => number,
  { least, alike }: Limit,
): void {
  let left = alike;
  for (let col = 0; col < own.length; ++col) {
    const weight = own[col] as number;
    if (weight > least || (weight === least && --left >= 0))
      lines.push({ row, col, strength: Math.fround(strength(weight)) });
  }
}

/** The settings that turn weights into lines. */
export interface LineLook {
  /** Lines are drawn until they carry this share, 0 to 1, of each query's attention. */
  readonly mass: number;
  /** How weights become the strength of lines, as for colours. */
  readonly range: ColourRange;
  readonly curve: ColourCurve;
}

/**
 * The largest weights of every query that add up to a share of its attention; of all these, the
 * strongest `mostLines`, row by row. Of equal weights the first ones are chosen. A zero never
 * becomes a line. The job pauses often: see `Slices`.
 *
 * @param weights one row of shares for each query
 * @param show called at each pause with the lines of the rows read so far
 */
export function* choosing(
  weights: MatrixView,
  { mass, range, curve }: LineLook,
  show: (lines: readonly Line[]) => void = () => {},
): Job<Line[]> {
  const { within, place } = weightPalette(range, curve, "light");
  if (within === "matrix") yield* findingRange(weights);
  const largestOfRow = largestIn(within, weights);
  const own = new Float32Array(weights.cols);
  let lines: Line[] = [];
  let weakest = 0;
  const isDue = pausing(1 << 15); // about a millisecond
  for (let row = 0; row < weights.rows; ++row) {
    const end = largestOfRow(row);
    const strength = (weight: number) => place(weight, end);
    const largest = readRow(weights, row, own);
    // If enough stronger lines are known, weaker ones need not be found.
    const floor = weakest > 0 ? weightBelow(strength, weakest, largest) : 0;
    if (largest > 0) addRow(lines, own, row, strength, limitOf(own, mass, floor));
    if (lines.length > 2 * mostLines) {
      lines = strongestOf(lines, mostLines);
      weakest = lines.reduce((least, line) => Math.min(least, line.strength), 1);
    }
    if (!isDue(weights.cols)) continue;
    show(lines);
    yield row / weights.rows;
  }
  return strongestOf(lines, mostLines);
}

/** The lines of one query, independent of the number of lines of the others. */
export function strongestOfRow(weights: MatrixView, row: number, look: LineLook): Line[] {
  const { within, place } = weightPalette(look.range, look.curve, "light");
  const largest = largestIn(within, weights)(row);
  const lines: Line[] = [];
  const own = new Float32Array(weights.cols);
  readRow(weights, row, own);
  addRow(lines, own, row, (weight) => place(weight, largest), limitOf(own, look.mass, 0));
  return lines;
}
