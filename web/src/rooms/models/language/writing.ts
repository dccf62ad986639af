/** Computes the candidates for the token after each token of a text. */
import type { Heed, Tensor } from "heed";
import {
  type Candidates,
  candidatesOf,
  type Instead,
  insteadOf,
  type Sampling,
} from "../../../shared/candidates";
import { sortedLogits } from "../../../worker/sortedLogits";

/** The candidates for the token after each token of a text. Frees the logits [1, L, V]. */
export async function candidatesIn(
  heed: Heed,
  logits: Tensor,
  ids: readonly number[],
  sampling: Sampling,
  pause: () => Promise<void>,
): Promise<Candidates[]> {
  const found: Candidates[] = [];
  try {
    for await (const row of sortedLogits(heed, logits, pause))
      found.push(candidatesOf(row, sampling, ids[found.length + 1] ?? null));
  } finally {
    logits.dispose();
  }
  return found;
}

/** The probabilities of the same candidates from other logits [1, L, V], which it frees. */
export async function insteadIn(
  heed: Heed,
  candidates: readonly Candidates[],
  logits: Tensor,
  ids: readonly number[],
  pause: () => Promise<void>,
): Promise<Instead[]> {
  const found: Instead[] = [];
  try {
    for await (const row of sortedLogits(heed, logits, pause)) {
      const place = found.length;
      found.push(insteadOf(candidates[place] as Candidates, row, ids[place + 1] ?? null));
    }
  } finally {
    logits.dispose();
  }
  return found;
}
