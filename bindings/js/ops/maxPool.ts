// The maximum of each part of a matrix.

import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument, isWholeNumber } from "../core/validate.js";

export function adaptiveMaxPool(engine: Engine, x: Tensor, rows: number, columns: number): Tensor {
  checkArgument("rows", rows, isWholeNumber(1));
  checkArgument("columns", columns, isWholeNumber(1));
  const args = [engine.handle("x", x), rows, columns];
  const pooled = engine.apply(engine.module.adaptiveMaxPool, args);
  recording()?.cut("adaptiveMaxPool", { x }, [pooled]);
  return pooled;
}
