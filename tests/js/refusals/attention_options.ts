// Calls of attention that are refused for options other than masks.

import type { Heed } from "heed";
import {
  type Attempt,
  any,
  bools,
  type Change,
  changed,
  disposed,
  gone,
  ints,
  type Make,
  type Refusals,
  wrongOptions,
} from "./case.js";

/** attention of valid tensors, q [2, 2, 3, 4] and k, v [2, 2, 5, 4], with these options. */
const attend =
  (options: Change): Attempt =>
  (h, t) =>
    h.attention(t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 4), any(changed(options, t, h)));
/** The same after a past of one token, its keys or its values replaced. */
const attendAfter = (change: (t: Make, h: Heed) => object, options: object = {}) =>
  attend((t, h) => ({
    past: { key: t(2, 2, 1, 4), value: t(2, 2, 1, 4), ...change(t, h) },
    ...options,
  }));

const sides = "[left, right], each a whole number of -1 or more";
const offset = '"topLeft", "bottomRight", a whole number or a list of them';
const hole = Object.assign(new Array(2), { 1: 1 });
const stages = '"scores", "capped", "masked", "weights", "entropy" or a list of them';
const finite = "a finite float32 number";
const share = "a share from 0 to below 1";
const perHead = "[2] or what broadcasts to [2, 2]";
export const attentionOptions: Refusals = {
  ...wrongOptions("attention", attend, [
    [
      "window",
      sides,
      [-2, 0],
      [0, -2],
      [1],
      [1, 2, 3],
      [1.5, 2],
      5,
      [Infinity, 0],
      [1e300, 0],
      hole,
    ],
    ["causalOffset", offset, "left", 0.5],
    ["causalOffset", "whole numbers of 32 bits", 2 ** 31],
    ["precision", '"float32" or "int8-scores"', "int4"],
    ["softcap", "0 or a positive number", -1],
    ["softcap", finite, Number.NaN, 1e39],
    ["scale", finite, 1e39],
    ["dropout", share, 1, -0.5],
    ["dropout", finite, "0.1"],
    ["seed", "a whole number of 0 or more", -1, 1.5],
    ["alibiSlopes", "a list of numbers or a tensor", 0.5],
    ["capture", stages, new Array(5), ["entropy", "softcap"]],
  ]),
  "a fraction among offsets": [
    attend({ causalOffset: [0, 0.5] }),
    "option: causalOffset: expected whole numbers of 32 bits, got 0.5",
  ],
  "an alignment among offsets": [
    attend({ causalOffset: ["topLeft", 1] }),
    'option: causalOffset: expected whole numbers of 32 bits, got "topLeft"',
  ],
  "three offsets for two sequences": [
    attend({ causalOffset: [1, 2, 3] }),
    "shape: causalOffset: expected [1] or [2], got [3]",
  ],
  "no offsets in a list": [
    attend({ causalOffset: [] }),
    "shape: causalOffset: expected [1] or [2], got [0]",
  ],

  "int8 scores with a cache": [
    attend((_, h) => ({
      past: h.createKvCache({ batch: 2, heads: 2, headSize: 4, capacity: 8 }),
      precision: "int8-scores",
    })),
    "option: precision: expected float32 with a cache, got int8-scores",
  ],

  "too few sinks": [attend({ sinks: [1] }), `shape: sinks: expected ${perHead}, got [1]`],
  "too many slopes": [
    attend({ alibiSlopes: [1, 2, 3] }),
    `shape: alibiSlopes: expected ${perHead}, got [3]`,
  ],
  "sinks of another shape in a tensor": [
    attend((t) => ({ sinks: t(1, 3) })),
    `shape: sinks: expected ${perHead}, got [1, 3]`,
  ],
  "slopes of whole numbers in a tensor": [
    attend((_, h) => ({ alibiSlopes: ints(h, 1, 2) })),
    "dtype: alibiSlopes: expected float32, got int32",
  ],
  "a sink that is text": [attend({ sinks: [1, "2"] }), 'option: sinks: expected numbers, got "2"'],
  "disposed sinks": [attend((_, h) => ({ sinks: disposed(h) })), `disposed: sinks: ${gone}`],

  "a bias that does not broadcast": [
    attend((t) => ({ bias: t(3, 6) })),
    "shape: bias: expected a shape that broadcasts to [2, 2, 3, 5], got [3, 6]",
  ],
  "a boolean bias": [
    attend((_, h) => ({ bias: bools(h, 3, 5) })),
    "dtype: bias: expected float32, got bool",
  ],
  "a bias beside a float mask": [
    attend((t) => ({ mask: t(3, 5), bias: t(3, 5) })),
    "option: bias: expected a boolean mask beside it, because a float mask is a bias too, got a float32 mask",
  ],

  "a past that is a tensor": [
    attend((t) => ({ past: t(1) })),
    "option: past: expected { key, value } or a cache, got a Tensor",
  ],
  "a past without values": [
    attend((t) => ({ past: { key: t(2, 2, 1, 4) } })),
    "option: past: expected { key, value } or a cache, got an Object",
  ],
  "past values that are not a tensor": [
    attendAfter(() => ({ value: 1 })),
    "dtype: past.value: expected a tensor, got 1",
  ],
  "past keys of another batch": [
    attendAfter((t) => ({ key: t(1, 2, 1, 4) })),
    "shape: past.key: expected [2, 2, 1, 4], got [1, 2, 1, 4]",
  ],
  "past keys of another rank": [
    attendAfter((t) => ({ key: t(2, 4) })),
    "shape: past.key: expected rank 4, got [2, 4]",
  ],
  "fewer past values than keys": [
    attendAfter((t) => ({ key: t(2, 2, 2, 4) })),
    "shape: past.value: expected [2, 2, 2, 4], got [2, 2, 1, 4]",
  ],
  "past keys of bools": [
    attendAfter((_, h) => ({ key: bools(h, 2, 2, 1, 4) })),
    "dtype: past.key: expected float32, got bool",
  ],
  "disposed past keys": [
    attendAfter((_, h) => ({ key: disposed(h) })),
    `disposed: past.key: ${gone}`,
  ],
  "key lengths beyond the past and the keys": [
    attendAfter(() => ({}), { kvLengths: [6, 7] }),
    "option: kvLengths: expected lengths from 0 to 6, got 7",
  ],

  "a block mask that is a function": [
    attend({ blockMask: () => true }),
    "option: blockMask: expected a block mask, got a function",
  ],

  "keys of another 16-bit type than the query": [
    (h, t) =>
      h.attention(
        h.cast(t(1, 1, 1, 2), "float16"),
        h.cast(t(1, 1, 1, 2), "bfloat16"),
        t(1, 1, 1, 2),
      ),
    "dtype: k: expected float16, got bfloat16",
  ],
  "16-bit values of a float32 query": [
    (h, t) => h.attention(t(1, 1, 1, 2), t(1, 1, 1, 2), h.cast(t(1, 1, 1, 2), "float16")),
    "dtype: v: expected float32, got float16",
  ],
  "a float32 past of 16-bit inputs": [
    (h, t) => {
      const x = h.cast(t(1, 1, 1, 2), "bfloat16");
      return h.attention(x, x, x, { past: { key: t(1, 1, 1, 2), value: t(1, 1, 1, 2) } });
    },
    "dtype: past.key: expected bfloat16, got float32",
  ],
};
