// Arithmetic, products and rearrangement of tensors: what models need between their layers.

import type { Engine } from "../core/engine.js";
import { describe, refuse } from "../core/error.js";
import { recording, snapshot } from "../core/tape.js";
import { checkShape, Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isListOf,
  isNumber,
  isWholeNumber,
} from "../core/validate.js";

export interface MatmulOptions {
  /** Whether the last two axes of a change places before. */
  transposeA?: boolean;
  transposeB?: boolean;
}

export interface ReduceOptions {
  /** Which axis; a negative one counts from the end. All together by default. */
  axis?: number;
  /** Whether the axis stays, with size 1. */
  keepDims?: boolean;
}

export interface AxisOptions {
  /** A negative one counts from the end; the first axis by default. */
  axis?: number;
}

export interface SliceOptions {
  /** A negative one counts from the end. */
  axis: number;
  start: number;
  length: number;
}

export interface UniformOptions {
  low?: number;
  high?: number;
  seed: number;
}

export interface NormalOptions {
  mean?: number;
  deviation?: number;
  seed: number;
}

const matmulChecks = { transposeA: isBoolean, transposeB: isBoolean } satisfies Record<
  keyof MatmulOptions,
  Check
>;
const isAxis = isWholeNumber(-8, 7);
const reduceChecks = { axis: isAxis, keepDims: isBoolean } satisfies Record<
  keyof ReduceOptions,
  Check
>;
const axisChecks = { axis: isAxis } satisfies Record<keyof AxisOptions, Check>;
const sliceChecks = {
  axis: isAxis,
  start: isWholeNumber(0),
  length: isWholeNumber(0),
} satisfies Record<keyof SliceOptions, Check>;
const uniformChecks = {
  low: isNumber,
  high: isNumber,
  seed: isWholeNumber(0),
} satisfies Record<keyof UniformOptions, Check>;
const normalChecks = {
  mean: isNumber,
  deviation: isNumber,
  seed: isWholeNumber(0),
} satisfies Record<keyof NormalOptions, Check>;

const product = (sizes: readonly number[]) => sizes.reduce((all, size) => all * size, 1);

/** Counted from the first. */
function axisOf(x: Tensor, axis: number): number {
  checkArgument("axis", axis, isAxis);
  const rank = x.shape.length;
  const found = axis < 0 ? axis + rank : axis;
  if (found < 0 || found >= rank)
    throw refuse("option", "axis", `an axis of [${x.shape.join(", ")}]`, String(axis));
  return found;
}

/** The operations on arrays; Heed has them all. */
export class ArrayOperations {
  /** Private to the object, so that nothing prints it with an engine. */
  readonly #engine: Engine;

  /** @internal */
  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** @internal */
  protected get engine(): Engine {
    return this.#engine;
  }

  // ---- Arithmetic

