// BERT (Devlin et al., 2019) in double precision: norms after the two parts of a layer.

import { eps } from "./encoder_cases.mjs";
import { gelu } from "./gelu.mjs";
import { attendRows, layerNorm, plus, product } from "./oracle_layers.mjs";

/** The rows of a text's answer that are compared. */
const step = 8;

/** The states of a text of the batch. */
function statesOf({ layers, E, H, L }, inputs, text) {
  const of = (name) => [inputs[`${name}.weight`], inputs[`${name}.bias`]];
  const [words, positions, types] = ["word", "position", "token_type"].map(
    (name) => of(`embeddings.${name}_embeddings`)[0],
  );
  const tokens = [...inputs.tokens.subarray(text * L, (text + 1) * L)];
  const embedded = tokens.map((token, row) =>
    Float64Array.from(
      { length: E },
      (_, i) => words[token * E + i] + positions[row * E + i] + types[i],
    ),
  );
  let x = layerNorm(embedded, ...of("embeddings.LayerNorm"), eps);
  for (let i = 0; i < layers; ++i) {
    const at = (name) => of(`encoder.layer.${i}.${name}`);
    const parts = ["query", "key", "value"].map((name) =>
      product(x, ...at(`attention.self.${name}`)),
    );
    const attended = attendRows(parts, { H, G: H, D: E / H, isCausal: false });
    const output = product(attended, ...at("attention.output.dense"));
    x = layerNorm(plus(x, output), ...at("attention.output.LayerNorm"), eps);
    const hidden = product(x, ...at("intermediate.dense")).map((row) => row.map(gelu));
    const result = product(hidden, ...at("output.dense"));
    x = layerNorm(plus(x, result), ...at("output.LayerNorm"), eps);
  }
  return x;
}

/** The states of some tokens of the first and the last text: [index of the first number, the row]. */
export function encoderStates(one, inputs) {
  const { B, L, E } = one;
  return [0, B - 1].flatMap((text) =>
    statesOf(one, inputs, text)
      .map((row, i) => [(text * L + i) * E, row])
      .filter((_, i) => i % step === 0 || i === L - 1),
  );
}
