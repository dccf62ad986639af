// Calls that caches refuse, which leave the cache unchanged.

import type { Heed, KvCache } from "heed";
import { expect } from "vitest";
import { Random } from "../values.js";
import { any, type Case, disposed, gone, ints, type Make, row } from "./case.js";

/** A cache for two sequences, one of 5 and one of 3 tokens; `more` tokens roll it on. */
function filled(heed: Heed, isRolling = false): KvCache {
  const random = new Random(61);
  const sizes = { batch: 2, heads: 2, headSize: 4, valueSize: 3, capacity: 10 };
  const cache = heed.createKvCache({ ...sizes, isRolling });
  const append = (counts: number[]) =>
    heed.scope(() => {
      const k = heed.tensor(random.array([2, 2, 12, 4]).data, [2, 2, 12, 4]);
      const v = heed.tensor(random.array([2, 2, 12, 3]).data, [2, 2, 12, 3]);
      cache.append(k, v, counts);
    });
  append(isRolling ? [12, 3] : [5, 3]);
  if (isRolling) append([1, 0]);
  return cache;
}

/** The observable state of a cache: its properties, and the result of attention over it. */
function stateOf(heed: Heed, cache: KvCache): unknown {
  const { lengths, firsts, bytes } = cache;
  const sequences = heed.scope(() => {
    const q = heed.tensor(new Random(62).array([2, 2, 1, 4]).data, [2, 2, 1, 4]);
    const nothing = (size: number) => heed.tensor(new Float32Array(), [2, 2, 0, size]);
    return [...heed.attention(q, nothing(4), nothing(3), { past: cache }).output.data];
  });
  return { lengths, firsts, bytes, sequences };
}

const onCache =
  (use: (cache: KvCache, heed: Heed, make: Make) => unknown, isRolling = false) =>
  (heed: Heed, make: Make): unknown => {
    using cache = filled(heed, isRolling);
    const before = stateOf(heed, cache);
    try {
      return use(cache, heed, make);
    } finally {
      expect(stateOf(heed, cache)).toEqual(before);
    }
  };

/** attention of 4 query heads over the cache, with one new token for each sequence. */
const attend = (
  options: (heed: Heed, make: Make) => object,
  [B, H, G, L, D, Dv] = [2, 4, 2, 1, 4, 3],
) =>
  onCache((cache, heed, t) =>
    heed.attention(
      t(any(B), any(H), any(L), any(D)),
      t(any(B), any(G), any(L), any(D)),
      t(any(B), any(G), any(L), any(Dv)),
      { past: cache, ...options(heed, t) },
    ),
  );
const nothingMore = () => ({});

const cacheOptions = "batch, heads, headSize, valueSize, capacity, dtype, isRolling";
const sizes = { heads: 2, headSize: 4, capacity: 10 };
const create = (options: unknown) => (heed: Heed) => heed.createKvCache(any(options));

