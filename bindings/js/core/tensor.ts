import type { Kind } from "./border.js";
import { dtypes, mostAxes } from "./constants.js";
import { isInstance, isMarked } from "./copies.js";
import type { Engine } from "./engine.js";
import { describe, HeedError, refuse } from "./error.js";
import type { Handle } from "./module.js";
import { Owned } from "./owned.js";
import { showElements } from "./showElements.js";
import type { Check } from "./validate.js";

/** The type of a tensor's elements. float16 and bfloat16 are types to store; operations compute in float32. */
export type DType = (typeof dtypes)[number];

/** The elements of a tensor; a bool is a byte, 0 or 1; float16 and bfloat16 are given as their bits. */
export type TensorData = Float32Array | Int32Array | Uint8Array | Uint16Array;

/** Arrays in arrays, to any depth; all rows of a level have the same length. */
export type NestedArray<T> = readonly (T | NestedArray<T>)[];

/** Data from which a tensor can be made. */
export type TensorSource =
  | Float32Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | NestedArray<number>
  | NestedArray<boolean>
  | number
  | boolean;

/** The result of toArray(): nested arrays, one level per axis; a scalar for rank 0. */
export type NestedValues = number | boolean | NestedValues[];

/**
 * A dense row-major array in the engine's memory.
 *
 * @example
 * ```ts
 * using x = heed.tensor([[1, 2], [3, 4]]);
 * console.log(x.shape, x.dtype, x.toArray()); // prints: [ 2, 2 ] float32 [ [ 1, 2 ], [ 3, 4 ] ]
 * ```
 */
export class Tensor extends Owned {
  /** The type of the elements. */
  readonly dtype: DType;
  /** Address of the elements. */
  readonly #address: number;
  readonly #shape: number[];

