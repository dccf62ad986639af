// jax-js on its wasm device, compiled with jit: without it takes twice the memory. It works in threads
// of its own, as many as the browser says there are cores, and a result is there when its data is.

import { exchange, rowsOf } from "./cases.mjs";

/** By kind: a function of arrays, and the arrays. A function takes its arguments away: `.ref` keeps them. */
const kinds = {
  attention({ nn }, { H, L, D, isCausal, window }, { q, k, v }) {
    const options = { isCausal, ...(window && { localWindowSize: window }) };
    return {
      compute: (...x) => nn.dotProductAttention(...x, options),
      arrays: [q, k, v].map((data) => [exchange(data, H, L, D), [1, L, H, D]]),
      read: (data) => exchange(data, L, H, D),
    };
  },
  /** A step's cache is the one before and the new token. */
  decode({ nn, numpy }, { H, G, D, cached }, { q, k, v }) {
    const part = (x, from, to) => [
      exchange(rowsOf(x, G, cached + 1, D, from, to), G, to - from, D),
      [1, to - from, G, D],
    ];
    return {
      compute(query, pastK, newK, pastV, newV) {
        const keys = numpy.concatenate([pastK, newK], 1);
        const values = numpy.concatenate([pastV, newV], 1);
        return nn.dotProductAttention(query, keys, values);
      },
      arrays: [
        [q, [1, 1, H, D]],
        ...[k, v].flatMap((x) => [part(x, 0, cached), part(x, cached, cached + 1)]),
      ],
    };
  },
  linear({ nn, numpy }, { L, inputs, outputs, activation }, { x, weight, bias }) {
    return {
      compute(a, w, b) {
        const sums = numpy.matmul(a, w.transpose()).add(b);
        return activation ? nn.gelu(sums, { approximate: false }) : sums;
      },
      arrays: [
        [x, [L, inputs]],
        [weight, [outputs, inputs]],
        [bias, [outputs]],
      ],
    };
  },
  multiHead({ nn, numpy }, { L, E, H }, inputs) {
    const part = (data, size, i) => data.slice(i * size, (i + 1) * size);
    const layer = (a, w, b) => numpy.matmul(a, w.transpose()).add(b);
    const three = [0, 1, 2];
    return {
      compute(x, wq, wk, wv, bq, bk, bv, wo, bo) {
        const [q, k, v] = [layer(x.ref, wq, bq), layer(x.ref, wk, bk), layer(x, wv, bv)].map(
          (projected) => projected.reshape([1, L, H, E / H]),
        );
        return layer(nn.dotProductAttention(q, k, v).reshape([L, E]), wo, bo);
      },
      arrays: [
        [inputs.x, [L, E]],
        ...three.map((i) => [part(inputs.inProjWeight, E * E, i), [E, E]]),
        ...three.map((i) => [part(inputs.inProjBias, E, i), [E]]),
        [inputs.outProjWeight, [E, E]],
        [inputs.outProjBias, [E]],
      ],
    };
  },
};

export function jax(threads, one, inputs) {
  return [
    {
      name: "jax-js",
      reason: (error) => error.message.split("\n")[0],
      async prepare() {
        Object.defineProperty(navigator, "hardwareConcurrency", { value: threads });
        const library = await import("/jax/index.js");
        await library.init("wasm");
        library.defaultDevice("wasm");
        const { compute, arrays, read = (data) => data } = kinds[one.kind](library, one, inputs);

        const compiled = library.jit(compute);
        const used = arrays.map(([data, shape]) => library.numpy.array(data).reshape(shape));
        const run = () => compiled(...used.map((array) => array.ref)).data();
        return { answer: async () => read(await run()), run };
      },
    },
  ];
}
