// Rearranging, pooling and converting arrays.

import type { Heed, Tensor } from "heed";
import { any, ints, type Make, row } from "../refusals/case.js";
import { same } from "../same.js";
import { elements, floats, gradient, list, type Operation } from "./operation.js";

const axis = "a whole number from -8 to 7";
const count = "a whole number of 0 or more";
const part = "a whole number of 1 or more";
const long = new Array<number>(5000).fill(1);

const slice = (options: object) => (h: Heed, t: Make) =>
  h.slice(t(2, 3), any({ axis: 1, start: 1, length: 1, ...options }));

const { NaN: nan, NEGATIVE_INFINITY: hidden } = Number;

export const arrays = {
  reshape: {
    calls: { reshape: [{ x: elements(2, 3) }, (h, { x }) => h.reshape(any(x), [3, -1])] },
    gradients: { reshape: gradient([list(2, 3)], (h, a) => h.reshape(a, [3, -1])) },
    ofNothing: { reshape: [[0, 3], (h, x) => h.reshape(x, [-1]), [[0], []]] },
    refusals: [
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
      row(
        "reshape to a size that does not divide",
        (h, t) => h.reshape(t(2, 3), [4, -1]),
        "shape",
        ["shape", "sizes for 6 elements", "[4, -1]"],
      ),
      row("reshape to thousands of axes", (h, t) => h.reshape(t(1), long), "shape", [
        "shape",
        "at most 8 axes",
        "5000",
      ]),
    ],
    types: (h, x) => {
      h.reshape(x, [2, -1] as const);
      // @ts-expect-error sizes are a list
      h.reshape(x, 6);
    },
  },
  transpose: {
    calls: { transpose: [{ x: elements(2, 3) }, (h, { x }) => h.transpose(any(x), [1, 0])] },
    gradients: {
      transpose: gradient([list(2, 3)], (h, a) => h.transpose(a)),
      "transpose of three axes": gradient([list(2, 3, 4)], (h, a) => h.transpose(a, [2, 0, 1])),
    },
    ofNothing: {
      transpose: [[0, 3], (h, x) => h.transpose(x), [list(3, 0), []]],
      "transpose of three axes": [
        [2, 0, 3],
        (h, x) => h.transpose(x, [2, 0, 1]),
        [list(3, 2, 0), []],
      ],
    },
    anyRank: { transpose: (h, x) => h.transpose(x) },
    refusals: [
      row("transpose of rank 1", (h, t) => h.transpose(t(3)), "shape", [
        "x",
        "rank 2 or more",
        "[3]",
      ]),
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
    ],
    types: (h, x) => {
      h.transpose(x);
    },
  },
  slice: {
    calls: {
      slice: [
        { x: elements(2, 3) },
        (h, { x }) => h.slice(any(x), { axis: 1, start: 1, length: 2 }),
      ],
    },
    options: ["axis, start, length", (h, t, o) => h.slice(t(2, 3), o)],
    gradients: {
      "slice of rows": gradient([list(4, 3)], (h, a) =>
        h.slice(a, { axis: 0, start: 1, length: 2 }),
      ),
      "slice of columns": gradient([list(2, 5)], (h, a) =>
        h.slice(a, { axis: -1, start: 1, length: 3 }),
      ),
    },
    ofNothing: {
      "slice of nothing": [
        [2, 3],
        (h, x) => h.slice(x, { axis: 1, start: 3, length: 0 }),
        [list(2, 0), []],
      ],
      slice: [[0, 3], (h, x) => h.slice(x, { axis: 1, start: 1, length: 1 }), [list(0, 1), []]],
    },
    anyRank: { slice: (h, x) => h.slice(x, { axis: -1, start: 1, length: 2 }) },
    refusals: [
      row("slice along an axis that does not exist", slice({ axis: 2 }), "option", [
        "axis",
        "an axis of [2, 3]",
        "2",
      ]),
      row("slice without an axis", slice({ axis: undefined }), "option", ["axis", axis, "nothing"]),
      row("slice without a start", slice({ start: undefined }), "option", [
        "start",
        count,
        "nothing",
      ]),
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
    ],
    types: (h, x) => {
      // @ts-expect-error a length is missing
      h.slice(x, { axis: 0, start: 1 });
    },
  },
  split: {
    calls: { split: [{ x: elements(2, 3) }, (h, { x }) => h.split(any(x), [1, 2], { axis: 1 })] },
    gradients: {
      split: gradient([list(2, 6)], (h, a) => h.split(a, [1, 2, 3], { axis: 1 })),
      "split, of which only a part is used": gradient([list(6, 2)], (h, a) => [
        h.split(a, 3)[1] as Tensor,
      ]),
    },
    ofNothing: {
      split: [[0, 3], (h, x) => h.split(x, [1, 2], { axis: 1 })[1] as Tensor, [list(0, 2), []]],
      "split of an empty axis": [[0], (h, x) => h.split(x, 3)[2] as Tensor, [[0], []]],
    },
    anyRank: { split: (h, x) => h.split(x, 3, { axis: -1 })[1] as Tensor },
    refusals: [
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
      row(
        "split along an axis as a string",
        (h, t) => h.split(t(3), 3, { axis: any("0") }),
        "option",
        ["axis", axis, '"0"'],
      ),

      row("split with a number for options", (h, t) => h.split(t(3), 3, any(0)), "option", [
        "options",
        "an object",
        "0",
      ]),
    ],
    types: (h, x) => {
      same<ReturnType<typeof h.split>, Tensor[]>(true);
      h.split(x, [1, 2] as const, { axis: 1 });
      h.split(x, 3);
    },
  },
  concat: {
    calls: {
      concat: [
        { "parts[0]": elements(2), "parts[1]": elements(2) },
        (h, parts) => h.concat(Object.values(parts), { axis: 0 }),
      ],
    },
    gradients: {
      concat: gradient([list(2, 3), list(2, 1)], (h, a, b) => h.concat([a, b, a], { axis: 1 })),
    },
    ofNothing: {
      concat: [[0, 3], (h, x) => h.concat([x, x], { axis: 1 }), [list(0, 6), []]],
      "concat with something": [[0], (h, x) => h.concat([x, h.ones([2]), x]), [[2], [1, 1]]],
    },
    anyRank: { concat: (h, x) => h.concat([x, x], { axis: -1 }) },
    refusals: [
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
      row("concat of nothing", (h) => h.concat([]), "option", [
        "parts",
        "one tensor or more",
        "[]",
      ]),
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
    ],
    types: (h, x) => {
      h.concat([x, x] as const, { axis: 1 });
      // @ts-expect-error a tensor is not a list of tensors
      h.concat(x);
    },
  },

  adaptiveMaxPool: {
    calls: {
      adaptiveMaxPool: [{ x: floats(4, 5) }, (h, { x }) => h.adaptiveMaxPool(any(x), 2, 2)],
    },
    gradients: "none",
    ofNothing: {
      adaptiveMaxPool: [[0, 3, 4], (h, x) => h.adaptiveMaxPool(x, 2, 2), [list(0, 2, 2), []]],
    },
    anyRank: { adaptiveMaxPool: (h, x) => h.adaptiveMaxPool(x, 2, 2) },
    results: {
      "adaptiveMaxPool, as torch.nn.AdaptiveMaxPool2d": [
        (h) =>
          h.adaptiveMaxPool(
            h.reshape(h.tensor(Float32Array.from({ length: 15 }, (_, i) => i)), [3, 5]),
            2,
            3,
          ),
        [list(6, 8, 9), list(11, 13, 14)],
      ],
      "adaptiveMaxPool of fewer columns than cells": [
        (h) => h.adaptiveMaxPool(h.tensor([[1, 2]]), 2, 4),
        [list(1, 1, 2, 2), list(1, 1, 2, 2)],
      ],
      "adaptiveMaxPool of NaN": [
        (h) => h.adaptiveMaxPool(h.tensor([[1, nan, 3, 4]]), 1, 2),
        [[nan, 4]],
      ],
      "adaptiveMaxPool of negative numbers": [
        (h) => h.adaptiveMaxPool(h.tensor([[-3, hidden, hidden, hidden]]), 1, 2),
        [[-3, hidden]],
      ],
    },
    refusals: [
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
    ],
    types: (h, x) => {
      same<ReturnType<typeof h.adaptiveMaxPool>, Tensor>(true);
      // @ts-expect-error the number of columns is missing
      h.adaptiveMaxPool(x, 2);
    },
  },
  cast: {
    calls: { cast: [{ x: elements(2, 3) }, (h, { x }) => h.cast(any(x), "float32")] },
    gradients: "none",
    anyRank: { cast: (h, x) => h.cast(h.cast(x, "bfloat16"), "float32") },
  },
} satisfies Record<string, Operation>;
