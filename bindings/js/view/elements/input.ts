/** Checks the input of an element and converts it to matrices. Every error names the property. */
import { classOf, isMarked } from "../../core/copies.js";
import { describe, HeedError, isObject, refuse } from "../../core/error.js";
import { finished, type Job, pausing } from "../picture/job.js";
import {
  type Extremes,
  type Floats,
  findingRange,
  type Hides,
  type MatrixView,
  tolerance,
  viewOn,
} from "../picture/view.js";

/** A tensor of Heed, or any object with a shape and numbers, in row-major order or as nested lists. */
export interface TensorLike {
  /** The sizes, outermost first. */
  readonly shape: readonly number[];
  /** The type of the numbers: numbers in "float16" and "bfloat16" are read with `toArray`. */
  readonly dtype?: string;
  /** The numbers in row-major order. The numbers of a Heed tensor are copied when the property is set. */
  readonly data?: ArrayLike<number>;
  /** The numbers as nested lists of the tensor's shape. */
  toArray?(): unknown;
}

/** Nested lists, as deep as the shape has sizes; null is a missing number. */
export type NestedNumbers = readonly (number | boolean | null | NestedNumbers)[];

/**
 * Numbers for an element. Nested lists and tensors have their own shape; a typed array needs the
 * property `shape`. A list of tensors has one tensor for each layer.
 */
export type Numbers = ArrayBufferView | NestedNumbers | TensorLike | readonly TensorLike[];

/** The numbers of an array with their shape. */
export interface Shaped {
  /** Undefined for a typed array, until the property `shape` is set. */
  readonly shape: readonly number[] | undefined;
  readonly data: Floats;
}

/** The matrices of all layers and heads; each has `rows` queries and `cols` keys. */
export interface Matrices {
  readonly layers: number;
  readonly heads: number;
  readonly rows: number;
  readonly cols: number;
  /** A matrix, without a copy: every call returns the same object. */
  view(layer: number, head: number): MatrixView;
}

const sizeOf = (shape: readonly number[]) => shape.reduce((size, axis) => size * axis, 1);

const isTensorLike = (value: unknown): value is TensorLike =>
  isObject(value) && "shape" in value && !ArrayBuffer.isView(value);

const isNumbers = (value: unknown): value is ArrayLike<number> & ArrayBufferView =>
  ArrayBuffer.isView(value) && !(value instanceof DataView) && !/^BigU?int/i.test(classOf(value));

/**
 * Converts numbers to floats. An array that has floats already is not copied, but gets a new view:
 * the range is cached for each view, and an array that is set again may have other numbers.
 */
function floats(numbers: ArrayLike<number>): Floats {
  const areFloats = numbers instanceof Float32Array || numbers instanceof Float64Array;
  return areFloats ? numbers.subarray() : Float64Array.from(numbers);
}

/** The shape of nested lists, taken from the first entry of each level. */
function shapeOfLists(value: unknown): number[] {
  const shape: number[] = [];
  for (let list = value; Array.isArray(list) && shape.length < 8; list = list[0])
    shape.push(list.length);
  return shape;
}

function readLists(name: string, lists: unknown): Shaped {
  const shape = shapeOfLists(lists);
  const data = new Float64Array(sizeOf(shape));
  let place = 0;
  const read = (value: unknown, axis: number, path: string): void => {
    if (axis === shape.length) {
      if (value !== null && typeof value !== "number" && typeof value !== "boolean")
        throw refuse("dtype", path, "a number", describe(value));
      data[place++] = value === null ? Number.NaN : Number(value);
      return;
    }
    const count = shape[axis] as number;
    if (!Array.isArray(value) || value.length !== count) {
      const got = Array.isArray(value) ? `${value.length}` : describe(value);
      throw refuse("shape", path, `${count} entries, as in the first list`, got);
    }
    for (let i = 0; i < count; ++i) read(value[i], axis + 1, `${path}[${i}]`);
  };
  read(lists, 0, name);
  return { shape, data };
}

function checkShape(name: string, shape: unknown): asserts shape is readonly number[] {
  const isSize = (size: unknown) => Number.isInteger(size) && (size as number) >= 0;
  if (!Array.isArray(shape) || !shape.every(isSize))
    throw refuse("shape", name, "a list of sizes", describe(shape));
}

