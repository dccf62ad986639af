// Losses, predictions and probabilities from logits.

import { noGrad } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import type { Heed } from "../heed.js";
import type { Lesson, TokenProbabilities } from "./model.js";

/**
 * Computes the cross entropy, and counts the answers that have the largest logit.
 *
 * @param logits [..., C]
 * @param answers int32 [...]
 * @param ignoreIndex marks positions without an answer
 */
export function lessonOf(heed: Heed, logits: Tensor, answers: Tensor, ignoreIndex: number): Lesson {
  const loss = heed.crossEntropy(logits, answers, { ignoreIndex });
  const likeliest = likeliestOf(heed, logits);
  let [count, right] = [0, 0];
  for (const [i, answer] of (answers.data as Int32Array).entries()) {
    if (answer === ignoreIndex) continue;
    ++count;
    if (answer === likeliest[i]) ++right;
  }
  return { loss, count, right };
}

/** Returns the index of the largest logit in each row of logits [..., C]. */
export function likeliestOf(heed: Heed, logits: Tensor): Int32Array {
  return noGrad(() => heed.scope(() => heed.topK(logits, 1).indices.data.slice() as Int32Array));
}

/**
 * Computes the probabilities of all tokens at each position that has an answer.
 *
 * @param logits [B, L, V]
 * @param answers int32 [B, L]
 * @param ignoreIndex marks positions without an answer
 * @param tokens the tokens of the vocabulary
 */
export function probabilitiesOf(
  heed: Heed,
  logits: Tensor,
  answers: Tensor,
  ignoreIndex: number,
  tokens: readonly string[],
): TokenProbabilities[] {
  const [batch = 0, length = 0, size = 0] = logits.shape;
  const all = heed.softmax(logits).data as Float32Array;
  return Array.from({ length: batch }, (_, b) => {
    const places = Array.from({ length }, (_, i) => b * length + i);
    const asked = places.filter((place) => answers.data[place] !== ignoreIndex);
    const probabilities = new Float32Array(asked.length * size);
    for (const [row, place] of asked.entries())
      probabilities.set(all.subarray(place * size, (place + 1) * size), row * size);
    return { tokens, rows: asked.length, probabilities };
  });
}
