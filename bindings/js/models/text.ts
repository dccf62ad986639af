// Functions from text to text with language models: generation with stop strings, and masked words.

import { describe, refuse } from "../core/error.js";
import { noGrad } from "../core/tape.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isFunction,
  isListOf,
  isText,
  isWholeNumber,
} from "../core/validate.js";
import type { LoadedModel } from "./files.js";
import type { CausalLanguageModel } from "./language/causalModel.js";
import type { MaskedLanguageModel } from "./language/maskedModel.js";
import type { GenerateFromOptions, Seq2SeqLanguageModel } from "./language/seq2seqModel.js";
import { idsOfText, isTokenizerWith, type TextTokenizer } from "./tokenizer.js";

/**
 * Options of `writeText`. `beams`, `lengthPenalty` and `startTokens` are for models with an encoder. With beams, the
 * text is complete before `onText` and `onTokens` are called.
 */
export interface WriteTextOptions extends GenerateFromOptions {
  /** Strings that end the new text. They are not part of it. */
  stop?: readonly string[];
  /**
   * Called with each piece of new text as soon as it is final: its characters are complete, and it
   * is not the beginning of a text in `stop`.
   */
  onText?: (piece: string) => void;
}

/** What `writeText` wrote. */
export interface WrittenText {
  /** The new text, without the prompt. */
  text: string;
  /** The new tokens. */
  tokens: number[];
  /** The reason for the end: a text in `stop`, an end token, or the maximum length. */
  reason: "stop" | "end" | "length";
}

const isWriter: Check = {
  expected: "a model that predicts the next token",
  accepts: (value) => typeof (value as CausalLanguageModel).generate === "function",
};

const isMasked: Check = {
  expected: "a model of masked words",
  accepts: (value) => (value as MaskedLanguageModel).config.kind === "masked",
};

const isTextList: Check = {
  expected: "a list of texts of one character or more",
  accepts: (value) => isListOf(value, (text) => typeof text === "string" && text !== ""),
};

/**
 * Returns the length of the text that is final: without the beginning of a stop, and without half a
 * character.
 */
function certainLength(text: string, stops: readonly string[]): number {
  // A decoder gives U+FFFD for bytes whose character is not complete yet.
  const whole = text.replace(/\uFFFD+$/, "");
  for (let start = 0; start < whole.length; ++start) {
    const rest = whole.slice(start);
    if (stops.some((stop) => stop.startsWith(rest))) return start;
  }
  return whole.length;
}

/** Returns the index of the first stop in a text, or -1. */
function firstStop(text: string, stops: readonly string[]): number {
  const places = stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
  return places.length === 0 ? -1 : Math.min(...places);
}

/**
 * Continues a text, or translates or summarises it.
 *
 * @param model a `CausalLanguageModel`, or a `Seq2SeqLanguageModel`, for which the prompt is the source
 * @throws HeedError "option" for a model of another kind, for a prompt without a token, or for more
 *   tokens than the model's context
 * @example
 * ```ts
 * const config = { model_type: "llama", vocab_size: 128, max_position_embeddings: 32, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new CausalLanguageModel(heed, config, { seed: 1 });
 * const letters: TextTokenizer = {
 *   encode: (text) => [...text].map((letter) => letter.charCodeAt(0)),
 *   decode: (ids) => String.fromCharCode(...ids),
 * };
 * const { text, reason } = await writeText(model, letters, "ab", { maxLength: 3 });
 * console.log(text.length, reason); // prints: 3 length
 * ```
 */
