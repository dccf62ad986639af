// Array and element-wise operations at the limits: no elements, one element, and the maximum number of
// axes. autograd.test.ts and operations.test.ts test ordinary sizes.

import type { Heed, Tensor } from "heed";
import { grad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines } from "./engine.js";

type Operation = (heed: Heed, x: Tensor) => Tensor;

const pool: Operation = (h, x) => h.adaptiveMaxPool(x, 2, 2);

/** Operations whose results have the shape of x. */
const byNumber: Record<string, Operation> = {
  add: (h, x) => h.add(x, x),
  "add of a number": (h, x) => h.add(x, 2),
  subtract: (h, x) => h.subtract(x, 2),
  multiply: (h, x) => h.multiply(x, x),
  "multiply by a number": (h, x) => h.multiply(x, 3),
  divide: (h, x) => h.divide(x, 2),
  swiglu: (h, x) => h.swiglu(x, x),
  dropout: (h, x) => h.dropout(x, { rate: 0.5, seed: 1 }),
  ...Object.fromEntries(
    (["relu", "gelu", "geluTanh", "silu", "tanh", "sigmoid"] as const).map((name) => [
      name,
      (h: Heed, x: Tensor) => h.activate(x, name),
    ]),
  ),
};
const byRow: Record<string, Operation> = {
  softmax: (h, x) => h.softmax(x),
  layerNorm: (h, x) => h.layerNorm(x),
  rmsNorm: (h, x) => h.rmsNorm(x),
};

/** Operations on an empty tensor: the shape of x, the call, and the expected result. */
const ofNothing: [
  what: string,
  shape: readonly number[],
  call: Operation,
  result: [shape: readonly number[], elements: readonly number[]],
][] = [
  ["sum", [0], (h, x) => h.sum(x), [[], [0]]],
  ["sum of all", [0, 3], (h, x) => h.sum(x, { keepDims: true }), [[1, 1], [0]]],
  ["sum of no rows", [0, 3], (h, x) => h.sum(x, { axis: 0 }), [[3], [0, 0, 0]]],
  ["sum of rows that are not there", [0, 3], (h, x) => h.sum(x, { axis: 1 }), [[0], []]],
  ["sum of empty rows", [3, 0], (h, x) => h.sum(x, { axis: 1 }), [[3], [0, 0, 0]]],
  [
    "sum within",
    [2, 0, 3],
    (h, x) => h.sum(x, { axis: 1 }),
    [
      [2, 3],
      [0, 0, 0, 0, 0, 0],
    ],
  ],
  ["mean of rows that are not there", [0, 3], (h, x) => h.mean(x, { axis: 1 }), [[0], []]],
  ["broadcastTo", [0], (h, x) => h.broadcastTo(x, [2, 0]), [[2, 0], []]],
  ["broadcastTo nothing", [1], (h, x) => h.broadcastTo(x, [0]), [[0], []]],
  ["reshape", [0, 3], (h, x) => h.reshape(x, [-1]), [[0], []]],
  ["transpose", [0, 3], (h, x) => h.transpose(x), [[3, 0], []]],
  ["transpose of three axes", [2, 0, 3], (h, x) => h.transpose(x, [2, 0, 1]), [[3, 2, 0], []]],
  [
    "slice of nothing",
    [2, 3],
    (h, x) => h.slice(x, { axis: 1, start: 3, length: 0 }),
    [[2, 0], []],
  ],
  ["slice", [0, 3], (h, x) => h.slice(x, { axis: 1, start: 1, length: 1 }), [[0, 1], []]],
  ["split", [0, 3], (h, x) => h.split(x, [1, 2], { axis: 1 })[1] as Tensor, [[0, 2], []]],
  ["split of an empty axis", [0], (h, x) => h.split(x, 3)[2] as Tensor, [[0], []]],
  ["concat", [0, 3], (h, x) => h.concat([x, x], { axis: 1 }), [[0, 6], []]],
  ["concat with something", [0], (h, x) => h.concat([x, h.ones([2]), x]), [[2], [1, 1]]],
  ["matmul of no rows", [0, 3], (h, x) => h.matmul(x, h.ones([3, 2])), [[0, 2], []]],
  [
    "matmul over nothing",
    [2, 0],
    (h, x) => h.matmul(x, h.ones([0, 2])),
    [
      [2, 2],
      [0, 0, 0, 0],
    ],
  ],
  ["matmul of no batches", [0, 2, 3], (h, x) => h.matmul(x, h.ones([3, 2])), [[0, 2, 2], []]],
  ["linear of no rows", [0, 3], (h, x) => h.linear(x, h.ones([2, 3])), [[0, 2], []]],
  [
    "linear over nothing",
    [2, 0],
    (h, x) => h.linear(x, h.ones([1, 0])),
    [
      [2, 1],
      [0, 0],
    ],
  ],
  ["topK", [0, 3], (h, x) => h.topK(x, 2).values, [[0, 2], []]],
  ["adaptiveMaxPool of no matrices", [0, 3, 4], pool, [[0, 2, 2], []]],
];

