// The cases as ONNX models, for onnxruntime-web and onnxruntime-node.
//
// Arrays that vary from call to call are inputs; weights are constants. Each operator returns, for
// a case, the graph, its inputs' data, and a function that reads the answer from its first output.
// It returns nothing for a case that it cannot compute.

import { exchange, rowsOf, transpose } from "./cases.mjs";
import { decoder } from "./onnx_decoder.mjs";
import { encoder } from "./onnx_encoder.mjs";
import { language } from "./onnx_language.mjs";
import { contrib, lengths, rowsInBytes } from "./onnx_nodes.mjs";

const same = (data) => data;

/** @typedef {{ nodes: object[], inputs: object[], constants?: object[], outputs: string[], read: (data: Float32Array) => Float32Array }} Graph */

/** Inputs [1, H, L, D] or, tokens first, [1, L, H*D]. */
const byHeads = (name, data, H, L, D) => ({ name, shape: [1, H, L, D], data });
const byTokens = (name, data, H, L, D) => ({
  ...{ name, shape: [1, L, H * D], data: exchange(data, H, L, D) },
});

/** Attention of opset 23. For a decode step the caller keeps the cache and passes all of it. */
const attention = {
  encoder: encoder(false),
  attention({ H, L, D, isCausal, window }, { q, k, v }) {
    if (window) return undefined;
    const inputs = Object.entries({ q, k, v }).map(([name, x]) => byHeads(name, x, H, L, D));
    const attributes = { is_causal: Number(isCausal) };
    const node = { type: "Attention", inputs: ["q", "k", "v"], outputs: ["o"], attributes };
    return { nodes: [node], inputs, outputs: ["o"], read: same };
  },
  decode({ H, G, D, cached }, { q, k, v }) {
    const inputs = [
      byHeads("q", q, H, 1, D),
      byHeads("k", k, G, cached + 1, D),
      byHeads("v", v, G, cached + 1, D),
    ];
    const node = { type: "Attention", inputs: ["q", "k", "v"], outputs: ["o"] };
    return { nodes: [node], inputs, outputs: ["o"], read: same };
  },
};

/** The projections around an operator for attention; weights [E, outputs]. */
function projections(E, { inProjWeight, outProjWeight, outProjBias }) {
  return {
    wide: { name: "w", shape: [E, 3 * E], data: transpose(inProjWeight, 3 * E, E) },
    parts: ["wq", "wk", "wv"].map((name, part) => {
      const weight = inProjWeight.subarray(part * E * E, (part + 1) * E * E);
      return { name, shape: [E, E], data: transpose(weight, E, E) };
    }),
    out: [
      { name: "wo", shape: [E, E], data: transpose(outProjWeight, E, E) },
      { name: "bo", shape: [E], data: outProjBias },
    ],
    outNodes: [
      { type: "MatMul", inputs: ["a", "wo"], outputs: ["p"] },
      { type: "Add", inputs: ["p", "bo"], outputs: ["o"] },
    ],
  };
}

const multiHeadAttention = {
  encoder: encoder(true),
  attention({ H, L, D, isCausal, window }, { q, k, v }) {
    if (window) return undefined;
    const inputs = Object.entries({ q, k, v }).map(([name, x]) => byTokens(name, x, H, L, D));
    const node = {
      ...{ type: "MultiHeadAttention", domain: contrib },
      ...{ inputs: ["q", "k", "v"], outputs: ["o"] },
      attributes: { num_heads: H, unidirectional: Number(isCausal) },
    };
    return { nodes: [node], inputs, outputs: ["o"], read: (data) => exchange(data, L, H, D) };
  },
  multiHead({ L, E, H }, inputs) {
    const { parts, out, outNodes } = projections(E, inputs);
    const node = {
      ...{ type: "MultiHeadAttention", domain: contrib },
      ...{ inputs: ["q", "k", "v", "b"], outputs: ["a"], attributes: { num_heads: H } },
    };
    const matMuls = ["q", "k", "v"].map((name) => ({
      ...{ type: "MatMul", inputs: ["x", `w${name}`], outputs: [name] },
    }));
    return {
      nodes: [...matMuls, node, ...outNodes],
      inputs: [{ name: "x", shape: [1, L, E], data: inputs.x }],
      constants: [...parts, { name: "b", shape: [3 * E], data: inputs.inProjBias }, ...out],
      ...{ outputs: ["o"], read: same },
    };
  },
};

