// The pooled state of a text: one vector from the states of its positions (Reimers and Gurevych, "Sentence-BERT", 2019,
// section 3). The package sentence-transformers computes the same sums.

import type { Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";

/** How states become one vector, in the order in which several vectors are joined. */
export const poolings = [
  "cls",
  "max",
  "mean",
  "mean_sqrt_len",
  "weightedmean",
  "lasttoken",
] as const;
export type Pooling = (typeof poolings)[number];

/** The weights of the positions of a text. `seen` has 1 for the positions that count. */
function weightsOf(pooling: Exclude<Pooling, "max">, seen: Uint8Array): number[] {
  const all = Array.from(seen);
  if (pooling === "cls") {
    const first = all.indexOf(1);
    return all.map((_, i) => (i === first ? 1 : 0));
  }
  if (pooling === "lasttoken") {
    const last = all.lastIndexOf(1);
    return all.map((_, i) => (i === last ? 1 : 0));
  }
  const weights = pooling === "weightedmean" ? all.map((each, i) => each * (i + 1)) : all;
  const sum = Math.max(
    1e-9,
    weights.reduce((total, each) => total + each, 0),
  );
  return weights.map((each) => each / (pooling === "mean_sqrt_len" ? Math.sqrt(sum) : sum));
}

/**
 * Pools the states of each text.
 *
 * @param states [B, L, E]
 * @param seen [B * L], 1 for the positions that count, else 0
 * @returns [B, E]
 */
export function pool(heed: Heed, states: Tensor, seen: Uint8Array, pooling: Pooling): Tensor {
  const [batch, length, size] = states.shape as [number, number, number];
  if (pooling === "max") {
    // No state is as low as a position that does not count.
    const hidden = heed.tensor(
      Float32Array.from(seen, (each) => (each ? 0 : -1e9)),
      [batch, length, 1],
    );
    const columns = heed.transpose(heed.add(states, hidden), [0, 2, 1]);
    return heed.reshape(heed.topK(columns, 1).values, [batch, size]);
  }
  const rows = Array.from({ length: batch }, (_, row) =>
    weightsOf(pooling, seen.subarray(row * length, (row + 1) * length)),
  );
  const weights = heed.tensor(Float32Array.from(rows.flat()), [batch, length, 1]);
  return heed.sum(heed.multiply(states, weights), { axis: 1 });
}

/** Returns the state of the first position, [B, L, E] -> [B, E]. */
export function firstStates(heed: Heed, states: Tensor): Tensor {
  const [batch, , size] = states.shape as [number, number, number];
  return heed.reshape(heed.slice(states, { axis: 1, start: 0, length: 1 }), [batch, size]);
}