/** Operations without a gradient. */
const cut = ["topK", "cast", "adaptiveMaxPool", "adaptiveMaxPool of no matrices"];

/**
 * Operations that must give the same result with additional axes of size 1. Each call takes any number of
 * axes before the last two.
 */
const ofManyAxes: Record<string, Operation> = {
  ...byNumber,
  ...byRow,
  sum: (h, x) => h.sum(x, { axis: -1 }),
  mean: (h, x) => h.mean(x, { axis: -1, keepDims: true }),
  "sum of all": (h, x) => h.sum(x),
  transpose: (h, x) => h.transpose(x),
  slice: (h, x) => h.slice(x, { axis: -1, start: 1, length: 2 }),
  split: (h, x) => h.split(x, 3, { axis: -1 })[1] as Tensor,
  concat: (h, x) => h.concat([x, x], { axis: -1 }),
  "concat of the first axis": (h, x) => h.concat([x, x]),
  matmul: (h, x) => h.matmul(x, x, { transposeB: true }),
  "matmul, turned": (h, x) => h.matmul(x, x, { transposeA: true }),
  "matmul by one matrix": (h, x) => h.matmul(x, h.ones([3, 2])),
  linear: (h, x) => h.linear(x, h.ones([2, 3])),
  topK: (h, x) => h.topK(x, 2).values,
  adaptiveMaxPool: pool,
  cast: (h, x) => h.cast(h.cast(x, "bfloat16"), "float32"),
};

