// Lists of texts in batches of similar lengths, for the functions on models of the hub.

import { refuse } from "../core/error.js";
import { pauseIn } from "../core/pause.js";
import { running } from "../core/running.js";
import { noGrad } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  isFunction,
  isSignal,
  isText,
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

/** A text, and its name in errors. */
type NamedText = readonly [name: string, text: string];

/** The texts of an argument that is a list. */
export function namedTexts(texts: readonly string[], name = "texts"): NamedText[] {
  checkArgument(name, texts, { expected: "a list of texts", accepts: Array.isArray });
  return Array.from(texts, (text, i) => {
    checkArgument(`${name}[${i}]`, text, isText);
    return [`${name}[${i}]`, text] as const;
  });
}

/** The texts of an argument that is one text or a list. */
export function namedTextOrTexts(name: string, given: string | readonly string[]): NamedText[] {
  if (Array.isArray(given)) return namedTexts(given, `${name}s`);
  const expected = "a text or a list of texts";
  checkArgument(name, given, { ...isText, expected });
  return [[name, given as string]];
}

/** The ids of a text, one or more. */
function someIds(tokenizer: TextTokenizer, [name, text]: NamedText): readonly number[] {
  const ids = idsOfText(tokenizer, text);
  if (ids.length === 0) throw refuse("option", name, "a text of one token or more", "none");
  return ids;
}

/** The ids of a text that a model reads whole. */
export function wholeIds(
  tokenizer: TextTokenizer,
  named: NamedText,
  { context }: { readonly context: number },
): readonly number[] {
  const ids = someIds(tokenizer, named);
  if (ids.length > context)
    throw refuse("option", named[0], `at most ${context} tokens`, `${ids.length}`);
  return ids;
}

/** Whether a tokenizer ends each text with a special token, such as [SEP]. */
export function endsTexts(tokenizer: TextTokenizer, ids: readonly number[]): boolean {
  return idsOfText(tokenizer, "").at(-1) === ids.at(-1);
}

/** The ids of a text; a longer one loses its last tokens, but not the one that ends every text. */
export function idsUpTo(
  tokenizer: TextTokenizer,
  named: NamedText,
  most: number,
): readonly number[] {
  const ids = someIds(tokenizer, named);
  if (ids.length <= most) return ids;
  if (!endsTexts(tokenizer, ids)) return ids.slice(0, most);
  return [...ids.slice(0, most - 1), ids.at(-1) as number];
}

/**
 * The largest number of padding tokens of a text in a batch of an encoder, which computes padding like other tokens.
 * Short texts may have more padding, because many short calls would take longer.
 */
const mostPadding = (longest: number): number => Math.max(32, longest / 4);

/**
 * Computes texts in batches of similar lengths, the longest first.
 *
 * @param texts the ids of each text
 * @param compute gets the ids and the places of the texts of a batch, and returns a result for each of them
 * @param most returns the largest number of padding tokens of a text, from the length of the longest text of its batch
 */
export async function inBatches<T>(
  texts: readonly (readonly number[])[],
  { batchSize = 32, signal, onProgress }: BatchOptions,
  compute: (
    rows: readonly (readonly number[])[],
    places: readonly number[],
  ) => readonly T[] | Promise<readonly T[]>,
  most: (longest: number) => number = mostPadding,
): Promise<T[]> {
  const { call } = running;
  const lengthOf = (i: number) => (texts[i] as readonly number[]).length;
  const order = texts.map((_, i) => i);
  order.sort((a, b) => lengthOf(b) - lengthOf(a));
  const results = new Array<T>(texts.length);
  for (let begin = 0, places: number[]; begin < order.length; begin += places.length) {
    signal?.throwIfAborted();
    const longest = lengthOf(order[begin] as number);
    places = order
      .slice(begin, begin + batchSize)
      .filter((i) => longest - lengthOf(i) <= most(longest));
    const rows = places.map((i) => texts[i] as readonly number[]);
    const found = await compute(rows, places);
    for (const [i, at] of places.entries()) results[at] = found[i] as T;
    onProgress?.(begin + places.length, order.length);
    await pauseIn(call);
  }
  signal?.throwIfAborted();
  return results;
}

/** A batch of texts for an encoder: their ids, padded, and which positions have a token. */
interface Batch {
  readonly rows: readonly (readonly number[])[];
  readonly places: readonly number[];
  readonly ids: Tensor;
  readonly seen: Uint8Array;
  readonly keyMask: Tensor;
}

/** Computes with a batch in a scope. */
type Compute<T> = (batch: Batch) => readonly T[];

/** Returns the function that pads the texts of a batch, and computes with them without gradients. */
export function padding<T>(
  { heed, config }: MaskedLanguageModel,
  compute: Compute<T>,
): (rows: Batch["rows"], places: Batch["places"]) => readonly T[] {
  const run = (rows: Batch["rows"], places: Batch["places"]) => {
    const { ids, keyMask } = paddedIds(heed, rows, config.paddingToken ?? 0);
    const seen = Uint8Array.from(keyMask.data as Uint8Array);
    return compute({ rows, places, ids, keyMask, seen });
  };
  return (rows, places) => noGrad(() => heed.scope(() => run(rows, places)));
}

/** The rows of a matrix, copied. */
export function rowsOf(x: Tensor): Float32Array[] {
  const size = x.shape.at(-1) as number;
  const data = x.data as Float32Array;
  return Array.from({ length: data.length / size }, (_, i) => data.slice(i * size, (i + 1) * size));
}
