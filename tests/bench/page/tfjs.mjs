// TensorFlow.js on its WebAssembly backend: products, softmax and the rest one after the other, with
// everything in the backend's memory. Its operations have come to their end when they return.

import { transpose } from "./cases.mjs";
import { countMemory } from "./memory.mjs";

/**
 * Attention of one head on 2-D tensors: the backend's fast product is for those, and for factors that are
 * not transposed. `kT` is [D, S].
 */
const attend = (tf, q, kT, v, mask) =>
  tf.tidy(() => {
    const scores = tf.matMul(tf.mul(q, 1 / Math.sqrt(q.shape[1])), kT);
    return tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), v);
  });

/** Heads [heads, rows, size] as a list of 2-D tensors. */
const headsOf = (tf, data, heads, rows, size) => tf.unstack(tf.tensor3d(data, [heads, rows, size]));

/** By kind: a function that computes. */
const kinds = {
  attention(tf, { H, L, D, isCausal, window }, inputs) {
    if (window)
      throw new Error("it has no window, and a mask for one would be as large as the scores");
    const [q, k, v] = [inputs.q, inputs.k, inputs.v].map((x) => headsOf(tf, x, H, L, D));
    const hidden = (_, i) => (i % L > Math.floor(i / L) ? Number.NEGATIVE_INFINITY : 0);
    const mask = isCausal && tf.tensor2d(Float32Array.from({ length: L * L }, hidden), [L, L]);
    return () => tf.stack(q.map((head, h) => attend(tf, head, tf.transpose(k[h]), v[h], mask)));
  },
  /** A step's cache is the one before and the new token. One row is as fast in a batch. */
  decode(tf, { H, G, D, cached }, { q, k, v }) {
    const queries = tf.tensor3d(q, [G, H / G, D]);
    const [keys, values] = [k, v].map((x) =>
      tf.split(tf.tensor3d(x, [G, cached + 1, D]), [cached, 1], 1),
    );
    return () => {
      const scaled = tf.mul(queries, 1 / Math.sqrt(D));
      const scores = tf.matMul(scaled, tf.concat(keys, 1), false, true);
      return tf.matMul(tf.softmax(scores), tf.concat(values, 1));
    };
  },
  linear(tf, { L, inputs, outputs, activation }, { x, weight, bias }) {
    const a = tf.tensor2d(x, [L, inputs]);
    const b = tf.tensor2d(transpose(weight, outputs, inputs), [inputs, outputs]);
    const layer = { a, b, bias: tf.tensor1d(bias) };
    if (!activation) return () => tf.fused.matMul(layer);
    return () => {
      const sums = tf.fused.matMul(layer);
      return tf.mul(tf.mul(sums, 0.5), tf.add(tf.erf(tf.mul(sums, Math.SQRT1_2)), 1));
    };
  },
  multiHead(tf, { L, E, H }, inputs) {
    const x = tf.tensor2d(inputs.x, [L, E]);
    const weights = (data) => tf.tensor2d(transpose(data, E, E), [E, E]);
    const part = (data, size, i) => data.subarray(i * size, (i + 1) * size);
    const projections = [0, 1, 2].map((i) => ({
      ...{ a: x, b: weights(part(inputs.inProjWeight, E * E, i)) },
      bias: tf.tensor1d(part(inputs.inProjBias, E, i)),
    }));
    const out = { b: weights(inputs.outProjWeight), bias: tf.tensor1d(inputs.outProjBias) };
    return () => {
      const [q, k, v] = projections.map((layer) => tf.split(tf.fused.matMul(layer), H, 1));
      const heads = q.map((head, h) => attend(tf, head, tf.transpose(k[h]), v[h]));
      return tf.fused.matMul({ a: tf.concat(heads, 1), ...out });
    };
  },
};

async function load(threads) {
  // They put themselves into the global object, under one name.
  await import("/tfjs-core/tf-core.min.js");
  await import("/tfjs-backend-wasm/tf-backend-wasm.min.js");
  const { tf } = globalThis;
  tf.wasm.setWasmPaths("/tfjs-backend-wasm/");
  tf.wasm.setThreadsCount(threads);
  // In Firefox its threads do not come up in a worker, and it waits for them for ever.
  const hasThreads = !navigator.userAgent.includes("Firefox");
  if (threads > 1 && !hasThreads) throw new Error("its threads never start in Firefox");
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", hasThreads);
  await tf.setBackend("wasm");
  // The binary without threads makes its memory itself.
  if (!hasThreads) countMemory(() => tf.backend().wasm.HEAPU8.buffer);
  return tf;
}

export function tfjs(threads, one, inputs) {
  return [
    {
      name: "tfjs",
      reason: (error) => error.message.split("\n")[0],
      async prepare() {
        const tf = await load(threads);
        const compute = kinds[one.kind](tf, one, inputs);
        return {
          answer: () => tf.tidy(() => compute().dataSync()),
          run: () => tf.tidy(() => void compute()),
        };
      },
    },
  ];
}
