/// <reference lib="esnext.disposable" preserve="true" />

import type { Border } from "./border.js";
import type { Engine } from "./engine.js";
import { describe, HeedError, refuse } from "./error.js";
import type { Handle } from "./module.js";

export type DType = "float32" | "int32" | "bool" | "float16" | "bfloat16";

/** The elements of a tensor; a bool is a byte, 0 or 1; float16 and bfloat16 are seen as their bits. */
export type TensorData = Float32Array | Int32Array | Uint8Array | Uint16Array;

export type NestedArray<T> = readonly (T | NestedArray<T>)[];

/** What a tensor can be made from. */
export type TensorSource =
  | Float32Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | NestedArray<number>
  | NestedArray<boolean>
  | number
  | boolean;

/** What toArray() gives: arrays in arrays, one level an axis; a scalar for rank 0. */
export type NestedValues = number | boolean | NestedValues[];

/** Browsers that lack `using` lack the symbol too. */
export const disposeSymbol: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");

/**
 * A dense row-major array in the engine's memory. It is freed by `dispose()`, by `using`, or by the
 * `heed.scope` it was made in.
 */
export class Tensor implements Disposable {
  readonly dtype: DType;
  /** @internal Where it lives. */
  readonly engine: Engine;
  /** 0 once it is disposed of. */
  #handle: Handle;
  /** Of the elements. */
  readonly #address: number;
  readonly #shape: number[];

