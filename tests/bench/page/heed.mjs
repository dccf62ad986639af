// Heed, through its public interface. Inputs stay in the engine from call to call.

import { load } from "/heed/index.js";
import { grad, nn, optim, Tape, valueAndGrad } from "/heed/nn.js";
import { adamW, parameterShapes, rowsOf, trainingSteps } from "./cases.mjs";
import { decoder, encoder, language } from "./heed_language.mjs";

/** A scalar function of attention's output whose gradient with respect to the output is `dOutput`. */
function weighedAttention(heed, { H, L, D, isCausal }, inputs) {
  const [q, k, v, dOutput] = [inputs.q, inputs.k, inputs.v, inputs.dOutput].map((x) =>
    heed.tensor(x, [1, H, L, D]),
  );
  const loss = () => heed.sum(heed.multiply(heed.attention(q, k, v, { isCausal }).output, dOutput));
  return { sources: [q, k, v], loss };
}

function joinAndFree(tensors) {
  const joined = Float32Array.from(tensors.flatMap((tensor) => [...tensor.data]));
  for (const tensor of tensors) tensor.dispose();
  return joined;
}

/** An embedding, an encoder and a linear layer onto the vocabulary. */
class Model extends nn.Module {
  constructor(heed, { layers, H, E, F, vocabulary, activation }) {
    super(heed);
    this.embedding = new nn.Embedding(heed, vocabulary, E);
    this.encoder = new nn.TransformerEncoder(heed, E, H, layers, {
      ...{ dimFeedforward: F, activation, dropout: 0 },
    });
    this.head = new nn.Linear(heed, E, vocabulary);
  }

  forward(tokens) {
    return this.head.forward(this.encoder.forward(this.embedding.forward(tokens)));
  }
}

/**
 * The share of the time of some calls that is spent outside the engine's operations: in the tape, modules
 * and handles, with the garbage collector.
 */
function shareOutside({ border }, run) {
  const { run: operation } = border;
  let inside = 0;
  border.run = (...call) => {
    const start = performance.now();
    operation.apply(border, call);
    inside += performance.now() - start;
  };
  const start = performance.now();
  for (let calls = 0; calls < 5 || performance.now() - start < 500; ++calls) run();
  const all = performance.now() - start;
  border.run = operation;
  return 1 - inside / all;
}

/**
 * For each kind, a function that computes the output from inputs in the engine, perhaps by a promise, or a
 * prepared contender.
 */
