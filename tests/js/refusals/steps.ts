// Refused calls of the smaller operations that are not in operands.ts.

import type { Heed } from "heed";
import { any, bools, disposed, gone, ints, type Refusals, wrongOptions } from "./case.js";

const whole = "a whole number of 0 or more";
const encode = (changed: object) => (h: Heed) => {
  const { length, size, ...options } = { length: 4, size: 4, ...changed };
  return h.sinusoidalEncoding(length, size, options);
};

export const steps: Refusals = {
  "linear of a scalar": [
    (h, t) => h.linear(h.tensor(1), t(2, 3)),
    "shape: x: expected rank 1 or more, got []",
  ],
  "linear with a weight of rank 1": [
    (h, t) => h.linear(t(2, 3), t(3)),
    "shape: weight: expected rank 2, got [3]",
  ],
  "linear of mismatched sizes": [
    (h, t) => h.linear(t(2, 3), t(3, 2)),
    "shape: x: expected a last axis of 2, as weight [3, 2] has, got [2, 3]",
  ],
  "linear with a bias of another size": [
    (h, t) => h.linear(t(2, 3), t(4, 3), t(3)),
    "shape: bias: expected [4], got [3]",
  ],
  "linear with a weight of bools": [
    (h, t) => h.linear(t(2, 3), bools(h, 4, 3)),
    "dtype: weight: expected float32 or float16, got bool",
  ],
  "linear with a number for options": [
    (h, t) => h.linear(t(3), t(4, 3), any(0)),
    "option: options: expected an object, got 0",
  ],
  "linear with a bias that is not a tensor": [
    (h, t) => h.linear(t(3), t(4, 3), { bias: any(0) }),
    "option: bias: expected a tensor, got 0",
  ],
  "linear with an unknown activation": [
    (h, t) => h.linear(t(3), t(4, 3), { activation: any("swish") }),
    'option: activation: expected "relu" or "gelu" or "geluTanh" or "silu" or "tanh" or "sigmoid", got "swish"',
  ],
  "linear with packed weights of another size": [
    (h, t) => {
      using packed = h.packWeights(t(4, 3));
      return h.linear(t(2), packed);
    },
    "shape: x: expected a last axis of 3, as weight [4, 3] has, got [2]",
  ],
  "packWeights of rank 1": [
    (h, t) => h.packWeights(t(3)),
    "shape: weight: expected rank 2, got [3]",
  ],
  "packWeights in an unknown format": [
    (h, t) => h.packWeights(t(4, 3), { format: any("int2") }),
    'option: format: expected "float32" or "int8" or "int4", got "int2"',
  ],
  "linear with a disposed bias": [
    (h, t) => h.linear(t(3), t(4, 3), disposed(h)),
    `disposed: bias: ${gone}`,
  ],

  "embedding of an id beyond the table": [
    (h, t) => h.embedding(ints(h, 0, 3), t(3, 4)),
    "option: ids: expected numbers from 0 to below 3, got 3",
  ],
  "embedding of a negative id": [
    (h, t) => h.embedding(ints(h, -1), t(3, 4)),
    "option: ids: expected numbers from 0 to below 3, got -1",
  ],
  "embedding in a table of rank 1": [
    (h, t) => h.embedding(ints(h, 0), t(3)),
    "shape: weight: expected rank 2, got [3]",
  ],
  "embedding in a table of bools": [
    (h) => h.embedding(ints(h, 0), bools(h, 3, 4)),
    "dtype: weight: expected float32 or float16, got bool",
  ],
  "embedding of ids with 8 axes": [
    (h, t) => h.embedding(h.tensor(Int32Array.of(0), [1, 1, 1, 1, 1, 1, 1, 1]), t(3, 4)),
    "shape: ids: expected at most 7 axes, got [1, 1, 1, 1, 1, 1, 1, 1]",
  ],
  "embedding of a plain list": [
    (h, t) => h.embedding(any([0]), t(3, 4)),
    "dtype: ids: expected a tensor, got [0]",
  ],

  "softmax of a scalar": [
    (h) => h.softmax(h.tensor(1)),
    "shape: x: expected rank 1 or more, got []",
  ],
  "softmax of bools": [(h) => h.softmax(bools(h, 3)), "dtype: x: expected float32, got bool"],
  "softmax of a number": [(h) => h.softmax(any(3)), "dtype: x: expected a tensor, got 3"],

  ...wrongOptions("sinusoidalEncoding", encode, [
    ["length", whole, 1.5, "4"],
    ["size", whole, -4],
    ["base", "a positive number", 0, Number.NaN],
    ["offset", whole, -1],
  ]),
  "sinusoidalEncoding with an unknown option": [
    (h) => h.sinusoidalEncoding(4, 4, any({ start: 1 })),
    "option: start: expected an option of sinusoidalEncoding (base, offset), got an unknown one",
  ],

  "average of rank 2": [(h, t) => h.average(t(3, 4)), "shape: x: expected rank 3, got [3, 4]"],
  "average with a key mask of another shape": [
    (h, t) => h.average(t(1, 3, 4), { keyMask: bools(h, 1, 4) }),
    "shape: keyMask: expected [1, 3], got [1, 4]",
  ],
  "average with a key mask that is not a tensor": [
    (h, t) => h.average(t(1, 3, 4), { keyMask: any([true]) }),
    "option: keyMask: expected a tensor, got [true]",
  ],

  "selfSimilarity of rank 2": [
    (h, t) => h.selfSimilarity(t(3, 4)),
    "shape: x: expected rank 3, got [3, 4]",
  ],
  "selfSimilarity of bools": [
    (h) => h.selfSimilarity(bools(h, 1, 3, 4)),
    "dtype: x: expected float32, got bool",
  ],

  "fromTorchMask of floats": [
    (h, t) => h.fromTorchMask(t(2)),
    "dtype: mask: expected bool, got float32",
  ],
  "fromTorchMask of a list": [
    (h) => h.fromTorchMask(any([true])),
    "dtype: mask: expected a tensor, got [true]",
  ],
  "fromTorchMask of a disposed tensor": [
    (h) => h.fromTorchMask(disposed(h)),
    `disposed: mask: ${gone}`,
  ],
};
