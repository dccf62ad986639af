// The cases of --models with a decoder of SmolLM2-135M's shape (Allal et al., 2025), a Llama
// (Touvron et al., 2023) with random weights. A prompt, or a token after a prompt, gives the logits
// of its last token. `tokens` has the prompt before the token, too: each contender fills its cache
// with it.
//
// The weights are the same for all: float32, which each contender rounds to the type of a case in
// its way. The matrices of a case all have this type, the table of the tokens too. It computes the
// logits.

import { bytesOfWeight, formats as common, typed } from "./language_cases.mjs";

/** The error of an answer grows with the layers. */
const formats = {
  ...common,
  int8: { tolerance: 0.25 },
  int4: { tolerance: 0.8, beside: "int8" },
};

const layerShapes = (name, { E, H, G, F }) => {
  const keys = (E / H) * G;
  const shapes = {
    ...{ input_layernorm: [E], post_attention_layernorm: [E] },
    ...{ "self_attn.q_proj": [E, E], "self_attn.k_proj": [keys, E] },
    ...{ "self_attn.v_proj": [keys, E], "self_attn.o_proj": [E, E] },
    ...{ "mlp.gate_proj": [F, E], "mlp.up_proj": [F, E], "mlp.down_proj": [E, F] },
  };
  return Object.entries(shapes).map(([part, shape]) => [`${name}.${part}.weight`, shape]);
};

/** The tensors of a checkpoint of the hub, whose linear layers are [out, in]. */
export function decoderWeights(one) {
  const { layers, E, vocabulary } = one;
  const names = Array.from({ length: layers }, (_, i) => `model.layers.${i}`);
  return Object.fromEntries([
    ["model.embed_tokens.weight", [vocabulary, E]],
    ...names.flatMap((name) => layerShapes(name, one)),
    ["model.norm.weight", [E]],
  ]);
}

export const decoderShapes = (one) => ({ ...decoderWeights(one), tokens: [one.past + one.L] });

/** The numbers that follow from the sizes: of a head, and of all weights in products of a layer. */
export const sizesOf = ({ E, H, G, F }) => {
  const D = E / H;
  return { D, keys: D * G, weights: 2 * E * (E + D * G) + 3 * E * F };
};

/** A prompt is bound by arithmetic, one token by the bytes of weights and cache that it reads. */
function boundOf(one) {
  const { layers, E, vocabulary, L, past, dtype } = one;
  const { keys, weights } = sizesOf(one);
  const head = vocabulary * E;
  if (L === 1) {
    const cache = 8 * layers * keys * past;
    return { bytes: (layers * weights + head) * bytesOfWeight[dtype] + cache };
  }
  const operations = 2 * L * layers * weights + 2 * head + 2 * layers * E * L * (L + 1);
  return { operations, isOfBytes: dtype === "int8" || dtype === "int4" };
}

/**
 * Logits less their mean. Libraries that return probabilities determine logits up to a number that
 * is the same for all tokens.
 */
export function centred(logits) {
  const mean = logits.reduce((a, b) => a + b, 0) / logits.length;
  return Float64Array.from(logits, (logit) => logit - mean);
}

function casesOf(name, sizes, prompt) {
  const of = (words, work) =>
    Object.keys(formats).map((dtype) => {
      const one = {
        ...{ kind: "decoder", name: `${name}, ${words}, ${dtype}`, isLanguage: true },
        ...{ answer: `${name}, ${words}`, tokens: work.L },
        ...{ ...sizes, ...work, ...typed(formats, dtype) },
      };
      return { ...one, bound: boundOf(one) };
    });
  return [
    ...of(`prompt of ${prompt}`, { L: prompt, past: 0 }),
    ...of(`a token after ${prompt}`, { L: 1, past: prompt }),
  ];
}

const smol = { layers: 30, E: 576, H: 9, G: 3, F: 1536, vocabulary: 49152, context: 2048 };
const tiny = { layers: 2, E: 64, H: 4, G: 2, F: 96, vocabulary: 211, context: 64 };

/** The base of the frequencies by which queries and keys rotate (Su et al., "RoFormer", 2021). */
export const theta = 100_000;
export const eps = 1e-5;

export const decoderCases = casesOf("SmolLM2 135M", smol, 128);
export const quickDecoderCases = casesOf("Llama of 2 layers", tiny, 12);
