/**
 * Max pooling without the engine: the largest number of each cell of a grid over a matrix, as the
 * engine's `adaptiveMaxPool` computes it. Cell i of r along an axis of size R is [floor(i R / r),
 * ceil((i + 1) R / r)), as in torch.nn.AdaptiveMaxPool2d; a cell that contains NaN is NaN.
 */
import { type Job, pausing } from "../picture/job.js";
import type { Hides, MatrixView } from "../picture/view.js";

/** The weights of a head, max-pooled to `rows` × `cols`. */
export interface SmallWeights {
  readonly data: Float32Array;
  readonly rows: number;
  readonly cols: number;
}

/** The first index of cell `i`, and the index after its last one. */
export function cellOf(i: number, size: number, cells: number): readonly [number, number] {
  return [Math.floor((i * size) / cells), Math.ceil(((i + 1) * size) / cells)];
}

/**
 * The maximum of `most` and a part of a row. If the matrix is signed, it is the number farthest
 * from zero; -Infinity, the score of a hidden key, then counts only if there is no other number.
 */
function mostOfPart(
  { data, offset, rowStride, colStride, hides }: MatrixView,
  row: number,
  [left, right]: readonly [number, number],
  most: number,
  isSigned: boolean,
): number {
  const first = offset + row * rowStride;
  for (let j = left, p = first + left * colStride; j < right; ++j, p += colStride) {
    const value = data[p] as number;
    const isSize = isSigned && most !== Number.NEGATIVE_INFINITY;
    // A NaN is kept, because no comparison with it is true.
    const isMore =
      (isSize ? Math.abs(value) > Math.abs(most) : value > most) || Number.isNaN(value);
    // The mask is checked last, because most numbers do not need it.
    if (isMore && !(isSigned && value === Number.NEGATIVE_INFINITY) && !hides?.(row, j))
      most = value;
  }
  return most;
}

/**
 * Max-pools a matrix to at most `mostRows` × `mostCols`; a shorter axis keeps its size. A cell
 * with only hidden entries is -Infinity. The job
 * pauses often, so that its caller can continue it later: see `Slices`.
 *
 * @param isSigned whether a cell has the number farthest from zero, for scores, instead of the
 *   largest number
 * @param hidden the cells with only hidden entries, if they are known: these cells are not read
 */
export function* pooling(
  view: MatrixView,
  mostRows: number,
  mostCols = mostRows,
  isSigned = false,
  hidden?: Hides | null,
): Job<SmallWeights> {
  const [rows, cols] = [Math.min(view.rows, mostRows), Math.min(view.cols, mostCols)];
  const data = new Float32Array(rows * cols).fill(Number.NEGATIVE_INFINITY);
  const parts = Array.from({ length: cols }, (_, j) => cellOf(j, view.cols, cols));
  const isDue = pausing();
  for (let i = 0; i < rows; ++i) {
    const [top, bottom] = cellOf(i, view.rows, rows);
    for (let row = top; row < bottom; ++row) {
      for (const [j, part] of parts.entries()) {
        if (hidden?.(i, j)) continue;
        const cell = i * cols + j;
        data[cell] = mostOfPart(view, row, part, data[cell] as number, isSigned);
        if (isDue(part[1] - part[0])) yield i / rows;
      }
    }
  }
  return { data, rows, cols };
}

/**
 * Finds the hidden cells of a pooled matrix: the cells with only hidden entries. The job pauses
 * often.
 *
 * @param isCausal whether an entry is hidden if the one below it and the one to its left are
 *   hidden: then one corner decides
 */
export function* hidingPooled(
  hides: Hides,
  whole: { readonly rows: number; readonly cols: number },
  small: { readonly rows: number; readonly cols: number },
  isCausal = false,
): Job<Hides> {
  const hidden = new Uint8Array(small.rows * small.cols).fill(1);
  const isDue = pausing();
  for (let place = 0; place < hidden.length; ++place) {
    const i = Math.floor(place / small.cols);
    const [top, bottom] = cellOf(i, whole.rows, small.rows);
    const [left, right] = cellOf(place % small.cols, whole.cols, small.cols);
    const corner = { top: isCausal ? bottom - 1 : top, right: isCausal ? left + 1 : right };
    for (let row = bottom - 1; row >= corner.top && hidden[place] === 1; --row) {
      for (let col = left; col < corner.right && hidden[place] === 1; ++col)
        if (!hides(row, col)) hidden[place] = 0;
      if (isDue(corner.right - left)) yield undefined;
    }
  }
  return (row, col) => hidden[row * small.cols + col] === 1;
}
