// Softmax over the last axis.

import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";

export function softmax(engine: Engine, x: Tensor): Tensor {
  const y = engine.run(engine.module.softmax, [engine.handle("x", x)]).tensor();
  recording()?.record("softmax", { x }, [y], ([d]) => {
    const args = [engine.handle("d", d), engine.handle("softmax", y)];
    return { x: engine.run(engine.module.softmaxBackward, args).tensor() };
  });
  return y;
}