  /** a + b; b, a tensor or a number, broadcasts to the shape of a. */
  add(a: Tensor, b: Tensor | number): Tensor {
    const { engine } = this;
    return this.#withTensor(b, (b) => {
      const sum = engine.add(a, b);
      recording()?.record("add", { a, b }, [sum], ([d], needs) => ({
        a: d,
        b: d && needs("b") ? this.#sumTo(d, b.shape) : undefined,
      }));
      return sum;
    });
  }

  /** a - b, as `add`. */
  subtract(a: Tensor, b: Tensor | number): Tensor {
    const { engine } = this;
    return this.#withTensor(b, (b) => {
      const args = [engine.handle("a", a), engine.handle("b", b)];
      const difference = engine.run(engine.module.subtract, args).tensor();
      recording()?.record("subtract", { a, b }, [difference], ([d], needs) => ({
        a: d,
        b: d && needs("b") ? this.#sumTo(engine.scaled(d, -1), b.shape) : undefined,
      }));
      return difference;
    });
  }

  /** a b, number by number, as `add`. */
  multiply(a: Tensor, b: Tensor | number): Tensor {
    const { engine } = this;
    checkTerm(b);
    if (typeof b === "number") {
      const args = [engine.handle("a", a), b];
      const scaled = engine.run(engine.module.scale, args, { x: "a" }).tensor();
      recording()?.record("multiply", { a }, [scaled], ([d]) => ({
        a: d && engine.scaled(d, b),
      }));
      return scaled;
    }
    const times = (x: Tensor, y: Tensor) =>
      engine.run(engine.module.multiply, [engine.handle("a", x), engine.handle("b", y)]).tensor();
    const result = times(a, b);
    recording()?.record("multiply", { a, b }, [result], ([d], needs) => ({
      a: d && needs("a") ? times(d, b) : undefined,
      b: d && needs("b") ? this.#sumTo(times(d, a), b.shape) : undefined,
    }));
    return result;
  }

  /** a / b, number by number, as `add`. */
  divide(a: Tensor, b: Tensor | number): Tensor {
    const { engine } = this;
    return this.#withTensor(b, (b) => {
      const { module } = engine;
      const by = (x: Tensor, y: Tensor) =>
        engine.run(module.divide, [engine.handle("a", x), engine.handle("b", y)]).tensor();
      const ratio = by(a, b);
      recording()?.record("divide", { a, b }, [ratio], ([d], needs) => {
        if (!d) return {};
        const forA = by(d, b);
        if (!needs("b")) return { a: forA };
        // d(a / b) / db = -(a / b) / b
        const args = [engine.handle("a", forA), engine.handle("b", ratio)];
        const forB = engine.run(module.multiply, args).tensor();
        return { a: forA, b: this.#sumTo(engine.scaled(forB, -1), b.shape) };
      });
      return ratio;
    });
  }

  // ---- Products and sums

  /**
   * The product of matrices, or of batches of them.
   *
   * @param a [..., M, K]
   * @param b [K, N], or [..., K, N] with the same axes before -> [..., M, N]
   */
  matmul(a: Tensor, b: Tensor, options: MatmulOptions = {}): Tensor {
    checkOptions("matmul", options, matmulChecks);
    const { engine } = this;
    const times = (x: Tensor, y: Tensor, transposeA: boolean, transposeB: boolean) =>
      engine
        .run(engine.module.matmul, [
          engine.handle("a", x),
          engine.handle("b", y),
          Number(transposeA),
          Number(transposeB),
        ])
        .tensor();
    const { transposeA = false, transposeB = false } = options;
    const result = times(a, b, transposeA, transposeB);
    recording()?.record("matmul", { a, b }, [result], ([d], needs) => {
      if (!d) return {};
      let forA: Tensor | undefined;
      if (needs("a")) {
        // A matrix b serves every a of a batch.
        forA = transposeA
          ? this.#perBatch(b, d, transposeB, times)
          : times(d, b, false, !transposeB);
      }
      let forB: Tensor | undefined;
      if (needs("b")) {
        const batched = transposeB
          ? times(d, a, true, transposeA)
          : times(a, d, !transposeA, false);
        forB = this.#sumTo(batched, b.shape);
      }
      return { a: forA, b: forB };
    });
    return result;
  }

  /** The sum of all numbers, or along an axis. */
  sum(x: Tensor, options: ReduceOptions = {}): Tensor {
    checkOptions("sum", options, reduceChecks);
    return this.#reduce("sum", x, options, 1);
  }

  /** The mean of all numbers, or along an axis. */
  mean(x: Tensor, options: ReduceOptions = {}): Tensor {
    checkOptions("mean", options, reduceChecks);
    this.engine.handle("x", x);
    const count =
      options.axis === undefined ? x.size : (x.shape[axisOf(x, options.axis)] as number);
    return this.#reduce("mean", x, options, 1 / count);
  }

  /** x repeated to a shape, like numpy, aligned right. */
  broadcastTo(x: Tensor, shape: readonly number[]): Tensor {
    const repeated = this.#broadcastTo(x, shape);
    recording()?.record("broadcastTo", { x }, [repeated], ([d]) => ({
      x: d && this.#sumTo(d, x.shape),
    }));
    return repeated;
  }

  // ---- Rearrangement

  /**
   * The same elements under another shape. It shares memory with x: what is written to one is seen in
   * both.
   *
   * @param shape the sizes; one may be -1 and is worked out
   */
  reshape(x: Tensor, shape: readonly number[]): Tensor {
    const { engine } = this;
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
   * The axes in another order.
   *
   * @param order axis i of the result is axis order[i] of x; by default the last two change places
   */
  transpose(x: Tensor, order?: readonly number[]): Tensor {
    this.engine.handle("x", x);
    const rank = x.shape.length;
    const given = order ?? swapLast(x.shape);
    const isOrder =
      Array.isArray(given) &&
      given.length === rank &&
      x.shape.every((_, axis) => given.includes(axis));
    if (!isOrder)
      throw refuse("option", "order", `each axis of [${x.shape.join(", ")}] once`, describe(order));
    const axes = snapshot(given);
    const turned = this.#transpose(x, axes);
    recording()?.record("transpose", { x }, [turned], ([d]) => {
      const back = axes.map((_, axis) => axes.indexOf(axis));
      return { x: d && this.#transpose(d, back) };
    });
    return turned;
  }

  /** Entries [start, start + length) of an axis. Of the first axis they share memory with x. */
  slice(x: Tensor, options: SliceOptions): Tensor {
    checkOptions("slice", options, sliceChecks);
    for (const name of ["axis", "start", "length"] as const)
      if (options[name] === undefined)
        throw refuse("option", name, sliceChecks[name].expected, "nothing");
    const { engine } = this;
    engine.handle("x", x);
    const axis = axisOf(x, options.axis);
    const { start, length } = options;
    const part = this.#slice(x, axis, start, length);
    recording()?.record("slice", { x }, [part], ([d]) => {
      if (!d) return {};
      const zeros = (size: number) =>
        engine.zeros(x.shape.map((all, i) => (i === axis ? size : all)));
      const around = [zeros(start), zeros((x.shape[axis] as number) - start - length)];
      const whole = this.#concat([around[0] as Tensor, d, around[1] as Tensor], axis);
      for (const part of around) part.dispose();
      return { x: whole };
    });
    return part;
  }

  /**
   * Parts along an axis, the first one by default.
   *
   * @param sizes of the parts, together the axis; or their number, if they are equal
   */
  split(x: Tensor, sizes: readonly number[] | number, options: AxisOptions = {}): Tensor[] {
    checkOptions("split", options, axisChecks);
    this.engine.handle("x", x);
    const along = axisOf(x, options.axis ?? 0);
    const all = x.shape[along] as number;
    const isCount = typeof sizes === "number";
    const most = this.#mostParts;
    const count = isCount ? sizes : Array.isArray(sizes) ? sizes.length : 0;
    if (count > most) throw refuse("option", "sizes", `at most ${most} parts`, String(count));
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
    const parts = list.map((size) => {
      const part = this.#slice(x, along, start, size);
      start += size;
      return part;
    });
    recording()?.record("split", { x }, parts, (gradients) => {
      const zeros: Tensor[] = [];
      const given = gradients.map((d, i) => {
        if (d) return d;
        const zero = this.engine.zeros((parts[i] as Tensor).shape);
        zeros.push(zero);
        return zero;
      });
      const whole = this.#concat(given, along);
      for (const zero of zeros) zero.dispose();
      return { x: whole };
    });
    return parts;
  }

  /** Tensors end to end along an axis, the first one by default. */
  concat(given: readonly Tensor[], options: AxisOptions = {}): Tensor {
    checkOptions("concat", options, axisChecks);
    if (!Array.isArray(given) || given.length === 0)
      throw refuse("option", "parts", "one tensor or more", describe(given));
    const most = this.#mostParts;
    if (given.length > most)
      throw refuse("option", "parts", `at most ${most} tensors`, String(given.length));
    const parts = snapshot(given);
    for (const [i, part] of parts.entries()) this.engine.handle(`parts[${i}]`, part);
    const along = axisOf(parts[0] as Tensor, options.axis ?? 0);
    const whole = this.#concat(parts, along);
    const named = parts.map((part, i) => [`parts[${i}]`, part] as const);
    recording()?.record("concat", Object.fromEntries(named), [whole], ([d], needs) => {
      const gradients: Record<string, Tensor> = {};
      let start = 0;
      for (const [name, part] of named) {
        const size = part.shape[along] as number;
        if (d && needs(name)) gradients[name] = this.#slice(d, along, start, size);
        start += size;
      }
      return gradients;
    });
    return whole;
  }

  /**
   * The largest number of each part of a matrix cut into so many rows and columns of parts, as
   * torch.nn.AdaptiveMaxPool2d cuts it: a large matrix made small, and nothing bright is lost. NaN
   * where a part has one. It has no gradient.
   *
   * @param x [..., H, W] -> [..., rows, columns]
   */
  adaptiveMaxPool(x: Tensor, rows: number, columns: number): Tensor {
    checkArgument("rows", rows, isWholeNumber(1));
    checkArgument("columns", columns, isWholeNumber(1));
    const { engine } = this;
    const args = [engine.handle("x", x), rows, columns];
    const pooled = engine.run(engine.module.adaptiveMaxPool, args).tensor();
    recording()?.cut("adaptiveMaxPool", { x }, [pooled]);
    return pooled;
  }

  // ---- Made of nothing

  /** A float32 tensor of zeros. */
  zeros(shape: readonly number[]): Tensor {
    return this.#filled(shape, 0);
  }

  /** A float32 tensor of ones. */
  ones(shape: readonly number[]): Tensor {
    return this.#filled(shape, 1);
  }

  /** Numbers drawn evenly from [low, high), by default [0, 1). The same seed gives the same. */
  uniform(shape: readonly number[], options: UniformOptions): Tensor {
    checkOptions("uniform", options, uniformChecks);
    const { low = 0, high = 1, seed } = options;
    return this.#random(this.engine.module.randomUniform, shape, low, high, seed);
  }

  /** Normally distributed numbers, by default of mean 0 and deviation 1. */
  normal(shape: readonly number[], options: NormalOptions): Tensor {
    checkOptions("normal", options, normalChecks);
    const { mean = 0, deviation = 1, seed } = options;
    return this.#random(this.engine.module.randomNormal, shape, mean, deviation, seed);
  }

  // ---- The same, not recorded

  /** A call has room for so many tensors, one axis and how many they are. */
  get #mostParts(): number {
    return this.engine.module.numberCount - 2;
  }

  #withTensor(b: Tensor | number, run: (b: Tensor) => Tensor): Tensor {
    checkTerm(b);
    if (typeof b !== "number") return run(b);
    const scalar = this.engine.filled([], b);
    try {
      return run(scalar);
    } finally {
      // A tape that runs may need it on the way back, and its scope frees it.
      if (!recording()) scalar.dispose();
    }
  }

  #sumTo(x: Tensor, shape: readonly number[]): Tensor {
    const { engine } = this;
    if (x.shape.length === shape.length && x.shape.every((size, i) => size === shape[i])) return x;
    return engine
      .run(engine.module.sumTo, [engine.handle("x", x), shape.length, ...shape])
      .tensor();
  }

  #broadcastTo(x: Tensor, shape: readonly number[]): Tensor {
    const { engine } = this;
    checkShape(shape);
    return engine
      .run(engine.module.broadcastTo, [engine.handle("x", x), shape.length, ...shape])
      .tensor();
  }

  #reduce(name: string, x: Tensor, options: ReduceOptions, factor: number): Tensor {
    const { engine } = this;
    engine.handle("x", x);
    const { axis, keepDims = false } = options;
    const along = axis === undefined ? undefined : axisOf(x, axis);
    const kept = x.shape.map((size, i) => (along === undefined || i === along ? 1 : size));
    const shape = keepDims ? kept : x.shape.filter((_, i) => along !== undefined && i !== along);
    const sum = this.#sumTo(x, kept);
    // Nothing to add up: the result is still a tensor of its own.
    const scaled = factor === 1 && sum !== x ? sum : engine.scaled(sum, factor);
    const result = engine.alias(scaled, shape);
    for (const tensor of new Set([sum, scaled])) if (tensor !== x) tensor.dispose();
    recording()?.record(name, { x }, [result], ([d]) => {
      if (!d) return {};
      const thin = engine.alias(d, kept);
      const wide = this.#broadcastTo(thin, x.shape);
      thin.dispose();
      if (factor === 1) return { x: wide };
      const share = engine.scaled(wide, factor);
      wide.dispose();
      return { x: share };
    });
    return result;
  }

  /** b d^T for a of a batch [..., K, M] whose b is one matrix, or one for each. */
  #perBatch(
    b: Tensor,
    d: Tensor,
    transposeB: boolean,
    times: (x: Tensor, y: Tensor, transposeX: boolean, transposeY: boolean) => Tensor,
  ): Tensor {
    if (b.shape.length === d.shape.length) return times(b, d, transposeB, true);
    const each = this.#broadcastTo(b, [...d.shape.slice(0, -2), ...b.shape]);
    const result = times(each, d, transposeB, true);
    each.dispose();
    return result;
  }

  #transpose(x: Tensor, order: readonly number[]): Tensor {
    const { engine } = this;
    return engine
      .run(engine.module.transpose, [engine.handle("x", x), order.length, ...order])
      .tensor();
  }

  #slice(x: Tensor, axis: number, start: number, length: number): Tensor {
    const { engine } = this;
    const all = x.shape[axis] as number;
    if (x.shape.slice(0, axis).every((size) => size === 1) && start + length <= all) {
      const shape = x.shape.map((size, i) => (i === axis ? length : size));
      return engine.alias(x, shape, start * product(x.shape.slice(axis + 1)));
    }
    return engine.run(engine.module.slice, [engine.handle("x", x), axis, start, length]).tensor();
  }

  #concat(parts: readonly Tensor[], axis: number): Tensor {
    const { engine } = this;
    const handles = parts.map((part, i) => engine.handle(`parts[${i}]`, part));
    return engine.run(engine.module.concat, [handles.length, ...handles, axis]).tensor();
  }

  #filled(shape: readonly number[], value: number): Tensor {
    this.engine.border.checkAlive();
    checkShape(shape);
    return this.engine.filled(shape, value);
  }

  #random(
    operation: Engine["module"]["randomUniform"],
    shape: readonly number[],
    first: number,
    second: number,
    seed: number | undefined,
  ): Tensor {
    checkShape(shape);
    checkArgument("seed", seed, isWholeNumber(0));
    return this.engine
      .run(operation, [shape.length, ...shape, first, second, seed as number])
      .tensor();
  }
}

function checkTerm(b: unknown): void {
  if (typeof b === "number") checkArgument("b", b, isNumber);
  else if (!(b instanceof Tensor)) throw refuse("dtype", "b", "a tensor or a number", describe(b));
}

function swapLast(shape: readonly number[]): number[] {
  const rank = shape.length;
  if (rank < 2) throw refuse("shape", "x", "rank 2 or more", `[${shape.join(", ")}]`);
  const order = Array.from({ length: rank }, (_, axis) => axis);
  return [...order.slice(0, -2), rank - 1, rank - 2];
}