export async function writeText(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  prompt: string,
  options: WriteTextOptions,
): Promise<WrittenText> {
  checkArgument("model", model, isWriter);
  checkArgument("tokenizer", tokenizer, isTokenizerWith("encode", "decode"));
  checkArgument("prompt", prompt, isText);
  checkArgument("options", options, {
    expected: "an object with maxLength",
    accepts: (value) => value !== null && typeof value === "object",
  });
  const { stop = [], onText, onTokens, ...generation } = options;
  checkArgument("stop", stop, isTextList);
  if (onText !== undefined) checkArgument("onText", onText, isFunction);
  const start = idsOfText(tokenizer, prompt);
  if (start.length === 0) throw refuse("option", "prompt", "a text of one token or more", "none");
  const read = (tokens: readonly number[]) =>
    tokenizer.decode([...tokens], { skip_special_tokens: true });
  const writer = model as CausalLanguageModel | Seq2SeqLanguageModel;
  // Decoders treat the beginning of a text in a special way, so that the prompt is decoded too. A source is another text.
  const { config } = writer;
  const context = config.kind === "seq2seq" ? [] : start;
  const before = read(context);
  const tokens: number[] = [];
  let text = "";
  let told = 0;
  let isStopped = false;
  const tell = (length: number) => {
    if (length > told) onText?.(text.slice(told, length));
    told = Math.max(told, length);
  };
  const take = (given: readonly (number | undefined)[]): unknown => {
    tokens.push(given[0] as number);
    const all = read([...context, ...tokens]);
    text = all.startsWith(before) ? all.slice(before.length) : read(tokens);
    const end = firstStop(text, stop);
    isStopped = end >= 0;
    if (isStopped) text = text.slice(0, end);
    tell(isStopped ? end : certainLength(text, stop));
    const goesOn = onTokens?.(given);
    return isStopped ? false : goesOn;
  };
  if ((generation.beams ?? 1) === 1) {
    await writer.generate([start], { ...generation, onTokens: take });
  } else {
    const [found = []] = await writer.generate([start], generation);
    for (const token of found) if (take([token]) === false) break;
  }
  tell(text.length);
  const { endToken = config.endTokens } = generation;
  const isForced =
    config.kind === "seq2seq" &&
    config.forcedEndTokens.length > 0 &&
    tokens.length === generation.maxLength;
  const hasEnded = !isForced && [endToken].flat().includes(tokens.at(-1) as number);
  return { text, tokens, reason: isStopped ? "stop" : hasEnded ? "end" : "length" };
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

/** The names of the mask token, in BERT and in RoBERTa. */
const maskNames = ["[MASK]", "<mask>"];

/**
 * Returns the most likely words for each mask in a text, such as "The [MASK] sat on the mat."
 * (BERT) or "The <mask> sat on the mat." (RoBERTa).
 *
 * @param model a `MaskedLanguageModel`
 * @param options the number of words for each mask, 5 by default
 * @returns for each mask, its words, the most likely first
 * @throws HeedError "option" for a text without a mask, a model without a head, or a text that is
 *   longer than the model's context
 * @example
 * ```ts
 * const config = { model_type: "bert", architectures: ["BertForMaskedLM"], vocab_size: 128, max_position_embeddings: 32, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const model = new MaskedLanguageModel(heed, config, { seed: 1 });
 * const letters: TextTokenizer = {
 *   encode: (text) => [...text.replace("[MASK]", "#")].map((letter) => letter.charCodeAt(0)),
 *   decode: (ids) => String.fromCharCode(...ids),
 *   token_to_id: (token) => (token === "[MASK]" ? 35 : undefined),
 * };
 * const [words] = fillMasks(model, letters, "a [MASK] b", { count: 2 });
 * console.log(words!.length); // prints: 2
 * ```
 */
export function fillMasks(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  text: string,
  options: { count?: number } = {},
): MaskedWord[][] {
  checkArgument("tokenizer", tokenizer, isTokenizerWith("encode", "decode", "token_to_id"));
  checkArgument("text", text, isText);
  checkArgument("model", model, isMasked);
  const masked = model as MaskedLanguageModel;
  checkOptions("fillMasks", options, { count: isWholeNumber(1, masked.config.vocabularySize) });
  const { count = 5 } = options;
  const idOf = (name: string) => tokenizer.token_to_id?.(name);
  const masks = maskNames.flatMap((name) => idOf(name) ?? []);
  const ids = idsOfText(tokenizer, text);
  const places = ids.flatMap((id, place) => (masks.includes(id) ? [place] : []));
  if (places.length === 0) {
    const known = maskNames.filter((name) => idOf(name) !== undefined);
    throw refuse("option", "text", `a text with ${known.join(" or ") || "a mask"}`, describe(text));
  }
  const { heed } = model;
  const run = () => {
    const { logits } = masked.forward(heed.tensor([ids], undefined, "int32"), { needLogits: true });
    return places.map((start) => {
      const own = heed.softmax(heed.slice(logits, { axis: 1, start, length: 1 }));
      const { values, indices } = heed.topK(own, count);
      const probabilities = [...(values.data as Float32Array)];
      return [...(indices.data as Int32Array)].map((token, i) => ({
        ...{ token, text: tokenizer.decode([token]) },
        probability: probabilities[i] as number,
      }));
    });
  };
  return noGrad(() => heed.scope(run));
}
