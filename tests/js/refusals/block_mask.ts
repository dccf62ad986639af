// Refused calls of blockMask, and of attention with a block mask.

import { type Heed, maskFunctions } from "heed";
import { any, type Case, type Make, row } from "./case.js";

const block = (visible: unknown, sizes: unknown) => (heed: Heed) =>
  heed.blockMask(any(visible), any(sizes));
const yes = () => true;
const sizes = { queries: 3, keys: 5 };

/** attention of q [2, 2, 3, 4] and k, v [2, 2, 5, 4] under a block mask of these sizes. */
const masked = (wrong: object) => (heed: Heed, t: Make) => {
  using blockMask = heed.blockMask(yes, { ...sizes, ...wrong });
  return heed.attention(t(2, 2, 3, 4), t(2, 2, 5, 4), t(2, 2, 5, 4), { blockMask });
};

export const blockMask: Case[] = [
  row("a causal mask with an offset of NaN", () => maskFunctions.causal(Number.NaN), "option", [
    "offset",
    "a whole number of -9007199254740991 or more",
    "NaN",
  ]),
  row("a window mask of a fraction of a key", () => maskFunctions.window(0.5, 1), "option", [
    "left",
    "a whole number of -1 or more",
    "0.5",
  ]),
  row("a document mask without documents", () => maskFunctions.document(any(null)), "option", [
    "documents",
    "a list of numbers",
    "null",
  ]),
  row("a mask with a string as prefix length", () => maskFunctions.prefixLm(any("3")), "option", [
    "length",
    "a whole number of 0 or more",
    '"3"',
  ]),
  row("a dilated mask with a step of 0", () => maskFunctions.dilated(0, 1), "option", [
    "step",
    "a whole number of 1 or more",
    "0",
  ]),
  row("a combination of a mask and a number", () => maskFunctions.and(yes, any(3)), "option", [
    "masks[1]",
    "a function",
    "3",
  ]),
  row("blockMask without a function", block(null, sizes), "option", [
    "visible",
    "a function",
    "null",
  ]),
  row("blockMask without sizes", block(yes, undefined), "option", [
    "options",
    "an object",
    "undefined",
  ]),
  row("blockMask without a number of keys", block(yes, { queries: 3 }), "option", [
    "keys",
    "a whole number of 0 or more",
    "undefined",
  ]),
  row("blockMask without a number of queries", block(yes, { keys: 3 }), "option", [
    "queries",
    "a whole number of 0 or more",
    "undefined",
  ]),
  row("blockMask of a negative number of queries", block(yes, { queries: -1, keys: 3 }), "option", [
    "queries",
    "a whole number of 0 or more",
    "-1",
  ]),
  row("blockMask of no heads", block(yes, { ...sizes, heads: 0 }), "option", [
    "heads",
    "a whole number of 1 or more",
    "0",
  ]),
  row("blockMask with an unknown size", block(yes, { ...sizes, query: 3 }), "option", [
    "query",
    "an option of blockMask (batch, heads, queries, keys)",
    "an unknown one",
  ]),
  row("blockMask of too many pairs", block(yes, { queries: 2 ** 40, keys: 128 }), "memory", [
    "sizes",
    "at most 1073741824 pairs",
    "140737488355328",
  ]),
  row(
    "blockMask of a function that throws",
    block(() => {
      throw new RangeError("no such document");
    }, sizes),
    "option",
    ["visible", "true or false", "an exception: no such document"],
  ),
  row(
    "blockMask of a function that throws a string",
    block(() => {
      throw "nothing";
    }, sizes),
    "option",
    ["visible", "true or false", "an exception: nothing"],
  ),
  row(
    "blockMask of a function that returns numbers",
    block(() => 1, sizes),
    "option",
    ["visible", "true or false", "1"],
  ),
  row(
    "blockMask of a function that returns nothing",
    block(() => undefined, sizes),
    "option",
    ["visible", "true or false", "undefined"],
  ),
  row(
    "blockMask of an async function",
    block(async () => true, sizes),
    "option",
    ["visible", "true or false", "a Promise"],
  ),
  row(
    "blockMask of a function that fails at its last pair",
    block(({ q, k }: { q: number; k: number }) => (q === 99 && k === 299 ? null : true), {
      queries: 100,
      keys: 300,
    }),
    "option",
    ["visible", "true or false", "null"],
  ),
  row("a block mask for other queries", masked({ queries: 4 }), "shape", [
    "blockMask",
    "3 queries and 5 keys",
    "4 and 5",
  ]),
  row("a block mask for other keys", masked({ keys: 4 }), "shape", [
    "blockMask",
    "3 queries and 5 keys",
    "3 and 4",
  ]),
  row("a block mask for another batch", masked({ batch: 3 }), "shape", [
    "blockMask",
    "batch and heads of 1 or of the inputs",
    "[3, 1, 1, 1]",
  ]),
  row("a block mask for other heads", masked({ heads: 4 }), "shape", [
    "blockMask",
    "batch and heads of 1 or of the inputs",
    "[1, 4, 1, 1]",
  ]),
  row(
    "a disposed block mask",
    (h, t) => {
      const blockMask = h.blockMask(yes, sizes);
      blockMask.dispose();
      return h.attention(t(1, 1, 3, 4), t(1, 1, 5, 4), t(1, 1, 5, 4), { blockMask });
    },
    "disposed",
    ["blockMask", "a live mask", "a disposed one"],
  ),
];
