/** The most likely tokens of a model's answer. */

/** A token and the probability that the model gives it. */
export interface LikelyToken {
  readonly token: string;
  readonly probability: number;
}

/** The number of tokens kept. */
const count = 3;

/** The most likely first. */
export function likeliest(
  tokens: readonly string[],
  probabilities: ArrayLike<number>,
): LikelyToken[] {
  return Array.from(probabilities, (probability, i) => ({
    token: tokens[i] as string,
    probability,
  }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, count);
}
