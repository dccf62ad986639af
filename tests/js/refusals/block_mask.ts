// Refused calls of blockMask, and of attention with a block mask.

import { type Heed, maskFunctions } from "heed";
import { any, type Make, type Refusals, wrong, wrongOptions } from "./case.js";

const block = (visible: unknown, sizes: unknown) => (heed: Heed) =>
  heed.blockMask(any(visible), any(sizes));
const yes = () => true;
const sizes = { queries: 3, keys: 5 };

/** attention of q [2, 2, 3, 4] and k, v [2, 2, 5, 4] under a block mask of these sizes. */
const masked = (wrong: object) => (heed: Heed, t: Make) => {
  using blockMask = heed.blockMask(yes, { ...sizes, ...wrong });
  return heed.attention(t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 4), { blockMask });
};

export const blockMask: Refusals = {
  "a causal mask with an offset of NaN": [
    () => maskFunctions.causal(Number.NaN),
    "option: offset: expected a whole number of -9007199254740991 or more, got NaN",
  ],
  "a window mask of a fraction of a key": [
    () => maskFunctions.window(0.5, 1),
    "option: left: expected a whole number of -1 or more, got 0.5",
  ],
  "a document mask without documents": [
    () => maskFunctions.document(any(null)),
    "option: documents: expected a list of numbers, got null",
  ],
  "a mask with a string as prefix length": [
    () => maskFunctions.prefixLm(any("3")),
    'option: length: expected a whole number of 0 or more, got "3"',
  ],
  "a dilated mask with a step of 0": [
    () => maskFunctions.dilated(0, 1),
    "option: step: expected a whole number of 1 or more, got 0",
  ],
  "a combination of a mask and a number": [
    () => maskFunctions.and(yes, any(3)),
    "option: masks[1]: expected a function, got 3",
  ],
  "blockMask without a function": [
    block(null, sizes),
    "option: visible: expected a function, got null",
  ],
  "blockMask without sizes": [
    block(yes, undefined),
    "option: options: expected an object, got undefined",
  ],
  ...wrongOptions("blockMask", (options) => block(yes, { ...sizes, ...options }), [
    ["keys", "a whole number of 0 or more", undefined],
    ["queries", "a whole number of 0 or more", undefined, -1],
    ["heads", "a whole number of 1 or more", 0],
  ]),
  "blockMask with an unknown size": [
    block(yes, { ...sizes, query: 3 }),
    "option: query: expected an option of blockMask (batch, heads, queries, keys), got an unknown one",
  ],
  "blockMask of too many pairs": [
    block(yes, { queries: 2 ** 40, keys: 128 }),
    "memory: sizes: expected at most 1073741824 pairs, got 140737488355328",
  ],
  "blockMask of a function that throws": [
    block(() => {
      throw new RangeError("no such document");
    }, sizes),
    "option: visible: expected true or false, got an exception: no such document",
  ],
  "blockMask of a function that throws a string": [
    block(() => {
      throw "nothing";
    }, sizes),
    "option: visible: expected true or false, got an exception: nothing",
  ],
  ...wrong("blockMask", "option", [["visible", "true or false", 1, undefined]], (visible) =>
    block(() => visible, sizes),
  ),
  "blockMask of an async function": [
    block(async () => true, sizes),
    "option: visible: expected true or false, got a Promise",
  ],
  "blockMask of a function that fails at its last pair": [
    block(({ q, k }: { q: number; k: number }) => (q === 99 && k === 299 ? null : true), {
      queries: 100,
      keys: 300,
    }),
    "option: visible: expected true or false, got null",
  ],
  "a block mask for other queries": [
    masked({ queries: 4 }),
    "shape: blockMask: expected 3 queries and 5 keys, got 4 and 5",
  ],
  "a block mask for other keys": [
    masked({ keys: 4 }),
    "shape: blockMask: expected 3 queries and 5 keys, got 3 and 4",
  ],
  "a block mask for another batch": [
    masked({ batch: 3 }),
    "shape: blockMask: expected batch and heads of 1 or of the inputs, got [3, 1, 1, 1]",
  ],
  "a block mask for other heads": [
    masked({ heads: 4 }),
    "shape: blockMask: expected batch and heads of 1 or of the inputs, got [1, 4, 1, 1]",
  ],
  "a disposed block mask": [
    (h, t) => {
      const blockMask = h.blockMask(yes, sizes);
      blockMask.dispose();
      return h.attention(t(1, 1, 3, 4), t(1, 1, 5, 4), t(1, 1, 5, 4), { blockMask });
    },
    "disposed: blockMask: expected a live mask, got a disposed one",
  ],
};
