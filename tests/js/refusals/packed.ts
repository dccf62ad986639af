// Refused calls of attention with packed sequences.

import {
  type Attempt,
  any,
  bools,
  type Change,
  changed,
  disposed,
  gone,
  merged,
  type Refusals,
  wrongOptions,
} from "./case.js";

const none = "none beside cuSeqlens, because packed sequences have no common [L, S]";

/** attention of packed sequences, q [5, 2, 4] and k, v [7, 2, 4]. */
const packed =
  (cuSeqlens: Change, more: Change = {}): Attempt =>
  (h, t) =>
    h.attention(t(5, 2, 4), t(7, 2, 4), t(7, 2, 4), {
      cuSeqlens: any(changed(cuSeqlens, t, h)),
      ...any<object>(changed(more, t, h)),
    });
const good = { q: [0, 2, 5], k: [0, 4, 7] };

export const packedSequences: Refusals = {
  "bounds for inputs [B, H, L, D]": [
    (h, t) => h.attention(t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 4), { cuSeqlens: [0, 3] }),
    "shape: q: expected rank 3, got [2, 2, 3, 4]",
  ],
  "bounds that are a number": [
    packed(5),
    "option: cuSeqlens: expected a list, an int32 tensor, or { q, k } of them, got 5",
  ],
  "bounds of the queries alone": [
    packed({ q: [0, 5] }),
    "option: cuSeqlens: expected a list, an int32 tensor, or { q, k } of them, got an Object",
  ],
  "bounds that do not begin at 0": [
    packed({ ...good, q: [1, 2, 5] }),
    "option: cuSeqlens.q: expected a first number of 0, got 1",
  ],
  "bounds that decrease": [
    packed({ q: [0, 3, 2, 5], k: [0, 1, 2, 7] }),
    "option: cuSeqlens.q: expected numbers that never decrease, got 2 after 3",
  ],
  "bounds of keys that decrease": [
    packed({ ...good, k: [0, 8, 7] }),
    "option: cuSeqlens.k: expected numbers that never decrease, got 7 after 8",
  ],
  "bounds that end before the last query": [
    packed({ ...good, q: [0, 2, 4] }),
    "option: cuSeqlens.q: expected a last number of 5, the total, got 4",
  ],
  "bounds that end after the last key": [
    packed({ ...good, k: [0, 4, 8] }),
    "option: cuSeqlens.k: expected a last number of 7, the total, got 8",
  ],
  "the same bounds for fewer queries than keys": [
    packed([0, 2, 5]),
    "option: cuSeqlens.k: expected a last number of 7, the total, got 5",
  ],
  "no bounds in a list": [
    packed({ q: [], k: [] }),
    "option: cuSeqlens.q: expected a first number of 0, got none",
  ],
  "another number of sequences in the keys": [
    packed({ ...good, k: [0, 7] }),
    "shape: cuSeqlens.k: expected 3 numbers, as cuSeqlens.q, got 2",
  ],
  "a fraction among bounds": [
    packed({ ...good, k: [0, 3.5, 7] }),
    "option: cuSeqlens: expected whole numbers of 32 bits, got 3.5",
  ],
  "bounds of floats in a tensor": [
    packed((t) => t(2)),
    "dtype: cuSeqlens.q: expected int32, got float32",
  ],
  "disposed bounds": [
    packed((_, h) => ({ q: [0, 5], k: disposed(h) })),
    `disposed: cuSeqlens: ${gone}`,
  ],
  "packed keys of another head size": [
    (h, t) => h.attention(t(5, 2, 4), t(7, 2, 3), t(7, 2, 4), { cuSeqlens: good }),
    "shape: k: expected [7, 2, 4], got [7, 2, 3]",
  ],
  "packed values of fewer tokens than the keys": [
    (h, t) => h.attention(t(5, 2, 4), t(7, 2, 4), t(6, 2, 4), { cuSeqlens: good }),
    "shape: v: expected [7, 2, 4], got [6, 2, 4]",
  ],
  "packed key heads that do not divide the query's": [
    (h, t) => h.attention(t(5, 2, 4), t(7, 3, 4), t(7, 3, 4), { cuSeqlens: good }),
    "shape: k: expected a number of heads that divides the 2 of q, got 3",
  ],
  ...wrongOptions("packed sequences", (options) => packed(good, options), [
    ["heads", "2, as the shapes say", 4],
    ["kvHeads", "2, as the shapes say", 1],
  ]),
  "a mask beside packed sequences": [
    packed(good, (_, h) => ({ mask: bools(h, 5, 7) })),
    `option: mask: expected ${none}, got one`,
  ],
  "a bias beside packed sequences": [
    packed(good, (t) => ({ bias: t(5, 7) })),
    `option: bias: expected ${none}, got one`,
  ],
  "weights of packed sequences": [
    packed(good, { needWeights: true }),
    `option: needWeights: expected ${none}, got one`,
  ],
  ...merged(
    ["weights", "scores", ["entropy", "capped"], "masked"].map((capture) => ({
      [`captured ${capture} of packed sequences`]: [
        packed(good, { capture }),
        `option: capture: expected ${none}, got one`,
      ],
    })),
  ),
  "key lengths beside packed sequences": [
    packed(good, { kvLengths: [4, 3] }),
    "option: kvLengths: expected none beside cuSeqlens, which says the lengths already, got one",
  ],
  "a past beside packed sequences": [
    packed(good, (t) => ({ past: { key: t(1, 2, 1, 4), value: t(1, 2, 1, 4) } })),
    "option: past: expected none beside cuSeqlens, which has no batch axis for it, got one",
  ],
  "a block mask beside packed sequences": [
    packed(good, (_, h) => ({ blockMask: h.blockMask(() => true, { queries: 5, keys: 7 }) })),
    `option: blockMask: expected ${none}, got one`,
  ],
  "three offsets for two packed sequences": [
    packed(good, { causalOffset: [1, 2, 3] }),
    "shape: causalOffset: expected [1] or [2], got [3]",
  ],
};
