// Refused calls of attention.

import type { Heed } from "heed";
import { any, bools, type Case, disposed, gone, ints, type Make, row } from "./case.js";

const attentionOptions =
  "heads, kvHeads, scale, isCausal, causalOffset, window, mask, kvLengths, precision, softcap, " +
  "bias, alibiSlopes, sinks, dropout, seed, blockMask, past, cuSeqlens, needWeights, needLse, capture";

/** attention of valid tensors, q [1, 2, 3, 4] and k, v [1, 2, 5, 4], with these options. */
const attend = (options: unknown) => (heed: Heed, make: Make) =>
  heed.attention(make(1, 2, 3, 4), make(1, 2, 5, 4), make(1, 2, 5, 4), any(options));

const attendWith =
  (options: (heed: Heed, make: Make) => unknown) =>
  (heed: Heed, make: Make): unknown =>
    attend(options(heed, make))(heed, make);

export const attention: Case[] = [
  row("a query of rank 2", (h, t) => h.attention(t(2, 8), t(1, 2, 5, 4), t(1, 2, 5, 4)), "shape", [
    "q",
    "rank 3 or 4",
    "[2, 8]",
  ]),
  row(
    "a query of rank 5",
    (h, t) => h.attention(t(1, 1, 1, 2, 8), t(1, 2, 5, 4), t(1, 2, 5, 4)),
    "shape",
    ["q", "rank 3 or 4", "[1, 1, 1, 2, 8]"],
  ),
  row(
    "keys of another rank than the query",
    (h, t) => h.attention(t(1, 2, 3, 4), t(1, 5, 8), t(1, 2, 5, 4)),
    "shape",
    ["k", "rank 4", "[1, 5, 8]"],
  ),
  row(
    "values of another rank than the query",
    (h, t) => h.attention(t(1, 2, 3, 4), t(1, 2, 5, 4), t(5, 4)),
    "shape",
    ["v", "rank 4", "[5, 4]"],
  ),
  row(
    "keys of another size than the query",
    (h, t) => h.attention(t(1, 2, 3, 4), t(1, 2, 5, 6), t(1, 2, 5, 4)),
    "shape",
    ["k", "[1, 2, 5, 4]", "[1, 2, 5, 6]"],
  ),
  row(
    "keys of another batch than the query",
    (h, t) => h.attention(t(2, 2, 3, 4), t(1, 2, 5, 4), t(2, 2, 5, 4)),
    "shape",
    ["k", "[2, 2, 5, 4]", "[1, 2, 5, 4]"],
  ),
  row(
    "another number of values than of keys",
    (h, t) => h.attention(t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 6, 4)),
    "shape",
    ["v", "[1, 2, 5, 4]", "[1, 2, 6, 4]"],
  ),
  row(
    "another number of heads in the values than in the keys",
    (h, t) => h.attention(t(1, 4, 3, 4), t(1, 2, 5, 4), t(1, 4, 5, 4)),
    "shape",
    ["v", "[1, 2, 5, 4]", "[1, 4, 5, 4]"],
  ),
  row(
    "a number of query heads that the key heads do not divide",
    (h, t) => h.attention(t(1, 3, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 4)),
    "shape",
    ["k", "a number of heads that divides the 3 of q", "2"],
  ),
  row("no key heads", (h, t) => h.attention(t(1, 3, 3, 4), t(1, 0, 5, 4), t(1, 0, 5, 4)), "shape", [
    "k",
    "a number of heads that divides the 3 of q",
    "0",
  ]),
  row(
    "heads that do not divide the last axis of a query [B, L, H*D]",
    (h, t) => h.attention(t(1, 3, 8), t(1, 5, 8), t(1, 5, 8), { heads: 3 }),
    "shape",
    ["q", "a last axis divisible by heads (3)", "[1, 3, 8]"],
  ),
  row(
    "key/value heads that do not divide the last axis of the values",
    (h, t) => h.attention(t(1, 3, 8), t(1, 5, 4), t(1, 5, 3), { heads: 4, kvHeads: 2 }),
    "shape",
    ["v", "a last axis divisible by kvHeads (2)", "[1, 5, 3]"],
  ),
  row(
    "kvHeads that do not divide heads",
    (h, t) => h.attention(t(1, 3, 8), t(1, 5, 6), t(1, 5, 6), { heads: 4, kvHeads: 3 }),
    "shape",
    ["k", "a number of heads that divides the 4 of q", "3"],
  ),
  row(
    "keys [B, S, G*D] of another head size",
    (h, t) => h.attention(t(1, 3, 8), t(1, 5, 6), t(1, 5, 4), { heads: 4, kvHeads: 2 }),
    "shape",
    ["k", "[1, 5, 4]", "[1, 5, 6]"],
  ),
  row(
    "inputs [B, L, H*D] without a number of heads",
    (h, t) => h.attention(t(1, 3, 8), t(1, 5, 8), t(1, 5, 8)),
    "option",
    ["heads", "a number from 1 to 2^40 for inputs [B, L, H*D]", "0"],
  ),
  row("heads that the shapes contradict", attend({ heads: 4 }), "option", [
    "heads",
    "2, as the shapes say",
    "4",
  ]),
  row("kvHeads that the shapes contradict", attend({ kvHeads: 1 }), "option", [
    "kvHeads",
    "2, as the shapes say",
    "1",
  ]),
  row("a fraction of a head", attend({ heads: 1.5 }), "option", [
    "heads",
    "a whole number of 1 or more",
    "1.5",
  ]),
  row("a negative number of heads", attend({ kvHeads: -2 }), "option", [
    "kvHeads",
    "a whole number of 1 or more",
    "-2",
  ]),
  row("heads above the largest safe integer", attend({ heads: 2 ** 53 }), "option", [
    "heads",
    "a whole number of 1 or more",
    "9007199254740992",
  ]),
  row(
    "a query of whole numbers",
    (h, t) => h.attention(ints(h, 1, 2), t(1, 2, 5, 4), t(1, 2, 5, 4)),
    "dtype",
    ["q", "float32", "int32"],
  ),
  row(
    "keys of bools",
    (h, t) => h.attention(t(1, 2, 3, 4), bools(h, 1, 2, 5, 4), t(1, 2, 5, 4)),
    "dtype",
    ["k", "float32", "bool"],
  ),
  row(
    "values of bools",
    (h, t) => h.attention(t(1, 2, 3, 4), t(1, 2, 5, 4), bools(h, 1, 2, 5, 4)),
    "dtype",
    ["v", "float32", "bool"],
  ),
  row(
    "a query that is not a tensor",
    (h, t) => h.attention(any([[[[1]]]]), t(1, 2, 5, 4), t(1, 2, 5, 4)),
    "dtype",
    ["q", "a tensor", "[[[[1]]]]"],
  ),
  row(
    "missing keys",
    (h, t) => h.attention(t(1, 2, 3, 4), any(undefined), t(1, 2, 5, 4)),
    "dtype",
    ["k", "a tensor", "undefined"],
  ),
  row(
    "values that are a Float32Array",
    (h, t) => h.attention(t(1, 2, 3, 4), t(1, 2, 5, 4), any(new Float32Array(40))),
    "dtype",
    ["v", "a tensor", "a Float32Array"],
  ),
  row(
    "a disposed query",
    (h, t) => h.attention(disposed(h), t(1, 2, 5, 4), t(1, 2, 5, 4)),
    "disposed",
    ["q", ...gone],
  ),
  row(
    "disposed keys",
    (h, t) => h.attention(t(1, 2, 3, 4), disposed(h), t(1, 2, 5, 4)),
    "disposed",
    ["k", ...gone],
  ),
  row(
    "disposed values",
    (h, t) => h.attention(t(1, 2, 3, 4), t(1, 2, 5, 4), disposed(h)),
    "disposed",
    ["v", ...gone],
  ),
  row(
    "a mask whose columns do not broadcast",
    attendWith((_, t) => ({ mask: t(3, 6) })),
    "shape",
    ["mask", "a shape that broadcasts to [1, 2, 3, 5]", "[3, 6]"],
  ),
  row(
    "a mask whose rows do not broadcast",
    attendWith((h) => ({ mask: bools(h, 2, 5) })),
    "shape",
    ["mask", "a shape that broadcasts to [1, 2, 3, 5]", "[2, 5]"],
  ),
  row(
    "a mask whose heads do not broadcast",
    attendWith((_, t) => ({ mask: t(3, 3, 5) })),
    "shape",
    ["mask", "a shape that broadcasts to [1, 2, 3, 5]", "[3, 3, 5]"],
  ),
  row(
    "a mask of rank 5",
    attendWith((_, t) => ({ mask: t(1, 1, 1, 3, 5) })),
    "shape",
    ["mask", "a shape that broadcasts to [1, 2, 3, 5]", "[1, 1, 1, 3, 5]"],
  ),
  row(
    "a mask of whole numbers",
    attendWith((h) => ({ mask: ints(h, 1, 1, 1, 1, 1) })),
    "dtype",
    ["mask", "bool or float32", "int32"],
  ),
  row("a mask that is not a tensor", attend({ mask: [[true]] }), "option", [
    "mask",
    "a tensor",
    "[[true]]",
  ]),
  row("null for a mask", attend({ mask: null }), "option", ["mask", "a tensor", "null"]),
  row(
    "a disposed mask",
    attendWith((h) => ({ mask: disposed(h) })),
    "disposed",
    ["mask", ...gone],
  ),
  row("a key length beyond the keys", attend({ kvLengths: [6] }), "option", [
    "kvLengths",
    "lengths from 0 to 5",
    "6",
  ]),
  row("a negative key length", attend({ kvLengths: [-1] }), "option", [
    "kvLengths",
    "lengths from 0 to 5",
    "-1",
  ]),
  row("a fraction as key length", attend({ kvLengths: [2.5] }), "option", [
    "kvLengths",
    "whole numbers of 32 bits",
    "2.5",
  ]),
  row("a key length that is text", attend({ kvLengths: ["2"] }), "option", [
    "kvLengths",
    "whole numbers of 32 bits",
    '"2"',
  ]),
  row("too many key lengths", attend({ kvLengths: [5, 5] }), "shape", ["kvLengths", "[1]", "[2]"]),
  row("one key length for all", attend({ kvLengths: 5 }), "option", [
    "kvLengths",
    "a list of numbers or a tensor",
    "5",
  ]),
  row(
    "key lengths as floats",
    attendWith((_, t) => ({ kvLengths: t(1) })),
    "dtype",
    ["kvLengths", "int32", "float32"],
  ),
  row(
    "a negative key length in a tensor",
    attendWith((h) => ({ kvLengths: ints(h, -1) })),
    "option",
    ["kvLengths", "lengths from 0 to 5", "-1"],
  ),
  row(
    "disposed key lengths",
    attendWith((h) => ({ kvLengths: disposed(h) })),
    "disposed",
    ["kvLengths", ...gone],
  ),
  row("a scale that is NaN", attend({ scale: Number.NaN }), "option", [
    "scale",
    "a finite float32 number",
    "NaN",
  ]),
  row("an infinite scale", attend({ scale: -Infinity }), "option", [
    "scale",
    "a finite float32 number",
    "-Infinity",
  ]),
  row("a scale that is text", attend({ scale: "1" }), "option", [
    "scale",
    "a finite float32 number",
    '"1"',
  ]),
  row("a number for isCausal", attend({ isCausal: 1 }), "option", [
    "isCausal",
    "true or false",
    "1",
  ]),
  row("text for needWeights", attend({ needWeights: "yes" }), "option", [
    "needWeights",
    "true or false",
    '"yes"',
  ]),
  row("null for needLse", attend({ needLse: null }), "option", [
    "needLse",
    "true or false",
    "null",
  ]),
  row("an unknown stage", attend({ capture: "score" }), "option", [
    "capture",
    '"scores", "capped", "masked", "weights", "entropy" or a list of them',
    '"score"',
  ]),
  row("an unknown stage in a list", attend({ capture: ["scores", 1] }), "option", [
    "capture",
    '"scores", "capped", "masked", "weights", "entropy" or a list of them',
    '["scores", 1]',
  ]),
  row("an unknown option", attend({ isCausal: true, causal: true }), "option", [
    "causal",
    `an option of attention (${attentionOptions})`,
    "an unknown one",
  ]),
  row("an option with the name of an object's method", attend({ toString: 1 }), "option", [
    "toString",
    `an option of attention (${attentionOptions})`,
    "an unknown one",
  ]),
  row("options that are a number", attend(5), "option", ["options", "an object", "5"]),
  row("options that are null", attend(null), "option", ["options", "an object", "null"]),
];
