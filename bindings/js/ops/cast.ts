// Conversion between floating types.

import { dtypes } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument, oneOf } from "../core/validate.js";

export function cast(engine: Engine, x: Tensor, dtype: "float32" | "float16" | "bfloat16"): Tensor {
  checkArgument("dtype", dtype, oneOf("float32", "float16", "bfloat16"));
  const args = [engine.handle("x", x), dtypes.indexOf(dtype)];
  const y = engine.apply(engine.module.cast, args);
  recording()?.cut("cast", { x }, [y]);
  return y;
}
