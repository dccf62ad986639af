// GPT-2 (Radford et al., 2019) in double precision. Layers have norms before their two parts and
// the tanh form of GELU (Hendrycks and Gimpel, 2016); the table of the tokens is the head.

import { attendRows, layerNorm, plus, product } from "./oracle_layers.mjs";

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
  const earlier = (part) =>
    Array.from({ length: past }, (_, key) =>
      Float64Array.from(
        { length: E },
        (_, i) => pastOf[((part * H + Math.floor(i / D)) * past + key) * D + (i % D)],
      ),
    );
  const [q, k, v] = [0, 1, 2].map((part) =>
    rows.map((row) => row.subarray(part * E, (part + 1) * E)),
  );
  const all = [q, [...earlier(0), ...k], [...earlier(1), ...v]];
  return attendRows(all, { H, G: H, D, isCausal: true });
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
  const shown = [...new Set([0, L - 1])];
  const logits = product(
    shown.map((row) => last[row]),
    table,
  );
  return shown.map((row, i) => [row * vocabulary, logits[i]]);
}
