/** Continues a text token by token. */
import type { CausalLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import type { Sampling } from "../shared/candidates";

interface WritingOptions extends Sampling {
  readonly seed: number;
  /** The number of tokens that are written. */
  readonly length: number;
  /** The first of them. */
  readonly kept: readonly number[];
  /** Tokens after which nothing more is written; none by default. */
  readonly endTokens?: readonly number[];
}

/** Tokens are written for this long before other messages are handled, in milliseconds. */
const turn = 30;

/**
 * The tokens that follow `given`. The random number of each place does not depend on the kept tokens before it. With no
 * kept tokens, the result is the same as of `model.generate` with the same seed.
 */
export async function continuation(
  model: CausalLanguageModel,
  given: readonly number[],
  { seed, length, kept, endTokens = [], ...sampling }: WritingOptions,
  pause: () => Promise<void>,
): Promise<number[]> {
  const { heed } = model;
  const written = kept.slice(0, length);
  const seeds = new nn.Generator(seed);
  for (let i = 0; i < written.length; ++i) seeds.next();
  const cache = model.createCache({ capacity: given.length + length });
  try {
    const step = model.stepWith(cache);
    const hasEnded = () => endTokens.includes(written.at(-1) as number);
    for (let begin = performance.now(); written.length < length && !hasEnded(); ) {
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
