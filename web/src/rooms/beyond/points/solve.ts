/** The solver of kernel regression over points of a plane. */
import { numbersOf } from "../../../worker/numbersOf";
import type { Solver } from "../../../worker/solver";
import { plane, type State } from "../state";

type RegressionRequest = Pick<State, "points" | "bandwidth" | "query">;

export type Regression = ReturnType<typeof solve>;

const places = 241;

const solve = (({ points, bandwidth, query }, { heed }) =>
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
      /** The evenly spaced x of the estimates. */
      x: Float32Array.from(grid),
      estimate: estimates.slice(0, places),
      /** At each x the weight that a point there would have: the kernel divided by its sum over the existing points. */
      kernel: Float32Array.from(grid, (x) => Math.exp(score(x) - logSum)),
      /** For the query: the weight of each point, and the weighted mean. */
      weights: row,
      value: estimates[places] as number,
      /** The logarithm of the kernel's sum over the points at the query. */
      logSum,
      average: averages.data[0] as number,
      /** softmax(X X^T) X, where a row of X is a point. */
      similar: similar.map((value, i) => value + (i % 2 === 0 ? xs.mean : ys.mean)),
      milliseconds: performance.now() - started,
    };
  })) satisfies Solver<RegressionRequest, unknown>;

export default solve;
