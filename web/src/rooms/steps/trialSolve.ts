/**
 * Why scores are divided by √d (Vaswani et al., 2017, section 3.2.1, footnote 4): if the entries of q and k are
 * independent, with mean 0 and variance 1, then q·k has the variance d. So without the division longer vectors have
 * larger scores, the softmax saturates, and its gradients vanish. The solver draws such vectors and measures this
 * effect.
 */
import type { Heed, Tensor } from "heed";
import { grad } from "heed/nn";
import { numbersOf } from "../../worker/numbersOf";
import type { Solver } from "../../worker/solver";
import { seededNumbers } from "./seeded";
import {
  mostTrialSize,
  type TrialAnswer,
  type TrialRequest,
  type TrialSide,
  trialSizes,
} from "./trial";

/** The number of queries. The page shows the first one, and the mean over all. */
const queries = 64;

/**
 * The derivative of each weight with respect to its own score, ∂wⱼ/∂sⱼ, for scores [queries, keys]. A row is repeated
 * for each of its keys, and the loss is the sum of one weight of each copy, so one backward pass gives the diagonals of
 * all Jacobians.
 */
function gradientsOf(heed: Heed, scores: Float32Array, keys: number): Float32Array {
  const copies = Float32Array.from(
    { length: scores.length * keys },
    (_, i) => scores[Math.floor(i / (keys * keys)) * keys + (i % keys)] as number,
  );
  const chosen = copies.map((_, i) => Number(Math.floor(i / keys) % keys === i % keys));
  const shape = [scores.length, keys];
  const rows = heed.tensor(copies, shape);
  const ones = heed.tensor(chosen, shape);
  const [all] = grad([rows], () => heed.sum(heed.multiply(heed.softmax(rows), ones))) as [Tensor];
  const jacobians = all.data;
  return Float32Array.from(
    { length: scores.length },
    (_, i) => jacobians[i * keys + (i % keys)] as number,
  );
}

/** The results for all sizes, with the scores of each multiplied by `factorOf` its size. */
function sideOf(
  heed: Heed,
  products: readonly Tensor[],
  keys: number,
  factorOf: (size: number) => number,
): TrialSide {
  const found = trialSizes.map((size, n) => {
    const scores = heed.multiply(products[n] as Tensor, factorOf(size));
    const gradients = gradientsOf(heed, numbersOf(scores), keys);
    const mean = heed.mean(heed.tensor(gradients, [gradients.length])).data[0] as number;
    return { scores: numbersOf(scores), weights: numbersOf(heed.softmax(scores)), gradients, mean };
  });
  /** The numbers of the first query for all sizes. */
  const joined = (name: "scores" | "weights" | "gradients") =>
    Float32Array.from(found.flatMap((each) => [...each[name].subarray(0, keys)]));
  return {
    ...{ scores: joined("scores"), weights: joined("weights"), gradients: joined("gradients") },
    meanGradients: Float32Array.from(found, ({ mean }) => mean),
  };
}

const solve: Solver<TrialRequest, TrialAnswer> = (request, { heed }) =>
  heed.scope(() => {
    const { seed, keys: tokens } = request;
    const keys = tokens.length;
    const keysOf = (size: number) =>
      tokens.flatMap((token, i) => [...seededNumbers(`${seed} trial key ${i} ${token}`, size)]);
    const queriesOf = (size: number, count: number) =>
      seededNumbers(`${seed} trial query`, count * size);
    const products = trialSizes.map((size) =>
      heed.linear(
        heed.tensor(queriesOf(size, queries), [queries, size]),
        heed.tensor(keysOf(size), [keys, size]),
      ),
    );
    return {
      request,
      vectors: Float32Array.of(...queriesOf(mostTrialSize, 1), ...keysOf(mostTrialSize)),
      divided: sideOf(heed, products, keys, (size) => 1 / Math.sqrt(size)),
      plain: sideOf(heed, products, keys, () => 1),
    };
  });

export default solve;
