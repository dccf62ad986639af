// Rearranging, pooling and converting arrays.

import type { Heed, Tensor } from "heed";
import { any, ints, type Make, wrong, wrongOptions } from "../refusals/case.js";
import { same } from "../same.js";
import { elements, floats, gradient, list, type Operation } from "./operation.js";

const axis = "a whole number from -8 to 7";
const count = "a whole number of 0 or more";
const part = "a whole number of 1 or more";
const long = new Array<number>(5000).fill(1);

const slice = (options: object) => (h: Heed, t: Make) =>
  h.slice(t(2, 3), any({ axis: 1, start: 1, length: 1, ...options }));

const pool = (cells: object) => (h: Heed, t: Make) => {
  const { rows, columns } = { rows: 1, columns: 1, ...cells };
  return h.adaptiveMaxPool(t(2, 3), rows, columns);
};
const orders = [
  [
    "order",
    "each axis of [2, 3] once",
    ...[[0], [0, 1, 2], [0, 0], [0, 2], [0, -1], [0.5, 1], ["0", 1], 1],
  ],
] as const;

const { NaN: nan, NEGATIVE_INFINITY: hidden } = Number;

export const arrays = {
  reshape: {
    calls: { reshape: [{ x: elements(2, 3) }, (h, { x }) => h.reshape(any(x), [3, -1])] },
    gradients: { reshape: gradient([list(2, 3)], (h, a) => h.reshape(a, [3, -1])) },
    ofNothing: { reshape: [[0, 3], (h, x) => h.reshape(x, [-1]), [[0], []]] },
    refusals: {
      ...wrong(
        "reshape",
        "shape",
        [
          ["shape", "a list of sizes, of which one may be -1", 6, [-1, -1], [-2], [0, 1e300]],
          ["shape", "sizes for 6 elements", [7], [4, -1]],
        ],
        (shape) => (h, t) => h.reshape(t(6), any(shape)),
      ),
      "reshape to thousands of axes": [
        (h, t) => h.reshape(t(1), long),
        "shape: shape: expected at most 8 axes, got 5000",
      ],
    },
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
    refusals: {
      "transpose of rank 1": [
        (h, t) => h.transpose(t(3)),
        "shape: x: expected rank 2 or more, got [3]",
      ],
      ...wrong(
        "transpose",
        "option",
        orders,
        (order) => (h, t) => h.transpose(t(2, 3), any(order)),
      ),
      "transpose into thousands of axes": [
        (h, t) => h.transpose(t(2, 3), any(long)),
        "option: order: expected each axis of [2, 3] once, got a list of 5000",
      ],
    },
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
    refusals: {
      ...wrongOptions("slice", slice, [
        ["axis", "an axis of [2, 3]", 2],
        ["start", count, -1],
        ["start", "a place in an axis of 3", 4],
        ["length", "entries from 1 in an axis of 3", 3],
      ]),
      "slice without an axis": [
        slice({ axis: undefined }),
        `option: axis: expected ${axis}, got nothing`,
      ],
      "slice without a start": [
        slice({ start: undefined }),
        `option: start: expected ${count}, got nothing`,
      ],
      "slice without a length": [
        slice({ length: undefined }),
        `option: length: expected ${count}, got nothing`,
      ],
      "slice of rows to beyond the end": [
        slice({ axis: 0, length: 2 }),
        "option: length: expected entries from 1 in an axis of 2, got 2",
      ],
    },
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
    refusals: {
      ...wrong(
        "split",
        "option",
        [
          ["sizes", "sizes that are 3 together", [1, 1], [4, -1], [1.5, 1.5], undefined, "3"],
          ["sizes", "a divisor of 3", 2, 0, -1, Number.NaN, 0.5],
          ["sizes", "at most 4094 parts", 2 ** 40],
        ],
        (parts) => (h, t) => h.split(t(2, 3), any(parts), { axis: 1 }),
      ),
      "split into a list of too many parts": [
        (h, t) => h.split(t(2, 3), long, { axis: 1 }),
        "option: sizes: expected at most 4094 parts, got 5000",
      ],
      "split along an axis that does not exist": [
        (h, t) => h.split(t(3), 3, { axis: 1 }),
        "option: axis: expected an axis of [3], got 1",
      ],
      "split along an axis as a string": [
        (h, t) => h.split(t(3), 3, { axis: any("0") }),
        `option: axis: expected ${axis}, got "0"`,
      ],

      "split with a number for options": [
        (h, t) => h.split(t(3), 3, any(0)),
        "option: options: expected an object, got 0",
      ],
    },
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
    refusals: {
      "concat with a number for options": [
        (h, t) => h.concat([t(3)], any(0)),
        "option: options: expected an object, got 0",
      ],
      "concat with an unknown option": [
        (h, t) => h.concat([t(3)], any({ dim: 0 })),
        "option: dim: expected an option of concat (axis), got an unknown one",
      ],
      "concat of nothing": [
        (h) => h.concat([]),
        "option: parts: expected one tensor or more, got []",
      ],
      "concat of a tensor": [
        (h, t) => h.concat(any(t(2))),
        "option: parts: expected one tensor or more, got a Tensor",
      ],
      "concat of a list with a hole": [
        (h, t) => h.concat(any([t(2), undefined])),
        "dtype: parts[1]: expected a tensor, got undefined",
      ],
      "concat of scalars": [
        (h) => h.concat([h.tensor(1)]),
        "option: axis: expected an axis of [], got 0",
      ],
      "concat of different types": [
        (h, t) => h.concat([t(1), ints(h, 1)]),
        "dtype: parts[1]: expected float32, got int32",
      ],
      "concat of different ranks": [
        (h, t) => h.concat([t(2, 3), t(3)]),
        "shape: parts[1]: expected [2, 3] but for axis 0, got [3]",
      ],
      "concat of different sizes": [
        (h, t) => h.concat([t(2, 3), t(2, 3), t(3, 3)], { axis: -1 }),
        "shape: parts[2]: expected [2, 3] but for axis 1, got [3, 3]",
      ],
      "concat of more tensors than a call accepts": [
        (h, t) => h.concat(new Array(5000).fill(t(1))),
        "option: parts: expected at most 4094 tensors, got 5000",
      ],
    },
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
    refusals: {
      "adaptiveMaxPool of a row": [
        (h, t) => h.adaptiveMaxPool(t(3), 1, 1),
        "shape: x: expected one row and one column or more, got [3]",
      ],
      "adaptiveMaxPool of no columns": [
        (h, t) => h.adaptiveMaxPool(t(2, 0), 1, 1),
        "shape: x: expected one row and one column or more, got [2, 0]",
      ],
      ...wrongOptions("adaptiveMaxPool", pool, [
        ["rows", part, 0],
        ["columns", part, 0.5, undefined],
      ]),
    },
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
