// Refused calls of attention with packed sequences.

import type { Heed } from "heed";
import { any, bools, type Case, disposed, gone, type Make, row } from "./case.js";

const pairs = "because packed sequences have no common [L, S]";

/** attention of packed sequences, q [5, 2, 4] and k, v [7, 2, 4]. */
const packed = (cuSeqlens: unknown, more: (heed: Heed, make: Make) => object = () => ({})) => {
  return (heed: Heed, make: Make) =>
    heed.attention(
      make(5, 2, 4),
      make(7, 2, 4),
      make(7, 2, 4),
      any({ cuSeqlens, ...more(heed, make) }),
    );
};
const good = { q: [0, 2, 5], k: [0, 4, 7] };

export const packedSequences: Case[] = [
  row(
    "bounds for inputs [B, H, L, D]",
    (h, t) => h.attention(t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 4), { cuSeqlens: [0, 3] }),
    "shape",
    ["q", "rank 3", "[2, 2, 3, 4]"],
  ),
  row("bounds that are a number", packed(5), "option", [
    "cuSeqlens",
    "a list, an int32 tensor, or { q, k } of them",
    "5",
  ]),
  row("bounds of the queries alone", packed({ q: [0, 5] }), "option", [
    "cuSeqlens",
    "a list, an int32 tensor, or { q, k } of them",
    "an Object",
  ]),
  row("bounds that do not begin at 0", packed({ ...good, q: [1, 2, 5] }), "option", [
    "cuSeqlens.q",
    "a first number of 0",
    "1",
  ]),
  row("bounds that decrease", packed({ q: [0, 3, 2, 5], k: [0, 1, 2, 7] }), "option", [
    "cuSeqlens.q",
    "numbers that never decrease",
    "2 after 3",
  ]),
  row("bounds of keys that decrease", packed({ ...good, k: [0, 8, 7] }), "option", [
    "cuSeqlens.k",
    "numbers that never decrease",
    "7 after 8",
  ]),
  row("bounds that end before the last query", packed({ ...good, q: [0, 2, 4] }), "option", [
    "cuSeqlens.q",
    "a last number of 5, the total",
    "4",
  ]),
  row("bounds that end after the last key", packed({ ...good, k: [0, 4, 8] }), "option", [
    "cuSeqlens.k",
    "a last number of 7, the total",
    "8",
  ]),
  row("the same bounds for fewer queries than keys", packed([0, 2, 5]), "option", [
    "cuSeqlens.k",
    "a last number of 7, the total",
    "5",
  ]),
  row("no bounds in a list", packed({ q: [], k: [] }), "option", [
    "cuSeqlens.q",
    "a first number of 0",
    "none",
  ]),
  row("another number of sequences in the keys", packed({ ...good, k: [0, 7] }), "shape", [
    "cuSeqlens.k",
    "3 numbers, as cuSeqlens.q",
    "2",
  ]),
  row("a fraction among bounds", packed({ ...good, k: [0, 3.5, 7] }), "option", [
    "cuSeqlens",
    "whole numbers of 32 bits",
    "3.5",
  ]),
  row("bounds of floats in a tensor", (h, t) => packed(t(2))(h, t), "dtype", [
    "cuSeqlens.q",
    "int32",
    "float32",
  ]),
  row("disposed bounds", (h, t) => packed({ q: [0, 5], k: disposed(h) })(h, t), "disposed", [
    "cuSeqlens",
    ...gone,
  ]),
  row(
    "packed keys of another head size",
    (h, t) => h.attention(t(5, 2, 4), t(7, 2, 3), t(7, 2, 4), { cuSeqlens: good }),
    "shape",
    ["k", "[7, 2, 4]", "[7, 2, 3]"],
  ),
  row(
    "a mask beside packed sequences",
    packed(good, (h) => ({ mask: bools(h, 5, 7) })),
    "option",
    ["mask", `none beside cuSeqlens, ${pairs}`, "one"],
  ),
  row(
    "a bias beside packed sequences",
    packed(good, (_, t) => ({ bias: t(5, 7) })),
    "option",
    ["bias", `none beside cuSeqlens, ${pairs}`, "one"],
  ),
  row(
    "weights of packed sequences",
    packed(good, () => ({ needWeights: true })),
    "option",
    ["needWeights", `none beside cuSeqlens, ${pairs}`, "one"],
  ),
  row(
    "captured weights of packed sequences",
    packed(good, () => ({ capture: "weights" })),
    "option",
    ["capture", `none beside cuSeqlens, ${pairs}`, "one"],
  ),
  row(
    "scores of packed sequences",
    packed(good, () => ({ capture: ["entropy", "capped"] })),
    "option",
    ["capture", `none beside cuSeqlens, ${pairs}`, "one"],
  ),
  row(
    "key lengths beside packed sequences",
    packed(good, () => ({ kvLengths: [4, 3] })),
    "option",
    ["kvLengths", "none beside cuSeqlens, which says the lengths already", "one"],
  ),
  row(
    "a past beside packed sequences",
    packed(good, (_, t) => ({ past: { key: t(1, 2, 1, 4), value: t(1, 2, 1, 4) } })),
    "option",
    ["past", "none beside cuSeqlens, which has no batch axis for it", "one"],
  ),
  row(
    "a block mask beside packed sequences",
    packed(good, (h) => ({ blockMask: h.blockMask(() => true, { queries: 5, keys: 7 }) })),
    "option",
    ["blockMask", `none beside cuSeqlens, ${pairs}`, "one"],
  ),
  row(
    "three offsets for two packed sequences",
    packed(good, () => ({ causalOffset: [1, 2, 3] })),
    "shape",
    ["causalOffset", "[1] or [2]", "[3]"],
  ),
];