export const kvCache: Case[] = [
  row("createKvCache without options", create(undefined), "option", [
    "options",
    "an object",
    "undefined",
  ]),
  row("createKvCache without heads", create({ headSize: 4, capacity: 10 }), "option", [
    "heads",
    "a whole number of 1 or more",
    "undefined",
  ]),
  row("createKvCache without a head size", create({ heads: 2, capacity: 10 }), "option", [
    "headSize",
    "a whole number of 1 or more",
    "undefined",
  ]),
  row("createKvCache without a capacity", create({ heads: 2, headSize: 4 }), "option", [
    "capacity",
    "a whole number of 1 or more",
    "undefined",
  ]),
  row("createKvCache with a capacity of 0", create({ ...sizes, capacity: 0 }), "option", [
    "capacity",
    "a whole number of 1 or more",
    "0",
  ]),
  row("createKvCache for a fraction of a sequence", create({ ...sizes, batch: 0.5 }), "option", [
    "batch",
    "a whole number of 1 or more",
    "0.5",
  ]),
  row(
    "createKvCache for more sequences than memory holds",
    create({ ...sizes, batch: 2 ** 40 }),
    "option",
    ["batch", "a number from 1 to 1048576", "1099511627776"],
  ),
  row(
    "createKvCache for more heads than memory holds",
    create({ ...sizes, heads: 2 ** 50 }),
    "option",
    ["heads", "a number from 1 to 1048576", "1125899906842624"],
  ),
  row(
    "createKvCache for larger values than memory holds",
    create({ ...sizes, valueSize: 2 ** 21 }),
    "option",
    ["valueSize", "a number from 1 to 1048576", "2097152"],
  ),
  row("createKvCache of an unknown format", create({ ...sizes, dtype: "f16" }), "option", [
    "dtype",
    '"float32" or "float16" or "int8"',
    '"f16"',
  ]),
  row("createKvCache with a number for isRolling", create({ ...sizes, isRolling: 1 }), "option", [
    "isRolling",
    "true or false",
    "1",
  ]),
  row("createKvCache with an unknown option", create({ ...sizes, rolling: true }), "option", [
    "rolling",
    `an option of createKvCache (${cacheOptions})`,
    "an unknown one",
  ]),

  row(
    "attention of another batch than the cache's",
    attend(nothingMore, [1, 4, 2, 1, 4, 3]),
    "shape",
    ["past", "1 for its batch", "2"],
  ),
  row(
    "attention of other heads than the cache's",
    attend(nothingMore, [2, 4, 4, 1, 4, 3]),
    "shape",
    ["past", "4 for its heads", "2"],
  ),
  row(
    "attention of another head size than the cache's",
    attend(nothingMore, [2, 4, 2, 1, 5, 3]),
    "shape",
    ["past", "5 for its head size", "4"],
  ),
  row(
    "attention of another value size than the cache's",
    attend(nothingMore, [2, 4, 2, 1, 4, 4]),
    "shape",
    ["past", "4 for its value size", "3"],
  ),
  row(
    "more tokens than the cache has room for",
    attend(nothingMore, [2, 4, 2, 6, 4, 3]),
    "option",
    ["past", "room for 6 more tokens in sequence 0", "5 of 10"],
  ),
  row(
    "more tokens than one of the sequences has room for",
    attend(() => ({ kvLengths: [1, 8] }), [2, 4, 2, 8, 4, 3]),
    "option",
    ["past", "room for 8 more tokens in sequence 1", "7 of 10"],
  ),
  row(
    "a count above the number of new tokens",
    attend(() => ({ kvLengths: [1, 2] })),
    "option",
    ["kvLengths", "lengths from 0 to 1", "2"],
  ),
  row(
    "a negative count of new tokens",
    attend(() => ({ kvLengths: [-1, 1] })),
    "option",
    ["kvLengths", "lengths from 0 to 1", "-1"],
  ),
  row(
    "counts of new tokens for one sequence of two",
    attend(() => ({ kvLengths: [1] })),
    "shape",
    ["kvLengths", "[2]", "[1]"],
  ),
  row(
    "a mask over a cache that does not broadcast",
    attend((_, t) => ({ mask: t(7) })),
    "shape",
    ["mask", "a shape that broadcasts to [2, 4, 1, 6]", "[7]"],
  ),
  row(
    "sinks of the wrong length beside a cache",
    attend(() => ({ sinks: [1, 2] })),
    "shape",
    ["sinks", "[4] or what broadcasts to [2, 4]", "[2]"],
  ),
  row(
    "an offset for each of three sequences in a cache of two",
    attend(() => ({ causalOffset: [1, 2, 3] })),
    "shape",
    ["causalOffset", "[1] or [2]", "[3]"],
  ),
  row(
    "a block mask for fewer keys than the cache has",
    attend((h) => ({ blockMask: h.blockMask(() => true, { queries: 1, keys: 5 }) })),
    "shape",
    ["blockMask", "1 queries and 6 keys", "1 and 5"],
  ),
  row(
    "a cache beside packed sequences",
    attend(() => ({ cuSeqlens: [0, 1] })),
    "option",
    ["past", "none beside cuSeqlens, which has no batch axis for it", "one"],
  ),
  row(
    "a disposed cache",
    (h, t) => {
      const cache = filled(h);
      cache.dispose();
      return h.attention(t(2, 4, 1, 4), t(2, 2, 1, 4), t(2, 2, 1, 3), { past: cache });
    },
    "disposed",
    ["past", "a live cache", "a disposed one"],
  ),

  row(
    "an append of keys of another shape",
    onCache((c, _, t) => c.append(t(2, 2, 1, 5), t(2, 2, 1, 3))),
    "shape",
    ["k", "[2, 2, 1, 4]", "[2, 2, 1, 5]"],
  ),
  row(
    "an append of keys of another rank",
    onCache((c, _, t) => c.append(t(2, 1, 8), t(2, 2, 1, 3))),
    "shape",
    ["k", "rank 4", "[2, 1, 8]"],
  ),
  row(
    "an append of fewer values than keys",
    onCache((c, _, t) => c.append(t(2, 2, 2, 4), t(2, 2, 1, 3))),
    "shape",
    ["v", "[2, 2, 2, 3]", "[2, 2, 1, 3]"],
  ),
  row(
    "an append of whole numbers",
    onCache((c, h, t) => c.append(ints(h, 1), t(2, 2, 1, 3))),
    "dtype",
    ["k", "float32", "int32"],
  ),
  row(
    "an append of a list",
    onCache((c, _, t) => c.append(t(2, 2, 1, 4), any([1]))),
    "dtype",
    ["v", "a tensor", "[1]"],
  ),
  row(
    "an append of a disposed tensor",
    onCache((c, h, t) => c.append(disposed(h), t(2, 2, 1, 3))),
    "disposed",
    ["k", ...gone],
  ),
  row(
    "an append beyond the capacity",
    onCache((c, _, t) => c.append(t(2, 2, 6, 4), t(2, 2, 6, 3))),
    "option",
    ["cache", "room for 6 more tokens in sequence 0", "5 of 10"],
  ),
  row(
    "an append beyond the capacity of one sequence",
    onCache((c, _, t) => c.append(t(2, 2, 8, 4), t(2, 2, 8, 3), [0, 8])),
    "option",
    ["cache", "room for 8 more tokens in sequence 1", "7 of 10"],
  ),
  row(
    "an append with a count above the number of tokens",
    onCache((c, _, t) => c.append(t(2, 2, 1, 4), t(2, 2, 1, 3), [1, 2])),
    "option",
    ["counts", "lengths from 0 to 1", "2"],
  ),
  row(
    "an append with one count for two sequences",
    onCache((c, _, t) => c.append(t(2, 2, 1, 4), t(2, 2, 1, 3), [1])),
    "shape",
    ["counts", "[2]", "[1]"],
  ),
  row(
    "an append with a fraction for a count",
    onCache((c, _, t) => c.append(t(2, 2, 1, 4), t(2, 2, 1, 3), [1, 0.5])),
    "option",
    ["counts", "whole numbers of 32 bits", "0.5"],
  ),
  row(
    "an append with a number for counts",
    onCache((c, _, t) => c.append(t(2, 2, 1, 4), t(2, 2, 1, 3), any(1))),
    "option",
    ["counts", "a list of numbers or a tensor", "1"],
  ),
  row(
    "an append with counts of floats",
    onCache((c, _, t) => c.append(t(2, 2, 1, 4), t(2, 2, 1, 3), t(2))),
    "dtype",
    ["counts", "int32", "float32"],
  ),

  row(
    "a rewind past the start of a sequence",
    onCache((c) => c.rewind(4, 1)),
    "option",
    ["tokens", "a number from 0 to 3, the tokens held", "4"],
  ),
  row(
    "a rewind of all past the start of the shortest",
    onCache((c) => c.rewind(4)),
    "option",
    ["tokens", "a number from 0 to 3, the tokens held", "4"],
  ),
  row(
    "a rewind to tokens that a rolling cache has dropped",
    onCache((c) => c.rewind(12, 0), true),
    "option",
    ["tokens", "a number from 0 to 10, the tokens held", "12"],
  ),
  row(
    "a rewind by a negative number",
    onCache((c) => c.rewind(-1)),
    "option",
    ["tokens", "a whole number of 0 or more", "-1"],
  ),
  row(
    "a rewind by a fraction",
    onCache((c) => c.rewind(0.5, 0)),
    "option",
    ["tokens", "a whole number of 0 or more", "0.5"],
  ),
  row(
    "a rewind without a number",
    onCache((c) => c.rewind(any(undefined))),
    "option",
    ["tokens", "a whole number of 0 or more", "undefined"],
  ),
  row(
    "a rewind of a sequence that does not exist",
    onCache((c) => c.rewind(1, 2)),
    "option",
    ["sequence", "a whole number from 0 to 1", "2"],
  ),

  row(
    "an order of too few sequences",
    onCache((c) => c.reorder([0])),
    "shape",
    ["order", "[2]", "[1]"],
  ),
  row(
    "an order with a sequence that does not exist",
    onCache((c) => c.reorder([0, 2])),
    "option",
    ["order", "numbers from 0 to below 2", "2"],
  ),
  row(
    "an order that is not a list",
    onCache((c) => c.reorder(any(1))),
    "option",
    ["order", "a list of numbers", "1"],
  ),

  row(
    "a share of more tokens than the source holds",
    onCache((c) => c.share({ from: 1, to: 0, tokens: 4 })),
    "option",
    ["tokens", "a number from 0 to 3", "4"],
  ),
  row(
    "a share of a beginning that was dropped",
    onCache((c) => c.share({ from: 0, to: 1, tokens: 4 }), true),
    "option",
    ["from", "a sequence that still holds its first token", "one that dropped 3"],
  ),
  row(
    "a share from a sequence that does not exist",
    onCache((c) => c.share({ from: -1, to: 0, tokens: 1 })),
    "option",
    ["from", "a whole number from 0 to 1", "-1"],
  ),
  row(
    "a share to a sequence that does not exist",
    onCache((c) => c.share({ from: 0, to: 2, tokens: 1 })),
    "option",
    ["to", "a whole number from 0 to 1", "2"],
  ),
  row(
    "a share without a number of tokens",
    onCache((c) => c.share(any({ from: 0, to: 1 }))),
    "option",
    ["tokens", "a whole number of 0 or more", "undefined"],
  ),
  row(
    "a share with an unknown option",
    onCache((c) => c.share(any({ from: 0, to: 1, tokens: 1, token: 2 }))),
    "option",
    ["token", "an option of share (from, to, tokens)", "an unknown one"],
  ),
  row(
    "a share without options",
    onCache((c) => c.share(any(null))),
    "option",
    ["options", "an object", "null"],
  ),
];
