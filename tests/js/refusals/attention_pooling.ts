// Refused calls of attention pooling, and of `gru`, that are neither in operands.ts nor in steps.ts.

import type { Heed } from "heed";
import {
  type Attempt,
  any,
  bools,
  type Make,
  merged,
  type Refusals,
  wrongOptions,
  wrongShapes,
} from "./case.js";

type Change = (t: Make, h: Heed) => object;
const unchanged: Change = () => ({});

/** additiveAttention of query [1, 2, 3], keys [1, 4, 2] and values [1, 4, 5] with A = 6. */
const additive =
  (change: Change, parameters: Change = unchanged): Attempt =>
  (h, t) => {
    const { query, keys, values, ...options } = {
      query: t(1, 2, 3),
      keys: t(1, 4, 2),
      values: t(1, 4, 5),
      ...change(t, h),
    };
    const weights = { queryWeight: t(6, 3), keyWeight: t(6, 2), scoreWeight: t(6) };
    return h.additiveAttention(query, keys, values, { ...weights, ...parameters(t, h) }, options);
  };
const additiveWith = (parameters: Change) => additive(unchanged, parameters);

/** additiveScores of the same, projected. */
const scores =
  (change: Change): Attempt =>
  (h, t) => {
    const { q, k, v, scoreWeight, ...options } = {
      q: t(1, 2, 6),
      k: t(1, 4, 6),
      v: t(1, 4, 5),
      scoreWeight: t(6),
      ...change(t, h),
    };
    return h.additiveScores(q, k, v, scoreWeight, options);
  };

/** luongAttention of the same, with keys [1, 4, 3] for the score "dot". */
const luong =
  (score: "dot" | "general" | "concat") =>
  (change: Change): Attempt =>
  (h, t) => {
    const { query, keys, values, ...options } = {
      query: t(1, 2, 3),
      keys: score === "dot" ? t(1, 4, 3) : t(1, 4, 2),
      values: t(1, 4, 5),
      ...(score === "dot" ? {} : { weight: score === "general" ? t(3, 2) : t(6, 5) }),
      ...(score === "concat" ? { scoreWeight: t(6) } : {}),
      ...change(t, h),
    };
    return h.luongAttention(query, keys, values, any({ score, ...options }));
  };
const [dot, general, concat] = [luong("dot"), luong("general"), luong("concat")];

const shared = Object.entries({
  additiveAttention: additive,
  "luongAttention, dot": dot,
  "luongAttention, general": general,
  "luongAttention, concat": concat,
}).flatMap(([name, call]) => [
  wrongShapes(name, call, [
    ["query", "rank 3", [2, 3], [1, 1, 2, 3], []],
    ["keys", "rank 3", [4, 2]],
    ["keys", "[1, 4, 3]", [2, 4, 3]],
    ["values", "rank 3", [4, 5]],
    ["values", "[1, 4, 5]", [1, 3, 5]],
  ]),
  wrongShapes(name, call, [["keyMask", "[1, 4]", [1, 3], [1, 5], [4]]], bools),
]);

const images = Object.entries<(h: Heed, image: ReturnType<Make>) => unknown>({
  localMean: (h, x) => h.localMean(x, 1),
  nonLocalMeans: (h, x) => h.nonLocalMeans(x),
  nonLocalMeansWeights: (h, x) => h.nonLocalMeansWeights(x, 0, 0),
}).map(
  ([name, call]): Refusals => ({
    [`${name} of three channels`]: [
      (h, t) => call(h, t(2, 3, 3)),
      "shape: image: expected rank 2, got [2, 3, 3]",
    ],
  }),
);

const patch = "a whole number from 0 to 128";
const radius = "a whole number of 0 or more";
const means = (options: object) => (h: Heed, t: Make) => h.nonLocalMeans(t(2, 3), any(options));
const mean = (options: { radius?: unknown }) => (h: Heed, t: Make) =>
  h.localMean(t(2, 3), any(options.radius));
const pixel = (place: object) => (h: Heed, t: Make) => {
  const { row, column } = { row: 0, column: 0, ...place };
  return h.nonLocalMeansWeights(t(2, 3), row, column);
};

const positive = "a positive number";
const regress =
  (change: Change): Attempt =>
  (h, t) => {
    const { xQuery, xTrain, yTrain, bandwidth } = {
      xQuery: t(2, 3),
      xTrain: t(4, 3),
      yTrain: t(4, 1),
      bandwidth: t(1),
      ...change(t, h),
    };
    return h.kernelRegression(xQuery, xTrain, yTrain, bandwidth);
  };

