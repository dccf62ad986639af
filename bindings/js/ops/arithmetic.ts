// Arithmetic on tensors, element by element.

import type { Engine } from "../core/engine.js";
import { describe, refuse } from "../core/error.js";
import type { Operation } from "../core/module.js";
import { recording } from "../core/tape.js";
import { Tensor } from "../core/tensor.js";
import { checkArgument, isNumber } from "../core/validate.js";
import { sumTo } from "./sums.js";

/**
 * a + b; b, a tensor or a number, broadcasts to the shape of a.
 *
 * @param a float32 of any shape, which is the result's
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.add(heed.tensor([[1, 2], [3, 4]]), heed.tensor([10, 20])).toArray()); // prints: [ [ 11, 22 ], [ 13, 24 ] ]
 * ```
 */
export function add(engine: Engine, a: Tensor, b: Tensor | number): Tensor {
  return withTensor(engine, b, (b) => {
    const sum = engine.add(a, b);
    recording()?.record("add", { a, b }, [sum], ([d], needs) => ({
      a: d,
      b: d && needs("b") ? sumTo(engine, d, b.shape) : undefined,
    }));
    return sum;
  });
}

/**
 * a - b, as `add`.
 *
 * @param a float32 of any shape, which is the result's
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.subtract(heed.tensor([3, 4]), 1).toArray()); // prints: [ 2, 3 ]
 * ```
 */
export function subtract(engine: Engine, a: Tensor, b: Tensor | number): Tensor {
  return withTensor(engine, b, (b) => {
    const difference = binary(engine, engine.module.subtract, a, b);
    recording()?.record("subtract", { a, b }, [difference], ([d], needs) => ({
      a: d,
      b: d && needs("b") ? sumTo(engine, engine.scaled(d, -1), b.shape) : undefined,
    }));
    return difference;
  });
}

/**
 * a b, element by element, as `add`.
 *
 * @param a float32 of any shape, which is the result's
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.multiply(heed.tensor([3, 4]), heed.tensor([2])).toArray()); // prints: [ 6, 8 ]
 * ```
 */
export function multiply(engine: Engine, a: Tensor, b: Tensor | number): Tensor {
  checkTerm(b);
  if (typeof b === "number") {
    const args = [engine.handle("a", a), b];
    const scaled = engine.apply(engine.module.scale, args, { x: "a" });
    recording()?.record("multiply", { a }, [scaled], ([d]) => ({
      a: d && engine.scaled(d, b),
    }));
    return scaled;
  }
  const times = (x: Tensor, y: Tensor) => binary(engine, engine.module.multiply, x, y);
  const result = times(a, b);
  recording()?.record("multiply", { a, b }, [result], ([d], needs) => ({
    a: d && needs("a") ? times(d, b) : undefined,
    b: d && needs("b") ? sumTo(engine, times(d, a), b.shape) : undefined,
  }));
  return result;
}

/**
 * a / b, element by element, as `add`.
 *
 * @param a float32 of any shape, which is the result's
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.divide(heed.tensor([3, 4]), 2).toArray()); // prints: [ 1.5, 2 ]
 * ```
 */
export function divide(engine: Engine, a: Tensor, b: Tensor | number): Tensor {
  return withTensor(engine, b, (b) => {
    const { divide, multiply } = engine.module;
    const ratio = binary(engine, divide, a, b);
    recording()?.record("divide", { a, b }, [ratio], ([d], needs) => {
      if (!d) return {};
      const forA = binary(engine, divide, d, b);
      if (!needs("b")) return { a: forA };
      // d(a / b) / db = -(a / b) / b
      const forB = binary(engine, multiply, forA, ratio);
      return { a: forA, b: sumTo(engine, engine.scaled(forB, -1), b.shape) };
    });
    return ratio;
  });
}

// Not recorded.

function binary(engine: Engine, operation: Operation, a: Tensor, b: Tensor): Tensor {
  return engine.apply(operation, [engine.handle("a", a), engine.handle("b", b)]);
}

/** Runs with b as a tensor: a number becomes one of rank 0. */
function withTensor(engine: Engine, b: Tensor | number, run: (b: Tensor) => Tensor): Tensor {
  checkTerm(b);
  if (typeof b !== "number") return run(b);
  const scalar = engine.filled([], b);
  try {
    return run(scalar);
  } finally {
    // A running tape may need the scalar for the gradients, and its scope frees it.
    if (!recording()) scalar.dispose();
  }
}

function checkTerm(b: unknown): void {
  if (typeof b === "number") checkArgument("b", b, isNumber);
  else if (!(b instanceof Tensor)) throw refuse("dtype", "b", "a tensor or a number", describe(b));
}
