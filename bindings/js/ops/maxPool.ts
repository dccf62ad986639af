// The maximum of each part of a matrix.

import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument, isWholeNumber } from "../core/validate.js";

/**
 * The maximum of each part of a matrix. The matrix is divided into rows and columns of parts as
 * by torch.nn.AdaptiveMaxPool2d. The result is a small version of a large matrix that keeps its
 * peaks. A part that contains NaN gives NaN. The operation has no gradient.
 *
 * @param x [..., H, W] -> [..., rows, columns]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.adaptiveMaxPool(heed.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]), 1, 2).toArray()); // prints: [ [ 6, 8 ] ]
 * ```
 */
export function adaptiveMaxPool(engine: Engine, x: Tensor, rows: number, columns: number): Tensor {
  checkArgument("rows", rows, isWholeNumber(1));
  checkArgument("columns", columns, isWholeNumber(1));
  const args = [engine.handle("x", x), rows, columns];
  const pooled = engine.apply(engine.module.adaptiveMaxPool, args);
  recording()?.cut("adaptiveMaxPool", { x }, [pooled]);
  return pooled;
}
