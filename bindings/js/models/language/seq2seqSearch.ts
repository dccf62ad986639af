// The search for the text of a source: it encodes the source once, and reads the target with a cache.

import { refuse } from "../../core/error.js";
import { noGrad } from "../../core/tape.js";
import type { Tensor } from "../../core/tensor.js";
import { captureAttention, type ReceiveWeights } from "../../nn/capture.js";
import type { Step } from "../../nn/generate.js";
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
  readonly maxLength: number;
  readonly cacheType: "float32" | "float16" | "int8" | undefined;
  readonly receive: ReceiveWeights | undefined;
}

/** The numbers of positions that a search needs. */
function lengthsOf(
  { context, startTokens }: Seq2SeqConfig,
  texts: readonly (readonly number[])[],
  maxLength: number,
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
  { maxLength, cacheType: dtype = "float32", receive }: SearchOptions,
  search: (step: Step) => Promise<T>,
): Promise<T> {
  const { heed, config } = model;
  const lengths = lengthsOf(config, texts, maxLength);
  const rows = texts.flatMap((text) => Array.from({ length: copies }, () => text));
  const { ids, keyMask } = paddedIds(heed, rows, config.paddingToken);
  const cache = model.createCache({ batch: rows.length, ...lengths, dtype });
  const banned = config.bansPadding ? banOf(model) : undefined;
  let memory: Tensor | undefined;
  const run = <R>(compute: () => R) =>
    noGrad(() =>
      heed.scope(() => (receive ? captureAttention(model, receive, compute) : compute())),
    );
  try {
    const states = run(() => model.encode(ids, { keyMask }).output);
    memory = states;
    return await search((sequences, order) => {
      // The first step reads all start tokens; each later step reads only the last tokens.
      const isFirst = cache.lengths[0] === 0;
      if (!isFirst && order.some((row, i) => row !== i)) cache.reorder(order);
      const next = isFirst ? sequences : sequences.map((tokens) => tokens.slice(-1));
      return run(() => {
        const options = { keyMask, cache, onlyLast: true } as const;
        const { logits } = model.decode(idsOf(heed, next), states, options);
        const flat = heed.reshape(logits, [next.length, config.vocabularySize]);
        return banned ? heed.add(flat, banned) : flat;
      });
    });
  } finally {
    for (const each of [ids, keyMask, memory, cache, banned]) each?.dispose();
  }
}

/** [V] a number that excludes the padding token, zeros for all others. */
function banOf({ heed, config }: Translator): Tensor {
  const { vocabularySize, paddingToken } = config;
  return heed.tensor(new Float32Array(vocabularySize).fill(-1e30, paddingToken, paddingToken + 1));
}
