// The search for the text of a source: it encodes the source once, and reads the target with a cache.

import { refuse } from "../../core/error.js";
import type { Tensor } from "../../core/tensor.js";
import { inferring, type ReceiveWeights } from "../../nn/capture.js";
import type { SamplingOptions, Step } from "../../nn/generate.js";
import type { Module } from "../../nn/module.js";
import type { TransformerCache } from "../../nn/transformerCache.js";
import { idsOf, paddedIds } from "./inputs.js";
import type { Seq2SeqConfig } from "./seq2seqConfig.js";

/** A model with an encoder and a decoder, as a search needs it. */
interface Translator extends Module {
  readonly config: Seq2SeqConfig;
  encode(ids: Tensor, options: { keyMask: Tensor }): { output: Tensor };
  decode(
    ids: Tensor,
    memory: Tensor,
    options: { keyMask: Tensor; cache: TransformerCache; onlyLast: true },
  ): { logits: Tensor };
  createCache(options: {
    batch: number;
    capacity: number;
    memoryLength: number;
    dtype: "float32" | "float16" | "int8";
  }): TransformerCache;
}

interface SearchOptions {
  readonly startTokens: readonly number[];
  readonly maxLength: number;
  readonly cacheType: "float32" | "float16" | "int8";
  readonly receive: ReceiveWeights | undefined;
}

/** The numbers of positions that a search needs. */
function lengthsOf(
  { context }: Seq2SeqConfig,
  texts: readonly (readonly number[])[],
  { startTokens, maxLength }: SearchOptions,
): { capacity: number; memoryLength: number } {
  const memoryLength = Math.max(...texts.map((tokens) => tokens.length));
  if (memoryLength > context)
    throw refuse("option", "sources", `at most ${context} tokens each`, `${memoryLength}`);
  const most = context + 1 - startTokens.length;
  if (maxLength <= most) return { capacity: startTokens.length + maxLength - 1, memoryLength };
  const expected = `at most ${most}, for the context of ${context}`;
  throw refuse("option", "maxLength", expected, `${maxLength}`);
}

/**
 * Encodes texts, each `copies` times, and runs a search with a cache.
 *
 * @param search gets the step function of `generate` and `beamSearch`
 */
export async function searchTexts<T>(
  model: Translator,
  texts: readonly (readonly number[])[],
  copies: number,
  options: SearchOptions,
  search: (step: Step) => Promise<T>,
): Promise<T> {
  const { heed, config } = model;
  const { cacheType: dtype, receive } = options;
  const lengths = lengthsOf(config, texts, options);
  const rows = texts.flatMap((text) => Array.from({ length: copies }, () => text));
  const owned: { dispose(): void }[] = [];
  const run = <R>(compute: () => R) => inferring(model, receive, compute);
  try {
    const cache = model.createCache({ batch: rows.length, ...lengths, dtype });
    owned.push(cache);
    const { ids, keyMask } = paddedIds(heed, rows, config.paddingToken);
    owned.push(ids, keyMask);
    const states = run(() => model.encode(ids, { keyMask }).output);
    owned.push(states);
    return await search((sequences, order) => {
      // The first step reads all start tokens; each later step reads only the last tokens.
      const isFirst = cache.lengths[0] === 0;
      if (!isFirst && order.some((row, i) => row !== i)) cache.reorder(order);
      const next = isFirst ? sequences : sequences.map((tokens) => tokens.slice(-1));
      return run(() => {
        const given = { keyMask, cache, onlyLast: true } as const;
        const { logits } = model.decode(idsOf(heed, next), states, given);
        return heed.reshape(logits, [next.length, config.vocabularySize]);
      });
    });
  } finally {
    for (const each of owned) each.dispose();
  }
}

/** The caller's processor after the rules of a config; undefined for none. */
export function processorOf(
  { badWords, forcedEndTokens }: Seq2SeqConfig,
  startTokens: readonly number[],
  { maxLength, logitsProcessor }: Pick<SamplingOptions, "maxLength" | "logitsProcessor">,
): SamplingOptions["logitsProcessor"] {
  if (badWords.length === 0 && forcedEndTokens.length === 0) return logitsProcessor;
  const last = startTokens.length + maxLength - 1;
  return (logits, tokens) => {
    for (const word of badWords) {
      const isBegun = word
        .slice(0, -1)
        .every((token, i) => token === tokens.at(i + 1 - word.length));
      if (isBegun) logits[word.at(-1) as number] = -Infinity;
    }
    if (forcedEndTokens.length > 0 && tokens.length === last) {
      logits.fill(-Infinity);
      for (const token of forcedEndTokens) logits[token] = 0;
    }
    logitsProcessor?.(logits, tokens);
  };
}
