// Layers, their losses and positions.

import * as fc from "fast-check";
import type { Tensor } from "heed";
import { random, right, seed, sizes, whole } from "../calls/family.js";
import { mapRows, softmax } from "../layer_oracle.js";
import { any } from "../refusals/case.js";
import { same } from "../same.js";
import { expectClose, upload } from "../values.js";
import { floats, floatsOrHalves, gradient, ids, list, named, type Operation } from "./operation.js";

export const activations = ["relu", "gelu", "geluTanh", "silu", "tanh", "sigmoid"] as const;

export const layers = {
  linear: {
    calls: {
      linear: [
        { x: floats(2, 3), weight: floatsOrHalves(4, 3), bias: named(floats(4)) },
        (h, { x, weight, bias }) =>
          h.linear(any(x), any(weight), { bias: any(bias), activation: "gelu" }),
      ],
    },
    gradients: {
      linear: gradient([list(2, 3), list(4, 3), list(4)], (h, x, w, b) => h.linear(x, w, b)),
      "linear with an activation": gradient([list(2, 3), list(4, 3)], (h, x, w) =>
        h.linear(x, w, { activation: "gelu" }),
      ),
    },
    ofNothing: {
      "linear of no rows": [[0, 3], (h, x) => h.linear(x, h.ones([2, 3])), [list(0, 2), []]],
      "linear over nothing": [[2, 0], (h, x) => h.linear(x, h.ones([1, 0])), [list(2, 1), [0, 0]]],
    },
    anyRank: { linear: (h, x) => h.linear(x, h.ones([2, 3])) },
    results: {
      "linear with a bias": [
        (h) => h.linear(h.tensor([1, 2]), h.tensor([list(3, 4), list(5, 6)]), h.tensor([7, 8])),
        list(18, 25),
      ],
      "linear over nothing": [
        (h) => h.linear(h.zeros([2, 0]), h.zeros([3, 0])),
        [list(0, 0, 0), list(0, 0, 0)],
      ],
      "linear over nothing with a bias": [
        (h) => h.linear(h.zeros([2, 0]), h.zeros([3, 0]), h.tensor([1, 2, 3])),
        [list(1, 2, 3), list(1, 2, 3)],
      ],
    },
  },
  packWeights: {
    calls: {
      packWeights: [
        { weight: floats(4, 3) },
        (h, { weight }) => h.packWeights(any(weight), { format: "int8" }),
      ],
      "packWeights of 4 bits": [
        { weight: floats(4, 3) },
        (h, { weight }) => h.packWeights(any(weight), { format: "int4" }),
      ],
    },
    options: ["format", (h, t, o) => h.packWeights(t(2, 3), o)],
    gradients: {},
  },
  activate: {
    calls: { activate: [{ x: floats(2) }, (h, { x }) => h.activate(any(x), "gelu")] },
    gradients: Object.fromEntries(
      activations.map((name) => [
        name,
        gradient([list(2, 5)], (h, x) => h.activate(x, name), { away: 0.1 }),
      ]),
    ),
    keepsShape: Object.fromEntries(
      activations.map((name) => [name, (h, x) => h.activate(x, name)]),
    ),
    types: (h, x) => {
      h.activate(x, "silu");
      // @ts-expect-error an unknown activation
      h.activate(x, "swish");
    },
  },
  swiglu: {
    calls: {
      swiglu: [
        { gate: floats(2), up: floats(2) },
        (h, { gate, up }) => h.swiglu(any(gate), any(up)),
      ],
    },
    gradients: {
      swiglu: gradient([list(2, 3), list(2, 3)], (h, gate, up) => h.swiglu(gate, up)),
    },
    keepsShape: { swiglu: (h, x) => h.swiglu(x, x) },
    types: (h, x) => {
      // @ts-expect-error one of the two is missing
      h.swiglu(x);
    },
  },

  layerNorm: {
    calls: {
      layerNorm: [
        { x: floats(2, 3), weight: named(floats(3)), bias: named(floats(3)) },
        (h, { x, ...options }) => h.layerNorm(any(x), { ...options, eps: 1e-5, axes: 1 }),
      ],
    },
    options: ["weight, bias, eps, axes", (h, t, o) => h.layerNorm(t(2, 3), o)],
    gradients: {
      layerNorm: gradient([list(3, 5), list(5), list(5)], (h, x, weight, bias) =>
        h.layerNorm(x, { weight, bias }),
      ),
      "layerNorm over two axes": gradient([list(2, 3, 2)], (h, x) =>
        h.layerNorm(x, { axes: 2, eps: 0.1 }),
      ),
    },
    keepsShape: { layerNorm: (h, x) => h.layerNorm(x) },
    types: (h, x) => {
      h.layerNorm(x, { weight: x, bias: x, eps: 1e-6, axes: 2 });
      // @ts-expect-error a weight is an option
      h.layerNorm(x, x);
    },
  },
  rmsNorm: {
    calls: {
      rmsNorm: [
        { x: floats(2, 3), weight: named(floats(3)) },
        (h, { x, ...options }) => h.rmsNorm(any(x), { ...options, eps: 1e-5, axes: 1 }),
      ],
    },
    options: ["weight, eps, axes", (h, t, o) => h.rmsNorm(t(2, 3), o)],
    gradients: {
      rmsNorm: gradient([list(3, 5), list(5)], (h, x, weight) => h.rmsNorm(x, { weight })),
    },
    keepsShape: { rmsNorm: (h, x) => h.rmsNorm(x) },
    types: (h, x) => {
      h.rmsNorm(x, { weight: x });
      // @ts-expect-error rmsNorm has no bias
      h.rmsNorm(x, { bias: x });
    },
  },
  softmax: {
    calls: { softmax: [{ x: floats(2, 3) }, (h, { x }) => h.softmax(any(x))] },
    gradients: { softmax: gradient([list(3, 5)], (h, x) => h.softmax(x)) },
    keepsShape: { softmax: (h, x) => h.softmax(x) },
    results: {
      "softmax of large numbers, and of -Infinity alone": [
        (h) =>
          h.softmax(
            h.tensor([
              [1e30, 1e30, -1e30],
              [-Infinity, 0, -Infinity],
              [-Infinity, -Infinity, -Infinity],
            ]),
          ),
        [list(0.5, 0.5, 0), list(0, 1, 0), list(0, 0, 0)],
      ],
      "softmax of a row with NaN": [
        (h) =>
          h.softmax(
            h.tensor([
              [1, Number.NaN],
              [2, 2],
            ]),
          ),
        [list(Number.NaN, Number.NaN), list(0.5, 0.5)],
      ],
    },
    right: right(
      fc.record({ rows: sizes(0), size: whole(1, 200), spread: whole(1, 90), seed }),
      (heed, { rows, size, spread, seed }) => {
        const x = random(seed).array([...rows, size], spread);
        expectClose(heed.softmax(upload(heed, x)), x.shape, mapRows(x, softmax).data);
      },
    ),
  },
  logsumexp: {
    calls: { logsumexp: [{ x: floats(2, 3) }, (h, { x }) => h.logsumexp(any(x))] },
    gradients: {
      logsumexp: gradient([list(3, 5)], (h, x) => h.logsumexp(x)),
      "logsumexp of a vector": gradient([list(7)], (h, x) => h.logsumexp(x)),
    },
    ofNothing: { "logsumexp of no rows": [[0, 3], (h, x) => h.logsumexp(x), [[0], []]] },
    anyRank: { logsumexp: (h, x) => h.logsumexp(x) },
    results: {
      "logsumexp of empty rows": [(h) => h.logsumexp(h.zeros([2, 0])), list(-Infinity, -Infinity)],
      "logsumexp of large numbers, of infinities and of NaN": [
        (h) =>
          h.logsumexp(
            h.tensor([
              [1000, -1000],
              [-1000, -Infinity],
              [-Infinity, -Infinity],
              [-Infinity, Infinity],
              [1, Number.NaN],
            ]),
          ),
        list(1000, -1000, -Infinity, Infinity, Number.NaN),
      ],
    },
    refusals: {
      "logsumexp of a scalar": [
        (h) => h.logsumexp(h.tensor(1)),
        "shape: x: expected rank 1 or more, got []",
      ],
    },
    right: right(
      fc.record({ rows: sizes(0), size: whole(1, 200), spread: whole(1, 90), seed }),
      (heed, { rows, size, spread, seed }) => {
        const x = random(seed).array([...rows, size], spread);
        const sums = mapRows(x, (row) => [Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0))]);
        expectClose(heed.logsumexp(upload(heed, x)), rows, sums.data);
      },
    ),
    types: (h, x) => {
      // @ts-expect-error it is always of the last axis
      h.logsumexp(x, { axis: 0 });
    },
  },
  dropout: {
    calls: {
      dropout: [{ x: floats(2, 3) }, (h, { x }) => h.dropout(any(x), { rate: 0.5, seed: 1 })],
    },
    options: ["rate, seed", (h, t, o) => h.dropout(t(2, 3), o)],
    gradients: {
      dropout: gradient([list(3, 5)], (h, x) => h.dropout(x, { rate: 0.4, seed: 7 })),
    },
    keepsShape: { dropout: (h, x) => h.dropout(x, { rate: 0.5, seed: 1 }) },
    types: (h, x) => {
      h.dropout(x, { rate: 0.1, seed: 1 });
      // @ts-expect-error a seed is missing
      h.dropout(x, { rate: 0.1 });
      // @ts-expect-error a rate is missing
      h.dropout(x, { seed: 1 });
    },
  },
  crossEntropy: {
    calls: {
      crossEntropy: [
        { logits: floats(2, 3), targets: ids(2) },
        (h, { logits, targets }) =>
          h.crossEntropy(any(logits), any(targets), {
            ignoreIndex: -1,
            labelSmoothing: 0.1,
            reduction: "none",
          }),
      ],
    },
    options: [
      "ignoreIndex, labelSmoothing, reduction",
      (h, t, o) => h.crossEntropy(t(2, 3), h.tensor(new Int32Array(2)), o),
    ],
    gradients: {
      crossEntropy: gradient([list(3, 5)], (h, x) =>
        h.crossEntropy(x, h.tensor(Int32Array.of(4, -1, 0)), {
          ignoreIndex: -1,
          labelSmoothing: 0.1,
        }),
      ),
      "crossEntropy of each row": gradient([list(3, 5)], (h, x) =>
        h.crossEntropy(x, h.tensor(Int32Array.of(4, 2, 0)), { reduction: "none" }),
      ),
    },
    types: (h, x) => {
      h.crossEntropy(x, x, { ignoreIndex: -100, labelSmoothing: 0.1, reduction: "none" });
      // @ts-expect-error an unknown reduction
      h.crossEntropy(x, x, { reduction: "max" });
    },
  },

  embedding: {
    calls: {
      embedding: [
        { ids: ids(2), weight: floatsOrHalves(3, 4) },
        (h, { ids, weight }) => h.embedding(any(ids), any(weight), { paddingIndex: 1 }),
      ],
    },
    options: ["paddingIndex", (h, t, o) => h.embedding(h.tensor(new Int32Array(2)), t(2, 3), o)],
    gradients: {
      embedding: gradient([list(4, 3)], (h, w) => h.embedding(h.tensor(Int32Array.of(1, 3, 1)), w)),
    },
    results: Object.fromEntries(
      (
        [
          ["a list", [2, 0, 2], [3], [list(20, 21), list(0, 1), list(20, 21)]],
          ["a matrix", [1, 2], [1, 2], [[list(10, 11), list(20, 21)]]],
          ["one id", [1], [], [10, 11]],
          ["no ids", [], [0], []],
        ] as const
      ).map(([what, numbers, sizes, rows]) => [
        `embedding of ${what}`,
        [
          (h) => {
            const table = h.tensor([list(0, 1), list(10, 11), list(20, 21)]);
            return h.embedding(h.tensor(Int32Array.from(numbers), sizes), table);
          },
          rows,
        ],
      ]),
    ),
    types: (h, x) => {
      h.embedding(x, x, { paddingIndex: 0 });
      // @ts-expect-error PyTorch's name
      h.embedding(x, x, { paddingIdx: 0 });
    },
  },
  sinusoidalEncoding: {
    calls: {
      sinusoidalEncoding: [{}, (h) => h.sinusoidalEncoding(3, 4, { base: 100, offset: 2 })],
    },
    gradients: {},
  },
  rope: {
    calls: {
      rope: [
        {
          x: floats(1, 2, 3, 4),
          positionIds: named(ids(1, 3)),
          cos: named(floats(3, 2)),
          sin: named(floats(3, 2)),
        },
        (h, { x, ...options }) => h.rope(any(x), options),
      ],
    },
    gradients: { rope: gradient([list(1, 2, 3, 4)], (h, x) => h.rope(x, { offset: 2 })) },
  },

  gru: {
    calls: {
      gru: [
        {
          x: floats(2, 3, 4),
          weightIh: named(floats(6, 4)),
          weightHh: named(floats(6, 2)),
          biasIh: named(floats(6)),
          biasHh: named(floats(6)),
          state: named(floats(2, 2)),
          lengths: { ...named(ids(2)), expected: "a list of numbers or a tensor" },
        },
        (h, { x, state, lengths, ...parameters }) =>
          h.gru(any(x), any(parameters), { state: any(state), lengths: any(lengths) }),
      ],
    },
    options: [
      "state, lengths",
      (h, t, o) => h.gru(t(2, 3, 4), { weightIh: t(6, 4), weightHh: t(6, 2) }, o),
    ],
    gradients: {
      gru: gradient(
        [list(2, 3, 2), list(9, 2), list(9, 3), list(9), list(9), list(2, 3)],
        (h, x, weightIh, weightHh, biasIh, biasHh, state) => {
          const parameters = { weightIh, weightHh, biasIh, biasHh };
          const result = h.gru(x, parameters, { state, lengths: [3, 2] });
          return [result.output, result.state];
        },
      ),
      "gru, of which only the last state is used": gradient(
        [list(2, 3, 2), list(9, 2), list(9, 3)],
        (h, x, weightIh, weightHh) => h.gru(x, { weightIh, weightHh }).state,
      ),
    },
    types: (h, x) => {
      const { output, state } = h.gru(x, { weightIh: x, weightHh: x }, { lengths: [1, 2] });
      same<[typeof output, typeof state], [Tensor, Tensor]>(true);
      // @ts-expect-error a weight is missing
      h.gru(x, { weightIh: x });
      // @ts-expect-error an unknown option
      h.gru(x, { weightIh: x, weightHh: x }, { hidden: x });
    },
  },
} satisfies Record<string, Operation>;
