// Refused calls of the layers that are neither in operands.ts nor in steps.ts.

import type { Heed } from "heed";
import { any, type Case, ints, type Make, row } from "./case.js";

const count = "a whole number of 0 or more";
const rate = "a number from 0 to below 1";

const norms = (["layerNorm", "rmsNorm"] as const).flatMap((name) => [
  row(`${name} of a scalar`, (h) => h[name](h.tensor(1)), "option", [
    "axes",
    "a number from 1 to the rank of x []",
    "1",
  ]),
  row(`${name} over more axes than x has`, (h, t) => h[name](t(2, 3), { axes: 3 }), "option", [
    "axes",
    "a number from 1 to the rank of x [2, 3]",
    "3",
  ]),
  row(`${name} over no axes`, (h, t) => h[name](t(2, 3), { axes: 0 }), "option", [
    "axes",
    "a whole number from 1 to 8",
    "0",
  ]),
  row(
    `${name} over more axes than the limit`,
    (h, t) => h[name](t(2, 3), { axes: 2 ** 50 }),
    "option",
    ["axes", "a whole number from 1 to 8", "1125899906842624"],
  ),
  row(`${name} with a negative eps`, (h, t) => h[name](t(2, 3), { eps: -1 }), "option", [
    "eps",
    "a number that is not negative",
    "-1",
  ]),
  row(`${name} with eps that is NaN`, (h, t) => h[name](t(2, 3), { eps: Number.NaN }), "option", [
    "eps",
    "a finite float32 number",
    "NaN",
  ]),
  row(
    `${name} with a weight of another size`,
    (h, t) => h[name](t(2, 3), { weight: t(2) }),
    "shape",
    ["weight", "[3]", "[2]"],
  ),
  row(
    `${name} with a weight of one axis of two`,
    (h, t) => h[name](t(2, 3), { weight: t(3), axes: 2 }),
    "shape",
    ["weight", "[2, 3]", "[3]"],
  ),
]);

const loss =
  (options: object, targets = [0, 1]) =>
  (h: Heed, t: Make) =>
    h.crossEntropy(t(2, 3), ints(h, ...targets), any(options));

/** gru of x [2, 3, 4] and 2 states, some parameters and options replaced. */
const gru =
  (
    parameters: (t: Make) => object = () => ({}),
    options: (t: Make, h: Heed) => object = () => ({}),
  ) =>
  (h: Heed, t: Make) =>
    h.gru(
      t(2, 3, 4),
      { weightIh: t(6, 4), weightHh: t(6, 2), ...parameters(t) },
      any(options(t, h)),
    );