describeEngines((heed) => {
  /** Expects that the gradient has the shape of x and that all its elements are finite. */
  const expectGradient = (x: Tensor, operation: Operation) => {
    const [gradient] = grad([x], () => heed().sum(operation(heed(), x)));
    expect(gradient?.shape).toEqual(x.shape);
    expect(gradient?.data.every(Number.isFinite)).toBe(true);
  };

  describe("of nothing", () => {
    for (const [name, operation] of Object.entries({ ...byNumber, ...byRow })) {
      test(`${name} gives nothing`, () => {
        for (const shape of [[0], [0, 3], [3, 0], [2, 0, 3], [1, 1, 1, 1, 1, 1, 1, 0]]) {
          heed().scope(() => {
            const x = heed().zeros(shape);
            expect(operation(heed(), x).shape).toEqual(shape);
            expectGradient(x, operation);
          });
        }
      });
    }

    for (const [what, shape, call, [expected, elements]] of ofNothing) {
      test(`${what} gives [${expected}]`, () => {
        heed().scope(() => {
          const x = heed().ones(shape);
          const result = call(heed(), x);
          expect(result.shape).toEqual(expected);
          expect([...result.data]).toEqual(elements);
          if (!cut.includes(what)) expectGradient(x, call);
        });
      });
    }

    test("the mean is no number", () => {
      heed().scope(() =>
        expect(
          heed()
            .mean(heed().zeros([0]))
            .toArray(),
        ).toBeNaN(),
      );
    });

    test("tensors can be made", () => {
      heed().scope(() => {
        for (const shape of [[0], [0, 3], [2, 0, 3]])
          for (const make of [
            () => heed().zeros(shape),
            () => heed().ones(shape),
            () => heed().uniform(shape, { seed: 1 }),
            () => heed().normal(shape, { seed: 1 }),
          ])
            expect(make().shape).toEqual(shape);
      });
    });
  });

  describe("adaptiveMaxPool", () => {
    const { NaN: nan, NEGATIVE_INFINITY: hidden } = Number;
    const table: [what: string, x: number[][], rows: number, columns: number, want: number[][]][] =
      [
        [
          "cuts as torch.nn.AdaptiveMaxPool2d does",
          [
            [0, 1, 2, 3, 4],
            [5, 6, 7, 8, 9],
            [10, 11, 12, 13, 14],
          ],
          2,
          3,
          [
            [6, 8, 9],
            [11, 13, 14],
          ],
        ],
        [
          "repeats what is smaller than the parts",
          [[1, 2]],
          2,
          4,
          [
            [1, 1, 2, 2],
            [1, 1, 2, 2],
          ],
        ],
        ["keeps what is not a number", [[1, nan, 3, 4]], 1, 2, [[nan, 4]]],
        ["knows numbers below zero", [[-3, hidden, hidden, hidden]], 1, 2, [[-3, hidden]]],
      ];
    for (const [what, x, rows, columns, want] of table) {
      test(what, () => {
        heed().scope(() => {
          const pooled = heed().adaptiveMaxPool(heed().tensor(x), rows, columns);
          expect(pooled.shape).toEqual([rows, columns]);
          expect(pooled.toArray()).toEqual(want);
        });
      });
    }
  });

  describe("of eight axes", () => {
    for (const [name, operation] of Object.entries(ofManyAxes)) {
      test(`${name} gives what it gives of three`, () => {
        heed().scope(() => {
          const few = heed().normal([2, 2, 3], { seed: 3 });
          // The axes of size 1 precede the axes of `few` and lie between them.
          const many = heed().reshape(few, [1, 1, 1, 2, 1, 1, 2, 3]);
          if (name === "concat of the first axis") {
            const twice = [...few.data, ...few.data];
            expect([...operation(heed(), many).data]).toEqual(twice);
          } else {
            expect(operation(heed(), many).data).toEqual(operation(heed(), few).data);
          }
          if (!cut.includes(name)) expectGradient(many, operation);
        });
      });
    }

    test("transpose turns all of them around", () => {
      heed().scope(() => {
        const x = heed().tensor(
          Float32Array.from({ length: 24 }, (_, i) => i),
          [1, 2, 1, 3, 1, 4, 1, 1],
        );
        const turned = heed().transpose(x, [7, 6, 5, 4, 3, 2, 1, 0]);
        expect(turned.shape).toEqual([1, 1, 4, 1, 3, 1, 2, 1]);
        const expected = heed().transpose(heed().reshape(x, [2, 3, 4]), [2, 1, 0]);
        expect(turned.data).toEqual(expected.data);
      });
    });

    test("broadcastTo repeats along some, and the gradient is summed along them", () => {
      heed().scope(() => {
        const x = heed().tensor([1, 2], [1, 2, 1]);
        const shape = [2, 1, 2, 1, 1, 1, 2, 2];
        const wide = heed().broadcastTo(x, shape);
        expect([...wide.data]).toEqual([1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2]);
        const [gradient] = grad([x], () => heed().sum(heed().broadcastTo(x, shape)));
        expect(gradient?.toArray()).toEqual([[[8], [8]]]);
      });
    });
  });

  test("a single number is a tensor as any other", () => {
    heed().scope(() => {
      for (const shape of [[], [1], [1, 1, 1, 1, 1, 1, 1, 1]]) {
        const x = heed().tensor(Float32Array.of(3), shape);
        for (const [operation, expected] of [
          [heed().add(x, x), 6],
          [heed().divide(x, 2), 1.5],
          [heed().activate(x, "relu"), 3],
        ] as const) {
          expect(operation.shape).toEqual(shape);
          expect([...operation.data]).toEqual([expected]);
        }
        expect(heed().sum(x).toArray()).toBe(3);
        expect(heed().mean(x).toArray()).toBe(3);
        expect(heed().reshape(x, []).toArray()).toBe(3);
        expectGradient(x, (h, x) => h.mean(x));
      }
    });
  });
});
