// Arithmetic, sums and products.

import * as fc from "fast-check";
import type { Heed, Tensor } from "heed";
import { at, flag, indices, random, resized, right, seed, shapeWithAxis } from "../calls/family.js";
import { any, ints, type Make, type Refusals, wrongOptions } from "../refusals/case.js";
import { same } from "../same.js";
import { expectClose, upload } from "../values.js";
import { refusedShapes } from "./create.js";
import { type Call, floats, type Given, gradient, list, type Operation } from "./operation.js";

type Term = "add" | "subtract" | "multiply" | "divide";

const term = (name: Term): Call => [
  { a: floats(2, 3), b: { ...floats(3), expected: "a tensor or a number" } },
  (h: Heed, { a, b }: Given) => h[name](any(a), any(b)),
];

const termRefusals = (name: Term): Refusals => ({
  [`${name} of shapes that do not fit`]: [
    (h, t) => h[name](t(2, 3), t(2)),
    "shape: b: expected a shape that broadcasts to [2, 3], got [2]",
  ],
  [`${name} that would broadcast the first operand`]: [
    (h, t) => h[name](t(3), t(2, 3)),
    "shape: b: expected a shape that broadcasts to [3], got [2, 3]",
  ],
  [`${name} of NaN`]: [
    (h, t) => h[name](t(3), Number.NaN),
    "option: b: expected a finite float32 number, got NaN",
  ],
  [`${name} of numbers`]: [(h) => h[name](any(1), 2), "dtype: a: expected a tensor, got 1"],
  [`${name} of whole numbers and a number`]: [
    (h) => h[name](ints(h, 1), 2),
    "dtype: a: expected float32, got int32",
  ],
});

const axis = "a whole number from -8 to 7";

const reductionRefusals = (name: "sum" | "mean"): Refusals => ({
  ...wrongOptions(name, (options) => (h, t) => h[name](t(2, 3), options), [
    ["axis", "an axis of [2, 3]", 2, -3],
    ["axis", axis, 0.5, "0"],
    ["keepDims", "true or false", 1],
  ]),
  [`${name} of a scalar along an axis`]: [
    (h) => h[name](h.tensor(1), { axis: 0 }),
    "option: axis: expected an axis of [], got 0",
  ],
});

const cumsum = (options: object) => (h: Heed, t: Make) =>
  h.cumsum(t(2, 3), { axis: 0, ...options });

