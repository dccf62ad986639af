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

export function kernelRegression(
  engine: Engine,
  xQuery: Tensor,
  xTrain: Tensor,
  yTrain: Tensor,
  bandwidth: Tensor,
): KernelRegressionResult {
  const { module } = engine;
  const taken = { xQuery, xTrain, yTrain, bandwidth };
  const inputs = () => Object.entries(taken).map(([name, x]) => engine.handle(name, x));
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
