// What every operation refuses as a tensor argument: other values, disposed tensors, tensors of another
// engine or of another type; and what it refuses as options.

import type { Heed, Tensor } from "heed";
import { sizeOf } from "../values.js";
import { any, type Case, disposed, foreign, gone, row } from "./case.js";

type Type = "float32" | "int32" | "bool";

interface Taken {
  shape: readonly number[];
  /** Undefined for an operation that only moves elements. */
  type?: Type;
  /** Whether it is a member of an object of options or parameters. */
  isNamed?: boolean;
  /** The expectation in the message if no tensor is given. */
  expected?: string;
}

const floats = (...shape: number[]): Taken => ({ shape, type: "float32" });
const ids = (...shape: number[]): Taken => ({ shape, type: "int32" });
const bools = (...shape: number[]): Taken => ({ shape, type: "bool" });
const elements = (...shape: number[]): Taken => ({ shape });
const named = (taken: Taken): Taken => ({ ...taken, isNamed: true });

type Given = Record<string, Tensor>;
type Call = (heed: Heed, given: Given) => unknown;

/** The tensors of a valid call, by their names in messages. */
const operations: Record<string, [taken: Record<string, Taken>, call: Call]> = {
  ...Object.fromEntries(
    (["add", "subtract", "multiply", "divide"] as const).map((name) => [
      name,
      [
        { a: floats(2, 3), b: { ...floats(3), expected: "a tensor or a number" } },
        (h: Heed, { a, b }: Given) => h[name](any(a), any(b)),
      ],
    ]),
  ),
  matmul: [{ a: floats(2, 3), b: floats(3, 2) }, (h, { a, b }) => h.matmul(any(a), any(b))],
  sum: [{ x: floats(2, 3) }, (h, { x }) => h.sum(any(x))],
  "sum along an axis of one": [{ x: floats(1) }, (h, { x }) => h.sum(any(x), { axis: 0 })],
  mean: [{ x: floats(2, 3) }, (h, { x }) => h.mean(any(x), { axis: 1 })],
  broadcastTo: [{ x: floats(3) }, (h, { x }) => h.broadcastTo(any(x), [2, 3])],
  reshape: [{ x: elements(2, 3) }, (h, { x }) => h.reshape(any(x), [6])],
  transpose: [{ x: elements(2, 3) }, (h, { x }) => h.transpose(any(x))],
  slice: [{ x: elements(2, 3) }, (h, { x }) => h.slice(any(x), { axis: 1, start: 0, length: 1 })],
  split: [{ x: elements(2, 3) }, (h, { x }) => h.split(any(x), 2)],
  adaptiveMaxPool: [{ x: floats(2, 3) }, (h, { x }) => h.adaptiveMaxPool(any(x), 1, 1)],
  concat: [
    { "parts[0]": elements(2), "parts[1]": elements(2) },
    (h, parts) => h.concat(Object.values(parts)),
  ],

  linear: [
    { x: floats(2, 3), weight: floats(4, 3), bias: named(floats(4)) },
    (h, { x, weight, bias }) => h.linear(any(x), any(weight), { bias: any(bias) }),
  ],
  packWeights: [{ weight: floats(4, 3) }, (h, { weight }) => h.packWeights(any(weight))],
  activate: [{ x: floats(2) }, (h, { x }) => h.activate(any(x), "gelu")],
  swiglu: [{ gate: floats(2), up: floats(2) }, (h, { gate, up }) => h.swiglu(any(gate), any(up))],
  layerNorm: [
    { x: floats(2, 3), weight: named(floats(3)), bias: named(floats(3)) },
    (h, { x, ...options }) => h.layerNorm(any(x), options),
  ],
  rmsNorm: [
    { x: floats(2, 3), weight: named(floats(3)) },
    (h, { x, ...options }) => h.rmsNorm(any(x), options),
  ],
  softmax: [{ x: floats(2, 3) }, (h, { x }) => h.softmax(any(x))],
  dropout: [{ x: floats(2, 3) }, (h, { x }) => h.dropout(any(x), { rate: 0.5, seed: 1 })],
  crossEntropy: [
    { logits: floats(2, 3), targets: ids(2) },
    (h, { logits, targets }) => h.crossEntropy(any(logits), any(targets)),
  ],
  embedding: [
    { ids: ids(2), weight: floats(3, 4) },
    (h, { ids, weight }) => h.embedding(any(ids), any(weight)),
  ],
  rope: [
    {
      x: floats(1, 2, 3, 4),
      positionIds: named(ids(1, 3)),
      cos: named(floats(3, 2)),
      sin: named(floats(3, 2)),
    },
    (h, { x, ...options }) => h.rope(any(x), options),
  ],
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

  average: [
    { x: floats(1, 3, 4), keyMask: named(bools(1, 3)) },
    (h, { x, ...options }) => h.average(any(x), options),
  ],
  selfSimilarity: [{ x: floats(1, 3, 4) }, (h, { x }) => h.selfSimilarity(any(x))],
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
  ...Object.fromEntries(
    (["dot", "general", "concat"] as const).map((score) => [
      `luongAttention, ${score}`,
      [
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
      ],
    ]),
  ),
  kernelRegression: [
    { xQuery: floats(2), xTrain: floats(3), yTrain: floats(3, 1), bandwidth: floats(1) },
    (h, { xQuery, xTrain, yTrain, bandwidth }) =>
      h.kernelRegression(any(xQuery), any(xTrain), any(yTrain), any(bandwidth)),
  ],
  localMean: [{ image: floats(2, 3) }, (h, { image }) => h.localMean(any(image), 1)],
  nonLocalMeans: [{ image: floats(2, 3) }, (h, { image }) => h.nonLocalMeans(any(image))],
  nonLocalMeansWeights: [
    { image: floats(2, 3) },
    (h, { image }) => h.nonLocalMeansWeights(any(image), 0, 0),
  ],

  topK: [{ x: floats(2, 3) }, (h, { x }) => h.topK(any(x), 1)],
  sample: [{ logits: floats(2, 3) }, (h, { logits }) => h.sample(any(logits), { seed: 1 })],
  multiHeadAttention: [
    {
      query: floats(1, 2, 4),
      key: floats(1, 3, 4),
      value: floats(1, 3, 4),
      qProjWeight: named(floats(4, 4)),
      kProjWeight: named(floats(4, 4)),
      vProjWeight: named(floats(4, 4)),
      inProjBias: named(floats(12)),
      outProjWeight: named(floats(4, 4)),
      outProjBias: named(floats(4)),
      keyMask: named(bools(1, 3)),
    },
    (h, { query, key, value, keyMask, ...parameters }) =>
      h.multiHeadAttention(any(query), any(key), any(value), any(parameters), {
        heads: 2,
        keyMask: any(keyMask),
      }),
  ],
};

