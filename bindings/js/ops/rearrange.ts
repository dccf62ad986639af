// The same elements in another shape or order, in parts or joined.

import { numberCount } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { describe, refuse } from "../core/error.js";
import { recording } from "../core/tape.js";
import { checkShape, type Tensor } from "../core/tensor.js";
import {
  axisOf,
  type Check,
  checkOptions,
  isAxis,
  isListOf,
  isReadable,
  isWholeNumber,
} from "../core/validate.js";

/** The axis of `split` and `concat`. */
export interface AxisOptions {
  /** A negative one counts from the end; the first axis by default. */
  axis?: number;
}

/** The part that `slice` takes. */
export interface SliceOptions {
  /** A negative one counts from the end. */
  axis: number;
  /** The first entry. */
  start: number;
  /** The number of entries. */
  length: number;
}

const axisChecks = { axis: isAxis } satisfies Record<keyof AxisOptions, Check>;
const sliceChecks = {
  axis: isAxis,
  start: isWholeNumber(0),
  length: isWholeNumber(0),
} satisfies Record<keyof SliceOptions, Check>;

const product = (sizes: readonly number[]) => sizes.reduce((all, size) => all * size, 1);

/**
 * The same elements with another shape. The result shares memory with x: a write to one changes
 * both.
 *
 * @param shape the sizes; one may be -1 and is computed
 * @param x of any shape and type
 * @throws HeedError "shape", "option", "disposed"
 * @example
 * ```ts
 * console.log(heed.reshape(heed.tensor([1, 2, 3, 4]), [2, 2]).toArray()); // prints: [ [ 1, 2 ], [ 3, 4 ] ]
 * ```
 */
export function reshape(engine: Engine, x: Tensor, shape: readonly number[]): Tensor {
  engine.handle("x", x);
  const isSize = isWholeNumber(-1).accepts;
  if (!isListOf<number>(shape, isSize) || shape.filter((s) => s === -1).length > 1)
    throw refuse("shape", "shape", "a list of sizes, of which one may be -1", describe(shape));
  const rest = product(shape.filter((size) => size !== -1));
  const sizes = shape.map((size) => (size === -1 ? x.size / Math.max(1, rest) : size));
  if (!sizes.every(Number.isInteger) || product(sizes) !== x.size)
    throw refuse("shape", "shape", `sizes for ${x.size} elements`, describe(shape));
  checkShape(sizes);
  const reshaped = engine.alias(x, sizes);
  recording()?.record("reshape", { x }, [reshaped], ([d]) => ({
    x: d && engine.alias(d, x.shape),
  }));
  return reshaped;
}

/**
 * x with its axes in another order.
 *
 * @param order axis i of the result is axis order[i] of x; by default the last two are swapped
 * @param x of any shape and type
 * @throws HeedError "shape" for fewer than two axes without an order, "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.transpose(heed.tensor([[1, 2, 3]])).toArray(), heed.transpose(heed.ones([2, 3, 4]), [2, 0, 1]).shape); // prints: [ [ 1 ], [ 2 ], [ 3 ] ] [ 4, 2, 3 ]
 * ```
 */
export function transpose(engine: Engine, x: Tensor, order?: readonly number[]): Tensor {
  engine.handle("x", x);
  const rank = x.shape.length;
  const given = order ?? swapLast(x.shape);
  const isOrder =
    isListOf<number>(given, (axis) => isWholeNumber(0, rank - 1).accepts(axis)) &&
    given.length === rank &&
    new Set(given).size === rank;
  if (!isOrder)
    throw refuse("option", "order", `each axis of [${x.shape.join(", ")}] once`, describe(order));
  const axes = [...given];
  const turned = permuted(engine, x, axes);
  recording()?.record("transpose", { x }, [turned], ([d]) => {
    const back = axes.map((_, axis) => axes.indexOf(axis));
    return { x: d && permuted(engine, d, back) };
  });
  return turned;
}

/**
 * Entries [start, start + length) of an axis. A slice of the first axis shares memory with x.
 *
 * @param x of any shape and type
 * @throws HeedError "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.slice(heed.tensor([[1, 2, 3], [4, 5, 6]]), { axis: 1, start: 1, length: 2 }).toArray()); // prints: [ [ 2, 3 ], [ 5, 6 ] ]
 * ```
 */
export function slice(engine: Engine, x: Tensor, options: SliceOptions): Tensor {
  checkOptions("slice", options, sliceChecks);
  for (const name of ["axis", "start", "length"] as const)
    if (options[name] === undefined)
      throw refuse("option", name, sliceChecks[name].expected, "nothing");
  engine.handle("x", x);
  const axis = axisOf(x, options.axis);
  const { start, length } = options;
  const part = cutOut(engine, x, axis, start, length);
  recording()?.record("slice", { x }, [part], ([d]) => {
    if (!d) return {};
    const zeros = (size: number) =>
      engine.zeros(x.shape.map((all, i) => (i === axis ? size : all)));
    const around = [zeros(start), zeros((x.shape[axis] as number) - start - length)];
    const whole = joined(engine, [around[0] as Tensor, d, around[1] as Tensor], axis);
    for (const part of around) part.dispose();
    return { x: whole };
  });
  return part;
}

