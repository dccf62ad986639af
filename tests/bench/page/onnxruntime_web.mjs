// onnxruntime-web's WebAssembly provider. It copies inputs in and outputs out on every run and offers
// no other way.

import { operatorsFor } from "./onnxruntime.mjs";

const folder = "/onnxruntime-web/";
const options = { executionProviders: ["wasm"], graphOptimizationLevel: "all" };

/** An instance of its own for each operator: modules are told apart by their whole address. */
async function load(operator, threads) {
  const ort = await import(`${folder}ort.wasm.min.mjs?${encodeURIComponent(operator)}`);
  ort.env.wasm.wasmPaths = folder;
  ort.env.wasm.numThreads = threads;
  ort.env.logLevel = "fatal"; // a failure is told once, in the table
  return ort;
}

export const onnxRuntimeWeb = (threads, one, inputs) =>
  operatorsFor("onnxruntime-web", (operator) => load(operator, threads), options, one, inputs);
