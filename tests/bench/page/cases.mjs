// The cases of the bench and their inputs.
//
// Sizes are named as in include/heed/heed.hpp. The kinds of cases:
//   `attention`  H heads of size D, L queries, L keys; causal, with a window or a precision.
//   `attentionBackward`  The gradients of q, k and v from the gradient of the output. The inputs
//       include the output and the statistics of its rows.
//   `attentionGradients`  The same, and the attention before it.
//   `decode`  One token: H query heads and G key/value heads of size D, after `cached` others.
//   `linear`  [L, inputs] x [inputs, outputs] + bias, then perhaps GELU. Weights as they come, or
//       packed beforehand as float32 or int8.
//   `multiHead`  Projections, attention of H heads and output projection of [L, E].
//   `trainingStep`  A transformer's loss, its gradients and a step of AdamW, for B sequences of L
//       tokens. The transformer has an embedding, `layers` encoder layers with H heads (post-norm,
//       ReLU or GELU between E and F), and a linear layer onto `vocabulary` classes with
//       cross-entropy. Each case repeats its tokens. The answer is the losses of the first steps,
//       which depend on the gradients of the earlier steps.
//   `language`, `decoder`, `encoder`  Language models, see language_cases.mjs and its neighbours.
//   `nonLocalMeans`  Means of an image [H, W], see Heed.nonLocalMeans.
//
// The fields of a case: `tolerance` is for the relative error of a row of the answer; 0.0447 is a
// cosine similarity of 0.999. `without` names peers that are left out, because they would make a
// run minutes longer. `isLong` cases are measured with one thread only. `isTraining` cases are
// measured by --train and --quick only, but attention's backward pass by the native bench too.
// `isLanguage` cases are measured by --models and --quick only; `tokens` is the number that they
// compute, and cases with the same `answer` have the same right answer. `beside` is another case of ours to
// compare with: its name, and the fields that differ.

import { decoderCases, decoderShapes, quickDecoderCases } from "./decoder_cases.mjs";
import { encoderCases, encoderShapes, quickEncoderCases } from "./encoder_cases.mjs";
import { languageCases, languageShapes, quickLanguageCases } from "./language_cases.mjs";

const attention = (H, L, D, rest = {}) => ({
  kind: "attention",
  name: `H${H} L${L} D${D}${rest.isCausal ? " causal" : ""}`,
  ...{ H, L, D, isCausal: false, tolerance: 1e-4 },
  ...rest,
});

const gradients = (kind, word) => (H, L, D, rest) => {
  const { name, ...sizes } = attention(H, L, D, rest);
  return { ...sizes, kind, name: `${word} ${name}`, isTraining: true };
};
const backward = gradients("attentionBackward", "backward");
const forwardAndBackward = gradients("attentionGradients", "forward and backward");

const trainingStep = (layers, H, E, F, B, L, vocabulary, activation) => ({
  kind: "trainingStep",
  name: `training step: ${layers} layers, H${H} E${E} ${activation}, ${B} x ${L} tokens`,
  ...{ layers, H, E, F, B, L, vocabulary, activation, isTraining: true, tolerance: 1e-5 },
});

const nonLocalMeans = (H, W, patch, search) => ({
  kind: "nonLocalMeans",
  name: `non-local means ${H} x ${W}, patch ${patch}, window ${search}`,
  ...{ H, W, patchRadius: patch >> 1, searchRadius: search >> 1, h: 1 },
  ...{ isTraining: true, isLong: true, tolerance: 1e-5 },
});

const decode = (cached, cache, tolerance) => ({
  kind: "decode",
  name: `decode H32/8 D128, ${cached} cached, ${cache.replace("float", "f")} cache`,
  ...{ H: 32, G: 8, D: 128, cached, cache, tolerance },
  ...(cache !== "float32" && { beside: { cache: "float32", tolerance: 1e-4, name: "f32 cache" } }),
});

const linear = (L, inputs, outputs, { words = "", ...rest } = {}) => ({
  kind: "linear",
  name: `linear [${L},${inputs}] x [${inputs},${outputs}]${words}`,
  ...{ L, inputs, outputs, tolerance: 1e-4 },
  ...rest,
});

const packed = {
  ...{ words: " + GELU, packed", activation: "gelu", weights: "float32" },
  beside: { weights: undefined, name: "not packed" },
};

const int8 = {
  ...{ words: " + GELU, int8", activation: "gelu", weights: "int8", tolerance: 4e-2 },
  beside: { weights: "float32", tolerance: 1e-4, name: "f32 packed" },
};

const int8Scores = {
  ...{ precision: "int8-scores", tolerance: 4.47e-2 },
  beside: { precision: undefined, tolerance: 1e-4, name: "f32" },
};

const window = { isCausal: true, window: [127, 0] };
const tiny = attention(2, 5, 8, { name: "one call: H2 L5 D8", isTiny: true });

