// Making arrays, and drawing their numbers.

import type { Heed } from "heed";
import { any, type Case, row } from "../refusals/case.js";
import type { Operation } from "./operation.js";

const sizes = "a list of whole numbers of 0 or more";
const count = "a whole number of 0 or more";
const long = new Array<number>(5000).fill(1);

/** Values that are refused in place of a shape. */
export const refusedShapes = (
  name: string,
  call: (heed: Heed, shape: readonly number[]) => unknown,
): Case[] => [
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
];

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
    refusals: [
      ...refusedShapes("uniform", (h, shape) => h.uniform(shape, { seed: 1 })),
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
        ["high", "at least low", "1"],
      ),
      row(
        "uniform with an infinite high",
        (h) => h.uniform([2], { high: Infinity, seed: 1 }),
        "option",
        ["high", "a finite float32 number", "Infinity"],
      ),
    ],
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
    refusals: [
      ...refusedShapes("normal", (h, shape) => h.normal(shape, { seed: 1 })),
      row("normal without a seed", (h) => h.normal([2], any({})), "option", [
        "seed",
        count,
        "undefined",
      ]),
      row(
        "normal with a negative deviation",
        (h) => h.normal([2], { deviation: -1, seed: 1 }),
        "option",
        ["deviation", "a number from 0 on", "-1"],
      ),
      row(
        "normal with a mean of NaN",
        (h) => h.normal([2], { mean: Number.NaN, seed: 1 }),
        "option",
        ["mean", "a finite float32 number", "NaN"],
      ),
    ],
    types: (h) => {
      h.normal([2], { seed: 1, deviation: 2 });
      // @ts-expect-error a seed is missing
      h.normal([2]);
    },
  },
} satisfies Record<string, Operation>;
