// Attention pooling, `gru`, and sampling.

import type { Heed, Tensor } from "heed";
import { any } from "../refusals/case.js";
import { same } from "../same.js";
import {
  bools,
  type Call,
  floats,
  type Given,
  gradient,
  list,
  named,
  type Operation,
} from "./operation.js";

const luong = (score: "dot" | "general" | "concat"): Call => [
  {
    query: floats(1, 2, 3),
    keys: floats(1, 4, 3),
    values: floats(1, 4, 2),
    ...(score === "dot"
      ? {}
      : { weight: named(score === "general" ? floats(3, 3) : floats(5, 6)) }),
    ...(score === "concat" ? { scoreWeight: named(floats(5)) } : {}),
    keyMask: named(bools(1, 4)),
  },
  (h: Heed, { query, keys, values, ...options }: Given) =>
    h.luongAttention(any(query), any(keys), any(values), { score, ...options }),
];

const means = { patchRadius: 1, searchRadius: 2, h: 0.5, sigma: 0.1, border: "zero" } as const;

export const attentionPooling = {
  additiveAttention: {
    calls: {
      additiveAttention: [
        {
          query: floats(1, 2, 3),
          keys: floats(1, 4, 2),
          values: floats(1, 4, 2),
          queryWeight: named(floats(5, 3)),
          keyWeight: named(floats(5, 2)),
          bias: named(floats(5)),
          scoreWeight: named(floats(5)),
          keyMask: named(bools(1, 4)),
        },
        (h, { query, keys, values, keyMask, ...parameters }) =>
          h.additiveAttention(any(query), any(keys), any(values), any(parameters), {
            keyMask: any(keyMask),
          }),
      ],
    },
    options: [
      "keyMask",
      (h, t, o) => {
        const parameters = { queryWeight: t(5, 3), keyWeight: t(5, 3), scoreWeight: t(5) };
        return h.additiveAttention(t(1, 2, 3), t(1, 4, 3), t(1, 4, 3), parameters, o);
      },
    ],
    gradients: {
      additiveAttention: gradient(
        [list(2, 2, 3), list(2, 4, 2), list(5, 3), list(5, 2), list(5), list(5)],
        (h, query, keys, queryWeight, keyWeight, bias, scoreWeight) => {
          const parameters = { queryWeight, keyWeight, bias, scoreWeight };
          const seen = Uint8Array.of(1, 1, 0, 1, 1, 1, 1, 0);
          const keyMask = h.tensor(seen, [2, 4], "bool");
          const result = h.additiveAttention(query, keys, keys, parameters, { keyMask });
          return [result.output, result.weights];
        },
      ),
    },
    types: (h, x) => {
      const parameters = { queryWeight: x, keyWeight: x, scoreWeight: x };
      const additive = h.additiveAttention(x, x, x, parameters, { keyMask: x });
      same<typeof additive.weights, Tensor>(true);
      same<keyof typeof additive, "output" | "weights">(true);
      same<ReturnType<typeof h.additiveScores>, typeof additive>(true);
      // @ts-expect-error a score's weight is missing
      h.additiveAttention(x, x, x, { queryWeight: x, keyWeight: x });
      // @ts-expect-error an unknown option
      h.additiveAttention(x, x, x, parameters, { mask: x });
    },
  },
  additiveScores: {
    calls: {
      additiveScores: [
        {
          q: floats(1, 2, 5),
          k: floats(1, 4, 5),
          v: floats(1, 4, 2),
          scoreWeight: floats(5),
          keyMask: named(bools(1, 4)),
        },
        (h, { q, k, v, scoreWeight, ...options }) =>
          h.additiveScores(any(q), any(k), any(v), any(scoreWeight), options),
      ],
    },
    options: [
      "keyMask",
      (h, t, o) => h.additiveScores(t(1, 2, 5), t(1, 4, 5), t(1, 4, 3), t(5), o),
    ],
    gradients: {
      additiveScores: gradient(
        [list(2, 2, 5), list(2, 4, 5), list(2, 4, 3), list(5)],
        (h, q, k, v, scoreWeight) => h.additiveScores(q, k, v, scoreWeight).output,
      ),
    },
    types: (h, x) => {
      // @ts-expect-error a score's weight is not an option
      h.additiveScores(x, x, x, { scoreWeight: x });
    },
  },
  luongAttention: {
    calls: {
      "luongAttention, dot": luong("dot"),
      "luongAttention, general": luong("general"),
      "luongAttention, concat": luong("concat"),
    },
    options: [
      "keyMask, score, weight, scoreWeight",
      (h, t, o) => h.luongAttention(t(1, 2, 3), t(1, 4, 3), t(1, 4, 3), o),
    ],
    gradients: {
      "luongAttention by dot": gradient(
        [list(1, 2, 3), list(1, 4, 3)],
        (h, query, keys) => h.luongAttention(query, keys, keys, { score: "dot" }).output,
      ),
      "luongAttention, general": gradient(
        [list(1, 2, 3), list(1, 4, 2), list(3, 2)],
        (h, query, keys, weight) =>
          h.luongAttention(query, keys, keys, { score: "general", weight }).output,
      ),
      "luongAttention, concat": gradient(
        [list(1, 2, 3), list(1, 4, 2), list(5, 5), list(5)],
        (h, query, keys, weight, scoreWeight) =>
          h.luongAttention(query, keys, keys, { score: "concat", weight, scoreWeight }).output,
      ),
    },
    types: (h, x) => {
      const given = h.luongAttention(x, x, x, { score: "concat", weight: x, scoreWeight: x });
      same<typeof given.weights, Tensor>(true);
      // @ts-expect-error the score is missing
      h.luongAttention(x, x, x, { weight: x });
      // @ts-expect-error an unknown score
      h.luongAttention(x, x, x, { score: "cosine" });
    },
  },
  kernelRegression: {
    calls: {
      kernelRegression: [
        { xQuery: floats(2), xTrain: floats(3), yTrain: floats(3, 1), bandwidth: floats(1) },
        (h, { xQuery, xTrain, yTrain, bandwidth }) =>
          h.kernelRegression(any(xQuery), any(xTrain), any(yTrain), any(bandwidth)),
      ],
    },
    gradients: {
      kernelRegression: gradient(
        [list(3), list(4), list(4, 2), list(1)],
        (h, xQuery, xTrain, yTrain, width) =>
          h.kernelRegression(xQuery, xTrain, yTrain, h.add(h.multiply(width, width), 0.5)).output,
      ),
    },
    types: (h, x) => {
      const { weights } = h.kernelRegression(x, x, x, x);
      same<typeof weights, Tensor>(true);
      // @ts-expect-error a bandwidth is a tensor
      h.kernelRegression(x, x, x, 0.5);
    },
  },
  localMean: {
    calls: { localMean: [{ image: floats(4, 5) }, (h, { image }) => h.localMean(any(image), 1)] },
    gradients: "none",
    types: (h, x) => {
      // @ts-expect-error a radius is missing
      h.localMean(x);
    },
  },
  nonLocalMeans: {
    calls: {
      nonLocalMeans: [
        { image: floats(4, 5) },
        (h, { image }) => h.nonLocalMeans(any(image), means),
      ],
    },
    options: [
      "patchRadius, searchRadius, h, sigma, border",
      (h, t, o) => h.nonLocalMeans(t(2, 3), o),
    ],
    gradients: "none",
    types: (h, x) => {
      const means = h.nonLocalMeans(x, { h: 0.2, border: "zero" });
      same<typeof means.weightSum, Tensor>(true);
      // @ts-expect-error an unknown border
      h.nonLocalMeans(x, { border: "wrap" });
    },
  },
  nonLocalMeansWeights: {
    calls: {
      nonLocalMeansWeights: [
        { image: floats(4, 5) },
        (h, { image }) => h.nonLocalMeansWeights(any(image), 1, 2, means),
      ],
    },
    options: [
      "patchRadius, searchRadius, h, sigma, border",
      (h, t, o) => h.nonLocalMeansWeights(t(2, 3), 0, 0, o),
    ],
    gradients: "none",
    types: (h, x) => {
      same<ReturnType<typeof h.nonLocalMeansWeights>, Tensor>(true);
      // @ts-expect-error a column is missing
      h.nonLocalMeansWeights(x, 1);
    },
  },
} satisfies Record<string, Operation>;