  /** @internal Made from a result of the operation that ran last. */
  constructor(engine: Engine, handle: Handle) {
    const { border } = engine;
    this.engine = engine;
    this.#handle = handle;
    this.#address = border.next();
    this.dtype = dtypes[border.next()] as DType;
    this.#shape = new Array(border.next());
    for (let axis = 0; axis < this.#shape.length; ++axis) this.#shape[axis] = border.next();
    border.watch(this);
  }

  get shape(): readonly number[] {
    return Object.freeze(this.#shape);
  }

  get isDisposed(): boolean {
    return this.#handle === 0;
  }

  /** The number of elements. */
  get size(): number {
    return this.shape.reduce((product, size) => product * size, 1);
  }

  /**
   * The elements, as a view of the engine's memory. Use it at once: the next operation may grow the
   * memory, which makes views stale. `slice()` makes a copy that lasts.
   */
  get data(): TensorData {
    this.handle("tensor", this.engine.border);
    return new arrays[this.dtype](this.engine.border.buffer, this.#address, this.size);
  }

  /** A copy of the elements, as arrays in arrays. */
  toArray(): NestedValues {
    const data = this.data;
    const shape = this.shape;
    let next = 0;
    const build = (axis: number): NestedValues => {
      if (axis < shape.length)
        return Array.from({ length: shape[axis] ?? 0 }, () => build(axis + 1));
      const value = data[next++] as number;
      if (this.dtype === "bool") return value !== 0;
      return this.dtype === "float16" || this.dtype === "bfloat16"
        ? fromBits(value, this.dtype)
        : value;
    };
    return build(0);
  }

  /** Frees the memory. Doing so again does nothing. */
  dispose(): void {
    if (this.#handle === 0) return;
    this.engine.border.unwatch(this);
    this.engine.border.module.deleteTensor(this.#handle);
    this.#handle = 0;
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** @internal For the operations of this library: the C++ object, if it is alive and of that engine. */
  handle(argument: string, border: Border): Handle {
    if (this.engine.border.isDisposed) {
      throw new HeedError("disposed", "engine: expected a live engine, got a disposed one");
    }
    if (this.#handle === 0) {
      throw new HeedError("disposed", `${argument}: expected a live tensor, got a disposed one`);
    }
    if (this.engine.border !== border) {
      throw new HeedError(
        "option",
        `${argument}: expected a tensor of this engine, got one of another`,
      );
    }
    return this.#handle;
  }
}

/** In the order of C++'s DType. */
const dtypes = ["float32", "int32", "bool", "float16", "bfloat16"] as const;

/** Types that JavaScript has no arrays for are seen as their bits. */
const arrays: Record<
  DType,
  new (
    memory: ArrayBufferLike,
    address: number,
    elements: number,
  ) => TensorData
> = {
  float32: Float32Array,
  int32: Int32Array,
  bool: Uint8Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
};

/** The number that 16 bits stand for. */
function fromBits(bits: number, dtype: "float16" | "bfloat16"): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const fractionBits = dtype === "float16" ? 10 : 7;
  const bias = dtype === "float16" ? 15 : 127;
  const exponent = (bits & 0x7fff) >> fractionBits;
  const fraction = (bits & ((1 << fractionBits) - 1)) / (1 << fractionBits);
  if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Infinity : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - bias);
  return sign * (1 + fraction) * 2 ** (exponent - bias);
}

/** @internal */
export function checkShape(shape: unknown): asserts shape is readonly number[] {
  const fits =
    Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size) && size >= 0);
  if (!fits)
    throw refuse("shape", "shape", "a list of whole numbers of 0 or more", describe(shape));
  // C++ refuses it too, but not more numbers than a call has room for.
  if (shape.length > 8) throw refuse("shape", "shape", "at most 8 axes", String(shape.length));
}

/** The sizes of arrays in arrays, measured along the first elements. */
function measure(data: unknown): number[] {
  const shape: number[] = [];
  for (let inner = data; Array.isArray(inner); inner = inner[0]) shape.push(inner.length);
  return shape;
}

/** Arrays in arrays, end to end. Refuses ragged ones. */
function flatten(data: unknown, shape: readonly number[]): unknown[] {
  const flat: unknown[] = [];
  const visit = (part: unknown, axis: number): void => {
    const isArray = Array.isArray(part);
    if (axis === shape.length && !isArray) {
      flat.push(part);
    } else if (isArray && axis < shape.length && part.length === shape[axis]) {
      for (const inner of part) visit(inner, axis + 1);
    } else {
      const expected = axis === shape.length ? "a number" : `a list of ${shape[axis]}`;
      const got = isArray ? `a list of ${part.length}` : "a single value";
      throw new HeedError("shape", `data: expected ${expected} at depth ${axis}, got ${got}`);
    }
  };
  visit(data, 0);
  return flat;
}

function typedDType(data: unknown): DType | undefined {
  if (data instanceof Float32Array) return "float32";
  if (data instanceof Int32Array) return "int32";
  if (data instanceof Uint8Array) return "bool";
  return data instanceof Uint16Array ? "float16" : undefined;
}

function checkElements(elements: readonly unknown[] | TensorData, dtype: DType): void {
  const fits: Record<DType, (value: unknown) => boolean> = {
    float32: (value) => typeof value === "number",
    int32: (value) => Number.isInteger(value) && (value as number) === ((value as number) | 0),
    bool: (value) => typeof value === "boolean" || value === 0 || value === 1,
    float16: (value) => typeof value === "number",
    bfloat16: (value) => typeof value === "number",
  };
  const expected = {
    float32: "numbers",
    int32: "whole numbers of 32 bits",
    bool: "true or false",
    float16: "numbers",
    bfloat16: "numbers",
  };
  for (let i = 0; i < elements.length; ++i) {
    if (!fits[dtype](elements[i]))
      throw refuse("dtype", `data[${i}]`, expected[dtype], describe(elements[i]));
  }
}

/** @internal Copies values into the engine's memory. Exposed as `heed.tensor`, where the rules are told. */
export function createTensor(
  engine: Engine,
  data: TensorSource,
  givenShape: readonly number[] | undefined,
  givenDType: DType | undefined,
): Tensor {
  if (givenShape !== undefined) checkShape(givenShape);
  const typed = typedDType(data);
  if (typed === undefined && ArrayBuffer.isView(data)) {
    throw refuse(
      "dtype",
      "data",
      "a Float32Array, Int32Array, Uint8Array, Uint16Array or lists of numbers",
      describe(data),
    );
  }
  if (givenDType !== undefined && !dtypes.includes(givenDType)) {
    throw refuse(
      "option",
      "dtype",
      '"float32", "int32", "bool", "float16" or "bfloat16"',
      describe(givenDType),
    );
  }
  if (data instanceof Uint16Array && givenDType !== undefined && !givenDType.endsWith("float16")) {
    throw refuse(
      "dtype",
      "dtype",
      '"float16" or "bfloat16" for the bits of a Uint16Array',
      describe(givenDType),
    );
  }

  const nested = typed === undefined ? measure(data) : undefined;
  const elements = nested === undefined ? (data as TensorData) : flatten(data, nested);
  const dtype = givenDType ?? typed ?? (typeof elements[0] === "boolean" ? "bool" : "float32");
  const isHalf = dtype === "float16" || dtype === "bfloat16";
  const isBits = isHalf && data instanceof Uint16Array;
  // A typed array of the same type needs no look at its elements, unless they are bytes for bools.
  if (!isBits && (typed !== dtype || dtype === "bool")) checkElements(elements, dtype);

  const shape = givenShape ?? nested ?? [elements.length];
  const size = shape.reduce((product, axis) => product * axis, 1);
  if (size !== elements.length) {
    throw refuse(
      "shape",
      "data",
      `${size} elements for shape [${shape.join(", ")}]`,
      String(elements.length),
    );
  }
  const stored = isHalf && !isBits ? "float32" : dtype;
  const { border, module } = engine;
  border.run(module.newTensor, [module.DType[stored].value, shape.length, ...shape]);
  const tensor = new Tensor(engine, border.next());
  tensor.data.set(elements as ArrayLike<number>);
  return tensor;
}
