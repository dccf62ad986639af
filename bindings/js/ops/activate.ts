// Activations: functions of each element.

import { type Activation as AnyActivation, activations } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { readSwigluGradients } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument, oneOf } from "../core/validate.js";

/** A function of each element. */
export type Activation = Exclude<AnyActivation, "none">;

export const isActivation = oneOf(...activations.filter((name) => name !== "none"));

/**
 * A function of each element: max(x, 0), x Phi(x) and its approximation by tanh,
 * x / (1 + exp(-x)), tanh(x), 1 / (1 + exp(-x)).
 *
 * @param x float32 of any shape, which is the result's
 * @throws HeedError "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.activate(heed.tensor([-1, 2]), "relu").toArray()); // prints: [ 0, 2 ]
 * ```
 */
export function activate(engine: Engine, x: Tensor, activation: Activation): Tensor {
  checkArgument("activation", activation, isActivation);
  const value = activations.indexOf(activation);
  const y = engine.apply(engine.module.activate, [engine.handle("x", x), value]);
  recording()?.record(activation, { x }, [y], ([d]) => ({
    x: activateBackward(engine, d, x, value),
  }));
  return y;
}

/** The gradient for x, from the gradient for activation(x). */
export function activateBackward(
  engine: Engine,
  d: Tensor | undefined,
  x: Tensor,
  activation: number,
): Tensor {
  const args = [engine.handle("d", d), engine.handle("x", x), activation];
  return engine.apply(engine.module.activateBackward, args);
}

/**
 * silu(gate) up (Shazeer, "GLU Variants Improve Transformer", 2020), of two tensors of one shape.
 *
 * @param gate float32 of any shape, which is the result's
 * @throws HeedError "shape", "dtype", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.swiglu(heed.tensor([0]), heed.tensor([3])).toArray()); // prints: [ 0 ]
 * ```
 */
export function swiglu(engine: Engine, gate: Tensor, up: Tensor): Tensor {
  const { module } = engine;
  const inputs = () => engine.handles({ gate, up });
  const y = engine.apply(module.swiglu, inputs());
  recording()?.record("swiglu", { gate, up }, [y], ([d]) => {
    engine.run(module.swigluBackward, [engine.handle("d", d), ...inputs()]);
    return readSwigluGradients(engine);
  });
  return y;
}