/**
 * Splits x into parts along an axis, the first one by default.
 *
 * @param sizes the sizes of the parts, which add up to the axis; or the number of parts, if they
 *   are equal
 * @param x of any shape and type
 * @throws HeedError "option", "memory", "disposed"
 * @example
 * ```ts
 * const [left, right] = heed.split(heed.tensor([[1, 2, 3]]), [1, 2], { axis: 1 });
 * console.log(left!.toArray(), right!.toArray()); // prints: [ [ 1 ] ] [ [ 2, 3 ] ]
 * ```
 */
export function split(
  engine: Engine,
  x: Tensor,
  sizes: readonly number[] | number,
  options: AxisOptions = {},
): Tensor[] {
  checkOptions("split", options, axisChecks);
  engine.handle("x", x);
  const along = axisOf(x, options.axis ?? 0);
  const all = x.shape[along] as number;
  const isCount = typeof sizes === "number";
  const count = isCount ? sizes : Array.isArray(sizes) ? sizes.length : 0;
  if (count > mostParts)
    throw refuse("option", "sizes", `at most ${mostParts} parts`, String(count));
  const expected = isCount ? `a divisor of ${all}` : `sizes that are ${all} together`;
  const list = isCount
    ? new Array<number>(Number.isInteger(sizes) && sizes > 0 ? sizes : 0).fill(all / sizes)
    : sizes;
  if (
    !isListOf<number>(list, isWholeNumber(0).accepts) ||
    list.reduce((sum, size) => sum + size, 0) !== all
  )
    throw refuse("option", "sizes", expected, describe(sizes));
  let start = 0;
  const parts: Tensor[] = [];
  try {
    for (const size of list) {
      parts.push(cutOut(engine, x, along, start, size));
      start += size;
    }
  } catch (error) {
    // There is no memory for another part.
    for (const part of parts) part.dispose();
    throw error;
  }
  recording()?.record("split", { x }, parts, (gradients) => {
    const zeros: Tensor[] = [];
    const given = gradients.map((d, i) => {
      if (d) return d;
      const zero = engine.zeros((parts[i] as Tensor).shape);
      zeros.push(zero);
      return zero;
    });
    const whole = joined(engine, given, along);
    for (const zero of zeros) zero.dispose();
    return { x: whole };
  });
  return parts;
}

/**
 * Joins tensors end to end along an axis, the first one by default.
 *
 * @param given tensors of one type, of any shape; the shapes may differ only in the axis
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.concat([heed.tensor([[1, 2]]), heed.tensor([[3]])], { axis: 1 }).toArray()); // prints: [ [ 1, 2, 3 ] ]
 * ```
 */
export function concat(
  engine: Engine,
  given: readonly Tensor[],
  options: AxisOptions = {},
): Tensor {
  checkOptions("concat", options, axisChecks);
  const count = Array.isArray(given) ? given.length : 0;
  if (count > mostParts)
    throw refuse("option", "parts", `at most ${mostParts} tensors`, String(count));
  if (count === 0 || !isReadable(given, ...Object.keys(given)))
    throw refuse("option", "parts", "one tensor or more", describe(given));
  const parts = [...given];
  for (const [i, part] of parts.entries()) engine.handle(`parts[${i}]`, part);
  const along = axisOf(parts[0] as Tensor, options.axis ?? 0);
  const whole = joined(engine, parts, along);
  const named = parts.map((part, i) => [`parts[${i}]`, part] as const);
  recording()?.record("concat", Object.fromEntries(named), [whole], ([d], needs) => {
    const gradients: Record<string, Tensor> = {};
    let start = 0;
    for (const [name, part] of named) {
      const size = part.shape[along] as number;
      if (d && needs(name)) gradients[name] = cutOut(engine, d, along, start, size);
      start += size;
    }
    return gradients;
  });
  return whole;
}

/** The number of tensors for which a call has room, in addition to one axis and their number. */
const mostParts = numberCount - 2;

// Not recorded.

function permuted(engine: Engine, x: Tensor, order: readonly number[]): Tensor {
  return engine.apply(engine.module.transpose, [engine.handle("x", x), order.length, ...order]);
}

function cutOut(engine: Engine, x: Tensor, axis: number, start: number, length: number): Tensor {
  const all = x.shape[axis] as number;
  if (x.shape.slice(0, axis).every((size) => size === 1) && start + length <= all) {
    const shape = x.shape.map((size, i) => (i === axis ? length : size));
    return engine.alias(x, shape, start * product(x.shape.slice(axis + 1)));
  }
  return engine.apply(engine.module.slice, [engine.handle("x", x), axis, start, length]);
}

function joined(engine: Engine, parts: readonly Tensor[], axis: number): Tensor {
  const handles = parts.map((part, i) => engine.handle(`parts[${i}]`, part));
  return engine.apply(engine.module.concat, [handles.length, ...handles, axis]);
}

function swapLast(shape: readonly number[]): number[] {
  const rank = shape.length;
  if (rank < 2) throw refuse("shape", "x", "rank 2 or more", `[${shape.join(", ")}]`);
  const order = Array.from({ length: rank }, (_, axis) => axis);
  return [...order.slice(0, -2), rank - 1, rank - 2];
}
