// The cases of --models with an encoder of the shape of MiniLM-L6 (Wang et al., 2020), a BERT
// (Devlin et al., 2019) with random weights. Texts of the same length give the states of all
// tokens, as for the vectors of a search.

import { formats, typed } from "./language_cases.mjs";

/** The epsilon of the norms; ONNX's default, so that all compute the same. */
export const eps = 1e-5;

const linear = (name, out, size) => [
  [`${name}.weight`, [out, size]],
  [`${name}.bias`, [out]],
];
const norm = (name, size) => [
  [`${name}.weight`, [size]],
  [`${name}.bias`, [size]],
];

const layer = (name, { E, F }) => [
  ...["query", "key", "value"].flatMap((part) => linear(`${name}.attention.self.${part}`, E, E)),
  ...linear(`${name}.attention.output.dense`, E, E),
  ...norm(`${name}.attention.output.LayerNorm`, E),
  ...linear(`${name}.intermediate.dense`, F, E),
  ...linear(`${name}.output.dense`, E, F),
  ...norm(`${name}.output.LayerNorm`, E),
];

/** The tensors of a checkpoint of the hub, whose linear layers are [out, in]. */
export function encoderWeights(one) {
  const { layers, E, vocabulary, context } = one;
  const names = Array.from({ length: layers }, (_, i) => `encoder.layer.${i}`);
  return Object.fromEntries([
    ["embeddings.word_embeddings.weight", [vocabulary, E]],
    ["embeddings.position_embeddings.weight", [context, E]],
    ["embeddings.token_type_embeddings.weight", [2, E]],
    ...norm("embeddings.LayerNorm", E),
    ...names.flatMap((name) => layer(name, one)),
  ]);
}

export const encoderShapes = (one) => ({ ...encoderWeights(one), tokens: [one.B, one.L] });

function boundOf({ layers, E, F, B, L, dtype }) {
  const products = 2 * layers * (4 * E * E + 2 * E * F) + 4 * layers * L * E;
  return { operations: B * L * products, isOfBytes: dtype === "int8" };
}

function casesOf(name, sizes, B, L) {
  const title = `${name}, ${B} texts of ${L}`;
  return ["float32", "int8"].map((dtype) => {
    const one = {
      ...{ kind: "encoder", name: `${title}, ${dtype}`, isLanguage: true, answer: title },
      ...{ tokens: B * L, ...sizes, B, L, ...typed(formats, dtype) },
    };
    return { ...one, bound: boundOf(one) };
  });
}

const mini = { layers: 6, E: 384, H: 12, F: 1536, vocabulary: 30522, context: 512 };
const tiny = { layers: 2, E: 64, H: 4, F: 96, vocabulary: 211, context: 64 };

export const encoderCases = casesOf("MiniLM L6", mini, 32, 128);
export const quickEncoderCases = casesOf("BERT of 2 layers", tiny, 3, 12);
