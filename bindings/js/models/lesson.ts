// What a model is told about its logits: a loss to learn from, and how many were right.

import type { Heed } from "../ops.js";
import type { Tensor } from "../tensor.js";
import type { Lesson } from "./model.js";
import { padded, padId } from "./vocabulary.js";

/**
 * Compares logits with the tokens that were right.
 *
 * @param logits [B, length of the longest, V]
 * @param answers B rows of tokens' numbers: what they do not reach does not count
 */
export function lessonOf(
  heed: Heed,
  logits: Tensor,
  answers: readonly (readonly number[])[],
): Lesson {
  const loss = heed.crossEntropy(logits, padded(heed, answers), { ignoreIndex: padId });
  const [, length = 0, size = 0] = logits.shape;
  // Not by heed.sample, which refuses NaN: that is for the loss to show.
  const { data } = logits;
  const isLikeliest = (place: number, id: number) => {
    const row = data.subarray(place * size, (place + 1) * size);
    const own = row[id] as number;
    return row.every((logit, other) => (other < id ? logit < own : logit <= own));
  };
  let count = 0;
  let right = 0;
  for (const [i, answer] of answers.entries()) {
    count += answer.length;
    for (const [t, id] of answer.entries()) if (isLikeliest(i * length + t, id)) ++right;
  }
  return { loss, count, right };
}
