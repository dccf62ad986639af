// Refused calls of mergeAttention.

import type { Heed } from "heed";
import { any, bools, type Make, type Refusals } from "./case.js";

const merge =
  (a: (heed: Heed, make: Make) => unknown, b = a) =>
  (heed: Heed, make: Make) =>
    heed.mergeAttention(any(a(heed, make)), any(b(heed, make)));
const part = (_: Heed, t: Make) => ({ output: t(1, 2, 3, 4), lse: t(1, 2, 3) });

export const mergeAttention: Refusals = {
  "mergeAttention of one part": [
    merge(part, () => undefined),
    "option: b: expected { output, lse }, got undefined",
  ],
  "mergeAttention of null": [
    merge(() => null, part),
    "option: a: expected { output, lse }, got null",
  ],
  "mergeAttention of a part without a log-sum-exp": [
    merge((_, t) => ({ output: t(1, 2, 3, 4) }), part),
    "dtype: a.lse: expected a tensor, got undefined",
  ],
  "mergeAttention of outputs of rank 3": [
    merge((_, t) => ({ output: t(1, 3, 8), lse: t(1, 2, 3) })),
    "shape: a.output: expected rank 4, got [1, 3, 8]",
  ],
  "mergeAttention of a log-sum-exp of another shape": [
    merge((_, t) => ({ output: t(1, 2, 3, 4), lse: t(1, 2, 4) })),
    "shape: a.lse: expected [1, 2, 3], got [1, 2, 4]",
  ],
  "mergeAttention of other queries": [
    merge(part, (_, t) => ({ output: t(1, 2, 4, 4), lse: t(1, 2, 4) })),
    "shape: b.output: expected [1, 2, 3, 4], got [1, 2, 4, 4]",
  ],
  "mergeAttention of another log-sum-exp beside the same output": [
    merge(part, (_, t) => ({ output: t(1, 2, 3, 4), lse: t(6) })),
    "shape: b.lse: expected [1, 2, 3], got [6]",
  ],
  "mergeAttention of bools": [
    merge(part, (h, t) => ({ output: bools(h, 1, 2, 3, 4), lse: t(1, 2, 3) })),
    "dtype: b.output: expected float32, got bool",
  ],
};
