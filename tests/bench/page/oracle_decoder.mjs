// Llama (Touvron et al., 2023) in double precision. RMS norms (Zhang and Sennrich, 2019) come before
// the two parts of a layer. Queries and keys are rotated (Su et al., "RoFormer", 2021), and groups
// of heads share keys (Ainslie et al., "GQA", 2023). The feed-forward network has a gate (Shazeer,
// "GLU Variants Improve Transformer", 2020). The table of the tokens is the head.

import { centred, eps, sizesOf, theta } from "./decoder_cases.mjs";
import { attendRows, plus, product } from "./oracle_layers.mjs";

const norm = (x, weight) =>
  x.map((row) => {
    const square = row.reduce((sum, value) => sum + value ** 2, 0) / row.length;
    return row.map((value, i) => (value / Math.sqrt(square + eps)) * weight[i]);
  });

/** Rotates the pairs (i, i + D/2) of each head in place; the rows have the positions 0, 1, ... */
function rotate(x, D) {
  const half = D / 2;
  x.forEach((row, position) => {
    for (let head = 0; head < row.length; head += D)
      for (let i = 0; i < half; ++i) {
        const angle = position / theta ** (i / half);
        const [a, b] = [row[head + i], row[head + half + i]];
        row[head + i] = a * Math.cos(angle) - b * Math.sin(angle);
        row[head + half + i] = b * Math.cos(angle) + a * Math.sin(angle);
      }
  });
  return x;
}

const silu = (x) => x / (1 + Math.exp(-x));

/** The centred logits of the last token. */
export function decoderLogits(one, inputs) {
  const { layers, E, H, G } = one;
  const { D } = sizesOf(one);
  const of = (name) => inputs[`model.${name}.weight`];
  const table = of("embed_tokens");
  let x = Array.from(inputs.tokens, (token) =>
    Float64Array.from(table.subarray(token * E, (token + 1) * E)),
  );
  for (let i = 0; i < layers; ++i) {
    const at = (name) => of(`layers.${i}.${name}`);
    const normed = norm(x, at("input_layernorm"));
    const [q, k, v] = ["q", "k", "v"].map((name) => product(normed, at(`self_attn.${name}_proj`)));
    const attended = attendRows([rotate(q, D), rotate(k, D), v], { H, G, D, isCausal: true });
    x = plus(x, product(attended, at("self_attn.o_proj")));
    const inner = norm(x, at("post_attention_layernorm"));
    const [gate, up] = ["gate", "up"].map((name) => product(inner, at(`mlp.${name}_proj`)));
    const gated = gate.map((row, r) => row.map((value, j) => silu(value) * up[r][j]));
    x = plus(x, product(gated, at("mlp.down_proj")));
  }
  const [logits] = product(norm(x.slice(-1), of("norm")), table);
  return [[0, centred(logits)]];
}
