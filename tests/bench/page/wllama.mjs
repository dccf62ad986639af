// llama.cpp, in wllama's build for WebAssembly. It runs in its own worker, so a call takes one
// message there and one back. Its memory belongs to that worker and is not counted.

import { centred, decoderWeights } from "./decoder_cases.mjs";
import { ggufOf } from "./gguf.mjs";

const folder = "/wllama/";

async function loadModel(threads, one, inputs) {
  const { Wllama } = await import(`${folder}index.js`);
  const binaries = ["single-thread/wllama.wasm", "multi-thread/wllama.wasm"];
  const addresses = binaries.map((path) => [path, new URL(folder + path, location.href).href]);
  const wllama = new Wllama(Object.fromEntries(addresses), { suppressNativeLog: true });
  // It reads the address of the document, and a worker has none.
  globalThis.document = { baseURI: location.href };
  try {
    await wllama.loadModel([new Blob(ggufOf(one, decoderWeights(one), inputs))], {
      ...{ n_threads: threads, n_ctx: one.context },
      // The default, float16, is slower in WebAssembly: ggml's attention over 4096 tokens took 67 ms
      // with it, and 7.1 with float32.
      ...{ cache_type_k: "f32", cache_type_v: "f32" },
    });
  } finally {
    delete globalThis.document;
  }
  return wllama;
}

/** It returns probabilities, of all tokens in their order. */
async function logitsOf(wllama, { vocabulary }) {
  const logits = new Float64Array(vocabulary);
  for (const { token, p } of await wllama.getLogits(vocabulary)) logits[token] = Math.log(p);
  return centred(logits);
}

async function prepare(threads, one, inputs) {
  const wllama = await loadModel(threads, one, inputs);
  const { past, L } = one;
  const tokens = [...inputs.tokens];
  await wllama.decode(tokens.slice(0, past), { skipLogits: true });
  const read = () => wllama.decode(tokens.slice(past), {});
  const rewind = () => (past > 0 ? wllama.kvRemove(past, L) : wllama.kvClear());
  return {
    async answer() {
      await read();
      const logits = await logitsOf(wllama, one);
      await rewind();
      return logits;
    },
    async run() {
      await read();
      await rewind();
    },
  };
}

export const wllama = (threads, one, inputs) =>
  one.kind === "decoder"
    ? [{ name: "wllama", prepare: () => prepare(threads, one, inputs), reason: String }]
    : [];
