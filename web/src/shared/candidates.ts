/** Computes the candidates for the next token from the logits: pure functions of numbers. */

/** How the next token is drawn from the model's probabilities. */
export interface Sampling {
  /** Divides the logits; 0 takes the most likely token. */
  readonly temperature: number;
  /** Samples from the k most likely tokens; 0 for all. */
  readonly topK: number;
  /** Samples from the most likely tokens whose probabilities sum to p. */
  readonly topP: number;
}

/** The candidates for the next token, the most likely first. */
export type Candidates = ReturnType<typeof candidatesOf>;

/** The number of candidates that are shown. */
const mostCandidates = 10;

/** The same candidates by other logits, for example with some heads ablated. */
export type Instead = ReturnType<typeof insteadOf>;

/** All logits after one token, the largest first, and the ids of their tokens. */
export interface SortedLogits {
  readonly values: Float32Array;
  readonly ids: Int32Array;
  /** Whether the sigmoid of each logit is a probability; otherwise the softmax of all logits gives them. */
  readonly areSeparate?: boolean;
}

/** The weight e^((logit − largest) ÷ temperature) of the token at a rank. */
function weightAt(values: Float32Array, temperature: number, rank: number): number {
  return Math.exp(((values[rank] as number) - (values[0] as number)) / temperature);
}

/** The sum of the first weights. */
function sumOf(values: Float32Array, temperature: number, count: number): number {
  let sum = 0;
  for (let rank = 0; rank < count; ++rank) sum += weightAt(values, temperature, rank);
  return sum;
}

/**
 * The number of tokens that may be drawn, by the rules of `heed.sample`: the k most likely tokens, then the ones that
 * sum to the share p.
 */
function choicesOf(values: Float32Array, { temperature, topK, topP }: Sampling): number {
  if (temperature === 0) return 1;
  const most = topK === 0 ? values.length : Math.min(topK, values.length);
  if (most === values.length && topP >= 1) return most;
  const enough = topP * sumOf(values, temperature, most);
  let count = 0;
  for (let sum = 0; count < most && (count === 0 || sum < enough); ++count)
    sum += weightAt(values, temperature, count);
  return count;
}

type ShareAt = (rank: number) => number;

/** The probability of the token at a rank among the most likely ones; by default by the model, without sampling. */
function shareOf(
  { values, areSeparate }: SortedLogits,
  temperature = 1,
  choices = values.length,
): ShareAt {
  if (areSeparate) return (rank) => 1 / (1 + Math.exp(-(values[rank] as number)));
  if (temperature === 0) return (rank) => (rank === 0 ? 1 : 0);
  const sum = sumOf(values, temperature, choices);
  return (rank) => (rank < choices ? weightAt(values, temperature, rank) / sum : 0);
}

/**
 * @param next the token that follows; null after the last one
 * @param most the number of candidates
 */
export function candidatesOf(
  sorted: SortedLogits,
  sampling: Sampling,
  next: number | null,
  most = mostCandidates,
) {
  /** The number of tokens that may be drawn: the most likely ones. */
  const choices = choicesOf(sorted.values, sampling);
  const model = shareOf(sorted);
  const drawn = shareOf(sorted, sampling.temperature, choices);
  const ids = sorted.ids.slice(0, most);
  const rank = next === null ? -1 : sorted.ids.indexOf(next);
  return {
    ...{ ids, choices, logits: sorted.values.slice(0, most) },
    /** The probability of each by the model. */
    model: Float32Array.from(ids, (_, rank) => model(rank)),
    /** The probability of drawing each, after temperature, top-k and top-p. */
    drawn: Float32Array.from(ids, (_, rank) => drawn(rank)),
    /** The token that follows: its rank from 0, and its probabilities; null after the last token. */
    taken: rank < 0 ? null : { rank, model: model(rank), drawn: drawn(rank) },
  };
}

export function insteadOf({ ids }: Candidates, row: SortedLogits) {
  const shareAt = shareOf(row);
  const ranks = new Int32Array(row.ids.length);
  for (const [rank, id] of row.ids.entries()) ranks[id] = rank;
  return {
    model: Float32Array.from(ids, (id) => shareAt(ranks[id] as number)),
    /** The most likely token, and its probability. */
    best: { id: row.ids[0] as number, probability: shareAt(0) },
  };
}
