// Heed, through its public interface. Inputs stay in the engine from call to call.

import { load } from "/heed/index.js";
import { rowsOf } from "./cases.mjs";

/** By kind: a function that computes, from inputs it keeps in the engine, and returns the output. */
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
    // By pieces, so that the memory that grows is the cache.
    const piece = 64;
    for (let from = 0; from < cached; from += piece) {
      const to = Math.min(cached, from + piece);
      heed.scope(() => past.append(part(inputs.k, from, to), part(inputs.v, from, to)));
    }
    const q = heed.tensor(inputs.q, [1, H, 1, D]);
    const [k, v] = [inputs.k, inputs.v].map((x) => part(x, cached, cached + 1));
    return () => {
      const { output } = heed.attention(q, k, v, { past });
      past.rewind(1); // the next call finds the same past
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
    const compute = kinds[one.kind](heed, one, inputs);
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

/** Milliseconds from nothing to an engine, for its first call and for the median of later ones. */
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
