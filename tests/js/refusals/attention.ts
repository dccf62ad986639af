// Refused calls of attention.

import {
  type Attempt,
  any,
  bools,
  type Change,
  changed,
  disposed,
  gone,
  ints,
  type Refusals,
  wrongOptions,
  wrongShapes,
} from "./case.js";

const attentionOptions =
  "heads, kvHeads, scale, isCausal, causalOffset, window, mask, kvLengths, precision, softcap, " +
  "bias, alibiSlopes, sinks, dropout, seed, blockMask, past, cuSeqlens, needWeights, needLse, capture";

/** attention of q [1, 2, 3, 4] and k, v [1, 2, 5, 4], some replaced, with these options. */
const attend =
  (change: Change): Attempt =>
  (h, t) => {
    const { q, k, v, ...options } = {
      q: t(1, 2, 3, 4),
      k: t(1, 2, 5, 4),
      v: t(1, 2, 5, 4),
      ...any<object>(changed(change, t, h)),
    };
    return h.attention(q, k, v, options);
  };
const attendWithOptions =
  (options: unknown): Attempt =>
  (h, t) =>
    h.attention(t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 4), any(options));

const dividing = "a number of heads that divides the 3 of q";
const broadcasting = "a shape that broadcasts to [1, 2, 3, 5]";
const whole = "a whole number of 1 or more";
const stages = '"scores", "capped", "masked", "weights", "entropy" or a list of them';

