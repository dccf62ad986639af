// Refused calls of multiHeadAttention.

import type { Heed, MultiHeadAttentionOptions } from "heed";
import { any, bools, type Case, disposed, gone, ints, type Make, row } from "./case.js";

/** multiHeadAttention with E = 4 and 2 heads, some parameters and options replaced. */
const multi =
  (change: (heed: Heed, make: Make) => { [part: string]: unknown }) =>
  (heed: Heed, make: Make): unknown => {
    const { query, key, value, parameters, options } = {
      query: make(1, 3, 4),
      key: make(1, 5, 4),
      value: make(1, 5, 4),
      parameters: {},
      options: {},
      ...change(heed, make),
    };
    const given =
      parameters !== null && typeof parameters === "object"
        ? { inProjWeight: make(12, 4), outProjWeight: make(4, 4), ...parameters }
        : parameters;
    const settings =
      options !== null && typeof options === "object" ? { heads: 2, ...options } : options;
    return heed.multiHeadAttention(
      any(query),
      any(key),
      any(value),
      any(given),
      any<MultiHeadAttentionOptions>(settings),
    );
  };

const parameterNames =
  "inProjWeight, qProjWeight, kProjWeight, vProjWeight, inProjBias, outProjWeight, outProjBias";

export const multiHeadAttention: Case[] = [
  row(
    "a query of rank 4",
    multi((_, t) => ({ query: t(1, 1, 3, 4) })),
    "shape",
    ["query", "rank 3", "[1, 1, 3, 4]"],
  ),
  row(
    "keys of rank 2",
    multi((_, t) => ({ key: t(5, 4) })),
    "shape",
    ["key", "rank 3", "[5, 4]"],
  ),
  row(
    "values of rank 2",
    multi((_, t) => ({ value: t(5, 4) })),
    "shape",
    ["value", "rank 3", "[5, 4]"],
  ),
  row(
    "keys of another batch",
    multi((_, t) => ({ key: t(2, 5, 4) })),
    "shape",
    ["key", "[1, 5, 4]", "[2, 5, 4]"],
  ),
  row(
    "keys of another size under one weight for all",
    multi((_, t) => ({ key: t(1, 5, 6) })),
    "shape",
    ["key", "[1, 5, 4]", "[1, 5, 6]"],
  ),
  row(
    "another number of values than of keys",
    multi((_, t) => ({ value: t(1, 6, 4) })),
    "shape",
    ["value", "[1, 5, 4]", "[1, 6, 4]"],
  ),
  row(
    "a query of whole numbers",
    multi((h) => ({ query: ints(h, 1) })),
    "dtype",
    ["query", "float32", "int32"],
  ),
  row(
    "a query that is not a tensor",
    multi(() => ({ query: 1 })),
    "dtype",
    ["query", "a tensor", "1"],
  ),
  row(
    "disposed values",
    multi((h) => ({ value: disposed(h) })),
    "disposed",
    ["value", ...gone],
  ),
  row(
    "heads that do not divide E",
    multi(() => ({ options: { heads: 3 } })),
    "option",
    ["heads", "a divisor of the embedding size 4", "3"],
  ),
  row(
    "no number of heads",
    multi(() => ({ options: { heads: undefined } })),
    "option",
    ["heads", "a divisor of the embedding size 4", "0"],
  ),
  row(
    "a fraction of a head",
    multi(() => ({ options: { heads: 0.5 } })),
    "option",
    ["heads", "a whole number of 1 or more", "0.5"],
  ),
  row(
    "no options",
    multi(() => ({ options: undefined, parameters: {} })),
    "option",
    ["options", "an object", "undefined"],
  ),
  row(
    "no parameters",
    multi(() => ({ parameters: null })),
    "option",
    ["parameters", "an object", "null"],
  ),
  row(
    "an unknown option",
    multi(() => ({ options: { numHeads: 2 } })),
    "option",
    [
      "numHeads",
      "an option of multiHeadAttention (heads, isCausal, mask, keyMask, needWeights, averageWeights, dropout, seed)",
      "an unknown one",
    ],
  ),
  row(
    "an unknown parameter",
    multi((_, t) => ({ parameters: { outProj: t(4, 4) } })),
    "option",
    ["outProj", `a parameter of multiHeadAttention (${parameterNames})`, "an unknown one"],
  ),
  row(
    "a parameter that is not a tensor",
    multi(() => ({ parameters: { inProjBias: [1, 2, 3] } })),
    "option",
    ["inProjBias", "a tensor", "[1, 2, 3]"],
  ),
  row(
    "a disposed parameter",
    multi((h) => ({ parameters: { outProjBias: disposed(h) } })),
    "disposed",
    ["outProjBias", ...gone],
  ),
  row(
    "no output projection",
    multi(() => ({ parameters: { outProjWeight: undefined } })),
    "option",
    ["outProjWeight", "a tensor", "nothing"],
  ),
  row(
    "no input projection",
    multi(() => ({ parameters: { inProjWeight: undefined } })),
    "option",
    ["qProjWeight", "a tensor, because inProjWeight is left out", "nothing"],
  ),
  row(
    "two of three input projections",
    multi((_, t) => ({
      parameters: { inProjWeight: undefined, qProjWeight: t(4, 4), kProjWeight: t(4, 4) },
    })),
    "option",
    ["vProjWeight", "a tensor, because inProjWeight is left out", "nothing"],
  ),
  row(
    "a separate projection beside the combined one",
    multi((_, t) => ({ parameters: { kProjWeight: t(4, 4) } })),
    "option",
    ["kProjWeight", "nothing beside inProjWeight", "a tensor"],
  ),
  row(
    "an input projection of another shape",
    multi((_, t) => ({ parameters: { inProjWeight: t(4, 12) } })),
    "shape",
    ["inProjWeight", "[12, 4]", "[4, 12]"],
  ),
  row(
    "a key projection of another shape",
    multi((_, t) => ({
      key: t(1, 5, 7),
      parameters: {
        inProjWeight: undefined,
        qProjWeight: t(4, 4),
        kProjWeight: t(7, 4),
        vProjWeight: t(4, 4),
      },
    })),
    "shape",
    ["kProjWeight", "[4, 7]", "[7, 4]"],
  ),
  row(
    "an output projection of another shape",
    multi((_, t) => ({ parameters: { outProjWeight: t(4, 8) } })),
    "shape",
    ["outProjWeight", "[4, 4]", "[4, 8]"],
  ),
  row(
    "an input bias of another size",
    multi((_, t) => ({ parameters: { inProjBias: t(4) } })),
    "shape",
    ["inProjBias", "[12]", "[4]"],
  ),
  row(
    "an output bias of another size",
    multi((_, t) => ({ parameters: { outProjBias: t(12) } })),
    "shape",
    ["outProjBias", "[4]", "[12]"],
  ),
  row(
    "a key mask of floats",
    multi((_, t) => ({ options: { keyMask: t(1, 5) } })),
    "dtype",
    ["keyMask", "bool", "float32"],
  ),
  row(
    "a key mask of another shape",
    multi((h) => ({ options: { keyMask: bools(h, 1, 3) } })),
    "shape",
    ["keyMask", "[1, 5]", "[1, 3]"],
  ),
  row(
    "a mask that does not broadcast",
    multi((h) => ({ options: { mask: bools(h, 4, 5) } })),
    "shape",
    ["mask", "a shape that broadcasts to [1, 2, 3, 5]", "[4, 5]"],
  ),
  row(
    "a mask that does not broadcast, beside a key mask",
    multi((h) => ({ options: { mask: bools(h, 4, 5), keyMask: bools(h, 1, 5) } })),
    "shape",
    ["mask", "a shape that broadcasts to [1, 2, 3, 5]", "[4, 5]"],
  ),
  row(
    "text for averageWeights",
    multi(() => ({ options: { averageWeights: "no" } })),
    "option",
    ["averageWeights", "true or false", '"no"'],
  ),
];
