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

export function swiglu(engine: Engine, gate: Tensor, up: Tensor): Tensor {
  const { module } = engine;
  const inputs = () => [engine.handle("gate", gate), engine.handle("up", up)];
  const y = engine.apply(module.swiglu, inputs());
  recording()?.record("swiglu", { gate, up }, [y], ([d]) => {
    engine.run(module.swigluBackward, [engine.handle("d", d), ...inputs()]);
    return readSwigluGradients(engine);
  });
  return y;
}
