// The linear layer.

import { activations } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { readLinearGradients, withLinearGradientOptions } from "../core/members.js";
import type { Handle, Operation } from "../core/module.js";
import { recording } from "../core/tape.js";
import { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, isTensor } from "../core/validate.js";
import { type Activation, activate, activateBackward, isActivation } from "./activate.js";
import { PackedWeights } from "./packedWeights.js";

/** Options of `linear`. */
export interface LinearOptions {
  /** [out] */
  bias?: Tensor;
  /**
   * Applied to each element of the result: "gelu" is x Phi(x) and "geluTanh" its approximation by
   * tanh, "silu" x / (1 + exp(-x)), "sigmoid" 1 / (1 + exp(-x)). None by default.
   */
  activation?: Activation;
}

const checks = {
  bias: isTensor,
  activation: isActivation,
} satisfies Record<keyof LinearOptions, Check>;

/**
 * activation(x W^T + bias). x [..., in], weight [out, in] -> [..., out].
 *
 * @param weight float32; float16, in half of the memory; or packed weights. With the last two, the
 *   result has no gradient
 * @param options only a bias [out], or options
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const [x, weight, bias] = [heed.tensor([[1, -2]]), heed.tensor([[1, 0], [0, 1]]), heed.tensor([1, 1])];
 * console.log(heed.linear(x, weight, { bias, activation: "relu" }).toArray()); // prints: [ [ 2, 0 ] ]
 * ```
 */
export function linear(
  engine: Engine,
  x: Tensor,
  weight: Tensor | PackedWeights,
  options: Tensor | LinearOptions = {},
): Tensor {
  const o = options instanceof Tensor ? { bias: options } : options;
  checkOptions("linear", o, checks);
  const { module } = engine;
  const { bias, activation } = o;
  const tape = recording();
  const run = (operation: Operation, handle: Handle, value: number) =>
    engine.apply(operation, [
      engine.handle("x", x),
      handle,
      engine.handleOrNone("bias", bias),
      value,
    ]);
  if (weight instanceof PackedWeights) {
    const handle = weight.handle("weight", engine.border);
    const y = run(module.linearPacked, handle, activations.indexOf(activation ?? "none"));
    tape?.cut("linear with packed weights", { x, weight: weight.weight, bias }, [y]);
    return y;
  }
  const handle = engine.handle("weight", weight);
  const value = activations.indexOf(activation ?? "none");
  if (!tape) return run(module.linear, handle, value);
  if (weight.dtype !== "float32") {
    const y = run(module.linear, handle, value);
    tape.cut(`linear with a ${weight.dtype} weight`, { x, weight, bias }, [y]);
    return y;
  }

  // The gradient of an activation depends on its argument, so the argument is computed and kept.
  // ReLU is an exception: its result is positive exactly where its argument is.
  const relu = activation === "relu" ? value : undefined;
  const y = run(module.linear, handle, relu ?? activations.indexOf("none"));
  tape.record("linear", { x, weight, bias }, [y], ([given], needs) => {
    const d = relu === undefined ? given : activateBackward(engine, given, y, relu);
    const args = engine.handles({ d, x, weight });
    const options = { needX: needs("x"), needWeight: needs("weight"), needBias: needs("bias") };
    engine.run(module.linearBackward, withLinearGradientOptions(args, options));
    const gradients = readLinearGradients(engine);
    if (d !== given) d?.dispose();
    return gradients;
  });
  return activation === undefined || relu !== undefined ? y : activate(engine, y, activation);
}