function made(heed: Heed, { shape, type = "float32" }: Taken): Tensor {
  const size = sizeOf(shape);
  if (type === "int32") return heed.tensor(new Int32Array(size), shape);
  if (type === "bool") return heed.tensor(new Uint8Array(size).fill(1), shape, "bool");
  return heed.tensor(new Float32Array(size).fill(1), shape);
}

const wrong = { float32: "int32", int32: "float32", bool: "float32" } as const;

function rowsOf(operation: string, taken: Record<string, Taken>, call: Call): Case[] {
  return Object.entries(taken).flatMap(([name, what]) => {
    const { type, isNamed = false, expected = "a tensor" } = what;
    const replaced =
      (by: (heed: Heed, other: Heed) => unknown): Case["call"] =>
      (heed, _, other) => {
        const given: Given = {};
        for (const each of Object.keys(taken))
          given[each] = each === name ? any(by(heed, other)) : made(heed, taken[each] as Taken);
        return call(heed, given);
      };
    const title = `${operation} with ${name} that is`;
    const rows = [
      row(
        `${title} not a tensor`,
        replaced(() => "x"),
        isNamed ? "option" : "dtype",
        [name, expected, '"x"'],
      ),
      row(`${title} disposed`, replaced(disposed), "disposed", [name, ...gone]),
      row(
        `${title} of another engine`,
        replaced((_, other) => made(other, what)),
        "option",
        [name, ...foreign],
      ),
    ];
    if (type === undefined) return rows;
    const got = wrong[type];
    return [
      ...rows,
      row(
        `${title} ${got}`,
        replaced((h) => made(h, { ...what, type: got })),
        "dtype",
        [name, type, got],
      ),
    ];
  });
}

