// Heed, through its public interface.

import { load } from "/heed/index.js";

const shapeOf = (one) => [1, one.H, one.L, one.D];

export async function startHeed(variant, threads) {
  const heed = await load({ variant, threads });
  const { info } = heed;
  if (info.variant !== variant || info.threads !== threads)
    throw new Error(
      `heed: expected ${variant} with ${threads} thread(s), got ${info.variant} with ${info.threads}`,
    );
  return {
    heed,
    prepare(one, inputs) {
      const [q, k, v] = [inputs.q, inputs.k, inputs.v].map((data) =>
        heed.tensor(data, shapeOf(one)),
      );
      const options = { isCausal: one.isCausal };
      return {
        name: variant,
        answer() {
          const { output } = heed.attention(q, k, v, options);
          const answer = output.data.slice();
          output.dispose();
          return answer;
        },
        run: () => heed.attention(q, k, v, options).output.dispose(),
        end: () => [q, k, v].map((tensor) => tensor.dispose()),
      };
    },
  };
}

/** What arrays in, array out would cost besides the computation. */
export function copies({ heed }, one, inputs) {
  return {
    name: "copies",
    run() {
      const [q, k, v] = [inputs.q, inputs.k, inputs.v].map((data) =>
        heed.tensor(data, shapeOf(one)),
      );
      const output = q.data.slice();
      for (const tensor of [q, k, v]) tensor.dispose();
      return output;
    },
    end() {},
  };
}
