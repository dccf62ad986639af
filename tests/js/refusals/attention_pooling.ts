// Refused calls of attention pooling, and of `gru`, that are neither in operands.ts nor in steps.ts.

import type { Heed } from "heed";
import { any, bools, type Case, type Make, row } from "./case.js";

type Change = (t: Make, h: Heed) => Record<string, unknown>;
const unchanged: Change = () => ({});

/** additiveAttention of query [1, 2, 3], keys [1, 4, 2] and values [1, 4, 5] with A = 6. */
const additive =
  (change: Change, parameters: Change = unchanged) =>
  (h: Heed, t: Make) => {
    const { query, keys, values, ...options } = {
      query: t(1, 2, 3),
      keys: t(1, 4, 2),
      values: t(1, 4, 5),
      ...change(t, h),
    };
    const weights = { queryWeight: t(6, 3), keyWeight: t(6, 2), scoreWeight: t(6) };
    return h.additiveAttention(query, keys, values, { ...weights, ...parameters(t, h) }, options);
  };

/** additiveScores of the same, projected. */
const scores = (change: Change) => (h: Heed, t: Make) => {
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
const luong = (score: "dot" | "general" | "concat", change: Change) => (h: Heed, t: Make) => {
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

const kinds: Record<string, (change: Change) => Case["call"]> = {
  additiveAttention: additive,
  "luongAttention, dot": (change) => luong("dot", change),
  "luongAttention, general": (change) => luong("general", change),
  "luongAttention, concat": (change) => luong("concat", change),
};

const shared = Object.entries(kinds).flatMap(([name, call]) => [
  row(
    `${name} of a query of rank 2`,
    call((t) => ({ query: t(2, 3) })),
    "shape",
    ["query", "rank 3", "[2, 3]"],
  ),
  row(
    `${name} of a query of rank 4`,
    call((t) => ({ query: t(1, 1, 2, 3) })),
    "shape",
    ["query", "rank 3", "[1, 1, 2, 3]"],
  ),
  row(
    `${name} of a scalar`,
    call((_, h) => ({ query: h.tensor(1) })),
    "shape",
    ["query", "rank 3", "[]"],
  ),
  row(
    `${name} of keys of rank 2`,
    call((t) => ({ keys: t(4, 2) })),
    "shape",
    ["keys", "rank 3", "[4, 2]"],
  ),
  row(
    `${name} of keys of another batch`,
    call((t) => ({ keys: t(2, 4, 3) })),
    "shape",
    ["keys", "[1, 4, 3]", "[2, 4, 3]"],
  ),
  row(
    `${name} of values of rank 2`,
    call((t) => ({ values: t(4, 5) })),
    "shape",
    ["values", "rank 3", "[4, 5]"],
  ),
  row(
    `${name} of fewer values than keys`,
    call((t) => ({ values: t(1, 3, 5) })),
    "shape",
    ["values", "[1, 4, 5]", "[1, 3, 5]"],
  ),
  row(
    `${name} with a mask for some of the keys`,
    call((_, h) => ({ keyMask: bools(h, 1, 3) })),
    "shape",
    ["keyMask", "[1, 4]", "[1, 3]"],
  ),
  row(
    `${name} with a mask for more keys`,
    call((_, h) => ({ keyMask: bools(h, 1, 5) })),
    "shape",
    ["keyMask", "[1, 4]", "[1, 5]"],
  ),
  row(
    `${name} with a mask of rank 1`,
    call((_, h) => ({ keyMask: bools(h, 4) })),
    "shape",
    ["keyMask", "[1, 4]", "[4]"],
  ),
]);

const image = (name: string, call: (h: Heed, image: ReturnType<Make>) => unknown) =>
  row(`${name} of three channels`, (h, t) => call(h, t(2, 3, 3)), "shape", [
    "image",
    "rank 2",
    "[2, 3, 3]",
  ]);

const patch = "a whole number from 0 to 128";
const radius = "a whole number of 0 or more";
const means = (options: object) => (h: Heed, t: Make) => h.nonLocalMeans(t(2, 3), any(options));

const positive = "a positive number";
const regress = (change: Change) => (h: Heed, t: Make) => {
  const { xQuery, xTrain, yTrain, bandwidth } = {
    xQuery: t(2, 3),
    xTrain: t(4, 3),
    yTrain: t(4, 1),
    bandwidth: t(1),
    ...change(t, h),
  };
  return h.kernelRegression(xQuery, xTrain, yTrain, bandwidth);
};

export const attentionPooling: Case[] = [
  ...shared,
  row("selfSimilarity of rank 4", (h, t) => h.selfSimilarity(t(1, 1, 3, 4)), "shape", [
    "x",
    "rank 3",
    "[1, 1, 3, 4]",
  ]),

  row(
    "additiveAttention without parameters",
    (h, t) => h.additiveAttention(t(1, 2, 3), t(1, 4, 2), t(1, 4, 5), any(null)),
    "option",
    ["parameters", "an object", "null"],
  ),
  row(
    "additiveAttention with an unknown parameter",
    additive(unchanged, () => ({ weight: 1 })),
    "option",
    [
      "weight",
      "a parameter of additiveAttention (queryWeight, keyWeight, bias, scoreWeight)",
      "an unknown one",
    ],
  ),
  ...(["queryWeight", "keyWeight", "scoreWeight"] as const).map((name) =>
    row(
      `additiveAttention without ${name}`,
      additive(unchanged, () => ({ [name]: undefined })),
      "dtype",
      [name, "a tensor", "undefined"],
    ),
  ),
  row(
    "additiveAttention with a weight of another query",
    additive(unchanged, (t) => ({ queryWeight: t(6, 2) })),
    "shape",
    ["queryWeight", "[6, 3]", "[6, 2]"],
  ),
  row(
    "additiveAttention with a weight of rank 1",
    additive(unchanged, (t) => ({ queryWeight: t(6) })),
    "shape",
    ["queryWeight", "rank 2", "[6]"],
  ),
  row(
    "additiveAttention with a weight of other keys",
    additive(unchanged, (t) => ({ keyWeight: t(6, 3) })),
    "shape",
    ["keyWeight", "[6, 2]", "[6, 3]"],
  ),
  row(
    "additiveAttention with weights that do not match",
    additive(unchanged, (t) => ({ keyWeight: t(5, 2) })),
    "shape",
    ["keyWeight", "[6, 2]", "[5, 2]"],
  ),
  row(
    "additiveAttention with a bias of another size",
    additive(unchanged, (t) => ({ bias: t(5) })),
    "shape",
    ["bias", "[6]", "[5]"],
  ),
  row(
    "additiveAttention with a score weight of another size",
    additive(unchanged, (t) => ({ scoreWeight: t(6, 1) })),
    "shape",
    ["scoreWeight", "[6]", "[6, 1]"],
  ),

  row(
    "additiveScores of rank 2",
    scores((t) => ({ q: t(2, 6) })),
    "shape",
    ["q", "rank 3", "[2, 6]"],
  ),
  row(
    "additiveScores of keys of rank 2",
    scores((t) => ({ k: t(4, 6) })),
    "shape",
    ["k", "rank 3", "[4, 6]"],
  ),
  row(
    "additiveScores of values of rank 2",
    scores((t) => ({ v: t(4, 5) })),
    "shape",
    ["v", "rank 3", "[4, 5]"],
  ),
  row(
    "additiveScores of keys of another size",
    scores((t) => ({ k: t(1, 4, 5) })),
    "shape",
    ["k", "[1, 4, 6]", "[1, 4, 5]"],
  ),
  row(
    "additiveScores of fewer values than keys",
    scores((t) => ({ v: t(1, 3, 5) })),
    "shape",
    ["v", "[1, 4, 5]", "[1, 3, 5]"],
  ),
  row(
    "additiveScores with a weight of another size",
    scores((t) => ({ scoreWeight: t(5) })),
    "shape",
    ["scoreWeight", "[6]", "[5]"],
  ),
  row(
    "additiveScores with a mask of another shape",
    scores((_, h) => ({ keyMask: bools(h, 1, 2) })),
    "shape",
    ["keyMask", "[1, 4]", "[1, 2]"],
  ),

  row(
    "luongAttention without a score",
    luong("dot", () => ({ score: undefined })),
    "option",
    ["score", '"dot" or "general" or "concat"', "undefined"],
  ),
  row(
    "luongAttention with an unknown score",
    luong("dot", () => ({ score: "cosine" })),
    "option",
    ["score", '"dot" or "general" or "concat"', '"cosine"'],
  ),
  row(
    "luongAttention by dot of different sizes",
    luong("dot", (t) => ({ keys: t(1, 4, 2) })),
    "shape",
    ["keys", "[1, 4, 3]", "[1, 4, 2]"],
  ),
  row(
    "luongAttention by dot with a weight",
    luong("dot", (t) => ({ weight: t(3, 3) })),
    "option",
    ["weight", 'nothing, because score is "dot"', "a tensor"],
  ),
  row(
    "luongAttention, general, without a weight",
    luong("general", () => ({ weight: undefined })),
    "option",
    ["weight", 'a tensor, because score is "general"', "nothing"],
  ),
  row(
    "luongAttention, general, with a transposed weight",
    luong("general", (t) => ({ weight: t(2, 3) })),
    "shape",
    ["weight", "[3, 2]", "[2, 3]"],
  ),
  row(
    "luongAttention, general, with a score weight",
    luong("general", (t) => ({ scoreWeight: t(6) })),
    "option",
    ["scoreWeight", 'nothing, because score is "general"', "a tensor"],
  ),
  row(
    "luongAttention, concat, without a weight",
    luong("concat", () => ({ weight: undefined })),
    "option",
    ["weight", 'a tensor, because score is "concat"', "nothing"],
  ),
  row(
    "luongAttention, concat, without a score weight",
    luong("concat", () => ({ scoreWeight: undefined })),
    "option",
    ["scoreWeight", 'a tensor, because score is "concat"', "nothing"],
  ),
  row(
    "luongAttention, concat, with a weight of the query alone",
    luong("concat", (t) => ({ weight: t(6, 3) })),
    "shape",
    ["weight", "[6, 5]", "[6, 3]"],
  ),
  row(
    "luongAttention, concat, with a score weight of another size",
    luong("concat", (t) => ({ scoreWeight: t(5) })),
    "shape",
    ["scoreWeight", "[6]", "[5]"],
  ),

  row(
    "kernelRegression at a scalar",
    regress((_, h) => ({ xQuery: h.tensor(1) })),
    "shape",
    ["xQuery", "rank 1 or 2", "[]"],
  ),
  row(
    "kernelRegression from points of another rank",
    regress((t) => ({ xTrain: t(4) })),
    "shape",
    ["xTrain", "rank 2", "[4]"],
  ),
  row(
    "kernelRegression from points of another size",
    regress((t) => ({ xTrain: t(4, 2) })),
    "shape",
    ["xTrain", "[4, 3]", "[4, 2]"],
  ),
  row(
    "kernelRegression of values of rank 1",
    regress((t) => ({ yTrain: t(4) })),
    "shape",
    ["yTrain", "rank 2", "[4]"],
  ),
  row(
    "kernelRegression of fewer values",
    regress((t) => ({ yTrain: t(3, 1) })),
    "shape",
    ["yTrain", "[4, 1]", "[3, 1]"],
  ),
  row(
    "kernelRegression with two bandwidths",
    regress((t) => ({ bandwidth: t(2) })),
    "shape",
    ["bandwidth", "[1]", "[2]"],
  ),
  row(
    "kernelRegression with no bandwidth",
    regress((_, h) => ({ bandwidth: h.tensor([0]) })),
    "option",
    ["bandwidth", positive, "0"],
  ),
  row(
    "kernelRegression with a bandwidth of NaN",
    regress((_, h) => ({ bandwidth: h.tensor([Number.NaN]) })),
    "option",
    ["bandwidth", positive, "NaN"],
  ),

  image("localMean", (h, x) => h.localMean(x, 1)),
  image("nonLocalMeans", (h, x) => h.nonLocalMeans(x)),
  image("nonLocalMeansWeights", (h, x) => h.nonLocalMeansWeights(x, 0, 0)),
  row("localMean without a radius", (h, t) => h.localMean(t(2, 3), any(undefined)), "option", [
    "radius",
    radius,
    "undefined",
  ]),
  row("localMean of a fraction of a pixel", (h, t) => h.localMean(t(2, 3), 0.5), "option", [
    "radius",
    radius,
    "0.5",
  ]),
  row("nonLocalMeans of a negative patch", means({ patchRadius: -1 }), "option", [
    "patchRadius",
    patch,
    "-1",
  ]),
  row("nonLocalMeans of a patch above the limit", means({ patchRadius: 129 }), "option", [
    "patchRadius",
    patch,
    "129",
  ]),
  row("nonLocalMeans of a fraction of a window", means({ searchRadius: 0.5 }), "option", [
    "searchRadius",
    radius,
    "0.5",
  ]),
  row("nonLocalMeans with h of 0", means({ h: 0 }), "option", ["h", positive, "0"]),
  row("nonLocalMeans with h that rounds to 0", means({ h: 1e-60 }), "option", ["h", positive, "0"]),
  row("nonLocalMeans with a negative sigma", means({ sigma: -1 }), "option", [
    "sigma",
    "a finite number from 0 on",
    "-1",
  ]),
  row("nonLocalMeans with an unknown border", means({ border: "wrap" }), "option", [
    "border",
    '"reflect" or "zero"',
    '"wrap"',
  ]),
  row(
    "nonLocalMeansWeights of a row that does not exist",
    (h, t) => h.nonLocalMeansWeights(t(2, 3), 2, 0),
    "option",
    ["row", "a number from 0 to 1", "2"],
  ),
  row(
    "nonLocalMeansWeights of a fraction of a row",
    (h, t) => h.nonLocalMeansWeights(t(2, 3), 0.5, 0),
    "option",
    ["row", radius, "0.5"],
  ),
  row(
    "nonLocalMeansWeights of a column that does not exist",
    (h, t) => h.nonLocalMeansWeights(t(2, 3), 0, 3),
    "option",
    ["column", "a number from 0 to 2", "3"],
  ),
  row(
    "nonLocalMeansWeights without a column",
    (h, t) => h.nonLocalMeansWeights(t(2, 3), 0, any(undefined)),
    "option",
    ["column", radius, "undefined"],
  ),
];
