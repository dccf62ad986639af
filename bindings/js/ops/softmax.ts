// Softmax over the last axis.

import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";

export function softmax(engine: Engine, x: Tensor): Tensor {
  const y = engine.apply(engine.module.softmax, [engine.handle("x", x)]);
  recording()?.record("softmax", { x }, [y], ([d]) => {
    const args = [engine.handle("d", d), engine.handle("softmax", y)];
    return { x: engine.apply(engine.module.softmaxBackward, args) };
  });
  return y;
}
