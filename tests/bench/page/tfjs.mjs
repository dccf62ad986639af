// TensorFlow.js on its WebAssembly backend: products, softmax and the rest one after the other, with
// everything in the backend's memory. Its operations are complete when they return.

import { adamW, parameterShapes, trainingSteps, transpose } from "./cases.mjs";
import { countMemory } from "./memory.mjs";

/**
 * Attention of one head on 2-D tensors: the backend has a fast product only for these, with factors that
 * are not transposed. `kT` is [D, S].
 */
const attend = (tf, q, kT, v, mask, product = tf.matMul) =>
  tf.tidy(() => {
    const scores = product(tf.mul(q, 1 / Math.sqrt(q.shape[1])), kT);
    return product(tf.softmax(mask ? tf.add(scores, mask) : scores), v);
  });

const gelu = (tf, x) => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1));

/**
 * A product with a custom gradient, because the default gradient uses products of transposed
 * factors.
 */
const productOf = (tf) =>
  tf.customGrad((a, b, save) => {
    save([a, b]);
    const gradFunc = (d, [x, y]) => [tf.matMul(d, tf.transpose(y)), tf.matMul(tf.transpose(x), d)];
    return { value: tf.matMul(a, b), gradFunc };
  });

/** Heads [heads, rows, size] as a list of 2-D tensors. */
const headsOf = (tf, data, heads, rows, size) => tf.unstack(tf.tensor3d(data, [heads, rows, size]));

/** For scores [L, L]: 0, and -Infinity where a key comes after its query. */
function causalMask(tf, L) {
  const hidden = (_, i) => (i % L > Math.floor(i / L) ? Number.NEGATIVE_INFINITY : 0);
  return tf.tensor2d(Float32Array.from({ length: L * L }, hidden), [L, L]);
}

/** The transformer of a training step; weights are [inputs, outputs]. */
function lossOf(tf, { layers, H, E, B, L, vocabulary, activation }, p, tokens, targets) {
  const product = productOf(tf);
  const linear = (x, weight, bias) => tf.add(product(x, weight), bias);
  const ofLayer = (operation, x, name) => operation(x, p[`${name}.weight`], p[`${name}.bias`]);
  const norm = (x, weight, bias) => {
    const { mean, variance } = tf.moments(x, -1, true);
    const normal = tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, 1e-5)));
    return tf.add(tf.mul(normal, weight), bias);
  };
  const oneHot = (ids) => tf.cast(tf.oneHot(ids, vocabulary), "float32");
  // Of all sequences, [L, E / H] each.
  const heads = (x) => {
    const all = tf.transpose(tf.reshape(x, [B, L, H, E / H]), [0, 2, 1, 3]);
    return tf.unstack(tf.reshape(all, [B * H, L, E / H]));
  };
  // The backend has no kernel for the gradient of a gather.
  let x = product(oneHot(tokens), p["embedding.weight"]);
  for (let i = 0; i < layers; ++i) {
    const name = `encoder.layers.${i}`;
    const own = `${name}.self_attn`;
    const qkv = linear(x, p[`${own}.in_proj_weight`], p[`${own}.in_proj_bias`]);
    const [q, k, v] = tf.split(qkv, 3, 1).map(heads);
    const each = q.map((head, h) => attend(tf, head, tf.transpose(k[h]), v[h], undefined, product));
    const attended = tf.transpose(tf.reshape(tf.stack(each), [B, H, L, E / H]), [0, 2, 1, 3]);
    const output = ofLayer(linear, tf.reshape(attended, [B * L, E]), `${own}.out_proj`);
    x = ofLayer(norm, tf.add(x, output), `${name}.norm1`);
    const sums = ofLayer(linear, x, `${name}.linear1`);
    const hidden = activation === "gelu" ? gelu(tf, sums) : tf.relu(sums);
    x = ofLayer(norm, tf.add(x, ofLayer(linear, hidden, `${name}.linear2`)), `${name}.norm2`);
  }
  return tf.losses.softmaxCrossEntropy(oneHot(targets), ofLayer(linear, x, "head"));
}

