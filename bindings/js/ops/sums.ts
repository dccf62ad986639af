// Sums, means and cumulative sums, and their counterpart: repeating elements to a larger shape.

import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import { checkShape, type Tensor } from "../core/tensor.js";
import { axisOf, type Check, checkOptions, isAxis, isBoolean } from "../core/validate.js";

/** Options of `sum` and `mean`. */
export interface ReduceOptions {
  /** The axis; a negative one counts from the end. All elements by default. */
  axis?: number;
  /** Whether to keep the axis, with size 1. */
  keepDims?: boolean;
}

/** Options of `cumsum`. */
export interface CumsumOptions {
  /** The axis; a negative one counts from the end. */
  axis: number;
  /** Whether to add from the last entry on. */
  reverse?: boolean;
}

const checks = { axis: isAxis, keepDims: isBoolean } satisfies Record<keyof ReduceOptions, Check>;
const cumsumChecks = { axis: isAxis, reverse: isBoolean } satisfies Record<
  keyof CumsumOptions,
  Check
>;

/**
 * The sum of all numbers, or along an axis.
 *
 * @param x float32 of any shape; added in double precision
 * @returns one number of shape [], or the shape of x without the axis
 * @throws HeedError "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const x = heed.tensor([[1, 2], [3, 4]]);
 * console.log(heed.sum(x).item(), heed.sum(x, { axis: 0 }).toArray()); // prints: 10 [ 4, 6 ]
 * ```
 */
export function sum(engine: Engine, x: Tensor, options: ReduceOptions = {}): Tensor {
  checkOptions("sum", options, checks);
  return reduce(engine, "sum", x, options, 1);
}

/**
 * The mean of all numbers, or along an axis.
 *
 * @param x float32 of any shape; added in double precision
 * @returns one number of shape [], or the shape of x without the axis
 * @throws HeedError "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.mean(heed.tensor([[1, 2], [3, 4]]), { axis: 1, keepDims: true }).toArray()); // prints: [ [ 1.5 ], [ 3.5 ] ]
 * ```
 */
export function mean(engine: Engine, x: Tensor, options: ReduceOptions = {}): Tensor {
  checkOptions("mean", options, checks);
  engine.handle("x", x);
  const count = options.axis === undefined ? x.size : (x.shape[axisOf(x, options.axis)] as number);
  return reduce(engine, "mean", x, options, 1 / count);
}

/**
 * Cumulative sums along an axis: entry i is the sum of the entries up to i, or with `reverse`
 * from i on. Added in double precision.
 *
 * @param x float32 of any shape, which is the result's
 * @throws HeedError "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.cumsum(heed.tensor([1, 2, 3]), { axis: 0 }).toArray()); // prints: [ 1, 3, 6 ]
 * ```
 */
export function cumsum(engine: Engine, x: Tensor, options: CumsumOptions): Tensor {
  checkOptions("cumsum", options, cumsumChecks);
  const handle = engine.handle("x", x);
  const axis = axisOf(x, options.axis);
  const reverse = options.reverse ?? false;
  const { cumsum } = engine.module;
  const sums = engine.apply(cumsum, [handle, axis, Number(reverse)]);
  // x[i] is a term of the sums from i on, so its gradient is the sum of theirs.
  recording()?.record("cumsum", { x }, [sums], ([d]) => ({
    x: d && engine.apply(cumsum, [engine.handle("d", d), axis, Number(!reverse)]),
  }));
  return sums;
}

/**
 * x repeated to a shape, like numpy, aligned right.
 *
 * @param x float32; aligned right with the shape [...], each of its sizes is 1 or the same
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.broadcastTo(heed.tensor([1, 2]), [2, 2]).toArray()); // prints: [ [ 1, 2 ], [ 1, 2 ] ]
 * ```
 */
export function broadcastTo(engine: Engine, x: Tensor, shape: readonly number[]): Tensor {
  const result = repeated(engine, x, shape);
  recording()?.record("broadcastTo", { x }, [result], ([d]) => ({
    x: d && sumTo(engine, d, x.shape),
  }));
  return result;
}

function reduce(
  engine: Engine,
  name: string,
  x: Tensor,
  options: ReduceOptions,
  factor: number,
): Tensor {
  engine.handle("x", x);
  const { axis, keepDims = false } = options;
  const along = axis === undefined ? undefined : axisOf(x, axis);
  const kept = x.shape.map((size, i) => (along === undefined || i === along ? 1 : size));
  const shape = keepDims ? kept : x.shape.filter((_, i) => along !== undefined && i !== along);
  const made = new Set<Tensor>();
  let result: Tensor;
  try {
    const sum = sumTo(engine, x, kept);
    if (sum !== x) made.add(sum);
    // With nothing to add, the result must still be a new tensor.
    const scaled = factor === 1 && sum !== x ? sum : engine.scaled(sum, factor);
    made.add(scaled);
    result = engine.alias(scaled, shape);
  } finally {
    for (const tensor of made) tensor.dispose();
  }
  recording()?.record(name, { x }, [result], ([d]) => {
    if (!d) return {};
    const thin = engine.alias(d, kept);
    const wide = repeated(engine, thin, x.shape);
    thin.dispose();
    if (factor === 1) return { x: wide };
    const share = engine.scaled(wide, factor);
    wide.dispose();
    return { x: share };
  });
  return result;
}

// Not recorded.

/** The sum of x over the axes that broadcasting from `shape` to the shape of x would add or repeat. */
export function sumTo(engine: Engine, x: Tensor, shape: readonly number[]): Tensor {
  if (x.shape.length === shape.length && x.shape.every((size, i) => size === shape[i])) return x;
  return engine.apply(engine.module.sumTo, [engine.handle("x", x), shape.length, ...shape]);
}

/** x broadcast to a shape. */
export function repeated(engine: Engine, x: Tensor, shape: readonly number[]): Tensor {
  checkShape(shape);
  return engine.apply(engine.module.broadcastTo, [engine.handle("x", x), shape.length, ...shape]);
}
