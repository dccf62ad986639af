/** Continues a text token by token, and reads what may follow each of its tokens. */
import type { Heed, Tensor } from "heed";
import type { CausalLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import { candidatesOf, modelShareOf, type SortedLogits } from "./candidates";
import type { Candidates, Instead } from "./messages";
import type { Sampling } from "./state";

interface WritingOptions extends Sampling {
  readonly seed: number;
  /** The number of tokens that are written. */
  readonly length: number;
  /** The first of them. */
  readonly kept: readonly number[];
}

/** Tokens are written for this long before other messages are handled, in milliseconds. */
const turn = 30;

/**
 * The tokens that follow `given`. Each place has its own random number, whatever was kept before it: with nothing kept,
 * they are those of `model.generate` with the same seed.
 */
export async function continuation(
  model: CausalLanguageModel,
  given: readonly number[],
  { seed, length, kept, ...sampling }: WritingOptions,
  pause: () => Promise<void>,
): Promise<number[]> {
  const { heed } = model;
  const written = kept.slice(0, length);
  const seeds = new nn.Generator(seed);
  for (let i = 0; i < written.length; ++i) seeds.next();
  const cache = model.createCache({ capacity: given.length + length });
  try {
    const step = model.stepWith(cache);
    for (let begin = performance.now(); written.length < length; ) {
      const logits = await step([[...given, ...written]], [0]);
      const [next] = heed.scope(() =>
        Array.from(heed.sample(logits, { ...sampling, seed: seeds.next() }).data),
      );
      logits.dispose();
      written.push(next as number);
      if (performance.now() - begin < turn) continue;
      await pause();
      begin = performance.now();
    }
  } finally {
    cache.dispose();
  }
  return written;
}

/** Sorts the logits [1, L, V] of some places at a time, so that the worker can handle other messages between. */
async function* sorted(
  heed: Heed,
  logits: Tensor,
  pause: () => Promise<void>,
): AsyncGenerator<SortedLogits> {
  const [, count, size] = logits.shape as [number, number, number];
  const most = 16;
  for (let start = 0; start < count; start += most) {
    const length = Math.min(most, count - start);
    const rows = heed.scope(() => {
      const { values, indices } = heed.topK(heed.slice(logits, { axis: 1, start, length }), size);
      return [values.data.slice() as Float32Array, indices.data.slice() as Int32Array] as const;
    });
    for (let i = 0; i < length; ++i) {
      const [values, ids] = [rows[0], rows[1]].map((all) => all.subarray(i * size, (i + 1) * size));
      yield { values, ids } as SortedLogits;
    }
    await pause();
  }
}

/** What may follow each token of a text; frees the logits [1, L, V]. */
export async function candidatesIn(
  heed: Heed,
  logits: Tensor,
  ids: readonly number[],
  sampling: Sampling,
  pause: () => Promise<void>,
): Promise<Candidates[]> {
  const found: Candidates[] = [];
  try {
    for await (const row of sorted(heed, logits, pause))
      found.push(candidatesOf(row, sampling, ids[found.length + 1] ?? null));
  } finally {
    logits.dispose();
  }
  return found;
}

/** The probabilities of the same candidates by other logits [1, L, V], which it frees. */
export async function insteadOf(
  heed: Heed,
  candidates: readonly Candidates[],
  logits: Tensor,
  ids: readonly number[],
  pause: () => Promise<void>,
): Promise<Instead[]> {
  const found: Instead[] = [];
  try {
    for await (const row of sorted(heed, logits, pause)) {
      const shareAt = modelShareOf(row);
      const shareOf = (id: number) => shareAt(row.ids.indexOf(id));
      const next = ids[found.length + 1];
      found.push({
        model: Float32Array.from(candidates[found.length]?.ids ?? [], shareOf),
        taken: next === undefined ? null : shareOf(next),
        best: { id: row.ids[0] as number, probability: shareAt(0) },
      });
    }
  } finally {
    logits.dispose();
  }
  return found;
}
