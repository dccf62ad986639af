// The cases of --models with GPT-2 and random weights. A prompt of L tokens without a past gives the
// logits of each token. A single token after `past` others gives its own logits; the keys and
// values of the others are random, too.

const layerShapes = (name, E) => ({
  ...{ [`${name}.ln_1.weight`]: [E], [`${name}.ln_1.bias`]: [E] },
  ...{ [`${name}.attn.c_attn.weight`]: [E, 3 * E], [`${name}.attn.c_attn.bias`]: [3 * E] },
  ...{ [`${name}.attn.c_proj.weight`]: [E, E], [`${name}.attn.c_proj.bias`]: [E] },
  ...{ [`${name}.ln_2.weight`]: [E], [`${name}.ln_2.bias`]: [E] },
  ...{ [`${name}.mlp.c_fc.weight`]: [E, 4 * E], [`${name}.mlp.c_fc.bias`]: [4 * E] },
  ...{ [`${name}.mlp.c_proj.weight`]: [4 * E, E], [`${name}.mlp.c_proj.bias`]: [E] },
});

/** The tensors of a checkpoint of the hub, whose linear layers are [in, out]. */
export function weightShapes({ layers, E, vocabulary, context }) {
  const names = Array.from({ length: layers }, (_, i) => `h.${i}`);
  return {
    "wte.weight": [vocabulary, E],
    "wpe.weight": [context, E],
    ...Object.assign({}, ...names.map((name) => layerShapes(name, E))),
    ...{ "ln_f.weight": [E], "ln_f.bias": [E] },
  };
}

/** `past`: the keys and the values of each layer, [layers, 2, H, past, E / H] */
export const languageShapes = (one) => ({
  ...weightShapes(one),
  ...{ tokens: [one.L], past: [one.layers, 2, one.H, one.past, one.E / one.H] },
});

/** The bytes of a weight; int4 has a scale of 16 bits for each 32 weights. */
export const bytesOfWeight = { float32: 4, float16: 2, int8: 1, int4: 4.5 / 8 };

/** The types of weights: the largest error of an answer, and the type to compare with. */
export const formats = {
  float32: { tolerance: 1e-4 },
  float16: { tolerance: 1e-2 },
  int8: { tolerance: 0.1, beside: "float32" },
  int4: { tolerance: 0.5, beside: "int8" },
};

/** The fields of a case with weights of a type, and the case to compare with. */
export function typed(all, dtype) {
  const { tolerance, beside: name } = all[dtype];
  const beside = name && { dtype: name, tolerance: all[name].tolerance, name };
  return { dtype, tolerance, ...(beside && { beside }) };
}

/** A prompt is bound by arithmetic, one token by the bytes of weights and cache that it reads. */
function boundOf({ layers, E, vocabulary, L, past, dtype }) {
  const weights = 12 * layers * E * E + vocabulary * E;
  if (L > 1) return { operations: 2 * L * weights + 2 * layers * E * L * (L + 1) };
  return { bytes: weights * bytesOfWeight[dtype] + 8 * layers * E * past };
}

function casesOf(name, sizes, prompt, past) {
  const of = (words, rest) => {
    const one = {
      kind: "language",
      name: `${name}, ${words}`,
      ...sizes,
      ...{ isLanguage: true, answer: `${name}, ${rest.L} after ${rest.past}`, tokens: rest.L },
      ...rest,
    };
    return { ...one, bound: boundOf(one) };
  };
  return [
    of(`prompt of ${prompt}`, { L: prompt, past: 0, ...typed(formats, "float32") }),
    of(`a token after ${past}`, { L: 1, past, ...typed(formats, "float32") }),
    ...["int8", "int4"].map((dtype) =>
      of(`a token after ${past}, ${dtype}`, { L: 1, past, ...typed(formats, dtype) }),
    ),
  ];
}

const small = { layers: 12, E: 768, H: 12, vocabulary: 50257, context: 1024 };
const tiny = { layers: 2, E: 48, H: 3, vocabulary: 211, context: 64 };

export const languageCases = casesOf("GPT-2 small", small, 128, 512);
export const quickLanguageCases = casesOf("GPT-2 of 2 layers", tiny, 12, 40);