type Make = (...shape: number[]) => Tensor;

/** The options of each operation, and a call with some. */
const withOptions: Record<
  string,
  [known: string, call: (h: Heed, t: Make, options: never) => unknown]
> = {
  matmul: ["transposeA, transposeB", (h, t, o) => h.matmul(t(2, 3), t(3, 2), o)],
  sum: ["axis, keepDims", (h, t, o) => h.sum(t(2, 3), o)],
  mean: ["axis, keepDims", (h, t, o) => h.mean(t(2, 3), o)],
  slice: ["axis, start, length", (h, t, o) => h.slice(t(2, 3), o)],
  uniform: ["low, high, seed", (h, _, o) => h.uniform([2], o)],
  normal: ["mean, deviation, seed", (h, _, o) => h.normal([2], o)],
  packWeights: ["format", (h, t, o) => h.packWeights(t(2, 3), o)],
  layerNorm: ["weight, bias, eps, axes", (h, t, o) => h.layerNorm(t(2, 3), o)],
  rmsNorm: ["weight, eps, axes", (h, t, o) => h.rmsNorm(t(2, 3), o)],
  dropout: ["rate, seed", (h, t, o) => h.dropout(t(2, 3), o)],
  crossEntropy: [
    "ignoreIndex, labelSmoothing, reduction",
    (h, t, o) => h.crossEntropy(t(2, 3), h.tensor(new Int32Array(2)), o),
  ],
  embedding: ["paddingIndex", (h, t, o) => h.embedding(h.tensor(new Int32Array(2)), t(2, 3), o)],
  gru: [
    "state, lengths",
    (h, t, o) => h.gru(t(2, 3, 4), { weightIh: t(6, 4), weightHh: t(6, 2) }, o),
  ],
  average: ["isCausal, keyMask", (h, t, o) => h.average(t(1, 2, 3), o)],
  additiveAttention: [
    "keyMask",
    (h, t, o) => {
      const parameters = { queryWeight: t(5, 3), keyWeight: t(5, 3), scoreWeight: t(5) };
      return h.additiveAttention(t(1, 2, 3), t(1, 4, 3), t(1, 4, 3), parameters, o);
    },
  ],
  additiveScores: [
    "keyMask",
    (h, t, o) => h.additiveScores(t(1, 2, 5), t(1, 4, 5), t(1, 4, 3), t(5), o),
  ],
  luongAttention: [
    "keyMask, score, weight, scoreWeight",
    (h, t, o) => h.luongAttention(t(1, 2, 3), t(1, 4, 3), t(1, 4, 3), o),
  ],
  nonLocalMeans: [
    "patchRadius, searchRadius, h, sigma, border",
    (h, t, o) => h.nonLocalMeans(t(2, 3), o),
  ],
  nonLocalMeansWeights: [
    "patchRadius, searchRadius, h, sigma, border",
    (h, t, o) => h.nonLocalMeansWeights(t(2, 3), 0, 0, o),
  ],
  sample: ["temperature, topK, topP, seed", (h, t, o) => h.sample(t(2, 3), o)],
};

const optionRows = Object.entries(withOptions).flatMap(([operation, [known, call]]) => {
  const unknown = [`an option of ${operation} (${known})`, "an unknown one"] as const;
  return [
    row(`${operation} with an unknown option`, (h, t) => call(h, t, any({ colour: 1 })), "option", [
      "colour",
      ...unknown,
    ]),
    row(`${operation} with a number for options`, (h, t) => call(h, t, any(5)), "option", [
      "options",
      "an object",
      "5",
    ]),
    row(`${operation} with null for options`, (h, t) => call(h, t, any(null)), "option", [
      "options",
      "an object",
      "null",
    ]),
    row(`${operation} with a list for options`, (h, t) => call(h, t, any([])), "option", [
      "options",
      "an object",
      "[]",
    ]),
    row(`${operation} with a tensor for options`, (h, t) => call(h, t, any(t(3))), "option", [
      "options",
      "an object",
      "a Tensor",
    ]),
  ];
});

export const operands: Case[] = [
  ...Object.entries(operations).flatMap(([name, [taken, call]]) => rowsOf(name, taken, call)),
  ...optionRows,
];
