/** A matrix inside a typed array: no copy is made for one head, nor for a transposed weight. */
export interface View {
  readonly data: Float32Array;
  readonly rows: number;
  readonly cols: number;
  readonly offset: number;
  readonly rowStride: number;
  readonly colStride: number;
}

/** `rows` times `cols` numbers of `data`, row by row, from `offset` on. */
export function viewOn(data: Float32Array, rows: number, cols: number, offset = 0): View {
  return { data, rows, cols, offset, rowStride: cols, colStride: 1 };
}

export function at(view: View, row: number, col: number): number {
  return view.data[view.offset + row * view.rowStride + col * view.colStride] as number;
}

/** Every entry, row by row. */
export function* entries(view: View): Generator<number> {
  for (let i = 0; i < view.rows; ++i) for (let j = 0; j < view.cols; ++j) yield at(view, i, j);
}

export function transposed(view: View): View {
  return {
    ...view,
    rows: view.cols,
    cols: view.rows,
    rowStride: view.colStride,
    colStride: view.rowStride,
  };
}

/** The smallest and the largest number of a matrix, those that are hidden left out; null if all are. */
export function rangeOf(view: View): readonly [number, number] | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < view.rows; ++i) {
    for (let j = 0; j < view.cols; ++j) {
      const value = at(view, i, j);
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low > high ? null : [low, high];
}