export const attentionPooling: Refusals = {
  ...merged(shared),
  "selfSimilarity of rank 4": [
    (h, t) => h.selfSimilarity(t(1, 1, 3, 4)),
    "shape: x: expected rank 3, got [1, 1, 3, 4]",
  ],

  "additiveAttention without parameters": [
    (h, t) => h.additiveAttention(t(1, 2, 3), t(1, 4, 2), t(1, 4, 5), any(null)),
    "option: parameters: expected an object, got null",
  ],
  "additiveAttention with an unknown parameter": [
    additiveWith(() => ({ weight: 1 })),
    "option: weight: expected a parameter of additiveAttention (queryWeight, keyWeight, bias, scoreWeight), got an unknown one",
  ],
  ...merged(
    ["queryWeight", "keyWeight", "scoreWeight"].map((name) => ({
      [`additiveAttention without ${name}`]: [
        additiveWith(() => ({ [name]: undefined })),
        `dtype: ${name}: expected a tensor, got undefined`,
      ],
    })),
  ),
  ...wrongShapes("additiveAttention", additiveWith, [
    ["queryWeight", "[6, 3]", [6, 2]],
    ["queryWeight", "rank 2", [6]],
    ["keyWeight", "[6, 2]", [6, 3], [5, 2]],
    ["bias", "[6]", [5]],
    ["scoreWeight", "[6]", [6, 1]],
  ]),

  ...wrongShapes("additiveScores", scores, [
    ["q", "rank 3", [2, 6]],
    ["k", "rank 3", [4, 6]],
    ["v", "rank 3", [4, 5]],
    ["k", "[1, 4, 6]", [1, 4, 5]],
    ["v", "[1, 4, 5]", [1, 3, 5]],
    ["scoreWeight", "[6]", [5]],
  ]),
  ...wrongShapes("additiveScores", scores, [["keyMask", "[1, 4]", [1, 2]]], bools),

  ...wrongOptions("luongAttention", (options) => dot(() => options), [
    ["score", '"dot" or "general" or "concat"', undefined, "cosine"],
  ]),
  "luongAttention by dot with a weight": [
    dot((t) => ({ weight: t(3, 3) })),
    'option: weight: expected nothing, because score is "dot", got a tensor',
  ],
  "luongAttention, general, without a weight": [
    general(() => ({ weight: undefined })),
    'option: weight: expected a tensor, because score is "general", got nothing',
  ],
  "luongAttention, general, with a score weight": [
    general((t) => ({ scoreWeight: t(6) })),
    'option: scoreWeight: expected nothing, because score is "general", got a tensor',
  ],
  "luongAttention, concat, without a weight": [
    concat(() => ({ weight: undefined })),
    'option: weight: expected a tensor, because score is "concat", got nothing',
  ],
  "luongAttention, concat, without a score weight": [
    concat(() => ({ scoreWeight: undefined })),
    'option: scoreWeight: expected a tensor, because score is "concat", got nothing',
  ],
  ...wrongShapes("luongAttention by dot", dot, [["keys", "[1, 4, 3]", [1, 4, 2]]]),
  ...wrongShapes("luongAttention, general,", general, [["weight", "[3, 2]", [2, 3]]]),
  ...wrongShapes("luongAttention, concat,", concat, [
    ["weight", "[6, 5]", [6, 3]],
    ["scoreWeight", "[6]", [5]],
  ]),

  ...wrongShapes("kernelRegression", regress, [
    ["xQuery", "rank 1 or 2", []],
    ["xTrain", "rank 2", [4]],
    ["xTrain", "[4, 3]", [4, 2]],
    ["yTrain", "rank 2", [4]],
    ["yTrain", "[4, 1]", [3, 1]],
    ["bandwidth", "[1]", [2]],
  ]),
  "kernelRegression with no bandwidth": [
    regress((_, h) => ({ bandwidth: h.tensor([0]) })),
    `option: bandwidth: expected ${positive}, got 0`,
  ],
  "kernelRegression with a bandwidth of NaN": [
    regress((_, h) => ({ bandwidth: h.tensor([Number.NaN]) })),
    `option: bandwidth: expected ${positive}, got NaN`,
  ],

  ...merged(images),
  ...wrongOptions("localMean", mean, [["radius", radius, undefined, 0.5]]),
  ...wrongOptions("nonLocalMeans", means, [
    ["patchRadius", patch, -1, 129],
    ["searchRadius", radius, 0.5],
    ["h", positive, 0],
    ["sigma", "a finite number from 0 on", -1],
    ["border", '"reflect" or "zero"', "wrap"],
  ]),
  "nonLocalMeans with h that rounds to 0": [
    means({ h: 1e-60 }),
    `option: h: expected ${positive}, got 0`,
  ],
  ...wrongOptions("nonLocalMeansWeights", pixel, [
    ["row", "a number from 0 to 1", 2],
    ["row", radius, 0.5],
    ["column", "a number from 0 to 2", 3],
    ["column", radius, undefined],
  ]),
};
