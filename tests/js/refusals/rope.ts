// Refused calls of rope that are not in operands.ts.

import {
  type Attempt,
  any,
  type Change,
  changed,
  ints,
  type Refusals,
  wrongOptions,
} from "./case.js";

const rotate =
  (options: Change): Attempt =>
  (h, t) =>
    h.rope(t(1, 2, 3, 4), any(changed(options, t, h)));

const divisor = "a divisor of the last axis of x [1, 3, 8]";

export const rope: Refusals = {
  "rope of rank 2": [(h, t) => h.rope(t(3, 4)), "shape: x: expected rank 3 or 4, got [3, 4]"],
  "rope of [B, L, H*D] without heads": [
    (h, t) => h.rope(t(1, 3, 8)),
    `option: heads: expected ${divisor}, got 0`,
  ],
  "rope with heads that do not divide": [
    (h, t) => h.rope(t(1, 3, 8), { heads: 3 }),
    `option: heads: expected ${divisor}, got 3`,
  ],
  "rope of an odd head size": [
    (h, t) => h.rope(t(1, 1, 1, 3)),
    "option: rotarySize: expected an even number up to 3, got 3",
  ],
  ...wrongOptions("rope", rotate, [
    ["heads", "2, as the shape says", 3],
    ["rotarySize", "an even number up to 4", 3, 6],
    ["rotarySize", "a whole number of 2 or more", 0],
    ["style", '"half" or "interleaved"', "neox"],
    ["base", "a positive number", 0],
    ["offset", "a whole number of -9007199254740991 or more", 0.5],
  ]),
  "rope with an unknown option": [
    rotate({ theta: 1 }),
    "option: theta: expected an option of rope (style, heads, rotarySize, base, offset, positionIds, cos, sin), got an unknown one",
  ],
  "rope with positions of another shape": [
    rotate((_, h) => ({ positionIds: ints(h, 1, 2, 3) })),
    "shape: positionIds: expected [1, 3], got [3]",
  ],
  "rope with cosines alone": [
    rotate((t) => ({ cos: t(3, 2) })),
    "option: sin: expected a table beside the other, got nothing",
  ],
  "rope with sines alone": [
    rotate((t) => ({ sin: t(3, 2) })),
    "option: cos: expected a table beside the other, got nothing",
  ],
  "rope with tables of another size": [
    rotate((t) => ({ cos: t(3, 4), sin: t(3, 4) })),
    "shape: cos: expected [3, 2], got [3, 4]",
  ],
  "rope with tables that differ": [
    rotate((t) => ({ cos: t(3, 2), sin: t(4, 2) })),
    "shape: sin: expected [3, 2], got [4, 2]",
  ],
  "rope beyond the end of its tables": [
    rotate((t) => ({ cos: t(3, 2), sin: t(3, 2), offset: 1 })),
    "option: offset: expected positions from 0 to 2, got 3",
  ],
  "rope before the beginning of its tables": [
    rotate((t, h) => ({
      cos: t(3, 2),
      sin: t(3, 2),
      positionIds: h.tensor(Int32Array.of(0, -1, 2), [1, 3]),
    })),
    "option: positionIds: expected positions from 0 to 2, got -1",
  ],
};
