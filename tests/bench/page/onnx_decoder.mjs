// The decoder of decoder_cases.mjs as an ONNX model, for a prompt and for later tokens. The keys
// and values of earlier tokens are inputs, the keys and values of all tokens are outputs. It
// computes the logits of the last token. The graph has the operators that exports for
// transformers.js have after onnxruntime's optimiser.

import { centred, sizesOf, theta } from "./decoder_cases.mjs";
import { contrib, int64, lengths, TypedNodes } from "./onnx_nodes.mjs";

/** The cosines and sines of the angles by which queries and keys rotate, [context, D / 2]. */
function addAngles(nodes, { context }, D) {
  const half = D / 2;
  for (const name of ["cos", "sin"]) {
    const data = Float32Array.from({ length: context * half }, (_, i) =>
      Math[name](Math.floor(i / half) / theta ** ((i % half) / half)),
    );
    nodes.constant(name, [context, half], data);
  }
}

/** Attention with rotation and cache. */
function attend(nodes, parts, i, { H, G }) {
  const caches = (time) => [`${time}.${i}.key`, `${time}.${i}.value`];
  return nodes.add(
    "GroupQueryAttention",
    [...parts, ...caches("past"), "seqlens", "total", "cos", "sin"],
    {
      ...{ domain: contrib, attributes: { num_heads: H, kv_num_heads: G, do_rotary: 1 } },
      outputs: [`attended.${i}`, ...caches("present")],
    },
  );
}

function addLayers(nodes, one) {
  const { layers, E, F } = one;
  const { keys } = sizesOf(one);
  const norm = (x, name) =>
    nodes.add("SimplifiedLayerNormalization", [x, nodes.vector(`model.${name}.weight`)]);
  let x = nodes.add("Gather", ["table", "tokens"]);
  for (let i = 0; i < layers; ++i) {
    const product = (input, name, shape) =>
      nodes.product(input, `model.layers.${i}.${name}`, shape);
    const normed = norm(x, `layers.${i}.input_layernorm`);
    const parts = [
      ["q", E],
      ["k", keys],
      ["v", keys],
    ].map(([name, size]) => product(normed, `self_attn.${name}_proj`, [size, E]));
    const attended = attend(nodes, parts, i, one);
    x = nodes.add("Add", [x, product(attended, "self_attn.o_proj", [E, E])]);
    const inner = norm(x, `layers.${i}.post_attention_layernorm`);
    const [gate, up] = ["gate", "up"].map((name) => product(inner, `mlp.${name}_proj`, [F, E]));
    const active = nodes.add("Mul", [gate, nodes.add("Sigmoid", [gate])]);
    const gated = nodes.add("Mul", [active, up]);
    x = nodes.add("Add", [x, product(gated, "mlp.down_proj", [E, F])]);
  }
  const last = nodes.add("Gather", [x, "last"], { attributes: { axis: 1 } });
  return norm(last, "norm");
}

export function decoder(one, inputs) {
  const { layers, E, G, vocabulary, past, L, dtype } = one;
  if (dtype === "float16") return undefined; // no operators for it on the CPU
  const { D } = sizesOf(one);
  const nodes = new TypedNodes(dtype, inputs);
  addAngles(nodes, one, D);
  nodes.constant("table", [vocabulary, E], inputs["model.embed_tokens.weight"]);
  nodes.constant("last", [1], BigInt64Array.of(-1n), "int64");
  const states = addLayers(nodes, one);
  const logits = nodes.product(states, "model.embed_tokens", [vocabulary, E]);
  const caches = Array.from({ length: layers }, (_, i) => [`past.${i}.key`, `past.${i}.value`]);
  const read = (from, to) => [
    int64("tokens", inputs.tokens.subarray(from, to), [1, to - from], [1, "length"]),
    ...lengths(to),
    ...caches.flat().map((name) => ({
      ...{ name, shape: [1, G, 0, D], dims: [1, G, "past", D] },
      data: new Float32Array(0),
    })),
  ];
  return {
    nodes: nodes.list,
    inputs: read(past, past + L),
    ...(past > 0 && { earlier: read(0, past) }),
    constants: nodes.constants,
    outputs: [logits, ...caches.flat().map((name) => name.replace("past", "present"))],
    read: centred,
  };
}
