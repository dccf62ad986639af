// Softmax over the last axis, and the logarithm of its denominator.

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

/**
 * log(sum(exp(x))) over the last axis, without overflow: the `lse` of attention. A row without
 * numbers, or of only -Infinity, gives -Infinity. The gradient is softmax.
 *
 * @param x float32 [..., N]
 * @returns [...]
 * @throws HeedError "shape", "dtype", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.logsumexp(heed.tensor([[0, -Infinity], [1000, 0]])).toArray()); // prints: [ 0, 1000 ]
 * ```
 */
export function logsumexp(engine: Engine, x: Tensor): Tensor {
  const y = engine.apply(engine.module.logsumexp, [engine.handle("x", x)]);
  recording()?.record("logsumexp", { x }, [y], ([d]) => {
    if (!d) return {};
    const { module } = engine;
    const column = engine.alias(d, [...d.shape, 1]);
    const weights = engine.apply(module.softmax, [engine.handle("x", x)]);
    const args = [engine.handle("weights", weights), engine.handle("d", column)];
    const gradient = engine.apply(module.multiply, args);
    for (const tensor of [column, weights]) tensor.dispose();
    return { x: gradient };
  });
  return y;
}