export const layers: Case[] = [
  row(
    "layerNorm with a number for a weight that its options inherit",
    (h, t) => h.layerNorm(t(2, 3), Object.create({ weight: 1234 })),
    "option",
    ["weight", "a tensor", "1234"],
  ),

  row("activate with an unknown activation", (h, t) => h.activate(t(2), any("swish")), "option", [
    "activation",
    '"relu" or "gelu" or "geluTanh" or "silu" or "tanh" or "sigmoid"',
    '"swish"',
  ]),
  row("activate without an activation", (h, t) => h.activate(t(2), any(undefined)), "option", [
    "activation",
    '"relu" or "gelu" or "geluTanh" or "silu" or "tanh" or "sigmoid"',
    "undefined",
  ]),
  row("swiglu of different shapes", (h, t) => h.swiglu(t(2, 3), t(3)), "shape", [
    "up",
    "[2, 3]",
    "[3]",
  ]),
  ...norms,
  row(
    "layerNorm with a bias of another size",
    (h, t) => h.layerNorm(t(2, 3), { bias: t(2) }),
    "shape",
    ["bias", "[3]", "[2]"],
  ),

  row("dropout without options", (h, t) => h.dropout(t(2), any(undefined)), "option", [
    "options",
    "an object",
    "undefined",
  ]),
  row("dropout without a rate", (h, t) => h.dropout(t(2), any({ seed: 1 })), "option", [
    "rate",
    "a finite float32 number",
    "undefined",
  ]),
  row("dropout without a seed", (h, t) => h.dropout(t(2), any({ rate: 0.5 })), "option", [
    "seed",
    count,
    "undefined",
  ]),
  row("dropout at a rate of 1", (h, t) => h.dropout(t(2), { rate: 1, seed: 1 }), "option", [
    "rate",
    rate,
    "1",
  ]),
  row("dropout at a negative rate", (h, t) => h.dropout(t(2), { rate: -0.5, seed: 1 }), "option", [
    "rate",
    rate,
    "-0.5",
  ]),

  row("crossEntropy of a scalar", (h) => h.crossEntropy(h.tensor(1), ints(h, 0)), "shape", [
    "logits",
    "rank 1 or more",
    "[]",
  ]),
  row("crossEntropy with targets of another shape", loss({}, [0]), "shape", [
    "targets",
    "[2]",
    "[1]",
  ]),
  row("crossEntropy with a class that does not exist", loss({}, [0, 3]), "option", [
    "targets",
    "numbers from 0 to below 3",
    "3",
  ]),
  row("crossEntropy with torch's ignored target", loss({}, [0, -100]), "option", [
    "targets",
    "numbers from 0 to below 3",
    "-100",
  ]),
  row("crossEntropy that ignores a fraction of a class", loss({ ignoreIndex: 0.5 }), "option", [
    "ignoreIndex",
    "a whole number from -2147483648 to 2147483647",
    "0.5",
  ]),
  row("crossEntropy with smoothing above 1", loss({ labelSmoothing: 2 }), "option", [
    "labelSmoothing",
    "a number from 0 to 1",
    "2",
  ]),
  row("crossEntropy with smoothing of NaN", loss({ labelSmoothing: Number.NaN }), "option", [
    "labelSmoothing",
    "a finite float32 number",
    "NaN",
  ]),
  row("crossEntropy with an unknown reduction", loss({ reduction: "max" }), "option", [
    "reduction",
    '"mean" or "sum" or "none"',
    '"max"',
  ]),

  row(
    "embedding with padding beyond the table",
    (h, t) => h.embedding(ints(h, 0), t(3, 4), { paddingIndex: 3 }),
    "option",
    ["paddingIndex", "a number from 0 to below 3", "3"],
  ),
  row(
    "embedding with negative padding",
    (h, t) => h.embedding(ints(h, 0), t(3, 4), { paddingIndex: -1 }),
    "option",
    ["paddingIndex", count, "-1"],
  ),

  row(
    "gru of rank 2",
    (h, t) => h.gru(t(3, 4), { weightIh: t(6, 4), weightHh: t(6, 2) }),
    "shape",
    ["x", "rank 3", "[3, 4]"],
  ),
  row("gru without parameters", (h, t) => h.gru(t(2, 3, 4), any(undefined)), "option", [
    "parameters",
    "an object",
    "undefined",
  ]),
  row(
    "gru without a weight",
    gru(() => ({ weightHh: undefined })),
    "dtype",
    ["weightHh", "a tensor", "undefined"],
  ),
  row(
    "gru with torch's name of a weight",
    gru(() => ({ weight_ih_l0: 1 })),
    "option",
    ["weight_ih_l0", "a parameter of gru (weightIh, weightHh, biasIh, biasHh)", "an unknown one"],
  ),
  row(
    "gru with a weight of rank 1",
    gru((t) => ({ weightHh: t(6) })),
    "shape",
    ["weightHh", "rank 2", "[6]"],
  ),
  row(
    "gru with two gates",
    gru((t) => ({ weightHh: t(4, 2) })),
    "shape",
    ["weightHh", "[6, 2]", "[4, 2]"],
  ),
  row(
    "gru with weights of another input",
    gru((t) => ({ weightIh: t(6, 3) })),
    "shape",
    ["weightIh", "[6, 4]", "[6, 3]"],
  ),
  row(
    "gru with a bias of one gate",
    gru((t) => ({ biasIh: t(2) })),
    "shape",
    ["biasIh", "[6]", "[2]"],
  ),
  row(
    "gru with another bias of one gate",
    gru((t) => ({ biasHh: t(2) })),
    "shape",
    ["biasHh", "[6]", "[2]"],
  ),
  row(
    "gru with a state of another size",
    gru(undefined, (t) => ({ state: t(2, 3) })),
    "shape",
    ["state", "[2, 2]", "[2, 3]"],
  ),
  row(
    "gru with one length for all",
    gru(undefined, () => ({ lengths: 3 })),
    "option",
    ["lengths", "a list of numbers or a tensor", "3"],
  ),
  row(
    "gru with too few lengths",
    gru(undefined, () => ({ lengths: [3] })),
    "shape",
    ["lengths", "[2]", "[1]"],
  ),
  row(
    "gru with a fraction as a length",
    gru(undefined, () => ({ lengths: [3, 0.5] })),
    "option",
    ["lengths", "whole numbers of 32 bits", "0.5"],
  ),
  row(
    "gru with a length above the number of steps",
    gru(undefined, () => ({ lengths: [3, 4] })),
    "option",
    ["lengths", "numbers from 0 to 3", "4"],
  ),
  row(
    "gru with a negative length",
    gru(undefined, (_, h) => ({ lengths: ints(h, 3, -1) })),
    "option",
    ["lengths", "numbers from 0 to 3", "-1"],
  ),
];
