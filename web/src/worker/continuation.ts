/** Continues a text token by token. */
import type { Tensor } from "heed";
import type { CausalLanguageModel, Seq2SeqLanguageModel } from "heed/models";
import { nn } from "heed/nn";
import type { Sampling } from "../shared/candidates";
import { idsTensor, withoutBadWords } from "./languageHeads";

interface WritingOptions extends Sampling {
  readonly seed: number;
  /** The number of tokens that are written. */
  readonly length: number;
  /** The first of them. */
  readonly kept: readonly number[];
  /** Tokens after which nothing more is written; none by default. */
  readonly endTokens?: readonly number[];
  /** The source of a model with an encoder. */
  readonly source?: readonly number[];
}

/** Reads a text with a cache. */
interface Reader {
  /** Returns the logits of the token after a text, which continues the text of the last call. */
  read(ids: readonly number[]): Tensor | Promise<Tensor>;
  dispose(): void;
}

function readerOf(model: CausalLanguageModel, capacity: number): Reader {
  const cache = model.createCache({ capacity });
  const step = model.stepWith(cache);
  return { read: (ids) => step([ids], [0]), dispose: () => cache.dispose() };
}

function targetReaderOf(
  model: Seq2SeqLanguageModel,
  source: readonly number[],
  capacity: number,
): Reader {
  const { heed } = model;
  const memory = heed.scope(() => model.encode(idsTensor(heed, source)).output);
  const cache = model.createCache({ capacity, memoryLength: source.length });
  return {
    read: (ids) =>
      heed.scope(() => {
        const tensor = idsTensor(heed, ids.slice(cache.lengths[0]));
        const { logits } = model.decode(tensor, memory, { cache, onlyLast: true });
        return withoutBadWords(model, logits, ids);
      }),
    dispose() {
      cache.dispose();
      memory.dispose();
    },
  };
}

/** Tokens are written for this long before other messages are handled, in milliseconds. */
const turn = 30;

/**
 * The tokens that follow `given`. The random number of each place does not depend on the kept tokens before it. With no
 * kept tokens, the result is the same as of `model.generate` with the same seed.
 */
export async function continuation(
  model: CausalLanguageModel | Seq2SeqLanguageModel,
  given: readonly number[],
  { seed, length, kept, endTokens = [], source = [], ...sampling }: WritingOptions,
  pause: () => Promise<void>,
): Promise<number[]> {
  const { heed } = model;
  const written = kept.slice(0, length);
  const seeds = new nn.Generator(seed);
  for (let i = 0; i < written.length; ++i) seeds.next();
  const capacity = given.length + length;
  const reader =
    "decode" in model ? targetReaderOf(model, source, capacity) : readerOf(model, capacity);
  try {
    const hasEnded = () => endTokens.includes(written.at(-1) as number);
    for (let begin = performance.now(); written.length < length && !hasEnded(); ) {
      const logits = await reader.read([...given, ...written]);
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
    reader.dispose();
  }
  return written;
}
