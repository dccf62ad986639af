// onnxruntime-web's WebAssembly provider. It copies inputs in and outputs out on every run and offers
// no other way.

import { operatorsFor } from "./onnxruntime.mjs";

const folder = "/onnxruntime-web/";
const options = { executionProviders: ["wasm"], graphOptimizationLevel: "all" };

/** A separate instance for each operator: addresses that differ in their query are separate modules. */
async function load(operator, threads) {
  const ort = await import(`${folder}ort.wasm.min.mjs?${encodeURIComponent(operator)}`);
  ort.env.wasm.wasmPaths = folder;
  ort.env.wasm.numThreads = threads;
  ort.env.logLevel = "fatal"; // a failure is reported once, in the table
  return ort;
}

export const onnxRuntimeWeb = (threads, one, inputs) =>
  operatorsFor("onnxruntime-web", (operator) => load(operator, threads), options, one, inputs);
