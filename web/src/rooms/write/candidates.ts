/** From the logits after one token to what may follow it: pure functions of numbers. */
import type { Candidates } from "./messages";
import type { Sampling } from "./state";

/** The number of candidates that are shown. */
export const mostCandidates = 10;

/** All logits after one token, the largest first, and the tokens that they belong to. */
export interface SortedLogits {
  readonly values: Float32Array;
  readonly ids: Int32Array;
}

/** The weights e^((logit − largest) ÷ temperature), and their sum. */
function weightsAt(values: Float32Array, temperature: number) {
  const largest = values[0] as number;
  const weights = Float64Array.from(values, (value) => Math.exp((value - largest) / temperature));
  return { weights, sum: weights.reduce((all, each) => all + each, 0) };
}

/** How many tokens may be drawn, by the rules of `heed.sample`: the k most likely, then those that make up the share p. */
function choicesOf(weights: Float64Array, { topK, topP }: Sampling): number {
  const most = topK === 0 ? weights.length : Math.min(topK, weights.length);
  if (most === weights.length && topP >= 1) return most;
  const among = weights.subarray(0, most);
  const enough = topP * among.reduce((all, each) => all + each, 0);
  let count = 0;
  for (let sum = 0; count < most && (count === 0 || sum < enough); ++count)
    sum += among[count] as number;
  return count;
}

/** The probabilities as the model gives them, in the order of the logits. */
export function modelShares({ values }: SortedLogits): Float64Array {
  const { weights, sum } = weightsAt(values, 1);
  return weights.map((weight) => weight / sum);
}

/** The probabilities with which tokens are drawn; 0 for those that are not. */
function drawnShares({ values }: SortedLogits, sampling: Sampling) {
  if (sampling.temperature === 0)
    return { choices: 1, drawn: Float64Array.from(values, (_, rank) => (rank === 0 ? 1 : 0)) };
  const { weights } = weightsAt(values, sampling.temperature);
  const choices = choicesOf(weights, sampling);
  const sum = weights.subarray(0, choices).reduce((all, each) => all + each, 0);
  const drawn = weights.map((weight, rank) => (rank < choices ? weight / sum : 0));
  return { choices, drawn };
}

/** @param next the token that follows; null after the last one */
export function candidatesOf(
  sorted: SortedLogits,
  sampling: Sampling,
  next: number | null,
): Candidates {
  const model = modelShares(sorted);
  const { choices, drawn } = drawnShares(sorted, sampling);
  const rank = next === null ? -1 : sorted.ids.indexOf(next);
  return {
    ids: sorted.ids.slice(0, mostCandidates),
    model: Float32Array.from(model.subarray(0, mostCandidates)),
    drawn: Float32Array.from(drawn.subarray(0, mostCandidates)),
    choices,
    taken: rank < 0 ? null : { rank, model: model[rank] as number, drawn: drawn[rank] as number },
  };
}