const full = [
  attention(12, 512, 64),
  attention(12, 1024, 64),
  attention(12, 1024, 64, { isCausal: true }),
  attention(12, 1024, 64, { name: "H12 L1024 D64 int8 scores", ...int8Scores }),
  attention(12, 1024, 64, {
    ...{ name: "H12 L1024 D64 int8 scores, outliers", hasOutliers: true, isLong: true },
    ...int8Scores,
  }),
  attention(8, 4096, 64),
  attention(8, 4096, 64, {
    ...{ name: "H8 L4096 D64 window 128", ...window, isLong: true },
    without: ["onnxruntime-web GroupQueryAttention", "jax-js"],
    beside: { isCausal: false, window: undefined, name: "no window" },
  }),
  attention(8, 16384, 64, { isLong: true, without: ["tfjs", "jax-js"] }),
  ...[backward(12, 1024, 64), backward(12, 1024, 64, { isCausal: true })],
  ...[forwardAndBackward(12, 1024, 64), forwardAndBackward(12, 1024, 64, { isCausal: true })],
  ...[trainingStep(2, 4, 128, 512, 32, 64, 64, "relu")],
  ...[trainingStep(2, 4, 128, 512, 32, 64, 64, "gelu")],
  nonLocalMeans(256, 256, 7, 21),
  ...[decode(4096, "float32", 1e-4), decode(4096, "float16", 2e-3), decode(4096, "int8", 3e-2)],
  tiny,
  linear(512, 768, 3072),
  linear(512, 768, 3072, packed),
  linear(512, 768, 3072, int8),
  { kind: "multiHead", name: "multi-head E768 H12 L512", L: 512, E: 768, H: 12, tolerance: 1e-4 },
  ...languageCases,
  ...decoderCases,
  ...encoderCases,
];

const quick = [
  attention(2, 128, 64),
  attention(2, 256, 64, {
    ...{ name: "H2 L256 D64 window 128", ...window },
    beside: { isCausal: false, window: undefined, name: "no window" },
  }),
  ...[backward(2, 200, 64), backward(2, 200, 64, { isCausal: true })],
  ...[forwardAndBackward(2, 64, 32), forwardAndBackward(2, 64, 32, { isCausal: true })],
  ...[trainingStep(2, 2, 16, 32, 2, 8, 16, "relu"), trainingStep(2, 2, 16, 32, 2, 8, 16, "gelu")],
  nonLocalMeans(24, 32, 3, 5),
  ...[decode(200, "float32", 1e-4), decode(200, "int8", 3e-2)],
  tiny,
  linear(32, 48, 64),
  linear(32, 48, 64, packed),
  linear(32, 48, 64, int8),
  { kind: "multiHead", name: "multi-head E48 H4 L32", L: 32, E: 48, H: 4, tolerance: 1e-4 },
  ...quickLanguageCases,
  ...quickDecoderCases,
  ...quickEncoderCases,
];

export const casesFor = ({ quick: isQuick, native = false, train = false, models = false }) =>
  (isQuick ? quick : full).filter(({ kind, isTraining = false, isLanguage = false }) => {
    if (native) return (!isTraining || kind === "attentionBackward") && !isLanguage;
    return (isQuick && !train && !models) || (isTraining === train && isLanguage === models);
  });

export const caseNamed = (name, isQuick) =>
  (isQuick ? quick : full).find((one) => one.name === name);

/** The options of AdamW in a training step. */
export const adamW = { learningRate: 1e-3, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 1e-2 };

/** The number of losses that are the answer of a training step. */
export const trainingSteps = 3;

/** The range [first, end) of keys that a query sees. */
export function visibleKeys({ L, isCausal, window: sizes = [-1, -1] }, query) {
  const [left, right] = sizes;
  const first = left < 0 ? 0 : Math.max(0, query - left);
  const last = Math.min(isCausal ? query : L - 1, right < 0 ? L - 1 : query + right);
  return [first, last + 1];
}

function pairs(one) {
  let sum = 0;
  for (let query = 0; query < one.L; ++query) {
    const [first, end] = visibleKeys(one, query);
    sum += end - first;
  }
  return sum;
}

/** Floating-point operations of the products, for the visible pairs of a query and a key. */
const operations = {
  attention: (one) => 4 * one.H * pairs(one) * one.D,
  attentionBackward: (one) => 10 * one.H * pairs(one) * one.D,
  attentionGradients: (one) => 14 * one.H * pairs(one) * one.D,
  linear: ({ L, inputs, outputs }) => 2 * L * inputs * outputs,
  multiHead: ({ L, E }) => 8 * L * E * E + 4 * L * L * E,
  // A layer's weights are in three products: one forward, two backward.
  trainingStep({ layers, E, F, B, L, vocabulary }) {
    const weights = layers * (4 * E * E + 2 * E * F) + E * vocabulary;
    return B * L * (6 * weights + 14 * layers * L * E);
  },
};

const cacheBytes = { float32: 4, float16: 2, int8: 1 };

/** The work that bounds a case: { operations }, or { bytes } to read; undefined for a case without products. */
export function boundOf(one) {
  if (one.bound) return one.bound;
  if (one.isTiny || one.kind === "nonLocalMeans") return {};
  if (one.kind === "decode")
    return { bytes: 2 * one.G * one.cached * one.D * cacheBytes[one.cache] };
  return { operations: operations[one.kind](one) };
}

