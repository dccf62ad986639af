// Refused calls of mergeAttention.

import type { Heed } from "heed";
import { any, bools, type Case, type Make, row } from "./case.js";

const merge =
  (a: (heed: Heed, make: Make) => unknown, b = a) =>
  (heed: Heed, make: Make) =>
    heed.mergeAttention(any(a(heed, make)), any(b(heed, make)));
const part = (_: Heed, t: Make) => ({ output: t(1, 2, 3, 4), lse: t(1, 2, 3) });

export const mergeAttention: Case[] = [
  row(
    "mergeAttention of one part",
    merge(part, () => undefined),
    "option",
    ["b", "{ output, lse }", "undefined"],
  ),
  row(
    "mergeAttention of null",
    merge(() => null, part),
    "option",
    ["a", "{ output, lse }", "null"],
  ),
  row(
    "mergeAttention of a part without a log-sum-exp",
    merge((_, t) => ({ output: t(1, 2, 3, 4) }), part),
    "dtype",
    ["a.lse", "a tensor", "undefined"],
  ),
  row(
    "mergeAttention of outputs of rank 3",
    merge((_, t) => ({ output: t(1, 3, 8), lse: t(1, 2, 3) })),
    "shape",
    ["a.output", "rank 4", "[1, 3, 8]"],
  ),
  row(
    "mergeAttention of a log-sum-exp of another shape",
    merge((_, t) => ({ output: t(1, 2, 3, 4), lse: t(1, 2, 4) })),
    "shape",
    ["a.lse", "[1, 2, 3]", "[1, 2, 4]"],
  ),
  row(
    "mergeAttention of other queries",
    merge(part, (_, t) => ({ output: t(1, 2, 4, 4), lse: t(1, 2, 4) })),
    "shape",
    ["b.output", "[1, 2, 3, 4]", "[1, 2, 4, 4]"],
  ),
  row(
    "mergeAttention of another log-sum-exp beside the same output",
    merge(part, (_, t) => ({ output: t(1, 2, 3, 4), lse: t(6) })),
    "shape",
    ["b.lse", "[1, 2, 3]", "[6]"],
  ),
  row(
    "mergeAttention of bools",
    merge(part, (h, t) => ({ output: bools(h, 1, 2, 3, 4), lse: t(1, 2, 3) })),
    "dtype",
    ["b.output", "float32", "bool"],
  ),
];
