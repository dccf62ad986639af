// Tensors from data, and constant ones.

import type { Engine } from "../core/engine.js";
import {
  checkShape,
  createTensor,
  type DType,
  type Tensor,
  type TensorSource,
} from "../core/tensor.js";
import { cast } from "./cast.js";

export function tensor(
  engine: Engine,
  data: TensorSource,
  shape?: readonly number[],
  dtype?: DType,
): Tensor {
  engine.border.checkAlive();
  const made = engine.track(createTensor(engine, data, shape, dtype));
  if (made.dtype === (dtype ?? made.dtype)) return made;
  // Numbers for a 16-bit type come as float32, and the engine rounds them.
  try {
    return cast(engine, made, dtype as "float16");
  } finally {
    made.dispose();
  }
}

/**
 * A float32 tensor of zeros.
 *
 * @param shape any shape; [] is a scalar
 * @throws HeedError "shape", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.zeros([2, 2]).toArray()); // prints: [ [ 0, 0 ], [ 0, 0 ] ]
 * ```
 */
export function zeros(engine: Engine, shape: readonly number[]): Tensor {
  return filled(engine, shape, 0);
}

/**
 * A float32 tensor of ones.
 *
 * @param shape any shape; [] is a scalar
 * @throws HeedError "shape", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.ones([3]).toArray()); // prints: [ 1, 1, 1 ]
 * ```
 */
export function ones(engine: Engine, shape: readonly number[]): Tensor {
  return filled(engine, shape, 1);
}

function filled(engine: Engine, shape: readonly number[], value: number): Tensor {
  engine.border.checkAlive();
  checkShape(shape);
  return engine.filled(shape, value);
}
