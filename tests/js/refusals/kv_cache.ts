// Calls that caches refuse, which leave the cache unchanged.

import type { Heed, KvCache } from "heed";
import { expect } from "vitest";
import { Random } from "../values.js";
import {
  any,
  type Change,
  changed,
  disposed,
  gone,
  ints,
  type Make,
  type Refusals,
  wrongOptions,
} from "./case.js";

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
const attend = (options: Change, { B = 2, G = 2, L = 1, D = 4, Dv = 3 } = {}) =>
  onCache((cache, heed, t) =>
    heed.attention(t(B, 4, L, D), t(B, G, L, D), t(B, G, L, Dv), {
      past: cache,
      ...any<object>(changed(options, t, heed)),
    }),
  );

const cacheOptions = "batch, heads, headSize, valueSize, capacity, dtype, isRolling";
const create = (options: unknown) => (heed: Heed) => heed.createKvCache(any(options));
const createWith = (options: object) => create({ heads: 2, headSize: 4, capacity: 10, ...options });

/** append of valid keys and values, one token for each sequence, with these counts. */
const append = (counts: (make: Make) => unknown) =>
  onCache((cache, _, t) => cache.append(t(2, 2, 1, 4), t(2, 2, 1, 3), any(counts(t))));
const share = (options: object | null, isRolling?: boolean) =>
  onCache((cache) => cache.share(any(options)), isRolling);
const rewind = ({ tokens, sequence }: { tokens?: unknown; sequence?: number }) =>
  onCache((cache) => cache.rewind(any(tokens), sequence));

