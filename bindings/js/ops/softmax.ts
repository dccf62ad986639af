// Softmax over the last axis.

import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";

/**
 * Softmax over the last axis; a row of only -Infinity gives zeros.
 *
 * @param x float32 [..., N], the shape of the result
 * @throws HeedError "shape", "dtype", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.softmax(heed.tensor([[0, 0], [1, -Infinity]])).toArray()); // prints: [ [ 0.5, 0.5 ], [ 1, 0 ] ]
 * ```
 */
export function softmax(engine: Engine, x: Tensor): Tensor {
  const y = engine.apply(engine.module.softmax, [engine.handle("x", x)]);
  recording()?.record("softmax", { x }, [y], ([d]) => {
    const args = [engine.handle("d", d), engine.handle("softmax", y)];
    return { x: engine.apply(engine.module.softmaxBackward, args) };
  });
  return y;
}