/** The older operator, which includes the projections. */
const contribAttention = {
  multiHead({ L, E, H }, inputs) {
    const { wide, out, outNodes } = projections(E, inputs);
    const node = {
      ...{ type: "Attention", domain: contrib },
      ...{ inputs: ["x", "w", "b"], outputs: ["a"], attributes: { num_heads: H } },
    };
    return {
      nodes: [node, ...outNodes],
      inputs: [{ name: "x", shape: [1, L, E], data: inputs.x }],
      constants: [wide, { name: "b", shape: [3 * E], data: inputs.inProjBias }, ...out],
      ...{ outputs: ["o"], read: same },
    };
  },
};

const grouped = (attributes) => ({
  ...{ type: "GroupQueryAttention", domain: contrib, attributes },
  inputs: ["q", "k", "v", "past_k", "past_v", "seqlens", "total"],
  outputs: ["o", "present_k", "present_v"],
});

/** Always causal. The past is an input and the present an output, as the next step needs them. */
const groupQueryAttention = {
  language: language(true),
  decoder,
  attention({ H, L, D, isCausal, window }, { q, k, v }) {
    if (!isCausal) return undefined;
    const attributes = {
      ...{ num_heads: H, kv_num_heads: H },
      ...(window && { local_window_size: window[0] + 1 }),
    };
    const inputs = Object.entries({ q, k, v }).map(([name, x]) => byTokens(name, x, H, L, D));
    const node = grouped(attributes);
    node.inputs = node.inputs.map((name) => (name.startsWith("past") ? "" : name));
    return {
      ...{ nodes: [node], inputs: [...inputs, ...lengths(L)], outputs: node.outputs },
      read: (data) => exchange(data, L, H, D),
    };
  },
  decode({ H, G, D, cached }, { q, k, v }) {
    const node = grouped({ num_heads: H, kv_num_heads: G });
    const part = (x, from, to) => rowsOf(x, G, cached + 1, D, from, to);
    const inputs = [
      byTokens("q", q, H, 1, D),
      byTokens("k", part(k, cached, cached + 1), G, 1, D),
      byTokens("v", part(v, cached, cached + 1), G, 1, D),
      byHeads("past_k", part(k, 0, cached), G, cached, D),
      byHeads("past_v", part(v, 0, cached), G, cached, D),
      ...lengths(cached + 1),
    ];
    return { nodes: [node], inputs, outputs: node.outputs, read: same };
  },
};

/** A layer around nodes that compute x W^T + b. */
function layer(one, x, nodes, constants) {
  const gelu = { type: "Gelu", inputs: ["s"], outputs: ["o"] };
  return {
    nodes: one.activation ? [...nodes("s"), gelu] : nodes("o"),
    inputs: [{ name: "x", shape: [one.L, one.inputs], data: x }],
    ...{ constants, outputs: ["o"], read: same },
  };
}

const matMul = {
  language: language(false),
  linear(one, { x, weight, bias }) {
    const { inputs, outputs } = one;
    const nodes = (output) => [
      { type: "MatMul", inputs: ["x", "w"], outputs: ["p"] },
      { type: "Add", inputs: ["p", "b"], outputs: [output] },
    ];
    return layer(one, x, nodes, [
      { name: "w", shape: [inputs, outputs], data: transpose(weight, outputs, inputs) },
      { name: "b", shape: [outputs], data: bias },
    ]);
  },
};

/** Int8 weights with a scale for each output. The operator rounds x to 8 bits, with one scale. */
const dynamicQuantizeMatMul = {
  linear(one, { x, weight, bias }) {
    if (one.weights !== "int8") return undefined;
    const { inputs, outputs } = one;
    const { scales, whole } = rowsInBytes(weight, [outputs, inputs]);
    const nodes = (output) => [
      {
        ...{ type: "DynamicQuantizeMatMul", domain: contrib },
        ...{ inputs: ["x", "w", "scale", "", "b"], outputs: [output] },
      },
    ];
    const data = transpose(whole, outputs, inputs);
    return layer(one, x, nodes, [
      { name: "w", type: "int8", shape: [inputs, outputs], data },
      { name: "scale", shape: [outputs], data: scales },
      { name: "b", shape: [outputs], data: bias },
    ]);
  },
};

export const operators = {
  Attention: attention,
  MultiHeadAttention: multiHeadAttention,
  "Attention (com.microsoft)": contribAttention,
  GroupQueryAttention: groupQueryAttention,
  MatMul: matMul,
  DynamicQuantizeMatMul: dynamicQuantizeMatMul,
};
