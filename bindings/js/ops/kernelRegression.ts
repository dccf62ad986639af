// Kernel regression.

import type { Engine } from "../core/engine.js";
import { readKernelRegressionGradients, readKernelRegressionResult } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";

/** The result of `kernelRegression`. */
export interface KernelRegressionResult {
  /** [Q, M] */
  output: Tensor;
  /** [Q, N] */
  weights: Tensor;
}

/**
 * The Nadaraya-Watson estimate (1964): the mean of yTrain, weighted by
 * softmax_j(-|xQuery_i - xTrain_j|^2 / (2 bandwidth^2)).
 *
 * @param xQuery [Q], or [Q, F]
 * @param xTrain [N], or [N, F]
 * @param yTrain [N, M]
 * @param bandwidth [1]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const [x, y] = [heed.tensor([0, 1, 2]), heed.tensor([[0], [1], [4]])];
 * const { output } = heed.kernelRegression(heed.tensor([1]), x, y, heed.tensor([0.1]));
 * console.log(Number(output.item()).toFixed(3)); // prints: 1.000
 * ```
 */
export function kernelRegression(
  engine: Engine,
  xQuery: Tensor,
  xTrain: Tensor,
  yTrain: Tensor,
  bandwidth: Tensor,
): KernelRegressionResult {
  const { module } = engine;
  const taken = { xQuery, xTrain, yTrain, bandwidth };
  const inputs = () => engine.handles(taken);
  engine.run(module.kernelRegression, inputs());
  const { output, weights } = readKernelRegressionResult(engine);
  const tape = recording();
  tape?.cut("weights of kernelRegression", taken, [weights]);
  tape?.record("kernelRegression", taken, [output], ([d]) => {
    const args = [engine.handle("d", d), ...inputs(), engine.handle("weights", weights)];
    engine.run(module.kernelRegressionBackward, args);
    return readKernelRegressionGradients(engine);
  });
  return { output, weights };
}
