// Refused calls of linearAttention.

import {
  type Attempt,
  any,
  bools,
  type Change,
  changed,
  type Refusals,
  wrongOptions,
  wrongShapes,
} from "./case.js";

const linear =
  (options: Change): Attempt =>
  (h, t) =>
    h.linearAttention(t(1, 2, 3, 4), t(1, 2, 3, 4), t(1, 2, 3, 5), any(changed(options, t, h)));

export const linearAttention: Refusals = {
  ...wrongOptions("linearAttention", linear, [
    ["rule", '"linear" or "gated" or "delta" or "gatedDelta"', "gate"],
    ["scale", "a finite float32 number", Number.NaN],
  ]),
  "linearAttention gated without a decay": [
    linear({ rule: "gated" }),
    "option: decay: expected a tensor, for this rule, got nothing",
  ],
  "linearAttention of the delta rule without beta": [
    linear({ rule: "delta" }),
    "option: beta: expected a tensor, for this rule, got nothing",
  ],
  "linearAttention gated and delta without beta": [
    linear((t) => ({ rule: "gatedDelta", decay: t(1, 2, 3) })),
    "option: beta: expected a tensor, for this rule, got nothing",
  ],
  "linearAttention with a decay that the rule does not use": [
    linear((t) => ({ decay: t(1, 2, 3) })),
    "option: decay: expected none, for this rule, got a tensor",
  ],
  "linearAttention with a beta that the rule does not use": [
    linear((t) => ({ rule: "gated", decay: t(1, 2, 3), beta: t(1, 2, 3) })),
    "option: beta: expected none, for this rule, got a tensor",
  ],
  "linearAttention with a decay of another shape": [
    linear((t) => ({ rule: "gated", decay: t(1, 2, 3, 5) })),
    "shape: decay: expected a shape that broadcasts to [1, 2, 3] or [1, 2, 3, 4], got [1, 2, 3, 5]",
  ],
  "linearAttention with a beta of another shape": [
    linear((t) => ({ rule: "delta", beta: t(1, 2, 4) })),
    "shape: beta: expected a shape that broadcasts to [1, 2, 3], got [1, 2, 4]",
  ],
  "linearAttention with a decay of bools": [
    linear((_, h) => ({ rule: "gated", decay: bools(h, 1, 2, 3) })),
    "dtype: decay: expected float32, got bool",
  ],
  ...wrongShapes("linearAttention", linear, [["pastState", "[1, 2, 4, 5]", [1, 2, 5, 4]]]),
  "linearAttention with an unknown option": [
    linear({ isCausal: true }),
    "option: isCausal: expected an option of linearAttention (rule, heads, kvHeads, scale, decay, beta, pastState), got an unknown one",
  ],
  "linearAttention of more keys than queries": [
    (h, t) => h.linearAttention(t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 4)),
    "shape: k: expected as many keys as queries, 3, got 5",
  ],
  "linearAttention of 16-bit floats": [
    (h, t) => {
      const x = h.cast(t(1, 1, 1, 2), "float16");
      return h.linearAttention(x, x, x);
    },
    "dtype: q: expected float32, got float16",
  ],
};