function checkCount(name: string, shape: readonly number[], { length }: Floats): void {
  const count = sizeOf(shape);
  if (count !== length)
    throw refuse("shape", name, `${count} numbers for ${describe(shape)}`, `${length}`);
}

/** Numbers of 16 bits are stored as integers, which only their tensor can convert. */
const isHalf = ({ dtype = "" }: TensorLike) => /^b?float16$/.test(dtype);

/** Copies the numbers of a Heed tensor: the engine's memory may move before they are drawn. */
function readTensor(name: string, tensor: TensorLike): Shaped {
  const { shape } = tensor;
  checkShape(`${name}.shape`, shape);
  const own = isHalf(tensor) ? undefined : tensor.data;
  if (own === undefined && typeof tensor.toArray !== "function")
    throw refuse("dtype", name, "an object with data or toArray()", describe(tensor));
  const given = own === undefined ? readLists(name, tensor.toArray?.()).data : floats(own);
  const data = isMarked(tensor) ? given.slice() : given;
  checkCount(name, shape, data);
  return { shape: [...shape], data };
}

/**
 * Reads the numbers of a property: one array, or one array for each layer.
 *
 * @throws HeedError if the values are not numbers, or lists of one level differ in length
 */
export function readNumbers(name: string, value: unknown): readonly Shaped[] {
  try {
    if (isNumbers(value)) return [{ shape: undefined, data: floats(value) }];
    if (isTensorLike(value)) return [readTensor(name, value)];
    if (!Array.isArray(value) || value.length === 0)
      throw refuse("dtype", name, "a typed array, lists of numbers or a tensor", describe(value));
    if (value.some(isTensorLike))
      return value.map((each, i) => {
        if (isTensorLike(each)) return readTensor(`${name}[${i}]`, each);
        throw refuse("dtype", `${name}[${i}]`, "a tensor, as the others are", describe(each));
      });
    return [readLists(name, value)];
  } catch (error) {
    throw asHeedError(error, name);
  }
}

/** Converts any error to an error of this library. */
export function asHeedError(error: unknown, name: string): HeedError {
  if (error instanceof HeedError) return error;
  const words = error instanceof Error ? error.message : describe(error);
  return new HeedError("internal", `${name}: ${words}`, { cause: error });
}

const ranks = "[L, S], [heads, L, S] or [layers, heads, L, S]";

/** The shape of one array, with its axes of layers and heads. */
function axesOf(name: string, { shape, data }: Shaped, given: readonly number[] | null) {
  const whole = given ?? shape;
  if (whole === undefined) throw refuse("shape", "shape", `the sizes of ${name}, ${ranks}`, "none");
  if (whole.length < 2 || whole.length > 4) throw refuse("shape", name, ranks, describe(whole));
  if (whole.includes(0)) throw refuse("shape", name, "sizes of 1 or more", describe(whole));
  checkCount(name, whole, data);
  return [1, 1, ...whole].slice(-4) as [number, number, number, number];
}

/**
 * The matrices in numbers of the shape [L, S], [heads, L, S] or [layers, heads, L, S]. With several
 * arrays, there is one for each layer, [heads, L, S] or [1, heads, L, S].
 *
 * @param given the property `shape`, for numbers without a shape
 * @throws HeedError if the shape does not fit the numbers, or the layers differ in shape
 */
export function matricesOf(
  name: string,
  parts: readonly Shaped[],
  given: readonly number[] | null = null,
): Matrices {
  if (given !== null) checkShape("shape", given);
  const shapes = parts.map((part, i) =>
    axesOf(parts.length === 1 ? name : `${name}[${i}]`, part, parts.length === 1 ? given : null),
  );
  const [[layersOfOne, heads, rows, cols]] = shapes as [(typeof shapes)[0]];
  for (const [i, shape] of shapes.entries()) {
    if (parts.length > 1 && (shape[0] !== 1 || String(shape) !== String(shapes[0])))
      throw refuse("shape", `${name}[${i}]`, describe([heads, rows, cols]), describe(shape));
  }
  const layers = parts.length === 1 ? layersOfOne : parts.length;
  const views = new Map<number, MatrixView>();
  return {
    ...{ layers, heads, rows, cols },
    view(layer, head) {
      const index = layer * heads + head;
      const { data } = parts[parts.length === 1 ? 0 : layer] as Shaped;
      const before = parts.length === 1 ? index : head;
      const view = views.get(index) ?? viewOn(data, rows, cols, before * rows * cols);
      views.set(index, view);
      return view;
    },
  };
}

