// Making arrays, and drawing their numbers.

import type { Heed } from "heed";
import { any, type Refusals, wrong, wrongOptions } from "../refusals/case.js";
import type { Operation } from "./operation.js";

const count = "a whole number of 0 or more";
const long = new Array<number>(5000).fill(1);

/** Values that are refused in place of a shape. */
export const refusedShapes = (
  name: string,
  call: (heed: Heed, shape: readonly number[]) => unknown,
): Refusals => ({
  ...wrong(
    name,
    "shape",
    [["shape", "a list of whole numbers of 0 or more", 2, undefined, [2.5], [2, -1]]],
    (shape) => (h) => call(h, any(shape)),
  ),
  [`${name} of nine axes`]: [
    (h) => call(h, long.slice(0, 9)),
    "shape: shape: expected at most 8 axes, got 9",
  ],
  [`${name} of thousands of axes`]: [
    (h) => call(h, long),
    "shape: shape: expected at most 8 axes, got 5000",
  ],
  [`${name} of a size above the limit`]: [
    (h) => call(h, [2 ** 41]),
    "shape: shape: expected sizes from 0 to 2^40, got 2199023255552",
  ],
  [`${name} beyond the memory`]: [
    (h) => call(h, [2 ** 35]),
    "memory: memory: expected at most 2147483583 bytes in one array, got 34359738368 elements of 4",
  ],
});

const uniform = (options: object) => (h: Heed) => h.uniform([2], { seed: 1, ...options });
const normal = (options: object) => (h: Heed) => h.normal([2], { seed: 1, ...options });

export const create = {
  zeros: {
    calls: { zeros: [{}, (h) => h.zeros([2, 3])] },
    gradients: {},
    refusals: refusedShapes("zeros", (h, shape) => h.zeros(shape)),
    types: (h) => {
      // @ts-expect-error a shape is missing
      h.zeros();
    },
  },
  ones: {
    calls: { ones: [{}, (h) => h.ones([2, 3])] },
    gradients: {},
    refusals: refusedShapes("ones", (h, shape) => h.ones(shape)),
  },
  uniform: {
    calls: { uniform: [{}, (h) => h.uniform([2, 3], { seed: 1, low: -1, high: 1 })] },
    options: ["low, high, seed", (h, _, o) => h.uniform([2], o)],
    gradients: {},
    refusals: {
      ...refusedShapes("uniform", (h, shape) => h.uniform(shape, { seed: 1 })),
      ...wrongOptions("uniform", uniform, [
        ["seed", count, undefined, -1],
        ["high", "at least low", -1],
        ["high", "a finite float32 number", Infinity],
      ]),
      "uniform with high below low": [
        (h) => h.uniform([2], { low: 2, high: 1, seed: 1 }),
        "option: high: expected at least low, got 1",
      ],
    },
    types: (h) => {
      h.uniform([2], { seed: 1, low: -1 });
      // @ts-expect-error a seed is missing
      h.uniform([2], { low: 0 });
    },
  },
  normal: {
    calls: { normal: [{}, (h) => h.normal([2, 3], { seed: 1, mean: 1, deviation: 2 })] },
    options: ["mean, deviation, seed", (h, _, o) => h.normal([2], o)],
    gradients: {},
    refusals: {
      ...refusedShapes("normal", (h, shape) => h.normal(shape, { seed: 1 })),
      ...wrongOptions("normal", normal, [
        ["seed", count, undefined],
        ["deviation", "a number from 0 on", -1],
        ["mean", "a finite float32 number", Number.NaN],
      ]),
    },
    types: (h) => {
      h.normal([2], { seed: 1, deviation: 2 });
      // @ts-expect-error a seed is missing
      h.normal([2]);
    },
  },
} satisfies Record<string, Operation>;
