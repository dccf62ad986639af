/** The weights of a head, and the weights times the lengths of the values: a short value adds little, even with a large weight. */
import { at, type MatrixView, viewOn } from "#parts";
import type { ShownHead } from "./workspace";

/** Which cells the model hides. */
export function hiddenIn({ attention, window }: ShownHead) {
  const { isCausal } = attention;
  if (!isCausal && window === null) return undefined;
  const most = window ?? Number.POSITIVE_INFINITY;
  return (row: number, col: number) => (isCausal && col > row) || Math.abs(row - col) >= most;
}

/** The weights of a head as a matrix. */
export function weightsIn(shown: ShownHead): MatrixView {
  const { rows, columns } = shown.attention;
  const view = viewOn(shown.shares.weights, rows.length, columns.length);
  return { ...view, hides: hiddenIn(shown) };
}

/**
 * Each weight times the length of its value, as a share of the row's sum (after Kobayashi et al., "Attention is Not Only
 * a Weight: Analyzing Transformers with Vector Norms", 2020).
 *
 * @param lengths |v| of each column
 */
export function weightedByLength(weights: MatrixView, lengths: Float32Array): MatrixView {
  const { rows, cols } = weights;
  const data = new Float32Array(rows * cols);
  for (let row = 0; row < rows; ++row) {
    let sum = 0;
    for (let col = 0; col < cols; ++col) {
      const product = at(weights, row, col) * (lengths[col] as number);
      data[row * cols + col] = product;
      sum += product;
    }
    if (sum > 0) for (let col = 0; col < cols; ++col) (data[row * cols + col] as number) /= sum;
  }
  return { ...viewOn(data, rows, cols), hides: weights.hides };
}