export const sampling = {
  topK: {
    calls: { topK: [{ x: floats(2, 3) }, (h, { x }) => h.topK(any(x), 2)] },
    gradients: "none",
    ofNothing: { topK: [[0, 3], (h, x) => h.topK(x, 2).values, [list(0, 2), []]] },
    anyRank: { topK: (h, x) => h.topK(x, 2).values },
    types: (h, x) => {
      const top = h.topK(x, 3);
      same<keyof typeof top, "values" | "indices">(true);
      // @ts-expect-error k is missing
      h.topK(x);
    },
  },
  sample: {
    calls: {
      sample: [
        { logits: floats(2, 3) },
        (h, { logits }) => h.sample(any(logits), { temperature: 0.7, topK: 2, topP: 0.9, seed: 1 }),
      ],
    },
    options: ["temperature, topK, topP, seed", (h, t, o) => h.sample(t(2, 3), o)],
    gradients: {},
    types: (h, x) => {
      same<ReturnType<typeof h.sample>, Tensor>(true);
      h.sample(x, { seed: 1, temperature: 0.7, topK: 40, topP: 0.9 });
      // @ts-expect-error a seed is missing
      h.sample(x, { topK: 40 });
      // @ts-expect-error an unknown option
      h.sample(x, { seed: 1, minP: 0.1 });
    },
  },
} satisfies Record<string, Operation>;
