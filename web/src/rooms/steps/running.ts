/** The partial sums of the first cell of the selected row, computed by the engine. */
import type { Heed } from "heed";
import { at, type MatrixView, takenOff } from "#parts";
import type { MatrixName } from "./matrices";
import type { RunningSums, Solution } from "./problem";
import { rotationOf } from "./rotation";
import { viewOf } from "./viewOf";

const products: readonly (readonly [MatrixName, left: MatrixName, top: MatrixName])[] = [
  ["q", "input", "wq"],
  ["scores", "q", "k"],
  ["output", "weights", "v"],
  ["result", "joined", "wo"],
];

/**
 * The exponential of each score. The engine has no exponential function, but the softmax of [x, 0] is [e^x, 1] divided
 * by its sum, so the first entry divided by the second is e^x.
 */
export function exponentialsOf(heed: Heed, scores: Float32Array) {
  const taken = takenOff(scores);
  const pairs = Float32Array.from({ length: 2 * scores.length }, (_, i) =>
    i % 2 === 0 ? (scores[i / 2] as number) - taken : 0,
  );
  const shares = heed.softmax(heed.tensor(pairs, [scores.length, 2]));
  const entry = (start: number) => heed.slice(shares, { axis: 1, start, length: 1 });
  const exponentials = heed.divide(entry(0), entry(1));
  return { taken, exponentials: exponentials.data.slice() as Float32Array<ArrayBuffer> };
}

export function runningSums(
  heed: Heed,
  solution: Pick<Solution, "arrays" | "dims" | "problem" | "rotation">,
): RunningSums {
  const { row, head } = solution.problem;
  /**
   * Row n of a lower triangular matrix has the first n + 1 factors, so its product with the others is the sum of n + 1
   * products.
   */
  const sums = (left: number[], top: number[]) => {
    const n = left.length;
    const triangle = Float32Array.from({ length: n * n }, (_, i) =>
      i % n <= Math.floor(i / n) ? (left[i % n] as number) : 0,
    );
    const sum = heed.linear(heed.tensor(triangle, [n, n]), heed.tensor([top]));
    return sum.data.slice() as Float32Array<ArrayBuffer>;
  };
  const view = (name: MatrixName): MatrixView | null => viewOf(solution, name, head);
  const found: RunningSums = {};
  for (const [name, leftName, topName] of products) {
    const [left, top] = [view(leftName), view(topName)];
    if (!left || !top) continue;
    const factors = Array.from({ length: left.cols }, (_, n) => n);
    found[name] = sums(
      factors.map((n) => at(left, row, n)),
      // The scores multiply Q with the transpose of K, so the factors are in a row of K.
      factors.map((n) => (name === "scores" ? at(top, 0, n) : at(top, n, 0))),
    );
  }
  const { rotation, dims } = solution;
  if (rotation) {
    const { pair, factors } = rotationOf(rotation.frequencies, row, 0);
    const start = (row * dims.H + head) * dims.D;
    found.q = sums(
      [0, pair].map((col) => rotation.q[start + col] as number),
      [...factors],
    );
  }
  const { exponentials } = solution.arrays;
  found.exponentials = sums(
    Array.from(exponentials, () => 1),
    [...exponentials],
  );
  return found;
}