/** For each kind, a function that computes a case, or a prepared contender. */
const kinds = {
  attention(tf, { H, L, D, isCausal, window }, inputs) {
    if (window)
      throw new Error("it has no window, and a mask for one would be as large as the scores");
    const [q, k, v] = [inputs.q, inputs.k, inputs.v].map((x) => headsOf(tf, x, H, L, D));
    const mask = isCausal && causalMask(tf, L);
    return () => tf.stack(q.map((head, h) => attend(tf, head, tf.transpose(k[h]), v[h], mask)));
  },
  /** The cache of a step is the previous one with the new token. A batch makes one row no slower. */
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
      return gelu(tf, sums);
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
  attentionGradients(tf, { H, L, D, isCausal }, inputs) {
    const [q, k, v, dOutput] = [inputs.q, inputs.k, inputs.v, inputs.dOutput].map((x) =>
      headsOf(tf, x, H, L, D),
    );
    const mask = isCausal && causalMask(tf, L);
    const gradients = tf.grads((a, b, c) => attend(tf, a, tf.transpose(b), c, mask, productOf(tf)));
    return () => {
      const all = q.map((head, h) => gradients([head, k[h], v[h]], dOutput[h]));
      return tf.stack([0, 1, 2].flatMap((part) => all.map((ofHead) => ofHead[part])));
    };
  },
  trainingStep(tf, one, inputs) {
    const entries = Object.entries(parameterShapes(one)).map(([name, shape]) => {
      const isLinear = shape.length === 2 && name !== "embedding.weight";
      const data = isLinear ? transpose(inputs[name], ...shape) : inputs[name];
      return [name, tf.variable(tf.tensor(data, isLinear ? shape.toReversed() : shape))];
    });
    const parameters = Object.fromEntries(entries);
    const tokens = tf.tensor1d(inputs.tokens, "int32");
    const targets = tf.tensor1d(inputs.targets, "int32");
    const { learningRate, betas, eps, weightDecay } = adamW;
    const adam = tf.train.adam(learningRate, ...betas, eps);
    const step = () =>
      tf.tidy(() => {
        const { value, grads } = tf.variableGrads(() =>
          lossOf(tf, one, parameters, tokens, targets),
        );
        for (const [, parameter] of entries)
          parameter.assign(tf.mul(parameter, 1 - learningRate * weightDecay));
        adam.applyGradients(grads);
        return value.dataSync()[0];
      });
    return {
      answer: () => Float32Array.from({ length: trainingSteps }, step),
      run: () => void step(),
    };
  },
};

async function load(threads, isTraining) {
  // Its scripts register themselves in the global object, under one name.
  await import("/tfjs-core/tf-core.min.js");
  await import("/tfjs-backend-wasm/tf-backend-wasm.min.js");
  if (isTraining) await import("/gradients/gradients.js");
  const { tf } = globalThis;
  tf.wasm.setWasmPaths("/tfjs-backend-wasm/");
  tf.wasm.setThreadsCount(threads);
  // In Firefox its threads do not start in a worker, and it waits for them for ever.
  const hasThreads = !navigator.userAgent.includes("Firefox");
  if (threads > 1 && !hasThreads) throw new Error("its threads never start in Firefox");
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", hasThreads);
  await tf.setBackend("wasm");
  // The binary without threads creates its own memory.
  if (!hasThreads) countMemory(() => tf.backend().wasm.HEAPU8.buffer);
  return tf;
}

export function tfjs(threads, one, inputs) {
  if (!kinds[one.kind]) return [];
  return [
    {
      name: "tfjs",
      reason: (error) => error.message.split("\n")[0],
      async prepare() {
        const tf = await load(threads, one.isTraining);
        const compute = kinds[one.kind](tf, one, inputs);
        if (typeof compute !== "function") return compute;
        return {
          answer: () => tf.tidy(() => compute().dataSync()),
          run: () => tf.tidy(() => void compute()),
        };
      },
    },
  ];
}
