// Lists of texts in padded batches, for the functions on encoders of the hub.

import { refuse } from "../core/error.js";
import { pause } from "../core/pause.js";
import { noGrad } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  isFunction,
  isSignal,
  isWholeNumber,
} from "../core/validate.js";
import type { LoadedModel } from "./files.js";
import { paddedIds } from "./language/inputs.js";
import type { MaskedLanguageModel } from "./language/maskedModel.js";
import { idsOfText, isTokenizerWith, type TextTokenizer } from "./tokenizer.js";

/** Options of the functions on lists of texts. */
export interface BatchOptions {
  /** The number of texts that are computed together; 32 by default. */
  batchSize?: number;
  /** Stops the work between two batches: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
  /** Called after each batch with the number of texts that are done, and the number of all. */
  onProgress?: (done: number, total: number) => void;
}

export const isEncoder: Check = {
  expected: "an encoder",
  accepts: (value) => (value as MaskedLanguageModel)?.config?.kind === "masked",
};

export const batchChecks = {
  batchSize: isWholeNumber(1, 4096),
  signal: isSignal,
  onProgress: isFunction,
} satisfies Record<keyof BatchOptions, Check>;

export function checkEncoder(model: LoadedModel, tokenizer: TextTokenizer): MaskedLanguageModel {
  checkArgument("model", model, isEncoder);
  checkArgument("tokenizer", tokenizer, isTokenizerWith("encode"));
  return model as MaskedLanguageModel;
}

/** A batch of texts: their ids, padded, and which positions have a token. */
interface Batch {
  readonly rows: readonly (readonly number[])[];
  readonly ids: Tensor;
  readonly seen: Uint8Array;
  readonly keyMask: Tensor;
}

function padded({ heed, config }: MaskedLanguageModel, rows: Batch["rows"]): Batch {
  const { ids, keyMask } = paddedIds(heed, rows, config.paddingToken ?? 0);
  return { rows, ids, keyMask, seen: Uint8Array.from(keyMask.data as Uint8Array) };
}

/** Whether a tokenizer ends each text with a special token, such as [SEP]. */
export function endsTexts(tokenizer: TextTokenizer, ids: readonly number[]): boolean {
  return idsOfText(tokenizer, "").at(-1) === ids.at(-1);
}

/** The ids of a text; a longer one loses its last tokens, but not the one that ends every text. */
export function idsUpTo(tokenizer: TextTokenizer, text: string, most: number): readonly number[] {
  const ids = idsOfText(tokenizer, text);
  if (ids.length === 0) throw refuse("option", "texts", "texts with one token or more", '""');
  if (ids.length <= most) return ids;
  if (!endsTexts(tokenizer, ids)) return ids.slice(0, most);
  return [...ids.slice(0, most - 1), ids.at(-1) as number];
}

/**
 * Computes texts in batches of similar lengths, the longest first. If the memory is too small, the first batch
 * fails.
 *
 * @param compute gets a batch in a scope, and returns a result for each of its rows
 */
export async function inBatches<T>(
  model: MaskedLanguageModel,
  texts: readonly (readonly number[])[],
  { batchSize = 32, signal, onProgress }: BatchOptions,
  compute: (batch: Batch) => readonly T[],
): Promise<T[]> {
  const order = texts.map((_, i) => i);
  order.sort((a, b) => (texts[b] as number[]).length - (texts[a] as number[]).length);
  const results = new Array<T>(texts.length);
  for (let begin = 0; begin < order.length; begin += batchSize) {
    signal?.throwIfAborted();
    const own = order.slice(begin, begin + batchSize);
    const rows = own.map((i) => texts[i] as readonly number[]);
    const found = noGrad(() => model.heed.scope(() => compute(padded(model, rows))));
    for (const [i, at] of own.entries()) results[at] = found[i] as T;
    onProgress?.(begin + own.length, order.length);
    await pause();
  }
  signal?.throwIfAborted();
  return results;
}

/** The rows of a matrix, copied. */
export function rowsOf(x: Tensor): Float32Array[] {
  const size = x.shape.at(-1) as number;
  const data = x.data as Float32Array;
  return Array.from({ length: data.length / size }, (_, i) => data.slice(i * size, (i + 1) * size));
}
