// onnxruntime-web's WebAssembly provider: models of one node each.

import * as ort from "/onnxruntime-web/ort.wasm.min.mjs";
import { modelOf } from "./onnx.mjs";

/** [H, L, D] -> [L, H, D], or back with the sizes exchanged. */
function exchange(data, H, L, D) {
  const result = new Float32Array(data.length);
  for (let h = 0; h < H; ++h)
    for (let l = 0; l < L; ++l)
      result.set(data.subarray((h * L + l) * D, (h * L + l + 1) * D), (l * H + h) * D);
  return result;
}

const operators = [
  {
    name: "Attention",
    shape: ({ H, L, D }) => [1, H, L, D],
    node: ({ isCausal }) => ({
      type: "Attention",
      domain: "",
      version: 23,
      attributes: { is_causal: Number(isCausal) },
    }),
    fromHeads: (data) => data,
    toHeads: (data) => data,
  },
  {
    name: "MultiHeadAttention",
    shape: ({ H, L, D }) => [1, L, H * D],
    node: ({ H, isCausal }) => ({
      type: "MultiHeadAttention",
      domain: "com.microsoft",
      version: 1,
      attributes: { num_heads: H, unidirectional: Number(isCausal) },
    }),
    fromHeads: (data, { H, L, D }) => exchange(data, H, L, D),
    toHeads: (data, { H, L, D }) => exchange(data, L, H, D),
  },
];

/** What the runtime says behind the name of the C++ function that failed. */
const reason = (error) => error.message.trim().replace(/^.*\(\) /s, "");

async function prepare(operator, one, inputs) {
  const shape = operator.shape(one);
  const named = ["q", "k", "v"].map((name) => ({ name, shape }));
  const model = modelOf(operator.node(one), named, { name: "o", shape });
  const session = await ort.InferenceSession.create(model, { executionProviders: ["wasm"] });
  const feeds = {};
  for (const { name } of named)
    feeds[name] = new ort.Tensor("float32", operator.fromHeads(inputs[name], one), shape);
  return {
    name: operator.name,
    answer: async () => operator.toHeads((await session.run(feeds)).o.data, one),
    run: () => session.run(feeds),
    end: () => session.release(),
  };
}

export async function startOnnxRuntime(threads) {
  ort.env.wasm.wasmPaths = "/onnxruntime-web/";
  ort.env.wasm.numThreads = threads;
  ort.env.logLevel = "fatal"; // a failure is told once, in the table
  return operators.map((operator) => ({
    name: operator.name,
    prepare: (one, inputs) => prepare(operator, one, inputs),
    reason,
  }));
}
