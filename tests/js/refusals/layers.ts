// Refused calls of the layers that are neither in operands.ts nor in steps.ts.

import type { Heed } from "heed";
import {
  type Attempt,
  any,
  type Change,
  changed,
  ints,
  type Make,
  merged,
  type Refusals,
  wrongOptions,
  wrongShapes,
} from "./case.js";

const count = "a whole number of 0 or more";
const activations = '"relu" or "gelu" or "geluTanh" or "silu" or "tanh" or "sigmoid"';

const activate = (options: { activation?: unknown }) => (h: Heed, t: Make) =>
  h.activate(t(2), any(options.activation));
const drop = (options: object) => (h: Heed, t: Make) =>
  h.dropout(t(2), { rate: 0.5, seed: 1, ...options });

const norms = (["layerNorm", "rmsNorm"] as const).map((name): Refusals => {
  const norm = (options: object) => (h: Heed, t: Make) => h[name](t(2, 3), options);
  return {
    [`${name} of a scalar`]: [
      (h) => h[name](h.tensor(1)),
      "option: axes: expected a number from 1 to the rank of x [], got 1",
    ],
    ...wrongOptions(name, norm, [
      ["axes", "a number from 1 to the rank of x [2, 3]", 3],
      ["axes", "a whole number from 1 to 8", 0, 2 ** 50],
      ["eps", "a number that is not negative", -1],
      ["eps", "a finite float32 number", Number.NaN],
    ]),
    [`${name} with a weight of another size`]: [
      (h, t) => norm({ weight: t(2) })(h, t),
      "shape: weight: expected [3], got [2]",
    ],
    [`${name} with a weight of one axis of two`]: [
      (h, t) => norm({ weight: t(3), axes: 2 })(h, t),
      "shape: weight: expected [2, 3], got [3]",
    ],
  };
});

const loss =
  (options: object, targets = [0, 1]) =>
  (h: Heed, t: Make) =>
    h.crossEntropy(t(2, 3), ints(h, ...targets), any(options));

const embed = (options: object) => (h: Heed, t: Make) => h.embedding(ints(h, 0), t(3, 4), options);

/** gru of x [2, 3, 4] and 2 states, some parameters replaced, with these options. */
const gru =
  (parameters: Change, options: Change = {}): Attempt =>
  (h, t) => {
    const weights = { weightIh: t(6, 4), weightHh: t(6, 2) };
    const given = { ...weights, ...any<object>(changed(parameters, t, h)) };
    return h.gru(t(2, 3, 4), given, any(changed(options, t, h)));
  };
const gruWith = (options: Change) => gru({}, options);

export const layers: Refusals = {
  "layerNorm with a number for a weight that its options inherit": [
    (h, t) => h.layerNorm(t(2, 3), Object.create({ weight: 1234 })),
    "option: weight: expected a tensor, got 1234",
  ],

  ...wrongOptions("activate", activate, [["activation", activations, "swish", undefined]]),
  "swiglu of different shapes": [
    (h, t) => h.swiglu(t(2, 3), t(3)),
    "shape: up: expected [2, 3], got [3]",
  ],
  ...merged(norms),
  "layerNorm with a bias of another size": [
    (h, t) => h.layerNorm(t(2, 3), { bias: t(2) }),
    "shape: bias: expected [3], got [2]",
  ],

  "dropout without options": [
    (h, t) => h.dropout(t(2), any(undefined)),
    "option: options: expected an object, got undefined",
  ],
  ...wrongOptions("dropout", drop, [
    ["rate", "a finite float32 number", undefined],
    ["seed", count, undefined],
    ["rate", "a number from 0 to below 1", 1, -0.5],
  ]),

  "crossEntropy of a scalar": [
    (h) => h.crossEntropy(h.tensor(1), ints(h, 0)),
    "shape: logits: expected rank 1 or more, got []",
  ],
  "crossEntropy with targets of another shape": [
    loss({}, [0]),
    "shape: targets: expected [2], got [1]",
  ],
  "crossEntropy with a class that does not exist": [
    loss({}, [0, 3]),
    "option: targets: expected numbers from 0 to below 3, got 3",
  ],
  "crossEntropy with torch's ignored target": [
    loss({}, [0, -100]),
    "option: targets: expected numbers from 0 to below 3, got -100",
  ],

  ...wrongOptions("crossEntropy", loss, [
    ["ignoreIndex", "a whole number from -2147483648 to 2147483647", 0.5],
    ["labelSmoothing", "a number from 0 to 1", 2],
    ["labelSmoothing", "a finite float32 number", Number.NaN],
    ["reduction", '"mean" or "sum" or "none"', "max"],
  ]),

  ...wrongOptions("embedding", embed, [
    ["paddingIndex", "a number from 0 to below 3", 3],
    ["paddingIndex", count, -1],
  ]),

  "gru of rank 2": [
    (h, t) => h.gru(t(3, 4), { weightIh: t(6, 4), weightHh: t(6, 2) }),
    "shape: x: expected rank 3, got [3, 4]",
  ],
  "gru without parameters": [
    (h, t) => h.gru(t(2, 3, 4), any(undefined)),
    "option: parameters: expected an object, got undefined",
  ],
  "gru without a weight": [
    gru({ weightHh: undefined }),
    "dtype: weightHh: expected a tensor, got undefined",
  ],
  "gru with torch's name of a weight": [
    gru({ weight_ih_l0: 1 }),
    "option: weight_ih_l0: expected a parameter of gru (weightIh, weightHh, biasIh, biasHh), got an unknown one",
  ],
  ...wrongShapes("gru", gru, [
    ["weightHh", "rank 2", [6]],
    ["weightHh", "[6, 2]", [4, 2]],
    ["weightIh", "[6, 4]", [6, 3]],
    ["biasIh", "[6]", [2]],
    ["biasHh", "[6]", [2]],
  ]),
  ...wrongShapes("gru", gruWith, [["state", "[2, 2]", [2, 3]]]),
  ...wrongOptions("gru", gruWith, [["lengths", "a list of numbers or a tensor", 3]]),
  "gru with too few lengths": [gruWith({ lengths: [3] }), "shape: lengths: expected [2], got [1]"],
  "gru with a fraction as a length": [
    gruWith({ lengths: [3, 0.5] }),
    "option: lengths: expected whole numbers of 32 bits, got 0.5",
  ],
  "gru with a length above the number of steps": [
    gruWith({ lengths: [3, 4] }),
    "option: lengths: expected numbers from 0 to 3, got 4",
  ],
  "gru with a negative length": [
    gruWith((_, h) => ({ lengths: ints(h, 3, -1) })),
    "option: lengths: expected numbers from 0 to 3, got -1",
  ],
};