export const attention: Refusals = {
  ...wrongShapes("attention", attend, [
    ["q", "rank 3 or 4", [2, 8], [1, 1, 1, 2, 8]],
    ["k", "rank 4", [1, 5, 8]],
    ["v", "rank 4", [5, 4]],
    ["k", "[1, 2, 5, 4]", [1, 2, 5, 6]],
    ["v", "[1, 2, 5, 4]", [1, 2, 6, 4]],
    ["mask", broadcasting, [3, 6], [3, 3, 5], [1, 1, 1, 3, 5]],
  ]),
  ...wrongShapes("attention", attend, [["mask", broadcasting, [2, 5]]], bools),
  "keys of another batch than the query": [
    attend((t) => ({ q: t(2, 2, 3, 4), v: t(2, 2, 5, 4) })),
    "shape: k: expected [2, 2, 5, 4], got [1, 2, 5, 4]",
  ],
  "another number of heads in the values than in the keys": [
    attend((t) => ({ q: t(1, 4, 3, 4), v: t(1, 4, 5, 4) })),
    "shape: v: expected [1, 2, 5, 4], got [1, 4, 5, 4]",
  ],
  "a number of query heads that the key heads do not divide": [
    attend((t) => ({ q: t(1, 3, 3, 4) })),
    `shape: k: expected ${dividing}, got 2`,
  ],
  "no key heads": [
    attend((t) => ({ q: t(1, 3, 3, 4), k: t(1, 0, 5, 4), v: t(1, 0, 5, 4) })),
    `shape: k: expected ${dividing}, got 0`,
  ],
  "heads that do not divide the last axis of a query [B, L, H*D]": [
    (h, t) => h.attention(t(1, 3, 8), t(1, 5, 8), t(1, 5, 8), { heads: 3 }),
    "shape: q: expected a last axis divisible by heads (3), got [1, 3, 8]",
  ],
  "key/value heads that do not divide the last axis of the values": [
    (h, t) => h.attention(t(1, 3, 8), t(1, 5, 4), t(1, 5, 3), { heads: 4, kvHeads: 2 }),
    "shape: v: expected a last axis divisible by kvHeads (2), got [1, 5, 3]",
  ],
  "kvHeads that do not divide heads": [
    (h, t) => h.attention(t(1, 3, 8), t(1, 5, 6), t(1, 5, 6), { heads: 4, kvHeads: 3 }),
    "shape: k: expected a number of heads that divides the 4 of q, got 3",
  ],
  "keys [B, S, G*D] of another head size": [
    (h, t) => h.attention(t(1, 3, 8), t(1, 5, 6), t(1, 5, 4), { heads: 4, kvHeads: 2 }),
    "shape: k: expected [1, 5, 4], got [1, 5, 6]",
  ],
  "inputs [B, L, H*D] without a number of heads": [
    attend((t) => ({ q: t(1, 3, 8), k: t(1, 5, 8), v: t(1, 5, 8) })),
    "option: heads: expected a number from 1 to 2^40 for inputs [B, L, H*D], got 0",
  ],
  ...wrongOptions("attention", attend, [
    ["heads", "2, as the shapes say", 4],
    ["kvHeads", "2, as the shapes say", 1],
    ["heads", whole, 1.5, 2 ** 53],
    ["kvHeads", whole, -2],
    ["mask", "a tensor", [[true]], null],
    ["kvLengths", "a list of numbers or a tensor", 5],
    ["scale", "a finite float32 number", Number.NaN, -Infinity, "1"],
    ["isCausal", "true or false", 1],
    ["needWeights", "true or false", "yes"],
    ["needLse", "true or false", null],
    ["capture", stages, "score", ["scores", 1]],
  ]),
  "a query of whole numbers": [
    attend((_, h) => ({ q: ints(h, 1, 2) })),
    "dtype: q: expected float32, got int32",
  ],
  "keys of bools": [
    attend((_, h) => ({ k: bools(h, 1, 2, 5, 4) })),
    "dtype: k: expected float32, got bool",
  ],
  "values of bools": [
    attend((_, h) => ({ v: bools(h, 1, 2, 5, 4) })),
    "dtype: v: expected float32, got bool",
  ],
  "a query that is not a tensor": [
    attend({ q: [[[[1]]]] }),
    "dtype: q: expected a tensor, got [[[[1]]]]",
  ],
  "missing keys": [attend({ k: undefined }), "dtype: k: expected a tensor, got undefined"],
  "values that are a Float32Array": [
    attend({ v: new Float32Array(40) }),
    "dtype: v: expected a tensor, got a Float32Array",
  ],
  "a disposed query": [attend((_, h) => ({ q: disposed(h) })), `disposed: q: ${gone}`],
  "disposed keys": [attend((_, h) => ({ k: disposed(h) })), `disposed: k: ${gone}`],
  "disposed values": [attend((_, h) => ({ v: disposed(h) })), `disposed: v: ${gone}`],
  "a mask of whole numbers": [
    attend((_, h) => ({ mask: ints(h, 1, 1, 1, 1, 1) })),
    "dtype: mask: expected bool or float32, got int32",
  ],
  "a disposed mask": [attend((_, h) => ({ mask: disposed(h) })), `disposed: mask: ${gone}`],
  "a key length beyond the keys": [
    attend({ kvLengths: [6] }),
    "option: kvLengths: expected lengths from 0 to 5, got 6",
  ],
  "a negative key length": [
    attend({ kvLengths: [-1] }),
    "option: kvLengths: expected lengths from 0 to 5, got -1",
  ],
  "a fraction as key length": [
    attend({ kvLengths: [2.5] }),
    "option: kvLengths: expected whole numbers of 32 bits, got 2.5",
  ],
  "a key length that is text": [
    attend({ kvLengths: ["2"] }),
    'option: kvLengths: expected whole numbers of 32 bits, got "2"',
  ],
  "too many key lengths": [
    attend({ kvLengths: [5, 5] }),
    "shape: kvLengths: expected [1], got [2]",
  ],
  "key lengths as floats": [
    attend((t) => ({ kvLengths: t(1) })),
    "dtype: kvLengths: expected int32, got float32",
  ],
  "a negative key length in a tensor": [
    attend((_, h) => ({ kvLengths: ints(h, -1) })),
    "option: kvLengths: expected lengths from 0 to 5, got -1",
  ],
  "disposed key lengths": [
    attend((_, h) => ({ kvLengths: disposed(h) })),
    `disposed: kvLengths: ${gone}`,
  ],
  "an unknown option": [
    attend({ isCausal: true, causal: true }),
    `option: causal: expected an option of attention (${attentionOptions}), got an unknown one`,
  ],
  "an option with the name of an object's method": [
    attend({ toString: 1 }),
    `option: toString: expected an option of attention (${attentionOptions}), got an unknown one`,
  ],
  "options that are a number": [attendWithOptions(5), "option: options: expected an object, got 5"],
  "options that are null": [
    attendWithOptions(null),
    "option: options: expected an object, got null",
  ],
};