export const kvCache: Refusals = {
  "createKvCache without options": [
    create(undefined),
    "option: options: expected an object, got undefined",
  ],
  ...wrongOptions("createKvCache", createWith, [
    ["heads", "a whole number of 1 or more", undefined],
    ["headSize", "a whole number of 1 or more", undefined],
    ["capacity", "a whole number of 1 or more", undefined, 0],
    ["batch", "a whole number of 1 or more", 0.5],
    ["batch", "a number from 1 to 1048576", 2 ** 40],
    ["heads", "a number from 1 to 1048576", 2 ** 50],
    ["valueSize", "a number from 1 to 1048576", 2 ** 21],
    ["dtype", '"float32" or "float16" or "int8"', "f16"],
    ["isRolling", "true or false", 1],
  ]),
  "createKvCache with an unknown option": [
    createWith({ rolling: true }),
    `option: rolling: expected an option of createKvCache (${cacheOptions}), got an unknown one`,
  ],

  "attention of another batch than the cache's": [
    attend({}, { B: 1 }),
    "shape: past: expected 1 for its batch, got 2",
  ],
  "attention of other heads than the cache's": [
    attend({}, { G: 4 }),
    "shape: past: expected 4 for its heads, got 2",
  ],
  "attention of another head size than the cache's": [
    attend({}, { D: 5 }),
    "shape: past: expected 5 for its head size, got 4",
  ],
  "attention of another value size than the cache's": [
    attend({}, { Dv: 4 }),
    "shape: past: expected 4 for its value size, got 3",
  ],
  "more tokens than the cache has room for": [
    attend({}, { L: 6 }),
    "option: past: expected room for 6 more tokens in sequence 0, got 5 of 10",
  ],
  "more tokens than one of the sequences has room for": [
    attend({ kvLengths: [1, 8] }, { L: 8 }),
    "option: past: expected room for 8 more tokens in sequence 1, got 7 of 10",
  ],
  "a count above the number of new tokens": [
    attend({ kvLengths: [1, 2] }),
    "option: kvLengths: expected lengths from 0 to 1, got 2",
  ],
  "a negative count of new tokens": [
    attend({ kvLengths: [-1, 1] }),
    "option: kvLengths: expected lengths from 0 to 1, got -1",
  ],
  "counts of new tokens for one sequence of two": [
    attend({ kvLengths: [1] }),
    "shape: kvLengths: expected [2], got [1]",
  ],
  "a mask over a cache that does not broadcast": [
    attend((t) => ({ mask: t(7) })),
    "shape: mask: expected a shape that broadcasts to [2, 4, 1, 6], got [7]",
  ],
  "sinks of the wrong length beside a cache": [
    attend({ sinks: [1, 2] }),
    "shape: sinks: expected [4] or what broadcasts to [2, 4], got [2]",
  ],
  "an offset for each of three sequences in a cache of two": [
    attend({ causalOffset: [1, 2, 3] }),
    "shape: causalOffset: expected [1] or [2], got [3]",
  ],
  "a block mask for fewer keys than the cache has": [
    attend((_, h) => ({ blockMask: h.blockMask(() => true, { queries: 1, keys: 5 }) })),
    "shape: blockMask: expected 1 queries and 6 keys, got 1 and 5",
  ],
  "a cache beside packed sequences": [
    attend({ cuSeqlens: [0, 1] }),
    "option: past: expected none beside cuSeqlens, which has no batch axis for it, got one",
  ],
  "a disposed cache": [
    (h, t) => {
      const cache = filled(h);
      cache.dispose();
      return h.attention(t(2, 4, 1, 4), t(2, 2, 1, 4), t(2, 2, 1, 3), { past: cache });
    },
    "disposed: past: expected a live cache, got a disposed one",
  ],

  "an append of keys of another shape": [
    onCache((c, _, t) => c.append(t(2, 2, 1, 5), t(2, 2, 1, 3))),
    "shape: k: expected [2, 2, 1, 4], got [2, 2, 1, 5]",
  ],
  "an append of keys of another rank": [
    onCache((c, _, t) => c.append(t(2, 1, 8), t(2, 2, 1, 3))),
    "shape: k: expected rank 4, got [2, 1, 8]",
  ],
  "an append of fewer values than keys": [
    onCache((c, _, t) => c.append(t(2, 2, 2, 4), t(2, 2, 1, 3))),
    "shape: v: expected [2, 2, 2, 3], got [2, 2, 1, 3]",
  ],
  "an append of whole numbers": [
    onCache((c, h, t) => c.append(ints(h, 1), t(2, 2, 1, 3))),
    "dtype: k: expected float32, got int32",
  ],
  "an append of a list": [
    onCache((c, _, t) => c.append(t(2, 2, 1, 4), any([1]))),
    "dtype: v: expected a tensor, got [1]",
  ],
  "an append of a disposed tensor": [
    onCache((c, h, t) => c.append(disposed(h), t(2, 2, 1, 3))),
    `disposed: k: ${gone}`,
  ],
  "an append beyond the capacity": [
    onCache((c, _, t) => c.append(t(2, 2, 6, 4), t(2, 2, 6, 3))),
    "option: cache: expected room for 6 more tokens in sequence 0, got 5 of 10",
  ],
  "an append beyond the capacity of one sequence": [
    onCache((c, _, t) => c.append(t(2, 2, 8, 4), t(2, 2, 8, 3), [0, 8])),
    "option: cache: expected room for 8 more tokens in sequence 1, got 7 of 10",
  ],
  "an append with a count above the number of tokens": [
    append(() => [1, 2]),
    "option: counts: expected lengths from 0 to 1, got 2",
  ],
  "an append with one count for two sequences": [
    append(() => [1]),
    "shape: counts: expected [2], got [1]",
  ],
  "an append with a fraction for a count": [
    append(() => [1, 0.5]),
    "option: counts: expected whole numbers of 32 bits, got 0.5",
  ],
  "an append with a number for counts": [
    append(() => 1),
    "option: counts: expected a list of numbers or a tensor, got 1",
  ],
  "an append with counts of floats": [
    append((t) => t(2)),
    "dtype: counts: expected int32, got float32",
  ],

  "a rewind past the start of a sequence": [
    rewind({ tokens: 4, sequence: 1 }),
    "option: tokens: expected a number from 0 to 3, the tokens held, got 4",
  ],
  "a rewind to tokens that a rolling cache has dropped": [
    onCache((c) => c.rewind(12, 0), true),
    "option: tokens: expected a number from 0 to 10, the tokens held, got 12",
  ],
  ...wrongOptions("a rewind", rewind, [
    ["tokens", "a number from 0 to 3, the tokens held", 4],
    ["tokens", "a whole number of 0 or more", -1, 0.5, undefined],
  ]),
  "a rewind of a sequence that does not exist": [
    rewind({ tokens: 1, sequence: 2 }),
    "option: sequence: expected a whole number from 0 to 1, got 2",
  ],

  "an order of too few sequences": [
    onCache((c) => c.reorder([0])),
    "shape: order: expected [2], got [1]",
  ],
  "an order with a sequence that does not exist": [
    onCache((c) => c.reorder([0, 2])),
    "option: order: expected numbers from 0 to below 2, got 2",
  ],
  "an order that is not a list": [
    onCache((c) => c.reorder(any(1))),
    "option: order: expected a list of numbers, got 1",
  ],

  "a share of more tokens than the source holds": [
    share({ from: 1, to: 0, tokens: 4 }),
    "option: tokens: expected a number from 0 to 3, got 4",
  ],
  "a share of a beginning that was dropped": [
    share({ from: 0, to: 1, tokens: 4 }, true),
    "option: from: expected a sequence that still holds its first token, got one that dropped 3",
  ],
  "a share from a sequence that does not exist": [
    share({ from: -1, to: 0, tokens: 1 }),
    "option: from: expected a whole number from 0 to 1, got -1",
  ],
  "a share to a sequence that does not exist": [
    share({ from: 0, to: 2, tokens: 1 }),
    "option: to: expected a whole number from 0 to 1, got 2",
  ],
  "a share without a number of tokens": [
    share({ from: 0, to: 1 }),
    "option: tokens: expected a whole number of 0 or more, got undefined",
  ],
  "a share with an unknown option": [
    share({ from: 0, to: 1, tokens: 1, token: 2 }),
    "option: token: expected an option of share (from, to, tokens), got an unknown one",
  ],
  "a share without options": [share(null), "option: options: expected an object, got null"],
};
