// GPT-2 (Radford et al., 2019) in double precision. Layers have norms before their two parts and
// the tanh form of GELU (Hendrycks and Gimpel, 2016); the table of the tokens is the head.

import { layerNorm, plus } from "./oracle_layers.mjs";

const eps = 1e-5;

const gelu = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

const norm = (...given) => layerNorm(...given, eps);

/** x W + b for each row of x, with a weight [in, out]. */
const linear = (x, weight, bias) =>
  x.map((row) => {
    const sums = Float64Array.from(bias);
    row.forEach((value, i) => {
      const start = i * sums.length;
      for (let j = 0; j < sums.length; ++j) sums[j] += value * weight[start + j];
    });
    return sums;
  });

/** Causal attention of the rows [q k v], after a past [2, H, past, D], as a list of rows. */
function attend(rows, pastOf, { E, H, past }) {
  const D = E / H;
  const at = (part, head, key, i) =>
    key < past
      ? pastOf[((part * H + head) * past + key) * D + i]
      : rows[key - past][(part + 1) * E + head * D + i];
  return rows.map((row, query) => {
    const keys = Array.from({ length: past + query + 1 }, (_, key) => key);
    const output = new Float64Array(E);
    for (let head = 0; head < H; ++head) {
      const scores = keys.map((key) => {
        let sum = 0;
        for (let i = 0; i < D; ++i) sum += row[head * D + i] * at(0, head, key, i);
        return sum / Math.sqrt(D);
      });
      const highest = scores.reduce((a, b) => Math.max(a, b));
      const weights = scores.map((score) => Math.exp(score - highest));
      const total = weights.reduce((a, b) => a + b);
      for (const key of keys)
        for (let i = 0; i < D; ++i)
          output[head * D + i] += (weights[key] / total) * at(1, head, key, i);
    }
    return output;
  });
}

/** The logits of the first and the last token: [index of the first number, the row]. */
export function languageLogits(one, inputs) {
  const { layers, E, vocabulary, L, past } = one;
  const of = (name) => [inputs[`${name}.weight`], inputs[`${name}.bias`]];
  const [table] = of("wte");
  const [positions] = of("wpe");
  let x = Array.from(inputs.tokens, (token, row) =>
    Float64Array.from(
      { length: E },
      (_, i) => table[token * E + i] + positions[(past + row) * E + i],
    ),
  );
  const pastSize = 2 * past * E;
  for (let i = 0; i < layers; ++i) {
    const own = inputs.past.subarray(i * pastSize, (i + 1) * pastSize);
    const rows = linear(norm(x, ...of(`h.${i}.ln_1`)), ...of(`h.${i}.attn.c_attn`));
    x = plus(x, linear(attend(rows, own, one), ...of(`h.${i}.attn.c_proj`)));
    const hidden = linear(norm(x, ...of(`h.${i}.ln_2`)), ...of(`h.${i}.mlp.c_fc`));
    const active = hidden.map((row) => row.map(gelu));
    x = plus(x, linear(active, ...of(`h.${i}.mlp.c_proj`)));
  }
  const last = norm(x, ...of("ln_f"));
  return [...new Set([0, L - 1])].map((row) => {
    const logits = Float64Array.from({ length: vocabulary }, (_, token) => {
      let sum = 0;
      for (let i = 0; i < E; ++i) sum += last[row][i] * table[token * E + i];
      return sum;
    });
    return [row * vocabulary, logits];
  });
}
