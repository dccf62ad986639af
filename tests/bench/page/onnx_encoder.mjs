// The encoder of encoder_cases.mjs as an ONNX model, with one operator for attention.

import { encoderWeights } from "./encoder_cases.mjs";
import { contrib, int64, TypedNodes } from "./onnx_nodes.mjs";

/** @param {boolean} isContrib whether attention is the operator MultiHeadAttention */
export const encoder = (isContrib) => (one, inputs) => {
  const { layers, E, H, F, B, L, dtype } = one;
  const nodes = new TypedNodes(dtype, inputs);
  const norm = (x, name) =>
    nodes.add("LayerNormalization", [
      ...[x, nodes.vector(`${name}.weight`), nodes.vector(`${name}.bias`)],
    ]);
  const shapes = encoderWeights(one);
  const table = (name) => nodes.constant(name, shapes[`${name}.weight`], inputs[`${name}.weight`]);
  const lookUp = (name, ids) => nodes.add("Gather", [table(`embeddings.${name}_embeddings`), ids]);
  const embedded = nodes.add("Add", [
    nodes.add("Add", [lookUp("word", "tokens"), lookUp("token_type", "types")]),
    lookUp("position", "positions"),
  ]);
  const attend = (parts) =>
    isContrib
      ? nodes.add("MultiHeadAttention", parts, { domain: contrib, attributes: { num_heads: H } })
      : nodes.add("Attention", parts, { attributes: { q_num_heads: H, kv_num_heads: H } });
  let x = norm(embedded, "embeddings.LayerNorm");
  for (let i = 0; i < layers; ++i) {
    const at = (name) => `encoder.layer.${i}.${name}`;
    const parts = ["query", "key", "value"].map((name) =>
      nodes.product(x, at(`attention.self.${name}`), [E, E]),
    );
    const output = nodes.product(attend(parts), at("attention.output.dense"), [E, E]);
    x = norm(nodes.add("Add", [x, output]), at("attention.output.LayerNorm"));
    const hidden = nodes.add("Gelu", [nodes.product(x, at("intermediate.dense"), [F, E])]);
    const result = nodes.product(hidden, at("output.dense"), [E, F]);
    x = norm(nodes.add("Add", [x, result]), at("output.LayerNorm"));
  }
  const positions = Int32Array.from({ length: L }, (_, i) => i);
  return {
    nodes: nodes.list,
    inputs: [
      int64("tokens", inputs.tokens, [B, L]),
      int64("types", new Int32Array(B * L), [B, L]),
      int64("positions", positions, [1, L]),
    ],
    constants: nodes.constants,
    outputs: [x],
    read: (states) => states,
  };
};
