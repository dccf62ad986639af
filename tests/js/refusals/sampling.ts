// Refused calls of topK and sample that are not in operands.ts.

import type { Heed } from "heed";
import { any, type Case, type Make, row } from "./case.js";

const draw = (options: object) => (h: Heed, t: Make) =>
  h.sample(t(2, 3), any({ seed: 1, ...options }));
const count = "a whole number of 0 or more";
const possible = "rows without NaN and with more than -inf";

export const sampling: Case[] = [
  row("topK of a scalar", (h) => h.topK(h.tensor(1), 1), "shape", ["x", "rank 1 or more", "[]"]),
  row("topK of nothing", (h, t) => h.topK(t(2, 0), 1), "shape", [
    "x",
    "a last axis of 1 to 2^31 - 1",
    "[2, 0]",
  ]),
  row("topK of more numbers than a row has", (h, t) => h.topK(t(2, 3), 4), "option", [
    "k",
    "a number from 1 to 3",
    "4",
  ]),
  ...([0, -1, 1.5, "1", undefined] as const).map((k) =>
    row(`topK with ${k} for k`, (h, t) => h.topK(t(2, 3), any(k)), "option", [
      "k",
      "a whole number of 1 or more",
      k === "1" ? '"1"' : `${k}`,
    ]),
  ),

  row("sample of a scalar", (h) => h.sample(h.tensor(1), { seed: 1 }), "shape", [
    "logits",
    "rank 1 or more",
    "[]",
  ]),
  row("sample from no tokens", (h, t) => h.sample(t(2, 0), { seed: 1 }), "shape", [
    "logits",
    "a last axis of 1 to 2^31 - 1",
    "[2, 0]",
  ]),
  row("sample without a seed", draw({ seed: undefined }), "option", ["seed", count, "undefined"]),
  row("sample without options", (h, t) => h.sample(t(2, 3), any(undefined)), "option", [
    "options",
    "an object",
    "undefined",
  ]),
  row("sample at a negative temperature", draw({ temperature: -1 }), "option", [
    "temperature",
    "a finite number from 0 on",
    "-1",
  ]),
  row("sample at an infinite temperature", draw({ temperature: Infinity }), "option", [
    "temperature",
    "a finite float32 number",
    "Infinity",
  ]),
  row("sample with a fraction for topK", draw({ topK: 0.5 }), "option", ["topK", count, "0.5"]),
  row("sample with a topP of 0", draw({ topP: 0 }), "option", [
    "topP",
    "a number above 0 and up to 1",
    "0",
  ]),
  row("sample with a topP above 1", draw({ topP: 1.5 }), "option", [
    "topP",
    "a number above 0 and up to 1",
    "1.5",
  ]),
  row("sample of NaN", (h) => h.sample(h.tensor([[1], [Number.NaN]]), { seed: 1 }), "option", [
    "logits",
    possible,
    "NaN in row 1",
  ]),
  row(
    "sample from a row of -Infinity",
    (h) => h.sample(h.tensor([[-Infinity]]), { seed: 1 }),
    "option",
    ["logits", possible, "nothing but -inf in row 0"],
  ),
];
