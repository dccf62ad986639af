// Refused calls of heed.tensor and heed.cast.

import { any, ints, type Refusals, wrong } from "./case.js";

const detached = () => {
  const data = Float32Array.of(1, 2);
  structuredClone(data.buffer, { transfer: [data.buffer] });
  return data;
};

const cyclic: unknown[] = [];
cyclic.push(cyclic);

const sizes = "a list of whole numbers of 0 or more";
const bits = '"float16" or "bfloat16" for the bits of a Uint16Array';

export const tensor: Refusals = {
  "bytes without a type": [
    (h) => h.tensor(any(Uint8Array.of(0, 1))),
    'dtype: dtype: expected a type for the bytes of a Uint8Array, such as "bool" or "float32", got undefined',
  ],
  "a detached array": [
    (h) => h.tensor(detached(), [2]),
    "option: data: expected an array with a buffer, got one whose buffer is detached",
  ],
  "a detached array without a shape": [
    (h) => h.tensor(detached()),
    "option: data: expected an array with a buffer, got one whose buffer is detached",
  ],
  "a list that contains itself": [
    (h) => h.tensor(any(cyclic)),
    "shape: data: expected lists in at most 8 levels, got more levels",
  ],
  "a list that contains itself later": [
    (h) => h.tensor(any([1, cyclic])),
    "shape: data: expected a number at depth 1, got a list of 1",
  ],
  "a list that contains itself as a shape": [
    (h) => h.tensor([1], any(cyclic)),
    `shape: shape: expected ${sizes}, got [[[[[...]]]]]`,
  ],
  "a list of holes only": [
    (h) => h.tensor(new Array(2 ** 32 - 1)),
    "dtype: data[0]: expected numbers, got undefined",
  ],
  "toArray of more lists than fit": [
    (h) => h.zeros([2 ** 40, 0]).toArray(),
    "memory: tensor: expected at most 134217728 lists and numbers, got 1099511627776",
  ],
  ...wrong(
    "data",
    "shape",
    [["shape", sizes, new Array(2), [-1], [1.5, 2], [Number.NaN], 1]],
    (shape) => (h) => h.tensor([1], any(shape)),
  ),
  "lists of different lengths": [
    (h) => h.tensor([[1, 2], [3]]),
    "shape: data: expected a list of 2 at depth 1, got a list of 1",
  ],
  "a number beside a list": [
    (h) => h.tensor([[1], 2]),
    "shape: data: expected a list of 1 at depth 1, got a single value",
  ],
  "a list beside a number": [
    (h) => h.tensor([1, [2]]),
    "shape: data: expected a number at depth 1, got a list of 1",
  ],
  "too few elements for the shape": [
    (h) => h.tensor([1, 2, 3], [2, 2]),
    "shape: data: expected 4 elements for shape [2, 2], got 3",
  ],
  "too many elements for the shape": [
    (h) => h.tensor(new Float32Array(5), [2, 2]),
    "shape: data: expected 4 elements for shape [2, 2], got 5",
  ],
  "more than 8 axes": [
    (h) => h.tensor([1], [1, 1, 1, 1, 1, 1, 1, 1, 1]),
    "shape: shape: expected at most 8 axes, got 9",
  ],
  "text among numbers": [
    (h) => h.tensor([1, any<number>("2")]),
    'dtype: data[1]: expected numbers, got "2"',
  ],
  "null among numbers": [
    (h) => h.tensor([any<number>(null)]),
    "dtype: data[0]: expected numbers, got null",
  ],
  "a hole among numbers": [
    (h) => h.tensor([1, any<number>(undefined)]),
    "dtype: data[1]: expected numbers, got undefined",
  ],
  "booleans among numbers": [
    (h) => h.tensor(any([1, true])),
    "dtype: data[1]: expected numbers, got true",
  ],
  text: [(h) => h.tensor(any("1")), 'dtype: data[0]: expected numbers, got "1"'],
  "a big integer": [(h) => h.tensor([any<number>(1n)]), "dtype: data[0]: expected numbers, got 1n"],
  "an object": [(h) => h.tensor(any({})), "dtype: data[0]: expected numbers, got an Object"],
  undefined: [(h) => h.tensor(any(undefined)), "dtype: data[0]: expected numbers, got undefined"],
  "a Float64Array": [
    (h) => h.tensor(any(new Float64Array(2))),
    "dtype: data: expected a Float32Array, Int32Array, Uint8Array, Uint16Array or lists of numbers, got a Float64Array",
  ],
  "fractions as int32": [
    (h) => h.tensor(Float32Array.of(1, 2.5), [2], "int32"),
    "dtype: data[1]: expected whole numbers of 32 bits, got 2.5",
  ],
  "numbers beyond 32 bits as int32": [
    (h) => h.tensor([2 ** 31], [1], "int32"),
    "dtype: data[0]: expected whole numbers of 32 bits, got 2147483648",
  ],
  "numbers other than 0 and 1 as bools": [
    (h) => h.tensor([0, 2], [2], "bool"),
    "dtype: data[1]: expected true or false, got 2",
  ],
  "bytes other than 0 and 1": [
    (h) => h.tensor(Uint8Array.of(0, 255), [2], "bool"),
    "dtype: data[1]: expected true or false, got 255",
  ],
  "booleans as float32": [
    (h) => h.tensor([true], [1], "float32"),
    "dtype: data[0]: expected numbers, got true",
  ],
  "an unknown element type": [
    (h) => h.tensor([1], [1], any("float64")),
    'option: dtype: expected "float32", "int32", "bool", "float16" or "bfloat16", got "float64"',
  ],

  ...wrong(
    "bits",
    "dtype",
    [["dtype", bits, undefined, "float32", "int32"]],
    (dtype) => (h) => h.tensor(new Uint16Array(2), [2], any(dtype)),
  ),
  "text as float16": [
    (h) => h.tensor([any<number>("1")], [1], "float16"),
    'dtype: data[0]: expected numbers, got "1"',
  ],
  "booleans as bfloat16": [
    (h) => h.tensor([true], [1], "bfloat16"),
    "dtype: data[0]: expected numbers, got true",
  ],
  "too few 16-bit numbers for the shape": [
    (h) => h.tensor([1, 2], [3], "float16"),
    "shape: data: expected 3 elements for shape [3], got 2",
  ],
  "a cast of whole numbers": [
    (h) => h.cast(ints(h, 1), "float16"),
    "dtype: x: expected float32, float16 or bfloat16, got int32",
  ],
  "a cast to whole numbers": [
    (h, t) => h.cast(t(1), any("int32")),
    'option: dtype: expected "float32" or "float16" or "bfloat16", got "int32"',
  ],
  "a cast of a list": [(h) => h.cast(any([1]), "float16"), "dtype: x: expected a tensor, got [1]"],
  "a softmax of 16-bit floats": [
    (h, t) => h.softmax(h.cast(t(2), "float16")),
    "dtype: x: expected float32, got float16",
  ],
};