/**
 * Checks a list of words for a side of a matrix.
 *
 * @param count the required number of words; undefined for any number
 * @throws HeedError if the value is not a list of texts, or has another length
 */
export function wordsOf(name: string, value: unknown, count?: number): readonly string[] {
  if (!Array.isArray(value) || value.some((word) => typeof word !== "string"))
    throw refuse("option", name, "a list of texts", describe(value));
  if (count !== undefined && value.length !== count)
    throw refuse("shape", name, `${count} texts`, `${value.length}`);
  return value;
}

const hidesFuture: Hides = (row, col) => col > row;

/** The forms of a mask: null hides nothing, "causal" hides the keys after the query's own position. */
export type Mask = "causal" | ArrayBufferView | NestedNumbers | TensorLike | null;

/**
 * The hidden cells of a mask [L, S]: the keys where the mask is false or 0, as in `attention` of
 * Heed and in PyTorch. "causal" hides key j from query i if j > i.
 *
 * @returns the same function for the same mask and size, or undefined if it hides nothing
 * @throws HeedError if the mask has another shape
 */
export function hidesOf(
  mask: "causal" | Shaped | null,
  rows: number,
  cols: number,
): Hides | undefined {
  if (mask === null) return undefined;
  if (mask === "causal") return hidesFuture;
  const { shape = [rows, cols], data } = mask;
  if (String(shape) !== String([rows, cols]) || data.length !== rows * cols)
    throw refuse("shape", "mask", describe([rows, cols]), describe(mask.shape ?? [data.length]));
  return (row, col) => data[row * cols + col] === 0;
}

/** Facts about a matrix of weights that its notes report. */
export interface Findings {
  /** The number of entries that are NaN and not hidden; they are drawn as holes. */
  readonly holes: number;
  /** The number of rows whose weights do not add up to 1, and the sum that differs most from 1. */
  readonly rows: number;
  readonly sum: number;
  /** The smallest and the largest finite number that is not hidden; null if there is none. */
  readonly range: Extremes;
}

/** Reads a matrix, for its notes. The job pauses often: see `Slices`. */
export function* findingIn(view: MatrixView): Job<Findings> {
  const { data, rows, cols, offset, rowStride, colStride, hides } = view;
  const isDue = pausing();
  let [holes, uneven, worst] = [0, 0, 1];
  for (let i = 0; i < rows; ++i) {
    let sum = 0;
    let isSeen = false;
    for (let j = 0, p = offset + i * rowStride; j < cols; ++j, p += colStride) {
      const value = data[p] as number;
      if (hides?.(i, j)) continue;
      isSeen = true;
      sum += value;
      if (Number.isNaN(value)) ++holes;
    }
    if (isDue(cols)) yield i / rows;
    // A row without a visible key has no sum. A row with a hole has the sum NaN.
    if (!isSeen || Number.isNaN(sum) || Math.abs(sum - 1) <= tolerance) continue;
    ++uneven;
    if (Math.abs(sum - 1) > Math.abs(worst - 1)) worst = sum;
  }
  return { holes, rows: uneven, sum: worst, range: yield* findingRange(view) };
}

/** The result of `findingIn`, without a pause. */
export function findingsIn(view: MatrixView): Findings {
  return finished(findingIn(view));
}

/** The notes on a matrix: holes, and for weights the rows that do not add up to 1. */
export function notesAbout({ holes, rows, sum }: Findings, areShares: boolean): string[] {
  const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`;
  return [
    ...(holes > 0 ? [`${counted(holes, "number")} missing (NaN): left empty.`] : []),
    ...(areShares && rows > 0
      ? [
          `${counted(rows, "row")} not adding up to 1: one adds up to ${Number(sum.toPrecision(3))}.`,
        ]
      : []),
  ];
}
