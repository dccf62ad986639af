import { finished, type Job, pausing } from "./job.js";

/** The numbers of a matrix. */
export type Floats = Float32Array | Float64Array;

/** A matrix inside a typed array, so that one head or a transposed weight needs no copy. */
export interface MatrixView {
  readonly data: Floats;
  readonly rows: number;
  readonly cols: number;
  readonly offset: number;
  readonly rowStride: number;
  readonly colStride: number;
  /**
   * The complete matrix, if this one is only partly computed: colours use the range of the complete
   * matrix.
   */
  readonly whole?: MatrixView;
}

/** `rows` × `cols` numbers of `data`, row by row, starting at `offset`. */
export function viewOn(data: Floats, rows: number, cols: number, offset = 0): MatrixView {
  return { data, rows, cols, offset, rowStride: cols, colStride: 1 };
}

export function at(view: MatrixView, row: number, col: number): number {
  return view.data[view.offset + row * view.rowStride + col * view.colStride] as number;
}

/** Every entry, row by row. */
export function* entries(view: MatrixView): Generator<number> {
  for (let i = 0; i < view.rows; ++i) for (let j = 0; j < view.cols; ++j) yield at(view, i, j);
}

export function transposed(view: MatrixView): MatrixView {
  return {
    ...view,
    rows: view.cols,
    cols: view.rows,
    rowStride: view.colStride,
    colStride: view.rowStride,
  };
}

/** The largest number of a row, and at least 0: the end of the range of a row of shares. */
export function largestOf(
  { data, cols, offset, rowStride, colStride }: MatrixView,
  row: number,
): number {
  let largest = 0;
  for (let j = 0, p = offset + row * rowStride; j < cols; ++j, p += colStride) {
    const value = data[p] as number;
    if (value > largest) largest = value;
  }
  return largest;
}

/** The smallest and the largest of some numbers; null if there are none. */
export type Extremes = readonly [number, number] | null;

/** A cache of ranges. It is valid because the numbers of a matrix do not change. */
const ranges = new WeakMap<Floats, Map<string, Extremes>>();

/** Whether a cell is hidden. */
type Hides = (row: number, col: number) => boolean;

/** The smallest and the largest finite number of a matrix that is not hidden; null if there is none. */
export function rangeOf(view: MatrixView, hides?: Hides): Extremes {
  return finished(findingRange(view, hides));
}

/**
 * Finds the range as `rangeOf` does, but pauses often. `rangeOf` then takes the range from the
 * cache.
 */
export function* findingRange(view: MatrixView, hides?: Hides): Job<Extremes> {
  const { data, rows, cols, offset, rowStride, colStride } = view;
  const known = (!hides && ranges.get(data)) || new Map<string, Extremes>();
  if (!hides) ranges.set(data, known);
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
