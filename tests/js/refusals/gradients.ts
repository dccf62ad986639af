// Refused calls of valueAndGrad and its companions. autograd.test.ts has computations without a gradient.

import type { Heed, Tensor } from "heed";
import { detach, grad, noGrad, Tape, valueAndGrad } from "heed/nn";
import { any, bools, type Case, disposed, foreign, gone, ints, type Make, row } from "./case.js";

const list = "a module or a list of tensors";

/** grad for one source of a function of it. */
const of =
  (run: (x: Tensor, h: Heed, other: Heed) => unknown) => (h: Heed, t: Make, other: Heed) => {
    const x = t(2);
    return grad(
      [x],
      any(() => run(x, h, other)),
    );
  };

/** The gradient through the result of an operation on two tensors, of which the second has none. */
const cut =
  (run: (h: Heed, x: Tensor, y: Tensor) => Tensor, ...shape: number[]) =>
  (h: Heed, t: Make) => {
    const x = t(...shape);
    return grad([x], () => h.sum(run(h, x, h.cast(x, "float32"))));
  };
const blind = [
  "a tensor with a gradient, or a detached one",
  "a result of cast, which has none",
] as const;

export const gradients: Case[] = [
  ...(
    [
      ["nothing", null, "null"],
      ["a number", 5, "5"],
      ["a list of numbers", [1], "[1]"],
      ["parameters that are not a function", { parameters: 1 }, "an Object"],
      ["parameters that are not a list", { parameters: () => 1 }, "an Object"],
    ] as const
  ).flatMap(([what, sources, got]) => [
    row(`grad for ${what}`, (h) => grad(any(sources), () => h.tensor(1)), "option", [
      "sources",
      list,
      got,
    ]),
    row(`a tape for ${what}`, () => new Tape(any(sources)), "option", ["sources", list, got]),
  ]),
  row("grad for a tensor", (h, t) => grad(any(t(1)), () => h.tensor(1)), "option", [
    "sources",
    list,
    "a Tensor",
  ]),
  row("grad for an empty list", (h) => grad([], () => h.tensor(1)), "option", [
    "sources",
    "one tensor or more",
    "none",
  ]),
  row(
    "grad for a disposed tensor",
    (h, t) => grad([t(1), disposed(h)], () => h.tensor(1)),
    "disposed",
    ["sources[1]", ...gone],
  ),
  row(
    "grad for tensors of two engines",
    (h, t, other) => grad([t(1), other.tensor(1)], () => h.tensor(1)),
    "option",
    ["sources[1]", ...foreign],
  ),
  row("grad for bools", (h) => grad([bools(h, 1)], () => h.tensor(1)), "dtype", [
    "sources[0]",
    "float32",
    "bool",
  ]),
  row("grad without a function", (_, t) => grad([t(1)], any(5)), "option", [
    "run",
    "a function",
    "5",
  ]),
  row(
    "grad of an async function",
    of(async () => Promise.reject(new Error("later"))),
    "option",
    ["run", "a function that is not async", "a promise"],
  ),
  row(
    "grad with an unknown option",
    (h, t) => valueAndGrad([t(1)], () => h.tensor(1), any({ verbose: true })),
    "option",
    ["verbose", "an option of valueAndGrad (debug)", "an unknown one"],
  ),
  row(
    "a tape with an unknown option",
    (_, t) => new Tape([t(1)], any({ verbose: true })),
    "option",
    ["verbose", "an option of Tape (debug)", "an unknown one"],
  ),
  row(
    "grad with a number for options",
    (h, t) => grad([t(1)], () => h.tensor(1), any(1)),
    "option",
    ["options", "an object", "1"],
  ),
  row(
    "a tape that runs a value other than a function",
    (_, t) => new Tape([t(1)]).run(any(1)),
    "option",
    ["run", "a function", "1"],
  ),
  row(
    "gradients of a loss that is not a tensor",
    (_, t) => new Tape([t(1)]).gradients(any(1)),
    "option",
    ["loss", "a tensor", "1"],
  ),

  row(
    "a missing loss",
    of(() => undefined),
    "option",
    ["loss", "a tensor", "undefined"],
  ),
  row(
    "a loss in an empty list",
    of(() => []),
    "option",
    ["loss", "a tensor", "undefined"],
  ),
  row(
    "a loss of two numbers",
    of((x, h) => h.multiply(x, 2)),
    "shape",
    ["loss", "one number", "[2]"],
  ),
  row(
    "a loss of no numbers",
    of((x, h) => h.slice(x, { axis: 0, start: 0, length: 0 })),
    "shape",
    ["loss", "one number", "[0]"],
  ),
  row(
    "a loss of whole numbers",
    of((_, h) => ints(h, 1)),
    "dtype",
    ["loss", "float32", "int32"],
  ),
  row(
    "a loss of another engine",
    of((_, __, other) => other.tensor(1)),
    "option",
    ["loss", ...foreign],
  ),
  row(
    "a disposed loss",
    of((_, h) => disposed(h)),
    "disposed",
    ["loss", ...gone],
  ),
  row(
    "a gradient for packed weights",
    (h, t) => {
      const [x, weight] = [t(3), t(2, 3)];
      using packed = h.packWeights(weight);
      return grad([weight], () => h.sum(h.linear(x, packed)));
    },
    "unsupported",
    [
      "loss",
      "a tensor with a gradient, or a detached one",
      "a result of linear with packed weights, which has none",
    ],
  ),
  row(
    "a gradient through a float16 weight",
    (h, t) => {
      const [x, weight] = [t(3), h.cast(t(2, 3), "float16")];
      return grad([x], () => h.sum(h.linear(x, weight)));
    },
    "unsupported",
    [
      "loss",
      "a tensor with a gradient, or a detached one",
      "a result of linear with a float16 weight, which has none",
    ],
  ),
  row(
    "concat of a tensor without a gradient",
    cut((h, x, y) => h.concat([x, y]), 2),
    "unsupported",
    ["concat: parts[1]", ...blind],
  ),
  row(
    "gru from a state without a gradient",
    cut(
      (h, x, y) => {
        const weights = { weightIh: h.ones([6, 2]), weightHh: h.ones([6, 2]) };
        return h.gru(h.reshape(x, [1, 1, 2]), weights, { state: y }).state;
      },
      1,
      2,
    ),
    "unsupported",
    ["gru: state", ...blind],
  ),
  row(
    "additiveScores with a weight without a gradient",
    cut((h, x, y) => {
      const rows = h.reshape(x, [1, 1, 2]);
      return h.additiveScores(rows, rows, rows, y).output;
    }, 2),
    "unsupported",
    ["additiveAttention: scoreWeight", ...blind],
  ),
  row(
    "attention after a past without a gradient",
    cut((h, x, y) => h.attention(x, x, x, { past: { key: y, value: x } }).output, 1, 1, 2, 2),
    "unsupported",
    ["attention: past.key", ...blind],
  ),

  row("detach of a number", () => detach(any(5)), "dtype", ["x", "a tensor", "5"]),
  row("detach of a disposed tensor", (h) => detach(disposed(h)), "disposed", ["x", ...gone]),
  row("a scope without a function", (h) => h.scope(any(5)), "option", ["scope", "a function", "5"]),
  row("noGrad without a function", () => noGrad(any(5)), "option", ["run", "a function", "5"]),
  row(
    "noGrad of an async function on a tape",
    of(() => noGrad(async () => {})),
    "option",
    ["run", "a function that is not async", "a promise"],
  ),
];