const kinds = {
  attention(heed, { H, L, D, isCausal, window, precision }, inputs) {
    const [q, k, v] = [inputs.q, inputs.k, inputs.v].map((x) => heed.tensor(x, [1, H, L, D]));
    const options = {
      isCausal,
      ...(window && { window }),
      ...(precision && { precision }),
    };
    return () => heed.attention(q, k, v, options).output;
  },
  decode(heed, { H, G, D, cached, cache }, inputs) {
    const past = heed.createKvCache({ heads: G, headSize: D, capacity: cached + 1, dtype: cache });
    const part = (x, from, to) =>
      heed.tensor(rowsOf(x, G, cached + 1, D, from, to), [1, G, to - from, D]);
    // In pieces, so that mainly the cache makes the memory grow.
    const piece = 64;
    for (let from = 0; from < cached; from += piece) {
      const to = Math.min(cached, from + piece);
      heed.scope(() => past.append(part(inputs.k, from, to), part(inputs.v, from, to)));
    }
    const q = heed.tensor(inputs.q, [1, H, 1, D]);
    const [k, v] = [inputs.k, inputs.v].map((x) => part(x, cached, cached + 1));
    return () => {
      const { output } = heed.attention(q, k, v, { past });
      past.rewind(1); // so that the next call has the same past
      return output;
    };
  },
  linear(heed, { L, inputs, outputs, activation, weights }, data) {
    const x = heed.tensor(data.x, [L, inputs]);
    const given = heed.tensor(data.weight, [outputs, inputs]);
    const weight = weights ? heed.packWeights(given, { format: weights }) : given;
    if (weights) given.dispose();
    const bias = heed.tensor(data.bias, [outputs]);
    const options = { bias, ...(activation && { activation }) };
    return () => heed.linear(x, weight, options);
  },
  multiHead(heed, { L, E, H }, inputs) {
    const x = heed.tensor(inputs.x, [1, L, E]);
    const parameters = {
      inProjWeight: heed.tensor(inputs.inProjWeight, [3 * E, E]),
      inProjBias: heed.tensor(inputs.inProjBias, [3 * E]),
      outProjWeight: heed.tensor(inputs.outProjWeight, [E, E]),
      outProjBias: heed.tensor(inputs.outProjBias, [E]),
    };
    return () => heed.multiHeadAttention(x, x, x, parameters, { heads: H }).output;
  },
  /** Measures itself, because only the backward pass is timed. */
  attentionBackward(heed, one, inputs) {
    const { sources, loss } = weighedAttention(heed, one, inputs);
    const backward = () =>
      heed.scope(() => {
        const tape = new Tape(sources);
        const recorded = tape.run(loss);
        const start = performance.now();
        const gradients = tape.gradients(recorded);
        return { gradients, took: performance.now() - start };
      });
    return {
      answer: () => joinAndFree(backward().gradients),
      async sample() {
        const { gradients, took } = backward();
        for (const gradient of gradients) gradient.dispose();
        return took;
      },
    };
  },
  attentionGradients(heed, one, inputs) {
    const { sources, loss } = weighedAttention(heed, one, inputs);
    return {
      answer: () => joinAndFree(grad(sources, loss)),
      run() {
        for (const gradient of grad(sources, loss)) gradient.dispose();
      },
    };
  },
  trainingStep(heed, one, inputs) {
    const shapes = parameterShapes(one);
    const model = new Model(heed, one);
    const given = Object.entries(shapes).map(([name, shape]) => [
      name,
      { shape, data: inputs[name] },
    ]);
    model.loadStateDict(Object.fromEntries(given));
    const tokens = heed.tensor(inputs.tokens, [one.B, one.L]);
    const targets = heed.tensor(inputs.targets, [one.B, one.L]);
    const loss = () => heed.crossEntropy(model.forward(tokens), targets);
    const optimizer = new optim.AdamW(model, adamW);
    const step = () => {
      const { value, gradients } = valueAndGrad(model, loss);
      optimizer.step(gradients);
      return value;
    };
    return {
      answer: () => Float32Array.from({ length: trainingSteps }, step),
      run: () => void step(),
      outside: () => shareOutside(tokens.engine, step),
    };
  },
  language,
  decoder,
  encoder,
  nonLocalMeans(heed, { H, W, patchRadius, searchRadius, h }, inputs) {
    const image = heed.tensor(inputs.image, [H, W]);
    return () => {
      const { output, weightSum } = heed.nonLocalMeans(image, { patchRadius, searchRadius, h });
      weightSum.dispose();
      return output;
    };
  },
};

async function engine(variant, threads) {
  const heed = await load({ variant, threads });
  const { info } = heed;
  if (info.variant !== variant || info.threads !== threads)
    throw new Error(
      `heed: expected ${variant} with ${threads} thread(s), got ${info.variant} with ${info.threads}`,
    );
  return heed;
}

/** @param {string} name under which it is timed */
export const heedContender = (name, variant, threads) => ({
  name,
  async prepare(one, inputs) {
    const heed = await engine(variant, threads);
    const compute = await kinds[one.kind](heed, one, inputs);
    if (typeof compute !== "function") return compute;
    return {
      answer() {
        const output = compute();
        const answer = output.data.slice();
        output.dispose();
        return answer;
      },
      run: () => compute().dispose(),
    };
  },
});

/** Milliseconds to load an engine, of its first call, and of later calls (median). */
export async function timeStart(variant, threads, one, inputs) {
  const begin = performance.now();
  const heed = await engine(variant, threads);
  const ready = performance.now() - begin;
  const compute = kinds[one.kind](heed, one, inputs);
  const times = Array.from({ length: 20 }, () => {
    const start = performance.now();
    compute().dispose();
    return performance.now() - start;
  });
  heed.dispose();
  return { ready, first: times[0], later: times.slice(10) };
}
