// Refused calls of rope.

import type { Heed } from "heed";
import { any, type Case, disposed, gone, ints, type Make, row } from "./case.js";

const rotate = (options: (make: Make, heed: Heed) => unknown) => (heed: Heed, t: Make) =>
  heed.rope(t(1, 2, 3, 4), any(options(t, heed)));

export const rope: Case[] = [
  row("rope of rank 2", (h, t) => h.rope(t(3, 4)), "shape", ["x", "rank 3 or 4", "[3, 4]"]),
  row("rope of [B, L, H*D] without heads", (h, t) => h.rope(t(1, 3, 8)), "option", [
    "heads",
    "a divisor of the last axis of x [1, 3, 8]",
    "0",
  ]),
  row("rope with heads that do not divide", (h, t) => h.rope(t(1, 3, 8), { heads: 3 }), "option", [
    "heads",
    "a divisor of the last axis of x [1, 3, 8]",
    "3",
  ]),
  row(
    "rope with heads that the shape contradicts",
    rotate(() => ({ heads: 3 })),
    "option",
    ["heads", "2, as the shape says", "3"],
  ),
  row("rope of an odd head size", (h, t) => h.rope(t(1, 1, 1, 3)), "option", [
    "rotarySize",
    "an even number up to 3",
    "3",
  ]),
  row(
    "rope with an odd rotarySize",
    rotate(() => ({ rotarySize: 3 })),
    "option",
    ["rotarySize", "an even number up to 4", "3"],
  ),
  row(
    "rope with a rotarySize above the head size",
    rotate(() => ({ rotarySize: 6 })),
    "option",
    ["rotarySize", "an even number up to 4", "6"],
  ),
  row(
    "rope with a rotarySize of 0",
    rotate(() => ({ rotarySize: 0 })),
    "option",
    ["rotarySize", "a whole number of 2 or more", "0"],
  ),
  row(
    "rope of an unknown style",
    rotate(() => ({ style: "neox" })),
    "option",
    ["style", '"half" or "interleaved"', '"neox"'],
  ),
  row(
    "rope with a base of 0",
    rotate(() => ({ base: 0 })),
    "option",
    ["base", "a positive number", "0"],
  ),
  row(
    "rope with a fraction for an offset",
    rotate(() => ({ offset: 0.5 })),
    "option",
    ["offset", "a whole number of -9007199254740991 or more", "0.5"],
  ),
  row(
    "rope with an unknown option",
    rotate(() => ({ theta: 1 })),
    "option",
    [
      "theta",
      "an option of rope (style, heads, rotarySize, base, offset, positionIds, cos, sin)",
      "an unknown one",
    ],
  ),
  row(
    "rope with positions of another shape",
    rotate((_, h) => ({ positionIds: ints(h, 1, 2, 3) })),
    "shape",
    ["positionIds", "[1, 3]", "[3]"],
  ),
  row(
    "rope with positions of floats",
    rotate((t) => ({ positionIds: t(1, 3) })),
    "dtype",
    ["positionIds", "int32", "float32"],
  ),
  row(
    "rope with cosines alone",
    rotate((t) => ({ cos: t(3, 2) })),
    "option",
    ["sin", "a table beside the other", "nothing"],
  ),
  row(
    "rope with sines alone",
    rotate((t) => ({ sin: t(3, 2) })),
    "option",
    ["cos", "a table beside the other", "nothing"],
  ),
  row(
    "rope with tables of another size",
    rotate((t) => ({ cos: t(3, 4), sin: t(3, 4) })),
    "shape",
    ["cos", "[3, 2]", "[3, 4]"],
  ),
  row(
    "rope with tables that differ",
    rotate((t) => ({ cos: t(3, 2), sin: t(4, 2) })),
    "shape",
    ["sin", "[3, 2]", "[4, 2]"],
  ),
  row(
    "rope beyond the end of its tables",
    rotate((t) => ({ cos: t(3, 2), sin: t(3, 2), offset: 1 })),
    "option",
    ["offset", "positions from 0 to 2", "3"],
  ),
  row(
    "rope before the beginning of its tables",
    rotate((t, h) => ({
      cos: t(3, 2),
      sin: t(3, 2),
      positionIds: h.tensor(Int32Array.of(0, -1, 2), [1, 3]),
    })),
    "option",
    ["positionIds", "positions from 0 to 2", "-1"],
  ),
  row("rope of whole numbers", (h) => h.rope(h.tensor(new Int32Array(4), [1, 1, 1, 4])), "dtype", [
    "x",
    "float32",
    "int32",
  ]),
  row("rope of a disposed tensor", (h) => h.rope(disposed(h)), "disposed", ["x", ...gone]),
];
