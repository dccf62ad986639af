// Refused calls of linearAttention.

import type { Heed } from "heed";
import { any, bools, type Case, type Make, row } from "./case.js";

const linear = (options: (make: Make, heed: Heed) => unknown) => (heed: Heed, t: Make) =>
  heed.linearAttention(t(1, 2, 3, 4), t(1, 2, 3, 4), t(1, 2, 3, 5), any(options(t, heed)));

export const linearAttention: Case[] = [
  row(
    "linearAttention by an unknown rule",
    linear(() => ({ rule: "gate" })),
    "option",
    ["rule", '"linear" or "gated" or "delta" or "gatedDelta"', '"gate"'],
  ),
  row(
    "linearAttention gated without a decay",
    linear(() => ({ rule: "gated" })),
    "option",
    ["decay", "a tensor, for this rule", "nothing"],
  ),
  row(
    "linearAttention of the delta rule without beta",
    linear(() => ({ rule: "delta" })),
    "option",
    ["beta", "a tensor, for this rule", "nothing"],
  ),
  row(
    "linearAttention gated and delta without beta",
    linear((t) => ({ rule: "gatedDelta", decay: t(1, 2, 3) })),
    "option",
    ["beta", "a tensor, for this rule", "nothing"],
  ),
  row(
    "linearAttention with a decay that the rule does not use",
    linear((t) => ({ decay: t(1, 2, 3) })),
    "option",
    ["decay", "none, for this rule", "a tensor"],
  ),
  row(
    "linearAttention with a beta that the rule does not use",
    linear((t) => ({ rule: "gated", decay: t(1, 2, 3), beta: t(1, 2, 3) })),
    "option",
    ["beta", "none, for this rule", "a tensor"],
  ),
  row(
    "linearAttention with a decay of another shape",
    linear((t) => ({ rule: "gated", decay: t(1, 2, 3, 5) })),
    "shape",
    ["decay", "a shape that broadcasts to [1, 2, 3] or [1, 2, 3, 4]", "[1, 2, 3, 5]"],
  ),
  row(
    "linearAttention with a beta of another shape",
    linear((t) => ({ rule: "delta", beta: t(1, 2, 4) })),
    "shape",
    ["beta", "a shape that broadcasts to [1, 2, 3]", "[1, 2, 4]"],
  ),
  row(
    "linearAttention with a decay of bools",
    linear((_, h) => ({ rule: "gated", decay: bools(h, 1, 2, 3) })),
    "dtype",
    ["decay", "float32", "bool"],
  ),
  row(
    "linearAttention with a state of another shape",
    linear((t) => ({ pastState: t(1, 2, 5, 4) })),
    "shape",
    ["pastState", "[1, 2, 4, 5]", "[1, 2, 5, 4]"],
  ),
  row(
    "linearAttention with a scale that is NaN",
    linear(() => ({ scale: Number.NaN })),
    "option",
    ["scale", "a finite float32 number", "NaN"],
  ),
  row(
    "linearAttention with an unknown option",
    linear(() => ({ isCausal: true })),
    "option",
    [
      "isCausal",
      "an option of linearAttention (rule, heads, kvHeads, scale, decay, beta, pastState)",
      "an unknown one",
    ],
  ),
  row(
    "linearAttention of more keys than queries",
    (h, t) => h.linearAttention(t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 4)),
    "shape",
    ["k", "as many keys as queries, 3", "5"],
  ),
  row(
    "linearAttention of 16-bit floats",
    (h, t) => {
      const x = h.cast(t(1, 1, 1, 2), "float16");
      return h.linearAttention(x, x, x);
    },
    "dtype",
    ["q", "float32", "float16"],
  ),
];
