// Refused calls of the smaller operations.

import { any, bools, type Case, disposed, gone, ints, row } from "./case.js";

export const steps: Case[] = [
  row("linear of a scalar", (h, t) => h.linear(h.tensor(1), t(2, 3)), "shape", [
    "x",
    "rank 1 or more",
    "[]",
  ]),
  row("linear with a weight of rank 1", (h, t) => h.linear(t(2, 3), t(3)), "shape", [
    "weight",
    "rank 2",
    "[3]",
  ]),
  row("linear of mismatched sizes", (h, t) => h.linear(t(2, 3), t(3, 2)), "shape", [
    "x",
    "a last axis of 2, as weight [3, 2] has",
    "[2, 3]",
  ]),
  row("linear with a bias of another size", (h, t) => h.linear(t(2, 3), t(4, 3), t(3)), "shape", [
    "bias",
    "[4]",
    "[3]",
  ]),
  row("linear of whole numbers", (h, t) => h.linear(ints(h, 1, 2, 3), t(4, 3)), "dtype", [
    "x",
    "float32",
    "int32",
  ]),
  row("linear with a weight of bools", (h, t) => h.linear(t(2, 3), bools(h, 4, 3)), "dtype", [
    "weight",
    "float32 or float16",
    "bool",
  ]),
  row("linear with a number for options", (h, t) => h.linear(t(3), t(4, 3), any(0)), "option", [
    "options",
    "an object",
    "0",
  ]),
  row(
    "linear with a bias that is not a tensor",
    (h, t) => h.linear(t(3), t(4, 3), { bias: any(0) }),
    "option",
    ["bias", "a tensor", "0"],
  ),
  row(
    "linear with an unknown activation",
    (h, t) => h.linear(t(3), t(4, 3), { activation: any("swish") }),
    "option",
    ["activation", '"relu" or "gelu" or "geluTanh" or "silu" or "tanh" or "sigmoid"', '"swish"'],
  ),
  row(
    "linear with packed weights of another size",
    (h, t) => {
      using packed = h.packWeights(t(4, 3));
      return h.linear(t(2), packed);
    },
    "shape",
    ["x", "a last axis of 3, as weight [4, 3] has", "[2]"],
  ),
  row("packWeights of rank 1", (h, t) => h.packWeights(t(3)), "shape", ["weight", "rank 2", "[3]"]),
  row(
    "packWeights in an unknown format",
    (h, t) => h.packWeights(t(4, 3), { format: any("int2") }),
    "option",
    ["format", '"float32" or "int8" or "int4"', '"int2"'],
  ),
  row("linear with a disposed weight", (h, t) => h.linear(t(3), disposed(h)), "disposed", [
    "weight",
    ...gone,
  ]),
  row("linear with a disposed bias", (h, t) => h.linear(t(3), t(4, 3), disposed(h)), "disposed", [
    "bias",
    ...gone,
  ]),

  row("embedding of floats", (h, t) => h.embedding(t(2), t(3, 4)), "dtype", [
    "ids",
    "int32",
    "float32",
  ]),
  row(
    "embedding of an id beyond the table",
    (h, t) => h.embedding(ints(h, 0, 3), t(3, 4)),
    "option",
    ["ids", "numbers from 0 to below 3", "3"],
  ),
  row("embedding of a negative id", (h, t) => h.embedding(ints(h, -1), t(3, 4)), "option", [
    "ids",
    "numbers from 0 to below 3",
    "-1",
  ]),
  row("embedding in a table of rank 1", (h, t) => h.embedding(ints(h, 0), t(3)), "shape", [
    "weight",
    "rank 2",
    "[3]",
  ]),
  row("embedding in a table of bools", (h) => h.embedding(ints(h, 0), bools(h, 3, 4)), "dtype", [
    "weight",
    "float32 or float16",
    "bool",
  ]),
  row(
    "embedding of ids with 8 axes",
    (h, t) => h.embedding(h.tensor(Int32Array.of(0), [1, 1, 1, 1, 1, 1, 1, 1]), t(3, 4)),
    "shape",
    ["ids", "at most 7 axes", "[1, 1, 1, 1, 1, 1, 1, 1]"],
  ),
  row("embedding of a plain list", (h, t) => h.embedding(any([0]), t(3, 4)), "dtype", [
    "ids",
    "a tensor",
    "[0]",
  ]),
  row("embedding in a disposed table", (h) => h.embedding(ints(h, 0), disposed(h)), "disposed", [
    "weight",
    ...gone,
  ]),

  row("softmax of a scalar", (h) => h.softmax(h.tensor(1)), "shape", ["x", "rank 1 or more", "[]"]),
  row("softmax of bools", (h) => h.softmax(bools(h, 3)), "dtype", ["x", "float32", "bool"]),
  row("softmax of a number", (h) => h.softmax(any(3)), "dtype", ["x", "a tensor", "3"]),
  row("softmax of a disposed tensor", (h) => h.softmax(disposed(h)), "disposed", ["x", ...gone]),

  row("sinusoidalEncoding of a fraction of a row", (h) => h.sinusoidalEncoding(1.5, 4), "option", [
    "length",
    "a whole number of 0 or more",
    "1.5",
  ]),
  row("sinusoidalEncoding of a negative size", (h) => h.sinusoidalEncoding(4, -4), "option", [
    "size",
    "a whole number of 0 or more",
    "-4",
  ]),
  row("sinusoidalEncoding of a string", (h) => h.sinusoidalEncoding(any("4"), 4), "option", [
    "length",
    "a whole number of 0 or more",
    '"4"',
  ]),
  row(
    "sinusoidalEncoding with a base of 0",
    (h) => h.sinusoidalEncoding(4, 4, { base: 0 }),
    "option",
    ["base", "a positive number", "0"],
  ),
  row(
    "sinusoidalEncoding with a base that is NaN",
    (h) => h.sinusoidalEncoding(4, 4, { base: Number.NaN }),
    "option",
    ["base", "a positive number", "NaN"],
  ),
  row(
    "sinusoidalEncoding with a negative offset",
    (h) => h.sinusoidalEncoding(4, 4, { offset: -1 }),
    "option",
    ["offset", "a whole number of 0 or more", "-1"],
  ),
  row(
    "sinusoidalEncoding with an unknown option",
    (h) => h.sinusoidalEncoding(4, 4, any({ start: 1 })),
    "option",
    ["start", "an option of sinusoidalEncoding (base, offset)", "an unknown one"],
  ),

  row("add of shapes that do not broadcast", (h, t) => h.add(t(2, 3), t(2)), "shape", [
    "b",
    "a shape that broadcasts to [2, 3]",
    "[2]",
  ]),
  row("add that would broadcast the first operand", (h, t) => h.add(t(3), t(2, 3)), "shape", [
    "b",
    "a shape that broadcasts to [3]",
    "[2, 3]",
  ]),
  row("add of whole numbers", (h, t) => h.add(t(2), ints(h, 1, 2)), "dtype", [
    "b",
    "float32",
    "int32",
  ]),
  row("add to a number", (h, t) => h.add(any(1), t(2)), "dtype", ["a", "a tensor", "1"]),
  row("add of a disposed tensor", (h, t) => h.add(t(1), disposed(h)), "disposed", ["b", ...gone]),

  row("average of rank 2", (h, t) => h.average(t(3, 4)), "shape", ["x", "rank 3", "[3, 4]"]),
  row(
    "average with a key mask of another shape",
    (h, t) => h.average(t(1, 3, 4), { keyMask: bools(h, 1, 4) }),
    "shape",
    ["keyMask", "[1, 3]", "[1, 4]"],
  ),
  row(
    "average with a key mask of floats",
    (h, t) => h.average(t(1, 3, 4), { keyMask: t(1, 3) }),
    "dtype",
    ["keyMask", "bool", "float32"],
  ),
  row(
    "average with a key mask that is not a tensor",
    (h, t) => h.average(t(1, 3, 4), { keyMask: any([true]) }),
    "option",
    ["keyMask", "a tensor", "[true]"],
  ),
  row(
    "average with an unknown option",
    (h, t) => h.average(t(1, 3, 4), any({ mask: t(1) })),
    "option",
    ["mask", "an option of average (isCausal, keyMask)", "an unknown one"],
  ),
  row("average of a disposed tensor", (h) => h.average(disposed(h)), "disposed", ["x", ...gone]),

  row("selfSimilarity of rank 2", (h, t) => h.selfSimilarity(t(3, 4)), "shape", [
    "x",
    "rank 3",
    "[3, 4]",
  ]),
  row("selfSimilarity of bools", (h) => h.selfSimilarity(bools(h, 1, 3, 4)), "dtype", [
    "x",
    "float32",
    "bool",
  ]),
  row("selfSimilarity of a string", (h) => h.selfSimilarity(any("x")), "dtype", [
    "x",
    "a tensor",
    '"x"',
  ]),
  row("selfSimilarity of a disposed tensor", (h) => h.selfSimilarity(disposed(h)), "disposed", [
    "x",
    ...gone,
  ]),

  row("fromTorchMask of floats", (h, t) => h.fromTorchMask(t(2)), "dtype", [
    "mask",
    "bool",
    "float32",
  ]),
  row("fromTorchMask of a list", (h) => h.fromTorchMask(any([true])), "dtype", [
    "mask",
    "a tensor",
    "[true]",
  ]),
  row("fromTorchMask of a disposed tensor", (h) => h.fromTorchMask(disposed(h)), "disposed", [
    "mask",
    ...gone,
  ]),
];
