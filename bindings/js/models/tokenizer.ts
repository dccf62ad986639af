// The interface of tokenizers that all functions on texts take.

import { describe, refuse } from "../core/error.js";
import { type Check, isListOf, isObject, isRecord, isWholeNumber } from "../core/validate.js";

/** The tokens of a text: an object with their ids, as @huggingface/tokenizers returns it, or the ids alone. */
export type Encoded = readonly number[] | { readonly ids: readonly number[] };

/** Options of `encode` of @huggingface/tokenizers for two texts. */
export interface PairOptions {
  text_pair?: string;
  return_token_type_ids?: true;
}

/**
 * A tokenizer, as `writeText` and `fillMasks` take it. `ByteTokenizer` is one, and so are the
 * tokenizers of
 * @huggingface/tokenizers and of transformers.js.
 */
export interface TextTokenizer {
  /**
   * Returns the ids of a text. `generate` takes the result as it is. `answerQuestion` passes a second
   * text, `text_pair`: the result has the ids of both, and may have `token_type_ids`, 0 for the first
   * text and 1 for the second.
   */
  encode(text: string, options?: PairOptions): Encoded;
  /** Returns the text of ids. */
  decode(ids: number[], options?: { skip_special_tokens?: boolean }): string;
  /** Returns the id of a token; undefined if there is none. `fillMasks` needs it. */
  token_to_id?(token: string): number | undefined;
}

/** A class of tokenizers, such as Tokenizer of @huggingface/tokenizers. */
export type TokenizerClass<T extends TextTokenizer = TextTokenizer> = new (
  tokenizer: object,
  config: object,
) => T;

/** An object with functions of these names. */
export const isTokenizerWith = (...names: (keyof TextTokenizer)[]): Check => ({
  expected: `a tokenizer with ${names.join(" and ")}`,
  accepts: (value) => isObject(value) && names.every((name) => typeof value[name] === "function"),
});

/** A class that was sent to a worker arrives as an arrow function, which has no prototype. */
export const isTokenizerClass: Check = {
  expected: "a class (in heed/worker, only a task can pass one)",
  accepts: (value) => typeof value === "function" && value.prototype !== undefined,
};

/** The ids of an encoded text; any other value is returned as it is. */
export const idsIn = (encoded: Encoded): readonly number[] =>
  isRecord(encoded) && "ids" in encoded ? (encoded.ids as number[]) : encoded;

/**
 * Returns the ids of a text.
 *
 * @throws HeedError "option" if the tokenizer returns any other value
 */
export function idsOfText(tokenizer: TextTokenizer, text: string): readonly number[] {
  const encoded = tokenizer.encode(text);
  const ids = idsIn(encoded);
  if (isListOf(ids, isWholeNumber(0).accepts)) return ids;
  throw refuse("option", "tokenizer.encode", "a list of ids, or { ids }", describe(encoded));
}
