// A valid call of each method of an engine, whose arguments refused.ts replaces one by one.

import type { Heed, Tensor } from "heed";

/** The arguments of a valid call. `t` makes a tensor of ones. */
type Arguments = (heed: Heed, t: (...shape: number[]) => Tensor) => readonly unknown[];

const term: Arguments = (_, t) => [t(2, 3), t(3)];
const shaped: Arguments = (_, t) => [t(2, 3), { axis: 1, keepDims: true }];
const gruParameters = (t: (...shape: number[]) => Tensor) => ({
  ...{ weightIh: t(6, 4), weightHh: t(6, 2), biasIh: t(6), biasHh: t(6) },
});
const image: Arguments = (_, t) => [
  t(4, 5),
  { patchRadius: 1, searchRadius: 2, h: 0.5, sigma: 0.1, border: "zero" },
];

export const methods: Readonly<Record<string, Arguments>> = {
  tensor: () => [[1, 2, 3], [3, 1], "float32"],
  zeros: () => [[2, 3]],
  ones: () => [[2, 3]],
  uniform: () => [[2, 3], { seed: 1, low: -1, high: 1 }],
  normal: () => [[2, 3], { seed: 1, mean: 1, deviation: 2 }],
  scope: () => [() => 1],
  keep: () => [1],
  fromTorchMask: (h) => [h.tensor([true, false])],

  attention: (h, t) => [
    ...[t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 4)],
    {
      ...{ scale: 0.5, isCausal: true, causalOffset: [1], window: [2, 1], softcap: 3 },
      ...{ mask: h.tensor(new Uint8Array(5).fill(1), [5], "bool"), kvLengths: [4], bias: t(3, 5) },
      ...{ alibiSlopes: [1, 2], sinks: [1, 2], dropout: 0.1, seed: 3, precision: "float32" },
      ...{ needWeights: true, needLse: true, capture: ["scores", "entropy"] },
    },
  ],
  "attention of heads": (_, t) => [
    ...[t(1, 3, 8), t(1, 5, 4), t(1, 5, 4)],
    { heads: 2, kvHeads: 1, blockMask: undefined, past: undefined },
  ],
  "attention of a past": (_, t) => [
    ...[t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 4)],
    { past: { key: t(1, 2, 2, 4), value: t(1, 2, 2, 4) } },
  ],
  "attention of packed sequences": (_, t) => [
    ...[t(4, 2, 3), t(6, 2, 3), t(6, 2, 3)],
    { cuSeqlens: { q: [0, 1, 4], k: [0, 2, 6] }, isCausal: true },
  ],
  "attention of a cache": (h, t) => [
    ...[t(1, 2, 1, 4), t(1, 2, 1, 4), t(1, 2, 1, 4)],
    { past: h.createKvCache({ heads: 2, headSize: 4, capacity: 4 }), kvLengths: [1] },
  ],
  "attention of blocks": (h, t) => [
    ...[t(1, 1, 3, 4), t(1, 1, 5, 4), t(1, 1, 5, 4)],
    { blockMask: h.blockMask(({ q, k }) => k <= q, { queries: 3, keys: 5 }) },
  ],
  mergeAttention: (_, t) => [
    { output: t(1, 1, 2, 3), lse: t(1, 1, 2) },
    { output: t(1, 1, 2, 3), lse: t(1, 1, 2) },
  ],
  linearAttention: (_, t) => [
    ...[t(1, 2, 3, 4), t(1, 2, 3, 4), t(1, 2, 3, 4)],
    { rule: "gatedDelta", scale: 1, decay: t(1, 2, 3), beta: t(1, 2, 3), pastState: t(1, 2, 4, 4) },
  ],
  multiHeadAttention: (_, t) => [
    ...[t(1, 2, 4), t(1, 3, 4), t(1, 3, 4)],
    { inProjWeight: t(12, 4), inProjBias: t(12), outProjWeight: t(4, 4), outProjBias: t(4) },
    { heads: 2, isCausal: true, needWeights: true, averageWeights: true },
  ],
  average: (h, t) => [t(1, 3, 4), { isCausal: true, keyMask: h.tensor([[true, false, true]]) }],
  selfSimilarity: (_, t) => [t(1, 3, 4)],
  additiveAttention: (_, t) => [
    ...[t(1, 2, 3), t(1, 4, 3), t(1, 4, 2)],
    { queryWeight: t(5, 3), keyWeight: t(5, 3), bias: t(5), scoreWeight: t(5) },
    {},
  ],
  additiveScores: (_, t) => [t(1, 2, 5), t(1, 4, 5), t(1, 4, 2), t(5), {}],
  luongAttention: (_, t) => [
    ...[t(1, 2, 3), t(1, 4, 3), t(1, 4, 2)],
    { score: "concat", weight: t(5, 6), scoreWeight: t(5) },
  ],
  kernelRegression: (_, t) => [t(2), t(3), t(3, 1), t(1)],
  localMean: (_, t) => [t(4, 5), 1],
  nonLocalMeans: image,
  nonLocalMeansWeights: (h, t) => [t(4, 5), 1, 2, image(h, t)[1]],
  blockMask: () => [
    ({ q, k }: { q: number; k: number }) => k <= q,
    { batch: 1, heads: 2, queries: 3, keys: 4 },
  ],
  createKvCache: () => [
    {
      ...{ batch: 1, heads: 2, headSize: 4, valueSize: 4, capacity: 9, dtype: "float16" },
      isRolling: true,
    },
  ],

  linear: (_, t) => [t(2, 3), t(4, 3), { bias: t(4), activation: "gelu" }],
  packWeights: (_, t) => [t(4, 3), { format: "int8" }],
  "packWeights of 4 bits": (_, t) => [t(4, 3), { format: "int4" }],
  activate: (_, t) => [t(2, 3), "silu"],
  swiglu: (_, t) => [t(2, 3), t(2, 3)],
  layerNorm: (_, t) => [t(2, 3), { weight: t(3), bias: t(3), eps: 1e-5, axes: 1 }],
  rmsNorm: (_, t) => [t(2, 3), { weight: t(3), eps: 1e-5, axes: 1 }],
  softmax: (_, t) => [t(2, 3)],
  dropout: (_, t) => [t(2, 3), { rate: 0.5, seed: 1 }],
  crossEntropy: (h, t) => [
    ...[t(2, 3), h.tensor(Int32Array.of(0, 2))],
    { ignoreIndex: -1, labelSmoothing: 0.1, reduction: "none" },
  ],
  embedding: (h, t) => [h.tensor(Int32Array.of(0, 2)), t(3, 4), { paddingIndex: 0 }],
  rope: (_, t) => [t(1, 2, 3, 4), { style: "half", rotarySize: 2, base: 100, offset: 3 }],
  gru: (_, t) => [t(2, 3, 4), gruParameters(t), { state: t(2, 2), lengths: [3, 2] }],
  sinusoidalEncoding: () => [3, 4, { base: 100, offset: 2 }],

  add: term,
  subtract: term,
  multiply: term,
  divide: term,
  sum: shaped,
  mean: shaped,
  cumsum: (_, t) => [t(2, 3), { axis: 1, reverse: true }],
  broadcastTo: (_, t) => [t(3), [2, 3]],
  matmul: (_, t) => [t(2, 3), t(3, 2), { transposeA: false, transposeB: false }],
  reshape: (_, t) => [t(2, 3), [3, -1]],
  transpose: (_, t) => [t(2, 3), [1, 0]],
  slice: (_, t) => [t(2, 3), { axis: 1, start: 1, length: 2 }],
  split: (_, t) => [t(2, 3), [1, 2], { axis: 1 }],
  concat: (_, t) => [[t(2, 3), t(1, 3)], { axis: 0 }],
  adaptiveMaxPool: (_, t) => [t(4, 5), 2, 2],
  cast: (_, t) => [t(2, 3), "float16"],
  topK: (_, t) => [t(2, 3), 2],
  sample: (_, t) => [t(2, 3), { temperature: 0.7, topK: 2, topP: 0.9, seed: 1 }],
};

/** Valid calls of a cache's methods. */
export const cacheMethods: Readonly<Record<string, Arguments>> = {
  append: (_, t) => [t(2, 1, 2, 3), t(2, 1, 2, 3), [1, 2]],
  rewind: () => [1, 0],
  share: () => [{ from: 0, to: 1, tokens: 1 }],
  reorder: () => [[1, 0]],
};
