// Refused calls of topK and sample that are not in operands.ts.

import type { Heed } from "heed";
import { any, type Make, type Refusals, wrongOptions } from "./case.js";

const draw = (options: object) => (h: Heed, t: Make) =>
  h.sample(t(2, 3), any({ seed: 1, ...options }));
const top = (options: { k?: unknown }) => (h: Heed, t: Make) => h.topK(t(2, 3), any(options.k));
const count = "a whole number of 0 or more";
const possible = "rows without NaN and with more than -inf";

export const sampling: Refusals = {
  "topK of a scalar": [(h) => h.topK(h.tensor(1), 1), "shape: x: expected rank 1 or more, got []"],
  "topK of nothing": [
    (h, t) => h.topK(t(2, 0), 1),
    "shape: x: expected a last axis of 1 to 2^31 - 1, got [2, 0]",
  ],
  ...wrongOptions("topK", top, [
    ["k", "a number from 1 to 3", 4],
    ["k", "a whole number of 1 or more", 0, -1, 1.5, "1", undefined],
  ]),

  "sample of a scalar": [
    (h) => h.sample(h.tensor(1), { seed: 1 }),
    "shape: logits: expected rank 1 or more, got []",
  ],
  "sample from no tokens": [
    (h, t) => h.sample(t(2, 0), { seed: 1 }),
    "shape: logits: expected a last axis of 1 to 2^31 - 1, got [2, 0]",
  ],
  "sample without options": [
    (h, t) => h.sample(t(2, 3), any(undefined)),
    "option: options: expected an object, got undefined",
  ],
  ...wrongOptions("sample", draw, [
    ["seed", count, undefined],
    ["temperature", "a finite number from 0 on", -1],
    ["temperature", "a finite float32 number", Infinity],
    ["topK", count, 0.5],
    ["topP", "a number above 0 and up to 1", 0, 1.5],
  ]),
  "sample of NaN": [
    (h) => h.sample(h.tensor([[1], [Number.NaN]]), { seed: 1 }),
    `option: logits: expected ${possible}, got NaN in row 1`,
  ],
  "sample from a row of -Infinity": [
    (h) => h.sample(h.tensor([[-Infinity]]), { seed: 1 }),
    `option: logits: expected ${possible}, got nothing but -inf in row 0`,
  ],
};
