// Refused calls of the operations on arrays, except those in operands.ts.

import type { Heed } from "heed";
import { any, type Case, ints, type Make, row } from "./case.js";

const sizes = "a list of whole numbers of 0 or more";
const axis = "a whole number from -8 to 7";
const count = "a whole number of 0 or more";
const part = "a whole number of 1 or more";
const long = new Array<number>(5000).fill(1);

const shaped: Record<string, (heed: Heed, shape: readonly number[]) => unknown> = {
  zeros: (h, shape) => h.zeros(shape),
  ones: (h, shape) => h.ones(shape),
  uniform: (h, shape) => h.uniform(shape, { seed: 1 }),
  normal: (h, shape) => h.normal(shape, { seed: 1 }),
  broadcastTo: (h, shape) => h.broadcastTo(h.tensor(1), shape),
};

const shapes = Object.entries(shaped).flatMap(([name, call]) => [
  row(`${name} of a number`, (h) => call(h, any(2)), "shape", ["shape", sizes, "2"]),
  row(`${name} of no shape`, (h) => call(h, any(undefined)), "shape", [
    "shape",
    sizes,
    "undefined",
  ]),
  row(`${name} of a fraction`, (h) => call(h, [2.5]), "shape", ["shape", sizes, "[2.5]"]),
  row(`${name} of a negative size`, (h) => call(h, [2, -1]), "shape", ["shape", sizes, "[2, -1]"]),
  row(`${name} of nine axes`, (h) => call(h, long.slice(0, 9)), "shape", [
    "shape",
    "at most 8 axes",
    "9",
  ]),
  row(`${name} of thousands of axes`, (h) => call(h, long), "shape", [
    "shape",
    "at most 8 axes",
    "5000",
  ]),
  row(`${name} of a size above the limit`, (h) => call(h, [2 ** 41]), "shape", [
    "shape",
    "sizes from 0 to 2^40",
    "2199023255552",
  ]),
  row(`${name} beyond the memory`, (h) => call(h, [2 ** 35]), "memory", [
    "memory",
    "at most 2147483583 bytes in one array",
    "34359738368 elements of 4",
  ]),
]);

const terms = (["add", "subtract", "multiply", "divide"] as const).flatMap((name) => [
  row(`${name} of shapes that do not fit`, (h, t) => h[name](t(2, 3), t(2)), "shape", [
    "b",
    "a shape that broadcasts to [2, 3]",
    "[2]",
  ]),
  row(`${name} that would broadcast the first operand`, (h, t) => h[name](t(3), t(2, 3)), "shape", [
    "b",
    "a shape that broadcasts to [3]",
    "[2, 3]",
  ]),
  row(`${name} of NaN`, (h, t) => h[name](t(3), Number.NaN), "option", [
    "b",
    "a finite float32 number",
    "NaN",
  ]),
  row(`${name} of numbers`, (h) => h[name](any(1), 2), "dtype", ["a", "a tensor", "1"]),
  row(`${name} of whole numbers and a number`, (h) => h[name](ints(h, 1), 2), "dtype", [
    "a",
    "float32",
    "int32",
  ]),
]);

const reduced = (["sum", "mean"] as const).flatMap((name) => [
  row(
    `${name} along an axis that does not exist`,
    (h, t) => h[name](t(2, 3), { axis: 2 }),
    "option",
    ["axis", "an axis of [2, 3]", "2"],
  ),
  row(
    `${name} along an axis before the first`,
    (h, t) => h[name](t(2, 3), { axis: -3 }),
    "option",
    ["axis", "an axis of [2, 3]", "-3"],
  ),
  row(`${name} along a fraction of an axis`, (h, t) => h[name](t(2), { axis: 0.5 }), "option", [
    "axis",
    axis,
    "0.5",
  ]),
  row(`${name} along an axis as a string`, (h, t) => h[name](t(2), { axis: any("0") }), "option", [
    "axis",
    axis,
    '"0"',
  ]),
  row(`${name} of a scalar along an axis`, (h) => h[name](h.tensor(1), { axis: 0 }), "option", [
    "axis",
    "an axis of []",
    "0",
  ]),
  row(
    `${name} with a number for keepDims`,
    (h, t) => h[name](t(2), { keepDims: any(1) }),
    "option",
    ["keepDims", "true or false", "1"],
  ),
]);

const slice = (options: object) => (h: Heed, t: Make) =>
  h.slice(t(2, 3), any({ axis: 1, start: 1, length: 1, ...options }));

