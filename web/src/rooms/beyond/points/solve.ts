/** The solver of kernel regression over points of a plane. */

import { numbersOf } from "../../../worker/numbersOf";
import type { Solver } from "../../../worker/solver";
import { plane, type State } from "../state";

type RegressionRequest = Pick<State, "points" | "bandwidth" | "query">;

export interface Regression {
  /** The evenly spaced x of the estimates. */
  readonly x: Float32Array<ArrayBuffer>;
  readonly estimate: Float32Array<ArrayBuffer>;
  /** At each x the weight that a point there would have: the kernel divided by its sum over the existing points. */
  readonly kernel: Float32Array<ArrayBuffer>;
  /** For the query: the weight of each point, and the weighted mean. */
  readonly weights: Float32Array<ArrayBuffer>;
  /** The logarithm of the kernel's sum over the points at the query. */
  readonly logSum: number;
  readonly value: number;
  /** The unweighted mean of all points. */
  readonly average: number;
  /** softmax(X X^T) X, where a row of X is a point. */
  readonly similar: Float32Array<ArrayBuffer>;
  readonly milliseconds: number;
}

const places = 241;

const solve: Solver<RegressionRequest, Regression> = ({ points, bandwidth, query }, { heed }) =>
  heed.scope(() => {
    const started = performance.now();
    const { min, max } = plane.x;
    const grid = Array.from({ length: places }, (_, i) => min + ((max - min) * i) / (places - 1));
    const n = points.length;
    const { output, weights } = heed.kernelRegression(
      heed.tensor([...grid, query]),
      heed.tensor(points.map(({ x }) => x)),
      heed.tensor(points.map(({ y }) => [y])),
      heed.tensor([bandwidth]),
    );
    const estimates = numbersOf(output);
    const row = numbersOf(weights).slice(places * n);
    const score = (x: number) => -(((x - query) / bandwidth) ** 2) / 2;
    // The engine's sum, from weight = e^score ÷ sum. The largest weight gives the most precise result.
    const top = row.indexOf(Math.max(...row));
    const logSum = score(points[top]?.x ?? query) - Math.log(row[top] as number);
    const centre = (data: number[]) => {
      const mean = data.reduce((sum, value) => sum + value, 0) / n;
      return { mean, of: data.map((value) => value - mean) };
    };
    // Dot products measure similarity only between centred points.
    const [xs, ys] = [centre(points.map(({ x }) => x)), centre(points.map(({ y }) => y))];
    const centred = heed.tensor([xs.of.map((x, i) => [x, ys.of[i] as number])]);
    const similar = numbersOf(heed.selfSimilarity(centred).output);
    const averages = heed.average(heed.tensor([points.map(({ y }) => [y])]));
    return {
      x: Float32Array.from(grid),
      estimate: estimates.slice(0, places),
      kernel: Float32Array.from(grid, (x) => Math.exp(score(x) - logSum)),
      weights: row,
      logSum,
      value: estimates[places] as number,
      average: averages.data[0] as number,
      similar: similar.map((value, i) => value + (i % 2 === 0 ? xs.mean : ys.mean)),
      milliseconds: performance.now() - started,
    };
  });

export default solve;
