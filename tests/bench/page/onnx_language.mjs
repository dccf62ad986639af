// GPT-2 as an ONNX model in the layout of common exports: the keys and values of earlier tokens are
// inputs, the keys and values of all tokens are outputs. Attention is composed of products and a
// softmax, or it is one operator.

import { weightShapes } from "./language_cases.mjs";
import { contrib, int64, lengths, Nodes } from "./onnx_nodes.mjs";

function composed(nodes, { q, k, v, past, present }) {
  const [query, key, value] = [q, k, v].map((x) => nodes.heads(x));
  const all = [key, value].map((x, i) =>
    nodes.add("Concat", [past[i], x], { outputs: [present[i]], attributes: { axis: 2 } }),
  );
  const turned = nodes.add("Transpose", [all[0]], { attributes: { perm: [0, 1, 3, 2] } });
  const scores = nodes.add("Mul", [nodes.add("MatMul", [query, turned]), "scale"]);
  const weights = nodes.add("Softmax", [nodes.add("Add", [scores, "mask"])]);
  const output = nodes.add("MatMul", [weights, all[1]]);
  const rows = nodes.add("Transpose", [output], { attributes: { perm: [0, 2, 1, 3] } });
  return nodes.add("Reshape", [rows, "joined"]);
}

const grouped = (nodes, { q, k, v, past, present }, one) =>
  nodes.add("GroupQueryAttention", [q, k, v, ...(one.past ? past : ["", ""]), "seqlens", "total"], {
    ...{ domain: contrib, attributes: { num_heads: one.H, kv_num_heads: one.H } },
    outputs: [nodes.list.length, ...present].map((name) => `${name}`),
  });

/** @param {boolean} isFused whether attention is the operator GroupQueryAttention */
export const language = (isFused) => (one, inputs) => {
  const { layers, E, H, L, past, dtype } = one;
  if (dtype !== "float32") return undefined;
  const nodes = new Nodes();
  const embedded = ["wte", "wpe"].map((name, i) =>
    nodes.add("Gather", [`${name}.weight`, ["tokens", "positions"][i]]),
  );
  let x = nodes.add("Add", embedded);
  const pasts = [];
  for (let i = 0; i < layers; ++i) {
    const names = [`past.${i}.key`, `past.${i}.value`];
    pasts.push(...names);
    const qkv = nodes.linear(nodes.norm(x, `h.${i}.ln_1`), `h.${i}.attn.c_attn`);
    const outputs = ["q", "k", "v"].map((name) => `${name}${i}`);
    nodes.add("Split", [qkv], { outputs, attributes: { axis: 2, num_outputs: 3 } });
    const [q, k, v] = outputs;
    const present = [`present.${i}.key`, `present.${i}.value`];
    const attended = (isFused ? grouped : composed)(nodes, { q, k, v, past: names, present }, one);
    x = nodes.add("Add", [x, nodes.linear(attended, `h.${i}.attn.c_proj`)]);
    const hidden = nodes.linear(nodes.norm(x, `h.${i}.ln_2`), `h.${i}.mlp.c_fc`);
    const active = nodes.add("FastGelu", [hidden], { domain: contrib });
    x = nodes.add("Add", [x, nodes.linear(active, `h.${i}.mlp.c_proj`)]);
  }
  // The session transposes the constant once.
  const head = nodes.add("Transpose", ["wte.weight"], { attributes: { perm: [1, 0] } });
  nodes.add("MatMul", [nodes.norm(x, "ln_f"), head], { outputs: ["logits"] });

  const size = past * E;
  const mask = Float32Array.from({ length: L * (past + L) }, (_, i) =>
    (i % (past + L)) - past <= Math.floor(i / (past + L)) ? 0 : -1e9,
  );
  return {
    nodes: nodes.list,
    inputs: [
      int64("tokens", inputs.tokens, [1, L]),
      int64(
        "positions",
        Int32Array.from({ length: L }, (_, i) => past + i),
        [1, L],
      ),
      ...(isFused ? lengths(past + L) : [{ name: "mask", shape: [L, past + L], data: mask }]),
      ...(isFused && past === 0 ? [] : pasts).map((name, i) => ({
        ...{ name, shape: [1, H, past, E / H] },
        data: inputs.past.subarray(i * size, (i + 1) * size),
      })),
    ],
    constants: [
      int64("by heads", [0, 0, H, E / H], [4]),
      int64("joined", [0, 0, E], [3]),
      { name: "scale", shape: [], data: Float32Array.of(1 / Math.sqrt(E / H)) },
      ...Object.entries(weightShapes(one)).map(([name, shape]) => ({
        ...{ name, shape, data: inputs[name], isExternal: true },
      })),
    ],
    outputs: ["logits", ...pasts.map((name) => name.replace("past", "present"))],
    read: (logits) => logits,
  };
};
