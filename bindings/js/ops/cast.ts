// Conversion between floating types.

import { dtypes } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument, oneOf } from "../core/validate.js";

/**
 * The same numbers as another floating type, rounded to nearest, ties to even.
 *
 * @param x float32, float16 or bfloat16 of any shape, which is the result's
 * @throws HeedError "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const half = heed.cast(heed.tensor([1, 0.1]), "float16");
 * console.log(half.dtype, heed.cast(half, "float32").toArray()); // prints: float16 [ 1, 0.0999755859375 ]
 * ```
 */
export function cast(engine: Engine, x: Tensor, dtype: "float32" | "float16" | "bfloat16"): Tensor {
  checkArgument("dtype", dtype, oneOf("float32", "float16", "bfloat16"));
  const args = [engine.handle("x", x), dtypes.indexOf(dtype)];
  const y = engine.apply(engine.module.cast, args);
  recording()?.cut("cast", { x }, [y]);
  return y;
}
