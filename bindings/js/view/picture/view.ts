import { finished, type Job, pausing } from "./job.js";

/** The numbers of a matrix. */
export type Floats = Float32Array | Float64Array;

/** Whether a cell is hidden. */
export type Hides = (row: number, col: number) => boolean;

/** A matrix inside a typed array, so that one head or a transposed weight needs no copy. */
export interface MatrixView {
  readonly data: Floats;
  readonly rows: number;
  readonly cols: number;
  readonly offset: number;
  readonly rowStride: number;
  readonly colStride: number;
  /** The complete matrix, if this one is only partly computed: colours use the range of the complete matrix. */
  readonly whole?: MatrixView;
  /** The cells that a mask hides: ranges, measures and lines omit them. */
  readonly hides?: Hides | undefined;
}

/** `rows` × `cols` numbers of `data`, row by row, starting at `offset`. */
export function viewOn(data: Floats, rows: number, cols: number, offset = 0): MatrixView {
  return { data, rows, cols, offset, rowStride: cols, colStride: 1 };
}

/** The numbers of a matrix whose rows follow one another, without a copy. */
export function packedNumbers({ data, offset, rows, cols }: MatrixView): Floats {
  return data.subarray(offset, offset + rows * cols);
}

export function at(view: MatrixView, row: number, col: number): number {
  return view.data[view.offset + row * view.rowStride + col * view.colStride] as number;
}

/** Every entry, row by row. */
export function* entries(view: MatrixView): Generator<number> {
  for (let i = 0; i < view.rows; ++i) for (let j = 0; j < view.cols; ++j) yield at(view, i, j);
}

export function transposed(view: MatrixView): MatrixView {
  const { hides } = view;
  return {
    ...view,
    hides: hides && ((row, col) => hides(col, row)),
    rows: view.cols,
    cols: view.rows,
    rowStride: view.colStride,
    colStride: view.rowStride,
  };
}

/** The largest number of a row that is not hidden, and at least 0: the end of the range of a row of shares. */
export function largestOf(
  { data, cols, offset, rowStride, colStride, hides }: MatrixView,
  row: number,
): number {
  let largest = 0;
  for (let j = 0, p = offset + row * rowStride; j < cols; ++j, p += colStride) {
    const value = data[p] as number;
    if (value > largest && !hides?.(row, j)) largest = value;
  }
  return largest;
}

/** Rounding may cause a sum of weights of 16 bits to differ from 1 by this much. */
export const tolerance = 0.01;

/** The smallest and the largest of some numbers; null if there are none. */
export type Extremes = readonly [number, number] | null;

/**
 * A cache of ranges, by the numbers, or by the view if it hides some of them. It is valid because the numbers of a
 * matrix do not change.
 */
const ranges = new WeakMap<Floats | MatrixView, Map<string, Extremes>>();

/** The smallest and the largest finite number of a matrix that is not hidden; null if there is none. */
export function rangeOf(view: MatrixView): Extremes {
  return finished(findingRange(view));
}

/** Finds the range as `rangeOf` does, but pauses often. `rangeOf` then takes the range from the cache. */
export function* findingRange(view: MatrixView): Job<Extremes> {
  const { data, rows, cols, offset, rowStride, colStride, hides } = view;
  const owner = hides ? view : data;
  const known = ranges.get(owner) ?? new Map<string, Extremes>();
  ranges.set(owner, known);
  const key = `${rows} ${cols} ${offset} ${rowStride} ${colStride}`;
  const range = known.get(key);
  if (range !== undefined) return range;
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const isDue = pausing();
  for (let i = 0; i < rows; ++i) {
    for (let j = 0; j < cols; ++j) {
      const value = at(view, i, j);
      if (!Number.isFinite(value) || hides?.(i, j)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (isDue(cols)) yield i / rows;
  }
  const found = low > high ? null : ([low, high] as const);
  known.set(key, found);
  return found;
}
