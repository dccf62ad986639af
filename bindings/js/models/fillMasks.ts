// Words for the masks of a text, with models of masked words of the hub.

import { describe, refuse } from "../core/error.js";
import { type Check, checkArgument, checkOptions, isWholeNumber } from "../core/validate.js";
import {
  type BatchOptions,
  batchChecks,
  inBatches,
  isEncoder,
  namedTextOrTexts,
  padding,
  wholeIds,
} from "./batches.js";
import type { LoadedModel } from "./files.js";
import type { MaskedLanguageModel } from "./language/maskedModel.js";
import { isTokenizerWith, type TextTokenizer } from "./tokenizer.js";

/** Options of `fillMasks`. */
export interface FillMasksOptions extends BatchOptions {
  /** The number of words for each mask; 5 by default. */
  count?: number;
}

/** A word that a model predicts for a mask. */
export interface MaskedWord {
  /** The token's id. */
  token: number;
  /** The token's text. */
  text: string;
  /** The probability, from 0 to 1. */
  probability: number;
}

const isMasked: Check = { ...isEncoder, expected: "a model of masked words" };

/** The names of the mask token, in BERT and in RoBERTa. */
const maskNames = ["[MASK]", "<mask>"];

/** The words for the masks of a text. */
type Filled = MaskedWord[][];

/** Returns the ids of each text, and the function that fills the masks of a batch. */
function filling(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  given: string | readonly string[],
  options: FillMasksOptions,
) {
  checkArgument("tokenizer", tokenizer, isTokenizerWith("encode", "decode", "token_to_id"));
  const named = namedTextOrTexts("text", given);
  checkArgument("model", model, isMasked);
  const encoder = model as MaskedLanguageModel;
  const { heed, config, lmHead } = encoder;
  checkOptions("fillMasks", options, {
    ...batchChecks,
    count: isWholeNumber(1, config.vocabularySize),
  });
  if (!lmHead)
    throw refuse("option", "model", "a model with a head for masked words", "one without");
  const { count = 5 } = options;
  const known = maskNames.filter((name) => tokenizer.token_to_id?.(name) !== undefined);
  const masks = known.map((name) => tokenizer.token_to_id?.(name));
  const ids = named.map(([name, text]) => {
    const own = wholeIds(tokenizer, [name, text], config);
    if (own.some((id) => masks.includes(id))) return own;
    throw refuse("option", name, `a text with ${known.join(" or ") || "a mask"}`, describe(text));
  });
  const compute = padding(encoder, ({ rows, ids, keyMask }): Filled[] => {
    const length = ids.shape[1] as number;
    const places = rows.map((row, b) =>
      row.flatMap((id, at) => (masks.includes(id) ? [b * length + at] : [])),
    );
    const { output } = encoder.forward(ids, { keyMask });
    const all = heed.reshape(output, [ids.size, config.size]);
    const masked = heed.embedding(heed.tensor(Int32Array.from(places.flat())), all);
    const logits = lmHead.forward(masked, encoder.model.embedTokens.weight);
    const { values, indices } = heed.topK(heed.softmax(logits), count);
    const words = Array.from(indices.data as Int32Array, (token, i) => ({
      ...{ token, text: tokenizer.decode([token]) },
      probability: values.data[i] as number,
    }));
    return places.map((own) => own.map(() => words.splice(0, count)));
  });
  return { ids, compute };
}

async function fillAll(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  texts: readonly string[],
  options: FillMasksOptions,
): Promise<Filled[]> {
  const { ids, compute } = filling(model, tokenizer, texts, options);
  return inBatches(ids, options, compute);
}

/**
 * Returns the most likely words for each mask in a text, such as "The [MASK] sat on the mat."
 * (BERT) or "The <mask> sat on the mat." (RoBERTa).
 *
 * @param model a `MaskedLanguageModel`
 * @returns for each mask, its words, the most likely first
 * @throws HeedError "option" for a text without a mask, a model without a head, or a text that is
 *   longer than the model's context
 * @example
 * ```ts
 * const config = { model_type: "bert", architectures: ["BertForMaskedLM"], vocab_size: 128, max_position_embeddings: 32, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new MaskedLanguageModel(heed, config, { seed: 1 });
 * const letters: TextTokenizer = {
 *   encode: (text) => [...text.replaceAll("[MASK]", "#")].map((letter) => letter.charCodeAt(0)),
 *   decode: (ids) => String.fromCharCode(...ids),
 *   token_to_id: (token) => (token === "[MASK]" ? 35 : undefined),
 * };
 * const [words] = fillMasks(model, letters, "a [MASK] b", { count: 2 });
 * const [, second] = await fillMasks(model, letters, ["a [MASK] b", "[MASK] and [MASK]"]);
 * console.log(words!.length, second!.length); // prints: 2 2
 * ```
 */
export function fillMasks(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  text: string,
  options?: FillMasksOptions,
): MaskedWord[][];
/**
 * Returns the most likely words for the masks of several texts, computed in batches of similar lengths.
 *
 * @returns for each text, in their order, the words for each mask
 * @throws HeedError "option" that names the text
 */
export function fillMasks(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  texts: readonly string[],
  options?: FillMasksOptions,
): Promise<MaskedWord[][][]>;
export function fillMasks(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  given: string | readonly string[],
  options: FillMasksOptions = {},
): Filled | Promise<Filled[]> {
  if (Array.isArray(given)) return fillAll(model, tokenizer, given, options);
  const { ids, compute } = filling(model, tokenizer, given, options);
  options.signal?.throwIfAborted();
  return compute(ids, [0])[0] as Filled;
}