export const arrays: Case[] = [
  ...shapes,
  ...terms,
  ...reduced,
  row("matmul of rank 1", (h, t) => h.matmul(t(3), t(3, 2)), "shape", [
    "a",
    "rank 2 or more",
    "[3]",
  ]),
  row("matmul by rank 1", (h, t) => h.matmul(t(2, 3), t(3)), "shape", [
    "b",
    "rank 2, or the axes of a [2, 3] before the last two",
    "[3]",
  ]),
  row("matmul by another batch", (h, t) => h.matmul(t(2, 2, 3), t(3, 3, 4)), "shape", [
    "b",
    "rank 2, or the axes of a [2, 2, 3] before the last two",
    "[3, 3, 4]",
  ]),
  row("matmul of sizes that do not match", (h, t) => h.matmul(t(2, 3), t(2, 4)), "shape", [
    "b",
    "an axis of 3 to go with that of a [2, 3]",
    "[2, 4]",
  ]),
  row(
    "matmul of transposed sizes that do not match",
    (h, t) => h.matmul(t(2, 3), t(3, 4), { transposeB: true }),
    "shape",
    ["b", "an axis of 3 to go with that of a [2, 3]", "[3, 4]"],
  ),
  row(
    "matmul with a number for a boolean",
    (h, t) => h.matmul(t(2, 2), t(2, 2), { transposeA: any(1) }),
    "option",
    ["transposeA", "true or false", "1"],
  ),
  row("broadcastTo of a larger shape", (h, t) => h.broadcastTo(t(2, 3), [3]), "shape", [
    "x",
    "a shape that broadcasts to [3]",
    "[2, 3]",
  ]),

  row("reshape to a number", (h, t) => h.reshape(t(6), any(6)), "shape", [
    "shape",
    "a list of sizes, of which one may be -1",
    "6",
  ]),
  row("reshape with two sizes of -1", (h, t) => h.reshape(t(6), [-1, -1]), "shape", [
    "shape",
    "a list of sizes, of which one may be -1",
    "[-1, -1]",
  ]),
  row("reshape to -2", (h, t) => h.reshape(t(6), [-2]), "shape", [
    "shape",
    "a list of sizes, of which one may be -1",
    "[-2]",
  ]),
  row("reshape to a size above the limit", (h, t) => h.reshape(t(0), [0, 1e300]), "shape", [
    "shape",
    "a list of sizes, of which one may be -1",
    "[0, 1e+300]",
  ]),
  row("reshape to more elements", (h, t) => h.reshape(t(2, 3), [7]), "shape", [
    "shape",
    "sizes for 6 elements",
    "[7]",
  ]),
  row("reshape to a size that does not divide", (h, t) => h.reshape(t(2, 3), [4, -1]), "shape", [
    "shape",
    "sizes for 6 elements",
    "[4, -1]",
  ]),
  row("reshape to thousands of axes", (h, t) => h.reshape(t(1), long), "shape", [
    "shape",
    "at most 8 axes",
    "5000",
  ]),

  row("transpose of rank 1", (h, t) => h.transpose(t(3)), "shape", ["x", "rank 2 or more", "[3]"]),
  ...(
    [
      ["too few", [0], "[0]"],
      ["too many", [0, 1, 2], "[0, 1, 2]"],
      ["a repeated axis", [0, 0], "[0, 0]"],
      ["an axis that does not exist", [0, 2], "[0, 2]"],
      ["an axis counted from the end", [0, -1], "[0, -1]"],
      ["a fraction", [0.5, 1], "[0.5, 1]"],
      ["a string", ["0", 1], '["0", 1]'],
      ["a number", 1, "1"],
      ["thousands of axes", long, "a list of 5000"],
    ] as const
  ).map(([what, order, got]) =>
    row(`transpose into ${what}`, (h, t) => h.transpose(t(2, 3), any(order)), "option", [
      "order",
      "each axis of [2, 3] once",
      got,
    ]),
  ),

  row("slice along an axis that does not exist", slice({ axis: 2 }), "option", [
    "axis",
    "an axis of [2, 3]",
    "2",
  ]),
  row("slice without an axis", slice({ axis: undefined }), "option", ["axis", axis, "nothing"]),
  row("slice without a start", slice({ start: undefined }), "option", ["start", count, "nothing"]),
  row("slice without a length", slice({ length: undefined }), "option", [
    "length",
    count,
    "nothing",
  ]),
  row("slice from the end", slice({ start: -1 }), "option", ["start", count, "-1"]),
  row("slice from beyond the end", slice({ start: 4 }), "option", [
    "start",
    "a place in an axis of 3",
    "4",
  ]),
  row("slice to beyond the end", slice({ length: 3 }), "option", [
    "length",
    "entries from 1 in an axis of 3",
    "3",
  ]),
  row("slice of rows to beyond the end", slice({ axis: 0, length: 2 }), "option", [
    "length",
    "entries from 1 in an axis of 2",
    "2",
  ]),

  ...(
    [
      ["parts with another sum", [1, 1], "sizes that are 3 together", "[1, 1]"],
      ["a negative part", [4, -1], "sizes that are 3 together", "[4, -1]"],
      ["fractions", [1.5, 1.5], "sizes that are 3 together", "[1.5, 1.5]"],
      ["no parts", undefined, "sizes that are 3 together", "undefined"],
      ["a string", "3", "sizes that are 3 together", '"3"'],
      ["a number that does not divide", 2, "a divisor of 3", "2"],
      ["0 parts", 0, "a divisor of 3", "0"],
      ["-1 parts", -1, "a divisor of 3", "-1"],
      ["NaN parts", Number.NaN, "a divisor of 3", "NaN"],
      ["a fraction of a part", 0.5, "a divisor of 3", "0.5"],
      ["more parts than a call accepts", 2 ** 40, "at most 4094 parts", "1099511627776"],
      ["a list of too many parts", long, "at most 4094 parts", "5000"],
    ] as const
  ).map(([what, parts, expected, got]) =>
    row(`split into ${what}`, (h, t) => h.split(t(2, 3), any(parts), { axis: 1 }), "option", [
      "sizes",
      expected,
      got,
    ]),
  ),
  row(
    "split along an axis that does not exist",
    (h, t) => h.split(t(3), 3, { axis: 1 }),
    "option",
    ["axis", "an axis of [3]", "1"],
  ),
  row("split along an axis as a string", (h, t) => h.split(t(3), 3, { axis: any("0") }), "option", [
    "axis",
    axis,
    '"0"',
  ]),

  row("split with a number for options", (h, t) => h.split(t(3), 3, any(0)), "option", [
    "options",
    "an object",
    "0",
  ]),

  row("concat with a number for options", (h, t) => h.concat([t(3)], any(0)), "option", [
    "options",
    "an object",
    "0",
  ]),
  row("concat with an unknown option", (h, t) => h.concat([t(3)], any({ dim: 0 })), "option", [
    "dim",
    "an option of concat (axis)",
    "an unknown one",
  ]),
  row("concat of nothing", (h) => h.concat([]), "option", ["parts", "one tensor or more", "[]"]),
  row("concat of a tensor", (h, t) => h.concat(any(t(2))), "option", [
    "parts",
    "one tensor or more",
    "a Tensor",
  ]),
  row("concat of a list with a hole", (h, t) => h.concat(any([t(2), undefined])), "dtype", [
    "parts[1]",
    "a tensor",
    "undefined",
  ]),
  row("concat of scalars", (h) => h.concat([h.tensor(1)]), "option", [
    "axis",
    "an axis of []",
    "0",
  ]),
  row("concat of different types", (h, t) => h.concat([t(1), ints(h, 1)]), "dtype", [
    "parts[1]",
    "float32",
    "int32",
  ]),
  row("concat of different ranks", (h, t) => h.concat([t(2, 3), t(3)]), "shape", [
    "parts[1]",
    "[2, 3] but for axis 0",
    "[3]",
  ]),
  row(
    "concat of different sizes",
    (h, t) => h.concat([t(2, 3), t(2, 3), t(3, 3)], { axis: -1 }),
    "shape",
    ["parts[2]", "[2, 3] but for axis 1", "[3, 3]"],
  ),
  row(
    "concat of more tensors than a call accepts",
    (h, t) => h.concat(new Array(5000).fill(t(1))),
    "option",
    ["parts", "at most 4094 tensors", "5000"],
  ),

  row("adaptiveMaxPool of a row", (h, t) => h.adaptiveMaxPool(t(3), 1, 1), "shape", [
    "x",
    "one row and one column or more",
    "[3]",
  ]),
  row("adaptiveMaxPool of no columns", (h, t) => h.adaptiveMaxPool(t(2, 0), 1, 1), "shape", [
    "x",
    "one row and one column or more",
    "[2, 0]",
  ]),
  row("adaptiveMaxPool to no row", (h, t) => h.adaptiveMaxPool(t(2, 3), 0, 1), "option", [
    "rows",
    part,
    "0",
  ]),
  row(
    "adaptiveMaxPool to a fraction of a column",
    (h, t) => h.adaptiveMaxPool(t(2, 3), 1, 0.5),
    "option",
    ["columns", part, "0.5"],
  ),
  row(
    "adaptiveMaxPool without columns",
    (h, t) => h.adaptiveMaxPool(t(2, 3), 1, any(undefined)),
    "option",
    ["columns", part, "undefined"],
  ),

  row("uniform without a seed", (h) => h.uniform([2], any({})), "option", [
    "seed",
    count,
    "undefined",
  ]),
  row("uniform with a negative seed", (h) => h.uniform([2], { seed: -1 }), "option", [
    "seed",
    count,
    "-1",
  ]),
  row(
    "uniform with high below low",
    (h) => h.uniform([2], { low: 2, high: 1, seed: 1 }),
    "option",
    ["high", "at least low", "1.000000"],
  ),
  row(
    "uniform with an infinite high",
    (h) => h.uniform([2], { high: Infinity, seed: 1 }),
    "option",
    ["high", "a finite float32 number", "Infinity"],
  ),
  row("normal without a seed", (h) => h.normal([2], any({})), "option", [
    "seed",
    count,
    "undefined",
  ]),
  row(
    "normal with a negative deviation",
    (h) => h.normal([2], { deviation: -1, seed: 1 }),
    "option",
    ["deviation", "a number from 0 on", "-1.000000"],
  ),
  row("normal with a mean of NaN", (h) => h.normal([2], { mean: Number.NaN, seed: 1 }), "option", [
    "mean",
    "a finite float32 number",
    "NaN",
  ]),
];
