// Calls of attention that are refused for options other than masks.

import type { Heed } from "heed";
import { any, bools, type Case, disposed, gone, ints, type Make, row } from "./case.js";

/** attention of valid tensors, q [2, 2, 3, 4] and k, v [2, 2, 5, 4], with these options. */
const attend = (options: unknown) => attendWith(() => options);

const attendWith =
  (options: (heed: Heed, make: Make) => unknown) =>
  (heed: Heed, make: Make): unknown =>
    heed.attention(make(2, 2, 3, 4), make(2, 2, 5, 4), make(2, 2, 5, 4), any(options(heed, make)));

const sides = "[left, right], each a whole number of -1 or more";
const offset = '"topLeft", "bottomRight", a whole number or a list of them';
const listOrTensor = "a list of numbers or a tensor";
export const attentionOptions: Case[] = [
  row("a window below -1 on the left", attend({ window: [-2, 0] }), "option", [
    "window",
    sides,
    "[-2, 0]",
  ]),
  row("a window below -1 on the right", attend({ window: [0, -2] }), "option", [
    "window",
    sides,
    "[0, -2]",
  ]),
  row("a window with one side", attend({ window: [1] }), "option", ["window", sides, "[1]"]),
  row("a window with three sides", attend({ window: [1, 2, 3] }), "option", [
    "window",
    sides,
    "[1, 2, 3]",
  ]),
  row("a window of fractions", attend({ window: [1.5, 2] }), "option", [
    "window",
    sides,
    "[1.5, 2]",
  ]),
  row("a window that is a number", attend({ window: 5 }), "option", ["window", sides, "5"]),
  row("an infinite window", attend({ window: [Infinity, 0] }), "option", [
    "window",
    sides,
    "[Infinity, 0]",
  ]),

  row("an unknown alignment", attend({ causalOffset: "left" }), "option", [
    "causalOffset",
    offset,
    '"left"',
  ]),
  row("a fraction for an offset", attend({ causalOffset: 0.5 }), "option", [
    "causalOffset",
    offset,
    "0.5",
  ]),
  row("a fraction among offsets", attend({ causalOffset: [0, 0.5] }), "option", [
    "causalOffset",
    "whole numbers of 32 bits",
    "0.5",
  ]),
  row("an alignment among offsets", attend({ causalOffset: ["topLeft", 1] }), "option", [
    "causalOffset",
    "whole numbers of 32 bits",
    '"topLeft"',
  ]),
  row("an offset beyond 32 bits", attend({ causalOffset: 2 ** 31 }), "option", [
    "causalOffset",
    "whole numbers of 32 bits",
    "2147483648",
  ]),
  row("three offsets for two sequences", attend({ causalOffset: [1, 2, 3] }), "shape", [
    "causalOffset",
    "[1] or [2]",
    "[3]",
  ]),
  row("no offsets in a list", attend({ causalOffset: [] }), "shape", [
    "causalOffset",
    "[1] or [2]",
    "[0]",
  ]),

  row("an unknown precision", attend({ precision: "int4" }), "option", [
    "precision",
    '"float32" or "int8-scores"',
    '"int4"',
  ]),
  row(
    "int8 scores with a cache",
    attendWith((heed) => ({
      past: heed.createKvCache({ batch: 2, heads: 2, headSize: 4, capacity: 8 }),
      precision: "int8-scores",
    })),
    "option",
    ["precision", "float32 with a cache", "int8-scores"],
  ),

  row("a negative softcap", attend({ softcap: -1 }), "option", [
    "softcap",
    "0 or a positive number",
    "-1",
  ]),
  row("a softcap that is NaN", attend({ softcap: Number.NaN }), "option", [
    "softcap",
    "a finite float32 number",
    "NaN",
  ]),
  row("a window above the largest safe integer", attend({ window: [1e300, 0] }), "option", [
    "window",
    "[left, right], each a whole number of -1 or more",
    "[1e+300, 0]",
  ]),
  row("a window with a hole", attend({ window: Object.assign(new Array(2), { 1: 1 }) }), "option", [
    "window",
    "[left, right], each a whole number of -1 or more",
    "[undefined, 1]",
  ]),
  row("a list of stages that has only holes", attend({ capture: new Array(5) }), "option", [
    "capture",
    '"scores", "capped", "masked", "weights", "entropy" or a list of them',
    "[undefined, undefined, undefined, undefined, undefined]",
  ]),
  row("a softcap beyond float32", attend({ softcap: 1e39 }), "option", [
    "softcap",
    "a finite float32 number",
    "1e+39",
  ]),
  row("a scale beyond float32", attend({ scale: 1e39 }), "option", [
    "scale",
    "a finite float32 number",
    "1e+39",
  ]),
  row("a dropout of 1", attend({ dropout: 1 }), "option", [
    "dropout",
    "a share from 0 to below 1",
    "1",
  ]),
  row("a negative dropout", attend({ dropout: -0.5 }), "option", [
    "dropout",
    "a share from 0 to below 1",
    "-0.5",
  ]),
  row("a dropout that is text", attend({ dropout: "0.1" }), "option", [
    "dropout",
    "a finite float32 number",
    '"0.1"',
  ]),
  row("a negative seed", attend({ seed: -1 }), "option", [
    "seed",
    "a whole number of 0 or more",
    "-1",
  ]),
  row("a fraction for a seed", attend({ seed: 1.5 }), "option", [
    "seed",
    "a whole number of 0 or more",
    "1.5",
  ]),

  row("too few sinks", attend({ sinks: [1] }), "shape", [
    "sinks",
    "[2] or what broadcasts to [2, 2]",
    "[1]",
  ]),
  row("too many slopes", attend({ alibiSlopes: [1, 2, 3] }), "shape", [
    "alibiSlopes",
    "[2] or what broadcasts to [2, 2]",
    "[3]",
  ]),
  row(
    "sinks of another shape in a tensor",
    attendWith((_, t) => ({ sinks: t(1, 3) })),
    "shape",
    ["sinks", "[2] or what broadcasts to [2, 2]", "[1, 3]"],
  ),
  row(
    "slopes of whole numbers in a tensor",
    attendWith((h) => ({ alibiSlopes: ints(h, 1, 2) })),
    "dtype",
    ["alibiSlopes", "float32", "int32"],
  ),
  row("a sink that is text", attend({ sinks: [1, "2"] }), "option", ["sinks", "numbers", '"2"']),
  row("one slope for all", attend({ alibiSlopes: 0.5 }), "option", [
    "alibiSlopes",
    listOrTensor,
    "0.5",
  ]),
  row(
    "disposed sinks",
    attendWith((h) => ({ sinks: disposed(h) })),
    "disposed",
    ["sinks", ...gone],
  ),

  row(
    "a bias that does not broadcast",
    attendWith((_, t) => ({ bias: t(3, 6) })),
    "shape",
    ["bias", "a shape that broadcasts to [2, 2, 3, 5]", "[3, 6]"],
  ),
  row(
    "a boolean bias",
    attendWith((h) => ({ bias: bools(h, 3, 5) })),
    "dtype",
    ["bias", "float32", "bool"],
  ),
  row(
    "a bias beside a float mask",
    attendWith((_, t) => ({ mask: t(3, 5), bias: t(3, 5) })),
    "option",
    ["bias", "a boolean mask beside it, because a float mask is a bias too", "a float32 mask"],
  ),

  row(
    "a past that is a tensor",
    attendWith((_, t) => ({ past: t(1) })),
    "option",
    ["past", "{ key, value } or a cache", "a Tensor"],
  ),
  row(
    "a past without values",
    attendWith((_, t) => ({ past: { key: t(2, 2, 1, 4) } })),
    "option",
    ["past", "{ key, value } or a cache", "an Object"],
  ),
  row(
    "past values that are not a tensor",
    attendWith((_, t) => ({ past: { key: t(2, 2, 1, 4), value: 1 } })),
    "dtype",
    ["past.value", "a tensor", "1"],
  ),
  row(
    "past keys of another batch",
    attendWith((_, t) => ({ past: { key: t(1, 2, 1, 4), value: t(2, 2, 1, 4) } })),
    "shape",
    ["past.key", "[2, 2, 1, 4]", "[1, 2, 1, 4]"],
  ),
  row(
    "past keys of another rank",
    attendWith((_, t) => ({ past: { key: t(2, 4), value: t(2, 2, 1, 4) } })),
    "shape",
    ["past.key", "rank 4", "[2, 4]"],
  ),
  row(
    "fewer past values than keys",
    attendWith((_, t) => ({ past: { key: t(2, 2, 2, 4), value: t(2, 2, 1, 4) } })),
    "shape",
    ["past.value", "[2, 2, 2, 4]", "[2, 2, 1, 4]"],
  ),
  row(
    "past keys of bools",
    attendWith((h, t) => ({ past: { key: bools(h, 2, 2, 1, 4), value: t(2, 2, 1, 4) } })),
    "dtype",
    ["past.key", "float32", "bool"],
  ),
  row(
    "disposed past keys",
    attendWith((h, t) => ({ past: { key: disposed(h), value: t(2, 2, 1, 4) } })),
    "disposed",
    ["past.key", ...gone],
  ),
  row(
    "key lengths beyond the past and the keys",
    attendWith((_, t) => ({
      past: { key: t(2, 2, 1, 4), value: t(2, 2, 1, 4) },
      kvLengths: [6, 7],
    })),
    "option",
    ["kvLengths", "lengths from 0 to 6", "7"],
  ),

  row("a block mask that is a function", attend({ blockMask: () => true }), "option", [
    "blockMask",
    "a block mask",
    "a function",
  ]),
  row(
    "an unknown stage beside a known one",
    attend({ capture: ["entropy", "softcap"] }),
    "option",
    [
      "capture",
      '"scores", "capped", "masked", "weights", "entropy" or a list of them',
      '["entropy", "softcap"]',
    ],
  ),

  row(
    "keys of another 16-bit type than the query",
    (h, t) =>
      h.attention(
        h.cast(t(1, 1, 1, 2), "float16"),
        h.cast(t(1, 1, 1, 2), "bfloat16"),
        t(1, 1, 1, 2),
      ),
    "dtype",
    ["k", "float16", "bfloat16"],
  ),
  row(
    "16-bit values of a float32 query",
    (h, t) => h.attention(t(1, 1, 1, 2), t(1, 1, 1, 2), h.cast(t(1, 1, 1, 2), "float16")),
    "dtype",
    ["v", "float32", "float16"],
  ),
  row(
    "a float32 past of 16-bit inputs",
    (h, t) => {
      const x = h.cast(t(1, 1, 1, 2), "bfloat16");
      return h.attention(x, x, x, { past: { key: t(1, 1, 1, 2), value: t(1, 1, 1, 2) } });
    },
    "dtype",
    ["past.key", "bfloat16", "float32"],
  ),
];