  /** @internal Made from a result of the last operation. */
  constructor(engine: Engine, handle: Handle) {
    super(engine, handle);
    const { border } = engine;
    this.#address = border.next();
    this.dtype = dtypes[border.next()] as DType;
    this.#shape = new Array(border.next());
    for (let axis = 0; axis < this.#shape.length; ++axis) this.#shape[axis] = border.next();
  }

  /**
   * Whether a value has a private field of this copy's class. This is the fastest test for a
   * tensor, and slow for any other object.
   */
  static override readonly [Symbol.hasInstance] = (value: unknown): boolean =>
    isMarked(value) && (#address in value || isInstance.call(Tensor, value));

  /** @internal */
  get kind(): Kind {
    return "tensor";
  }

  override get [Symbol.toStringTag](): string {
    return "Tensor";
  }

  /** The sizes, outermost first; [] for a scalar. */
  get shape(): readonly number[] {
    return Object.freeze(this.#shape);
  }

  /** The number of elements. */
  get size(): number {
    return this.shape.reduce((product, size) => product * size, 1);
  }

  /**
   * The elements, as a view of the engine's memory. Use the view before the next operation, which
   * may grow the memory and so invalidate views. `slice()` makes a permanent copy.
   */
  get data(): TensorData {
    this.handle("tensor", this.engine.border);
    return new arrays[this.dtype](this.engine.border.buffer, this.#address, this.size);
  }

  /** A copy of the elements, as nested arrays. */
  toArray(): NestedValues {
    const data = this.data;
    const shape = this.shape;
    // A tensor without elements may still have many empty lists.
    let [count, inAxis] = [0, 1];
    for (const size of shape) {
      inAxis *= size;
      count += inAxis;
    }
    const most = 2 ** 27;
    if (count > most) {
      const expected = `at most ${most} lists and numbers`;
      throw refuse("memory", "tensor", expected, String(count));
    }
    let next = 0;
    const build = (axis: number): NestedValues =>
      axis < shape.length
        ? Array.from({ length: shape[axis] ?? 0 }, () => build(axis + 1))
        : elementOf(data[next++] as number, this.dtype);
    return build(0);
  }

  /**
   * The value of a tensor with one element, of any rank.
   *
   * @throws HeedError "shape" for more or fewer elements, "disposed"
   */
  item(): number | boolean {
    const { data } = this;
    if (data.length !== 1) throw refuse("shape", "tensor", "one element", describe(this.shape));
    return elementOf(data[0] as number, this.dtype);
  }

  /**
   * Its type, shape and elements for JSON, in which NaN and infinities are null. The data of a disposed
   * tensor is null.
   */
  toJSON(): { dtype: DType; shape: readonly number[]; data: NestedValues | null } {
    const { dtype, shape } = this;
    return { dtype, shape, data: this.isDisposed ? null : this.toArray() };
  }

  /** Its type, shape and elements; with more than 100 elements, only the first and last of each axis. */
  override toString(): string {
    const head = super.toString();
    if (this.isDisposed) return head;
    const { data, shape, dtype } = this;
    const body = showElements(shape, (index) => elementOf(data[index] as number, dtype));
    return `${head}${body.includes("\n") ? "\n" : " "}${body}`;
  }

  protected traits(): string[] {
    return [this.dtype, describe(this.shape)];
  }
}

/** Types without a JavaScript array are given as their bits. */
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

/** The value of an element, from its number in memory. */
function elementOf(stored: number, dtype: DType): number | boolean {
  if (dtype === "bool") return stored !== 0;
  return dtype === "float16" || dtype === "bfloat16" ? fromBits(stored, dtype) : stored;
}

/** The value of the 16 bits of a number. */
export function fromBits(bits: number, dtype: "float16" | "bfloat16"): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const fractionBits = dtype === "float16" ? 10 : 7;
  const bias = dtype === "float16" ? 15 : 127;
  const exponent = (bits & 0x7fff) >> fractionBits;
  const fraction = (bits & ((1 << fractionBits) - 1)) / (1 << fractionBits);
  if (exponent === 2 * bias + 1) return fraction === 0 ? sign * Infinity : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - bias);
  return sign * (1 + fraction) * 2 ** (exponent - bias);
}

function isShape(shape: unknown): shape is readonly number[] {
  // `every` would skip the holes of a list.
  const isWrong = (size: unknown) => !Number.isSafeInteger(size) || (size as number) < 0;
  try {
    return Array.isArray(shape) && shape.findIndex(isWrong) === -1;
  } catch {
    return false; // a size that cannot be read
  }
}

/** @internal */
export function checkShape(shape: unknown): asserts shape is readonly number[] {
  if (!isShape(shape))
    throw refuse("shape", "shape", "a list of whole numbers of 0 or more", describe(shape));
  // C++ checks this too, but a call has room for a limited number of arguments.
  if (shape.length > mostAxes)
    throw refuse("shape", "shape", `at most ${mostAxes} axes`, String(shape.length));
}

/** The sizes of nested arrays, measured along the first elements, and the first number. */
function measure(data: unknown): { shape: number[]; first: unknown } {
  const shape: number[] = [];
  let first = data;
  for (; Array.isArray(first); first = first[0]) {
    // A list may contain itself.
    if (shape.length === mostAxes)
      throw refuse("shape", "data", `lists in at most ${mostAxes} levels`, "more levels");
    shape.push(first.length);
  }
  return { shape, first };
}

/** The elements of nested arrays, in order. Throws if the arrays are ragged or an element does not fit. */
function flatten(data: unknown, shape: readonly number[], dtype: DType): unknown[] {
  const flat: unknown[] = [];
  const visit = (part: unknown, axis: number): void => {
    const isArray = Array.isArray(part);
    if (axis === shape.length && !isArray) {
      // Checked before it is stored: a list with only holes may be longer than the memory.
      checkElement(part, flat.length, dtype);
      flat.push(part);
    } else if (isArray && axis < shape.length && part.length === shape[axis]) {
      for (const inner of part) visit(inner, axis + 1);
    } else {
      const expected = axis === shape.length ? "a number" : `a list of ${shape[axis]}`;
      const got = isArray ? `a list of ${part.length}` : "a single value";
      throw refuse("shape", "data", `${expected} at depth ${axis}`, got);
    }
  };
  visit(data, 0);
  return flat;
}

/** The result of reading lists: an entry may throw, as a getter does. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof HeedError) throw error;
    const expected = "lists whose entries can be read";
    throw refuse("dtype", "data", expected, "an exception", { cause: error });
  }
}

/** The element type of a typed array; bytes may be bools, and 16 bits a floating type. */
function typedDType(data: unknown): DType | undefined {
  if (!ArrayBuffer.isView(data)) return undefined;
  if (data instanceof Float32Array) return "float32";
  if (data instanceof Int32Array) return "int32";
  if (data instanceof Uint8Array) return "bool";
  return data instanceof Uint16Array ? "float16" : undefined;
}

const isANumber: Check = {
  expected: "numbers",
  accepts: (value) => typeof value === "number",
};

const elementChecks: Readonly<Record<DType, Check>> = {
  float32: isANumber,
  int32: {
    expected: "whole numbers of 32 bits",
    accepts: (value) => Number.isInteger(value) && (value as number) === ((value as number) | 0),
  },
  bool: {
    expected: "true or false",
    accepts: (value) => typeof value === "boolean" || value === 0 || value === 1,
  },
  float16: isANumber,
  bfloat16: isANumber,
};

function checkElement(value: unknown, place: number, dtype: DType): void {
  const { expected, accepts } = elementChecks[dtype];
  if (!accepts(value)) throw refuse("dtype", `data[${place}]`, expected, describe(value));
}

/** Throws for an array whose buffer was transferred, or became too short for it. */
export function checkAttached(argument: string, data: ArrayBufferView): void {
  try {
    (data as Uint8Array).keys();
  } catch {
    throw refuse("option", argument, "an array with a buffer", "one whose buffer is detached");
  }
}

/** @internal Copies values into the engine's memory. `heed.tensor` documents the rules. */
export function createTensor(
  engine: Engine,
  data: TensorSource,
  givenShape: readonly number[] | undefined,
  givenDType: DType | undefined,
): Tensor {
  if (givenShape !== undefined) checkShape(givenShape);
  const typed = typedDType(data);
  if (typed === undefined && ArrayBuffer.isView(data)) {
    const expected = "a Float32Array, Int32Array, Uint8Array, Uint16Array or lists of numbers";
    throw refuse("dtype", "data", expected, describe(data));
  }
  if (givenDType !== undefined && !dtypes.includes(givenDType)) {
    const expected = '"float32", "int32", "bool", "float16" or "bfloat16"';
    throw refuse("option", "dtype", expected, describe(givenDType));
  }
  if (ArrayBuffer.isView(data)) checkAttached("data", data);
  const isBytes = ArrayBuffer.isView(data) && data instanceof Uint8Array;
  const is16Bits = ArrayBuffer.isView(data) && data instanceof Uint16Array;
  if (is16Bits && !givenDType?.endsWith("float16")) {
    const expected = '"float16" or "bfloat16" for the bits of a Uint16Array';
    throw refuse("dtype", "dtype", expected, describe(givenDType));
  }

  if (isBytes && givenDType === undefined) {
    const expected = 'a type for the bytes of a Uint8Array, such as "bool" or "float32"';
    throw refuse("dtype", "dtype", expected, "undefined");
  }

  const nested = typed === undefined ? readable(() => measure(data)) : undefined;
  const dtype = givenDType ?? typed ?? (typeof nested?.first === "boolean" ? "bool" : "float32");
  const elements = nested
    ? readable(() => flatten(data, nested.shape, dtype))
    : (data as TensorData);
  const isHalf = dtype === "float16" || dtype === "bfloat16";
  const isBits = isHalf && is16Bits;
  // The elements of a typed array of the same type need no check, except bytes for bools.
  if (typed !== undefined && !isBits && (typed !== dtype || dtype === "bool"))
    for (let i = 0; i < elements.length; ++i) checkElement(elements[i], i, dtype);

  const shape = givenShape ?? nested?.shape ?? [elements.length];
  const size = shape.reduce((product, axis) => product * axis, 1);
  if (size !== elements.length) {
    const expected = `${size} elements for shape [${shape.join(", ")}]`;
    throw refuse("shape", "data", expected, String(elements.length));
  }
  const stored = isHalf && !isBits ? "float32" : dtype;
  const { border, module } = engine;
  border.run(module.newTensor, [dtypes.indexOf(stored), shape.length, ...shape]);
  const tensor = new Tensor(engine, border.next());
  tensor.data.set(elements as ArrayLike<number>);
  return tensor;
}
