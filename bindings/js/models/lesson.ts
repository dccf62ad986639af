// What is learned from logits.

import type { Heed } from "../ops.js";
import { noGrad } from "../tape.js";
import type { Tensor } from "../tensor.js";
import type { Lesson } from "./model.js";

/**
 * Cross entropy, and how many of the answers were the likeliest.
 *
 * @param logits [..., C]
 * @param answers int32 [...]
 * @param ignoreIndex stands where there is nothing to answer
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

/** The place of the largest number in each row of logits [..., C]. */
export function likeliestOf(heed: Heed, logits: Tensor): Int32Array {
  return noGrad(() => heed.scope(() => heed.topK(logits, 1).indices.data.slice() as Int32Array));
}
