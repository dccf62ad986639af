// Refused calls of heed.tensor and heed.cast.

import { any, type Case, ints, row } from "./case.js";

const detached = () => {
  const data = Float32Array.of(1, 2);
  structuredClone(data.buffer, { transfer: [data.buffer] });
  return data;
};

const cyclic: unknown[] = [];
cyclic.push(cyclic);

export const tensor: Case[] = [
  row("bytes without a type", (h) => h.tensor(any(Uint8Array.of(0, 1))), "dtype", [
    "dtype",
    'a type for the bytes of a Uint8Array, such as "bool" or "float32"',
    "undefined",
  ]),
  row("bits without a type", (h) => h.tensor(any(new Uint16Array(2))), "dtype", [
    "dtype",
    '"float16" or "bfloat16" for the bits of a Uint16Array',
    "undefined",
  ]),
  row("a detached array", (h) => h.tensor(detached(), [2]), "option", [
    "data",
    "an array with a buffer",
    "one whose buffer is detached",
  ]),
  row("a detached array without a shape", (h) => h.tensor(detached()), "option", [
    "data",
    "an array with a buffer",
    "one whose buffer is detached",
  ]),
  row("a list that contains itself", (h) => h.tensor(any(cyclic)), "shape", [
    "data",
    "lists in at most 8 levels",
    "more levels",
  ]),
  row("a list that contains itself later", (h) => h.tensor(any([1, cyclic])), "shape", [
    "data",
    "a number at depth 1",
    "a list of 1",
  ]),
  row("a list that contains itself as a shape", (h) => h.tensor([1], any(cyclic)), "shape", [
    "shape",
    "a list of whole numbers of 0 or more",
    "[[[[[...]]]]]",
  ]),
  row("a list of holes only", (h) => h.tensor(new Array(2 ** 32 - 1)), "dtype", [
    "data[0]",
    "numbers",
    "undefined",
  ]),
  row("toArray of more lists than fit", (h) => h.zeros([2 ** 40, 0]).toArray(), "memory", [
    "tensor",
    "at most 134217728 lists and numbers",
    "1099511627776",
  ]),
  row("a shape of holes", (h) => h.tensor([1], new Array(2)), "shape", [
    "shape",
    "a list of whole numbers of 0 or more",
    "[undefined, undefined]",
  ]),
  row("lists of different lengths", (h) => h.tensor([[1, 2], [3]]), "shape", [
    "data",
    "a list of 2 at depth 1",
    "a list of 1",
  ]),
  row("a number beside a list", (h) => h.tensor([[1], 2]), "shape", [
    "data",
    "a list of 1 at depth 1",
    "a single value",
  ]),
  row("a list beside a number", (h) => h.tensor([1, [2]]), "shape", [
    "data",
    "a number at depth 1",
    "a list of 1",
  ]),
  row("too few elements for the shape", (h) => h.tensor([1, 2, 3], [2, 2]), "shape", [
    "data",
    "4 elements for shape [2, 2]",
    "3",
  ]),
  row("too many elements for the shape", (h) => h.tensor(new Float32Array(5), [2, 2]), "shape", [
    "data",
    "4 elements for shape [2, 2]",
    "5",
  ]),
  row("a negative size", (h) => h.tensor([1], [-1]), "shape", [
    "shape",
    "a list of whole numbers of 0 or more",
    "[-1]",
  ]),
  row("a fraction as a size", (h) => h.tensor([1, 2, 3], [1.5, 2]), "shape", [
    "shape",
    "a list of whole numbers of 0 or more",
    "[1.5, 2]",
  ]),
  row("NaN as a size", (h) => h.tensor([], [Number.NaN]), "shape", [
    "shape",
    "a list of whole numbers of 0 or more",
    "[NaN]",
  ]),
  row("a shape that is not a list", (h) => h.tensor([1], any(1)), "shape", [
    "shape",
    "a list of whole numbers of 0 or more",
    "1",
  ]),
  row("more than 8 axes", (h) => h.tensor([1], [1, 1, 1, 1, 1, 1, 1, 1, 1]), "shape", [
    "shape",
    "at most 8 axes",
    "9",
  ]),
  row("text among numbers", (h) => h.tensor([1, any<number>("2")]), "dtype", [
    "data[1]",
    "numbers",
    '"2"',
  ]),
  row("null among numbers", (h) => h.tensor([any<number>(null)]), "dtype", [
    "data[0]",
    "numbers",
    "null",
  ]),
  row("a hole among numbers", (h) => h.tensor([1, any<number>(undefined)]), "dtype", [
    "data[1]",
    "numbers",
    "undefined",
  ]),
  row("booleans among numbers", (h) => h.tensor(any([1, true])), "dtype", [
    "data[1]",
    "numbers",
    "true",
  ]),
  row("text", (h) => h.tensor(any("1")), "dtype", ["data[0]", "numbers", '"1"']),
  row("a big integer", (h) => h.tensor([any<number>(1n)]), "dtype", ["data[0]", "numbers", "1n"]),
  row("an object", (h) => h.tensor(any({})), "dtype", ["data[0]", "numbers", "an Object"]),
  row("undefined", (h) => h.tensor(any(undefined)), "dtype", ["data[0]", "numbers", "undefined"]),
  row("a Float64Array", (h) => h.tensor(any(new Float64Array(2))), "dtype", [
    "data",
    "a Float32Array, Int32Array, Uint8Array, Uint16Array or lists of numbers",
    "a Float64Array",
  ]),
  row("fractions as int32", (h) => h.tensor(Float32Array.of(1, 2.5), [2], "int32"), "dtype", [
    "data[1]",
    "whole numbers of 32 bits",
    "2.5",
  ]),
  row("numbers beyond 32 bits as int32", (h) => h.tensor([2 ** 31], [1], "int32"), "dtype", [
    "data[0]",
    "whole numbers of 32 bits",
    "2147483648",
  ]),
  row("numbers other than 0 and 1 as bools", (h) => h.tensor([0, 2], [2], "bool"), "dtype", [
    "data[1]",
    "true or false",
    "2",
  ]),
  row("bytes other than 0 and 1", (h) => h.tensor(Uint8Array.of(0, 255), [2], "bool"), "dtype", [
    "data[1]",
    "true or false",
    "255",
  ]),
  row("booleans as float32", (h) => h.tensor([true], [1], "float32"), "dtype", [
    "data[0]",
    "numbers",
    "true",
  ]),
  row("an unknown element type", (h) => h.tensor([1], [1], any("float64")), "option", [
    "dtype",
    '"float32", "int32", "bool", "float16" or "bfloat16"',
    '"float64"',
  ]),

  row(
    "bits of 16-bit floats as float32",
    (h) => h.tensor(new Uint16Array(2), [2], "float32"),
    "dtype",
    ["dtype", '"float16" or "bfloat16" for the bits of a Uint16Array', '"float32"'],
  ),
  row(
    "bits of 16-bit floats as int32",
    (h) => h.tensor(new Uint16Array(2), [2], "int32"),
    "dtype",
    ["dtype", '"float16" or "bfloat16" for the bits of a Uint16Array', '"int32"'],
  ),
  row("text as float16", (h) => h.tensor([any<number>("1")], [1], "float16"), "dtype", [
    "data[0]",
    "numbers",
    '"1"',
  ]),
  row("booleans as bfloat16", (h) => h.tensor([true], [1], "bfloat16"), "dtype", [
    "data[0]",
    "numbers",
    "true",
  ]),
  row("too few 16-bit numbers for the shape", (h) => h.tensor([1, 2], [3], "float16"), "shape", [
    "data",
    "3 elements for shape [3]",
    "2",
  ]),
  row("a cast of whole numbers", (h) => h.cast(ints(h, 1), "float16"), "dtype", [
    "x",
    "float32, float16 or bfloat16",
    "int32",
  ]),
  row("a cast to whole numbers", (h, t) => h.cast(t(1), any("int32")), "option", [
    "dtype",
    '"float32" or "float16" or "bfloat16"',
    '"int32"',
  ]),
  row("a cast of a list", (h) => h.cast(any([1]), "float16"), "dtype", ["x", "a tensor", "[1]"]),
  row("a softmax of 16-bit floats", (h, t) => h.softmax(h.cast(t(2), "float16")), "dtype", [
    "x",
    "float32",
    "float16",
  ]),
];