export const arithmetic = {
  add: {
    calls: { add: term("add") },
    gradients: {
      add: gradient([list(2, 3), list(3)], (h, a, b) => h.add(a, b)),
      "add of a number": gradient([list(2, 3)], (h, a) => h.add(a, 2)),
      "add of a tensor to itself": gradient([list(2, 3)], (h, a) => h.add(a, a)),
    },
    keepsShape: { add: (h, x) => h.add(x, x), "add of a number": (h, x) => h.add(x, 2) },
    results: {
      "add of a row": [
        (h) => h.add(h.tensor([list(1, 2), list(3, 4)]), h.tensor([10, 20])),
        [list(11, 22), list(13, 24)],
      ],
      "add of a column": [
        (h) => h.add(h.tensor([list(1, 2), list(3, 4)]), h.tensor([[10], [20]])),
        [list(11, 12), list(23, 24)],
      ],
    },
    refusals: termRefusals("add"),
    types: (h, x) => {
      h.add(x, 1);
      // @ts-expect-error a number has no gradient
      h.add(1, x);
    },
  },
  subtract: {
    calls: { subtract: term("subtract") },
    gradients: {
      subtract: gradient([list(2, 3), list(2, 1)], (h, a, b) => h.subtract(a, b)),
    },
    keepsShape: { subtract: (h, x) => h.subtract(x, 2) },
    refusals: termRefusals("subtract"),
  },
  multiply: {
    calls: { multiply: term("multiply") },
    gradients: {
      multiply: gradient([list(2, 3), list(2, 1)], (h, a, b) => h.multiply(a, b)),
      "multiply of a tensor with itself": gradient([list(2, 3)], (h, a) => h.multiply(a, a)),
      "multiply by a number": gradient([list(2, 3)], (h, a) => h.multiply(a, -3)),
    },
    keepsShape: {
      multiply: (h, x) => h.multiply(x, x),
      "multiply by a number": (h, x) => h.multiply(x, 3),
    },
    refusals: termRefusals("multiply"),
    types: (h, x) => {
      // @ts-expect-error a list is not a tensor
      h.multiply(x, [1]);
    },
  },
  divide: {
    calls: { divide: term("divide") },
    gradients: {
      divide: gradient([list(2, 3), list(3)], (h, a, b) => h.divide(a, b), { away: 0.4 }),
      "divide by a number": gradient([list(2, 3)], (h, a) => h.divide(a, 4)),
    },
    keepsShape: { divide: (h, x) => h.divide(x, 2) },
    refusals: termRefusals("divide"),
    types: (h, x) => {
      h.divide(x, x);
    },
  },

  sum: {
    calls: {
      sum: [{ x: floats(2, 3) }, (h, { x }) => h.sum(any(x), { axis: 1, keepDims: true })],
      "sum along an axis of one": [{ x: floats(1) }, (h, { x }) => h.sum(any(x), { axis: 0 })],
    },
    options: ["axis, keepDims", (h, t, o) => h.sum(t(2, 3), o)],
    gradients: {
      sum: gradient([list(2, 3)], (h, a) => h.sum(a)),
      "sum along an axis": gradient([list(2, 3, 2)], (h, a) => h.sum(a, { axis: 1 })),
    },
    ofNothing: {
      sum: [[0], (h, x) => h.sum(x), [[], [0]]],
      "sum of all": [[0, 3], (h, x) => h.sum(x, { keepDims: true }), [[1, 1], [0]]],
      "sum of no rows": [[0, 3], (h, x) => h.sum(x, { axis: 0 }), [[3], [0, 0, 0]]],
      "sum along the other axis": [[0, 3], (h, x) => h.sum(x, { axis: 1 }), [[0], []]],
      "sum of empty rows": [[3, 0], (h, x) => h.sum(x, { axis: 1 }), [[3], [0, 0, 0]]],
      "sum along an axis between two": [
        [2, 0, 3],
        (h, x) => h.sum(x, { axis: 1 }),
        [list(2, 3), [0, 0, 0, 0, 0, 0]],
      ],
    },
    anyRank: { sum: (h, x) => h.sum(x, { axis: -1 }), "sum of all": (h, x) => h.sum(x) },
    refusals: reductionRefusals("sum"),
    types: (h, x) => {
      h.sum(x, { axis: -1, keepDims: true });
      // @ts-expect-error torch's name
      h.sum(x, { dim: 0 });
    },
  },
  mean: {
    calls: {
      mean: [{ x: floats(2, 3) }, (h, { x }) => h.mean(any(x), { axis: 1, keepDims: true })],
    },
    options: ["axis, keepDims", (h, t, o) => h.mean(t(2, 3), o)],
    gradients: {
      mean: gradient([list(2, 3)], (h, a) => h.mean(a)),
      "mean along an axis that stays": gradient([list(2, 3)], (h, a) =>
        h.mean(a, { axis: -1, keepDims: true }),
      ),
    },
    ofNothing: {
      "mean along the other axis": [[0, 3], (h, x) => h.mean(x, { axis: 1 }), [[0], []]],
    },
    anyRank: { mean: (h, x) => h.mean(x, { axis: -1, keepDims: true }) },
    refusals: reductionRefusals("mean"),
    types: (h, x) => {
      // @ts-expect-error an axis is one number
      h.mean(x, { axis: [0, 1] });
    },
  },
  cumsum: {
    calls: {
      cumsum: [{ x: floats(2, 3) }, (h, { x }) => h.cumsum(any(x), { axis: 1, reverse: true })],
    },
    options: ["axis, reverse", (h, t, o) => h.cumsum(t(2, 3), o)],
    gradients: {
      cumsum: gradient([list(2, 3)], (h, a) => h.cumsum(a, { axis: -1 })),
      "cumsum of the middle axis, reversed": gradient([list(2, 3, 2)], (h, a) =>
        h.cumsum(a, { axis: 1, reverse: true }),
      ),
    },
    keepsShape: { cumsum: (h, x) => h.cumsum(x, { axis: -1 }) },
    results: {
      "cumsum of rows": [
        (h) => h.cumsum(h.tensor([list(1, 2, 3), list(4, 5, 6)]), { axis: 1 }),
        [list(1, 3, 6), list(4, 9, 15)],
      ],
      "cumsum of columns, reversed": [
        (h) => h.cumsum(h.tensor([list(1, 2, 3), list(4, 5, 6)]), { axis: 0, reverse: true }),
        [list(5, 7, 9), list(4, 5, 6)],
      ],
    },
    refusals: wrongOptions("cumsum", cumsum, [
      ["axis", axis, undefined],
      ["axis", "an axis of [2, 3]", 2],
      ["reverse", "true or false", 1],
    ]),
    types: (h, x) => {
      same<ReturnType<typeof h.cumsum>, Tensor>(true);
      // @ts-expect-error an axis is missing
      h.cumsum(x);
      // @ts-expect-error torch's name
      h.cumsum(x, { dim: 0 });
    },
    right: right(
      fc.record({ given: shapeWithAxis, reverse: flag, seed }),
      (heed, { given: { shape, axis }, reverse, seed }) => {
        const x = random(seed).array(shape);
        const wanted = indices(shape).map((index) => {
          const last = index[axis] as number;
          const [from, to] = reverse ? [last, (shape[axis] as number) - 1] : [0, last];
          let total = 0;
          for (let i = from; i <= to; ++i) total += at(x, resized(index, axis, i));
          return total;
        });
        expectClose(heed.cumsum(upload(heed, x), { axis, reverse }), shape, wanted);
      },
    ),
  },
  broadcastTo: {
    calls: { broadcastTo: [{ x: floats(3) }, (h, { x }) => h.broadcastTo(any(x), [2, 3])] },
    gradients: { broadcastTo: gradient([list(3, 1)], (h, a) => h.broadcastTo(a, [2, 3, 2])) },
    ofNothing: {
      broadcastTo: [[0], (h, x) => h.broadcastTo(x, [2, 0]), [list(2, 0), []]],
      "broadcastTo nothing": [[1], (h, x) => h.broadcastTo(x, [0]), [[0], []]],
    },
    refusals: {
      ...refusedShapes("broadcastTo", (h, shape) => h.broadcastTo(h.tensor(1), shape)),
      "broadcastTo of a larger shape": [
        (h, t) => h.broadcastTo(t(2, 3), [3]),
        "shape: x: expected a shape that broadcasts to [3], got [2, 3]",
      ],
    },
  },

  matmul: {
    calls: {
      matmul: [
        { a: floats(2, 3), b: floats(3, 2) },
        (h, { a, b }) => h.matmul(any(a), any(b), { transposeA: false, transposeB: false }),
      ],
    },
    options: ["transposeA, transposeB", (h, t, o) => h.matmul(t(2, 3), t(3, 2), o)],
    gradients: {
      matmul: gradient([list(2, 3), list(3, 4)], (h, a, b) => h.matmul(a, b)),
      "matmul of batches": gradient([list(2, 2, 3), list(2, 3, 4)], (h, a, b) => h.matmul(a, b)),
      "matmul of a batch with a matrix": gradient([list(2, 2, 3), list(3, 4)], (h, a, b) =>
        h.matmul(a, b),
      ),
      "matmul, a transposed": gradient([list(2, 3, 2), list(3, 4)], (h, a, b) =>
        h.matmul(a, b, { transposeA: true }),
      ),
      "matmul, b transposed": gradient([list(2, 2, 3), list(4, 3)], (h, a, b) =>
        h.matmul(a, b, { transposeB: true }),
      ),
      "matmul, both transposed": gradient([list(2, 3, 2), list(2, 4, 3)], (h, a, b) =>
        h.matmul(a, b, { transposeA: true, transposeB: true }),
      ),
    },
    ofNothing: {
      "matmul of no rows": [[0, 3], (h, x) => h.matmul(x, h.ones([3, 2])), [list(0, 2), []]],
      "matmul over nothing": [
        [2, 0],
        (h, x) => h.matmul(x, h.ones([0, 2])),
        [list(2, 2), [0, 0, 0, 0]],
      ],
      "matmul of no batches": [
        [0, 2, 3],
        (h, x) => h.matmul(x, h.ones([3, 2])),
        [list(0, 2, 2), []],
      ],
    },
    anyRank: {
      matmul: (h, x) => h.matmul(x, x, { transposeB: true }),
      "matmul, turned": (h, x) => h.matmul(x, x, { transposeA: true }),
      "matmul by one matrix": (h, x) => h.matmul(x, h.ones([3, 2])),
    },
    refusals: {
      "matmul of rank 1": [
        (h, t) => h.matmul(t(3), t(3, 2)),
        "shape: a: expected rank 2 or more, got [3]",
      ],
      "matmul by rank 1": [
        (h, t) => h.matmul(t(2, 3), t(3)),
        "shape: b: expected rank 2, or the axes of a [2, 3] before the last two, got [3]",
      ],
      "matmul by another batch": [
        (h, t) => h.matmul(t(2, 2, 3), t(3, 3, 4)),
        "shape: b: expected rank 2, or the axes of a [2, 2, 3] before the last two, got [3, 3, 4]",
      ],
      "matmul of sizes that do not match": [
        (h, t) => h.matmul(t(2, 3), t(2, 4)),
        "shape: b: expected an axis of 3 to go with that of a [2, 3], got [2, 4]",
      ],
      "matmul of transposed sizes that do not match": [
        (h, t) => h.matmul(t(2, 3), t(3, 4), { transposeB: true }),
        "shape: b: expected an axis of 3 to go with that of a [2, 3], got [3, 4]",
      ],
      "matmul with a number for a boolean": [
        (h, t) => h.matmul(t(2, 2), t(2, 2), { transposeA: any(1) }),
        "option: transposeA: expected true or false, got 1",
      ],
    },
    types: (h, x) => {
      same<ReturnType<typeof h.matmul>, Tensor>(true);
      h.matmul(x, x, { transposeA: true });
      // @ts-expect-error an unknown option
      h.matmul(x, x, { transpose: true });
    },
  },
} satisfies Record<string, Operation>;