/** Uniform numbers in [0, 1), the same ones on every run (mulberry32). */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

const attentionGradientShapes = ({ H, L, D }) => ({
  ...{ q: [H, L, D], k: [H, L, D], v: [H, L, D], dOutput: [H, L, D] },
});

/** The parameters of a training step's transformer, under PyTorch's names. */
export function parameterShapes({ layers, E, F, vocabulary }) {
  const linear = (name, inputs, outputs) => ({
    [`${name}.weight`]: [outputs, inputs],
    [`${name}.bias`]: [outputs],
  });
  const norm = (name) => ({ [`${name}.weight`]: [E], [`${name}.bias`]: [E] });
  const layer = (name) => ({
    ...{ [`${name}.self_attn.in_proj_weight`]: [3 * E, E] },
    ...{ [`${name}.self_attn.in_proj_bias`]: [3 * E] },
    ...linear(`${name}.self_attn.out_proj`, E, E),
    ...linear(`${name}.linear1`, E, F),
    ...linear(`${name}.linear2`, F, E),
    ...norm(`${name}.norm1`),
    ...norm(`${name}.norm2`),
  });
  const names = Array.from({ length: layers }, (_, i) => `encoder.layers.${i}`);
  return {
    "embedding.weight": [vocabulary, E],
    ...Object.assign({}, ...names.map(layer)),
    ...linear("head", E, vocabulary),
  };
}

const shapes = {
  attention: ({ H, L, D }) => ({ q: [H, L, D], k: [H, L, D], v: [H, L, D] }),
  attentionBackward: attentionGradientShapes,
  attentionGradients: attentionGradientShapes,
  // The last key and value belong to the new token.
  decode: ({ H, G, D, cached }) => ({
    ...{ q: [H, 1, D], k: [G, cached + 1, D], v: [G, cached + 1, D] },
  }),
  linear: ({ L, inputs, outputs }) => ({
    ...{ x: [L, inputs], weight: [outputs, inputs], bias: [outputs] },
  }),
  multiHead: ({ L, E }) => ({
    x: [L, E],
    ...{ inProjWeight: [3 * E, E], inProjBias: [3 * E] },
    ...{ outProjWeight: [E, E], outProjBias: [E] },
  }),
  language: languageShapes,
  decoder: decoderShapes,
  encoder: encoderShapes,
  trainingStep: (one) => ({
    ...parameterShapes(one),
    ...{ tokens: [one.B, one.L], targets: [one.B, one.L] },
  }),
  nonLocalMeans: ({ H, W }) => ({ image: [H, W] }),
};

/**
 * Normally distributed numbers, Float32Arrays by name. Weights [outputs, inputs] are scaled so that
 * a layer's output has the same spread as its input. Tokens and targets are whole numbers,
 * Int32Arrays.
 */
export function inputsOf(one) {
  const next = generator(1);
  let other; // two numbers result from two uniform ones (Box and Muller, 1958)
  const normal = () => {
    if (other !== undefined) {
      const number = other;
      other = undefined;
      return number;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    const angle = 2 * Math.PI * next();
    other = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  const draw = ([name, shape]) => {
    const length = shape.reduce((a, b) => a * b);
    if (name === "tokens" || name === "targets")
      return [name, Int32Array.from({ length }, () => Math.floor(one.vocabulary * next()))];
    const scale = /weight/i.test(name) && shape.length > 1 ? 1 / Math.sqrt(shape[1]) : 1;
    const data = new Float32Array(length);
    for (let i = 0; i < length; ++i) data[i] = scale * normal();
    return [name, data];
  };
  const inputs = Object.fromEntries(Object.entries(shapes[one.kind](one)).map(draw));
  // Outliers like the ones of models: in some channels of the keys, alike for all tokens (Zhang et
  // al., "SageAttention", section 4.2, 2024).
  if (one.hasOutliers) inputs.k = inputs.k.map((x, i) => (i % 16 === 0 ? x + 10 : x));
  return inputs;
}

/** Rows [from, to) of every head of data [heads, rows, size]. */
export function rowsOf(data, heads, rows, size, from, to) {
  const result = new Float32Array(heads * (to - from) * size);
  for (let h = 0; h < heads; ++h) {
    const start = h * rows * size;
    const part = data.subarray(start + from * size, start + to * size);
    result.set(part, h * (to - from) * size);
  }
  return result;
}

/** [a, b, size] -> [b, a, size]: heads by tokens to tokens by heads. */
export function exchange(data, a, b, size) {
  const result = new data.constructor(data.length);
  for (let i = 0; i < a; ++i)
    for (let j = 0; j < b; ++j)
      result.set(data.subarray((i * b + j) * size, (i * b + j + 1) * size), (j * a + i) * size);
  return result;
}

/** [rows, columns] -> [columns, rows] */
export function transpose(data, rows, columns) {
  const result = new data.constructor(data.length);
  for (let row = 0; row < rows; ++row)
    for (let column = 0; column < columns; ++column)
      result[column * rows + row] = data[row * columns + column];
  return result;
}
