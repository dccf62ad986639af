// jax-js on its wasm device, compiled with jit (without jit it takes twice the memory). It starts
// its own threads, one for each core that the browser reports. A result is complete when its data
// can be read.

import { adamW, exchange, parameterShapes, rowsOf, trainingSteps } from "./cases.mjs";

const layer = ({ numpy }, x, weight, bias) => numpy.matmul(x, weight.transpose()).add(bias);

/** The transformer of a training step. */
function lossOf(library, { layers, H, E, B, L, vocabulary, activation }, p, tokens, targets) {
  const { nn, numpy } = library;
  const linear = (x, weight, bias) => layer(library, x, weight, bias);
  const norm = (x, weight, bias) => nn.standardize(x, -1, { epsilon: 1e-5 }).mul(weight).add(bias);
  const ofLayer = (operation, x, name) => operation(x, p[`${name}.weight`], p[`${name}.bias`]);
  let x = numpy.matmul(nn.oneHot(tokens, vocabulary), p["embedding.weight"]);
  for (let i = 0; i < layers; ++i) {
    const name = `encoder.layers.${i}`;
    const own = `${name}.self_attn`;
    const qkv = linear(x.ref, p[`${own}.in_proj_weight`], p[`${own}.in_proj_bias`]);
    const [q, k, v] = numpy.split(qkv, 3, -1).map((part) => part.reshape([B, L, H, E / H]));
    const attended = nn.dotProductAttention(q, k, v).reshape([B * L, E]);
    x = ofLayer(norm, x.add(ofLayer(linear, attended, `${own}.out_proj`)), `${name}.norm1`);
    const sums = ofLayer(linear, x.ref, `${name}.linear1`);
    const hidden = activation === "gelu" ? nn.gelu(sums, { approximate: false }) : nn.relu(sums);
    x = ofLayer(norm, x.add(ofLayer(linear, hidden, `${name}.linear2`)), `${name}.norm2`);
  }
  const chances = nn.logSoftmax(ofLayer(linear, x, "head"), -1);
  return chances
    .mul(nn.oneHot(targets, vocabulary))
    .sum()
    .mul(-1 / (B * L));
}

/** A step of AdamW for one parameter; c1 and c2 are the bias corrections of the two averages. */
function adamWStep({ numpy }, parameter, gradient, first, second, c1, c2) {
  const { learningRate, betas, eps, weightDecay } = adamW;
  const m = first.mul(betas[0]).add(gradient.ref.mul(1 - betas[0]));
  const v = second.mul(betas[1]).add(gradient.ref.mul(gradient).mul(1 - betas[1]));
  const size = numpy.sqrt(v.ref.div(c2)).add(eps);
  const change = m.ref.div(c1).div(size).mul(learningRate);
  return [parameter.mul(1 - learningRate * weightDecay).sub(change), m, v];
}

/**
 * For each kind, a function of arrays, and the arrays; or a prepared contender. A function consumes its
 * arguments, unless they are passed as `.ref`.
 */
const kinds = {
  attention({ nn }, { H, L, D, isCausal, window }, { q, k, v }) {
    const options = { isCausal, ...(window && { localWindowSize: window }) };
    return {
      compute: (...x) => nn.dotProductAttention(...x, options),
      arrays: [q, k, v].map((data) => [exchange(data, H, L, D), [1, L, H, D]]),
      read: (data) => exchange(data, L, H, D),
    };
  },
  /** The cache of a step is the previous one with the new token. */
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
    const linear = (a, w, b) => layer({ numpy }, a, w, b);
    const three = [0, 1, 2];
    return {
      compute(x, wq, wk, wv, bq, bk, bv, wo, bo) {
        const [q, k, v] = [linear(x.ref, wq, bq), linear(x.ref, wk, bk), linear(x, wv, bv)].map(
          (projected) => projected.reshape([1, L, H, E / H]),
        );
        return linear(nn.dotProductAttention(q, k, v).reshape([L, E]), wo, bo);
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
  attentionGradients({ nn, numpy, grad }, { H, L, D, isCausal }, { q, k, v, dOutput }) {
    const gradients = grad(
      (a, b, c, d) => nn.dotProductAttention(a, b, c, { isCausal }).mul(d).sum(),
      { argnums: [0, 1, 2] },
    );
    return {
      compute: (...x) => numpy.stack(gradients(...x)),
      arrays: [q, k, v, dOutput].map((data) => [exchange(data, H, L, D), [1, L, H, D]]),
      read(data) {
        const size = H * L * D;
        const parts = [0, 1, 2].map((i) => data.subarray(i * size, (i + 1) * size));
        return Float32Array.from(parts.flatMap((part) => [...exchange(part, L, H, D)]));
      },
    };
  },
  trainingStep(library, one, inputs) {
    const { numpy, jit, valueAndGrad, tree, blockUntilReady } = library;
    const shapes = parameterShapes(one);
    const names = Object.keys(shapes);
    const each = (make) => Object.fromEntries(names.map((name) => [name, make(name)]));
    const zeros = () => each((name) => numpy.zeros(shapes[name]));
    const ofLoss = valueAndGrad((...x) => lossOf(library, one, ...x));
    const compiled = jit((parameters, first, second, c1, c2, tokens, targets) => {
      const [loss, gradients] = ofLoss(tree.ref(parameters), tokens, targets);
      const stepped = each((name) =>
        adamWStep(
          library,
          ...[parameters, gradients, first, second].map((all) => all[name]),
          ...[c1.ref, c2.ref],
        ),
      );
      return [loss, ...[0, 1, 2].map((part) => each((name) => stepped[name][part]))];
    });
    const whole = (data) => numpy.array(data, { dtype: numpy.int32 });
    const [tokens, targets] = [whole(inputs.tokens), whole(inputs.targets)];
    let state = [each((name) => numpy.array(inputs[name]).reshape(shapes[name])), zeros(), zeros()];
    let steps = 0;
    const step = async () => {
      ++steps;
      const corrections = adamW.betas.map((beta) => numpy.array(1 - beta ** steps));
      const [loss, ...next] = compiled(...state, ...corrections, tokens.ref, targets.ref);
      state = await blockUntilReady(next);
      return (await loss.data())[0];
    };
    return {
      async answer() {
        const losses = new Float32Array(trainingSteps);
        for (let i = 0; i < trainingSteps; ++i) losses[i] = await step();
        return losses;
      },
      run: step,
    };
  },
};

export function jax(threads, one, inputs) {
  if (!kinds[one.kind]) return [];
  return [
    {
      name: "jax-js",
      reason: (error) => error.message.split("\n")[0],
      async prepare() {
        Object.defineProperty(navigator, "hardwareConcurrency", { value: threads });
        const library = await import("/jax/index.js");
        await library.init("wasm");
        library.defaultDevice("wasm");
        const prepared = kinds[one.kind](library, one, inputs);
        if (prepared.run) return prepared;
        const { compute, arrays, read = (data) => data } = prepared;
        const compiled = library.jit(compute);
        const used = arrays.map(([data, shape]) => library.numpy.array(data).reshape(shape));
        const run = () => compiled(...used.map((array) => array.ref)).data();
        return { answer: async () => read(await run()), run };
      },
    },
  ];
}
