// Refused calls of multiHeadAttention that are not in operands.ts.

import type { Heed } from "heed";
import {
  type Attempt,
  any,
  bools,
  type Change,
  changed,
  type Make,
  type Refusals,
  wrongOptions,
  wrongShapes,
} from "./case.js";

/** multiHeadAttention with E = 4 and 2 heads, some parameters and options replaced. */
const multi =
  (change: Change): Attempt =>
  (h, t) => {
    const { query, key, value, parameters, options } = {
      query: t(1, 3, 4),
      key: t(1, 5, 4),
      value: t(1, 5, 4),
      parameters: {},
      options: {},
      ...any<object>(changed(change, t, h)),
    };
    const given = parameters && { inProjWeight: t(12, 4), outProjWeight: t(4, 4), ...parameters };
    const settings = options && { heads: 2, ...options };
    return h.multiHeadAttention(query, key, value, given, settings);
  };
const withOptions = (options: object) => multi({ options });
const withParameters = (parameters: (t: Make, h: Heed) => object) =>
  multi((t, h) => ({ parameters: parameters(t, h) }));

const parameterNames =
  "inProjWeight, qProjWeight, kProjWeight, vProjWeight, inProjBias, outProjWeight, outProjBias";

export const multiHeadAttention: Refusals = {
  ...wrongShapes("multiHeadAttention", multi, [
    ["query", "rank 3", [1, 1, 3, 4]],
    ["key", "rank 3", [5, 4]],
    ["value", "rank 3", [5, 4]],
    ["key", "[1, 5, 4]", [2, 5, 4], [1, 5, 6]],
    ["value", "[1, 5, 4]", [1, 6, 4]],
  ]),
  ...wrongShapes("multiHeadAttention", withParameters, [
    ["inProjWeight", "[12, 4]", [4, 12]],
    ["outProjWeight", "[4, 4]", [4, 8]],
    ["inProjBias", "[12]", [4]],
    ["outProjBias", "[4]", [12]],
  ]),
  "a query that is not a tensor": [multi({ query: 1 }), "dtype: query: expected a tensor, got 1"],
  ...wrongOptions("multiHeadAttention", withOptions, [
    ["heads", "a divisor of the embedding size 4", 3],
  ]),
  "no number of heads": [
    withOptions({ heads: undefined }),
    "option: heads: expected a divisor of the embedding size 4, got 0",
  ],
  ...wrongOptions("multiHeadAttention", withOptions, [
    ["heads", "a whole number of 1 or more", 0.5],
    ["averageWeights", "true or false", "no"],
  ]),
  "no options": [
    multi({ options: undefined, parameters: {} }),
    "option: options: expected an object, got undefined",
  ],
  "no parameters": [
    multi({ parameters: null }),
    "option: parameters: expected an object, got null",
  ],
  "an unknown option": [
    withOptions({ numHeads: 2 }),
    "option: numHeads: expected an option of multiHeadAttention (heads, isCausal, mask, keyMask, needWeights, averageWeights, dropout, seed), got an unknown one",
  ],
  "an unknown parameter": [
    withParameters((t) => ({ outProj: t(4, 4) })),
    `option: outProj: expected a parameter of multiHeadAttention (${parameterNames}), got an unknown one`,
  ],
  "a parameter that is not a tensor": [
    withParameters(() => ({ inProjBias: [1, 2, 3] })),
    "option: inProjBias: expected a tensor, got [1, 2, 3]",
  ],
  "no output projection": [
    withParameters(() => ({ outProjWeight: undefined })),
    "option: outProjWeight: expected a tensor, got nothing",
  ],
  "no input projection": [
    withParameters(() => ({ inProjWeight: undefined })),
    "option: qProjWeight: expected a tensor, because inProjWeight is left out, got nothing",
  ],
  "two of three input projections": [
    multi((t) => ({
      parameters: { inProjWeight: undefined, qProjWeight: t(4, 4), kProjWeight: t(4, 4) },
    })),
    "option: vProjWeight: expected a tensor, because inProjWeight is left out, got nothing",
  ],
  "a separate projection beside the combined one": [
    withParameters((t) => ({ kProjWeight: t(4, 4) })),
    "option: kProjWeight: expected nothing beside inProjWeight, got a tensor",
  ],
  "a key projection of another shape": [
    multi((t) => ({
      key: t(1, 5, 7),
      parameters: {
        inProjWeight: undefined,
        qProjWeight: t(4, 4),
        kProjWeight: t(7, 4),
        vProjWeight: t(4, 4),
      },
    })),
    "shape: kProjWeight: expected [4, 7], got [7, 4]",
  ],
  "a key mask of another shape": [
    multi((_, h) => ({ options: { keyMask: bools(h, 1, 3) } })),
    "shape: keyMask: expected [1, 5], got [1, 3]",
  ],
  "a mask that does not broadcast": [
    multi((_, h) => ({ options: { mask: bools(h, 4, 5) } })),
    "shape: mask: expected a shape that broadcasts to [1, 2, 3, 5], got [4, 5]",
  ],
  "a mask that does not broadcast, beside a key mask": [
    multi((_, h) => ({ options: { mask: bools(h, 4, 5), keyMask: bools(h, 1, 5) } })),
    "shape: mask: expected a shape that broadcasts to [1, 2, 3, 5], got [4, 5]",
  ],
};
