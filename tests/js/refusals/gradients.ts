// Refused calls of valueAndGrad and its companions. autograd.test.ts has computations without a gradient.

import type { Heed, Tensor } from "heed";
import { detach, grad, noGrad, Tape, valueAndGrad } from "heed/nn";
import {
  any,
  bools,
  disposed,
  foreign,
  gone,
  ints,
  type Make,
  merged,
  type Refusals,
} from "./case.js";

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
const blind =
  "expected a tensor with a gradient, or a detached one, got a result of cast, which has none";

const others = (
  [
    ["nothing", null, "null"],
    ["a number", 5, "5"],
    ["a list of numbers", [1], "[1]"],
    ["parameters that are not a function", { parameters: 1 }, "an Object"],
    ["parameters that are not a list", { parameters: () => 1 }, "an Object"],
  ] as const
).map(([what, sources, got]): Refusals => {
  const error = `option: sources: expected ${list}, got ${got}` as const;
  return {
    [`grad for ${what}`]: [(h) => grad(any(sources), () => h.tensor(1)), error],
    [`a tape for ${what}`]: [() => new Tape(any(sources)), error],
  };
});

export const gradients: Refusals = {
  ...merged(others),
  "grad for a tensor": [
    (h, t) => grad(any(t(1)), () => h.tensor(1)),
    `option: sources: expected ${list}, got a Tensor`,
  ],
  "grad for an empty list": [
    (h) => grad([], () => h.tensor(1)),
    "option: sources: expected one tensor or more, got none",
  ],
  "grad for a disposed tensor": [
    (h, t) => grad([t(1), disposed(h)], () => h.tensor(1)),
    `disposed: sources[1]: ${gone}`,
  ],
  "grad for tensors of two engines": [
    (h, t, other) => grad([t(1), other.tensor(1)], () => h.tensor(1)),
    `option: sources[1]: ${foreign}`,
  ],
  "grad for bools": [
    (h) => grad([bools(h, 1)], () => h.tensor(1)),
    "dtype: sources[0]: expected float32, got bool",
  ],
  "grad without a function": [
    (_, t) => grad([t(1)], any(5)),
    "option: run: expected a function, got 5",
  ],
  "grad of an async function": [
    of(async () => Promise.reject(new Error("later"))),
    "option: run: expected a function that is not async, got a promise",
  ],
  "grad with an unknown option": [
    (h, t) => valueAndGrad([t(1)], () => h.tensor(1), any({ verbose: true })),
    "option: verbose: expected an option of valueAndGrad (debug), got an unknown one",
  ],
  "a tape with an unknown option": [
    (_, t) => new Tape([t(1)], any({ verbose: true })),
    "option: verbose: expected an option of Tape (debug), got an unknown one",
  ],
  "grad with a number for options": [
    (h, t) => grad([t(1)], () => h.tensor(1), any(1)),
    "option: options: expected an object, got 1",
  ],
  "a tape that runs a value other than a function": [
    (_, t) => new Tape([t(1)]).run(any(1)),
    "option: run: expected a function, got 1",
  ],
  "gradients of a loss that is not a tensor": [
    (_, t) => new Tape([t(1)]).gradients(any(1)),
    "option: loss: expected a tensor, got 1",
  ],

  "a missing loss": [of(() => undefined), "option: loss: expected a tensor, got undefined"],
  "a loss in an empty list": [of(() => []), "option: loss: expected a tensor, got undefined"],
  "a loss of two numbers": [
    of((x, h) => h.multiply(x, 2)),
    "shape: loss: expected one number, got [2]",
  ],
  "a loss of no numbers": [
    of((x, h) => h.slice(x, { axis: 0, start: 0, length: 0 })),
    "shape: loss: expected one number, got [0]",
  ],
  "a loss of whole numbers": [of((_, h) => ints(h, 1)), "dtype: loss: expected float32, got int32"],
  "a loss of another engine": [of((_, __, other) => other.tensor(1)), `option: loss: ${foreign}`],
  "a disposed loss": [of((_, h) => disposed(h)), `disposed: loss: ${gone}`],
  "a gradient for packed weights": [
    (h, t) => {
      const [x, weight] = [t(3), t(2, 3)];
      using packed = h.packWeights(weight);
      return grad([weight], () => h.sum(h.linear(x, packed)));
    },
    "unsupported: loss: expected a tensor with a gradient, or a detached one, got a result of linear with packed weights, which has none",
  ],
  "a gradient through a float16 weight": [
    (h, t) => {
      const [x, weight] = [t(3), h.cast(t(2, 3), "float16")];
      return grad([x], () => h.sum(h.linear(x, weight)));
    },
    "unsupported: loss: expected a tensor with a gradient, or a detached one, got a result of linear with a float16 weight, which has none",
  ],
  "concat of a tensor without a gradient": [
    cut((h, x, y) => h.concat([x, y]), 2),
    `unsupported: concat: parts[1]: ${blind}`,
  ],
  "gru from a state without a gradient": [
    cut(
      (h, x, y) => {
        const weights = { weightIh: h.ones([6, 2]), weightHh: h.ones([6, 2]) };
        return h.gru(h.reshape(x, [1, 1, 2]), weights, { state: y }).state;
      },
      1,
      2,
    ),
    `unsupported: gru: state: ${blind}`,
  ],
  "additiveScores with a weight without a gradient": [
    cut((h, x, y) => {
      const rows = h.reshape(x, [1, 1, 2]);
      return h.additiveScores(rows, rows, rows, y).output;
    }, 2),
    `unsupported: additiveAttention: scoreWeight: ${blind}`,
  ],
  "attention after a past without a gradient": [
    cut((h, x, y) => h.attention(x, x, x, { past: { key: y, value: x } }).output, 1, 1, 2, 2),
    `unsupported: attention: past.key: ${blind}`,
  ],

  "detach of a number": [() => detach(any(5)), "dtype: x: expected a tensor, got 5"],
  "detach of a disposed tensor": [(h) => detach(disposed(h)), `disposed: x: ${gone}`],
  "a scope without a function": [
    (h) => h.scope(any(5)),
    "option: scope: expected a function, got 5",
  ],
  "noGrad without a function": [() => noGrad(any(5)), "option: run: expected a function, got 5"],
  "noGrad of an async function on a tape": [
    of(() => noGrad(async () => {})),
    "option: run: expected a function that is not async, got a promise",
  ],
};
