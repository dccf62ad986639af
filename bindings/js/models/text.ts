// Functions from text to text with language models: generation with stop strings.

import {
  type Check,
  checkArgument,
  checkOptions,
  isFunction,
  isListOf,
  isObject,
} from "../core/validate.js";
import { isLength } from "../nn/generate.js";
import { isSeed } from "../nn/random.js";
import {
  type BatchOptions,
  batchChecks,
  inBatches,
  namedTextOrTexts,
  wholeIds,
} from "./batches.js";
import type { LoadedModel } from "./files.js";
import type { CausalLanguageModel } from "./language/causalModel.js";
import type { GenerateFromOptions, Seq2SeqLanguageModel } from "./language/seq2seqModel.js";
import { isTokenizerWith, type TextTokenizer } from "./tokenizer.js";

/**
 * Options of `writeText`. `beams`, `lengthPenalty` and `startTokens` are for models with an encoder. With beams, the
 * text is complete before `onText` and `onTokens` are called. For a list of prompts, `onTokens` gets a list with an
 * entry for each of them: undefined for a text that has ended or not begun.
 */
export interface WriteTextOptions extends BatchOptions, Omit<GenerateFromOptions, "seed"> {
  /** The number of prompts that are computed together; 8 by default. Each of them needs a cache. */
  batchSize?: number;
  /** Stops between two tokens, and ends all texts: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
  /**
   * 0 by default. Text i of a list draws with the seed `seed + i`, and is the text that its prompt alone gives with this
   * seed, apart from rounding. A model that rotates long texts in another way (LongRoPE) takes the longest prompt of a
   * batch for all of them.
   */
  seed?: number;
  /**
   * Strings that end the new text. They are not part of it. The other texts of a list go on. The text has
   * no special tokens: if one of them ends it, give its number as `endToken`.
   */
  stop?: readonly string[];
  /**
   * Called with each piece of new text as soon as it is final: its characters are complete, and it
   * is not the beginning of a text in `stop`.
   *
   * @param index the place of the prompt in the list
   */
  onText?: (piece: string, index: number) => void;
}

/** What `writeText` wrote. */
export interface WrittenText {
  /** The new text, without the prompt. */
  text: string;
  /** The new tokens. */
  tokens: number[];
  /** The reason for the end: a text in `stop`, an end token, or the maximum length or `onTokens`. */
  reason: "stop" | "end" | "length";
}

const isWriter: Check = {
  expected: "a model that predicts the next token",
  accepts: (value) => typeof (value as CausalLanguageModel)?.generate === "function",
};

const isTextList: Check = {
  expected: "a list of texts of one character or more",
  accepts: (value) => isListOf(value, (text) => typeof text === "string" && text !== ""),
};

const ownChecks = {
  ...batchChecks,
  stop: isTextList,
  onText: isFunction,
  onTokens: isFunction,
  seed: isSeed,
};

/** Returns the length of the text that is final: without the beginning of a stop, and without half a character. */
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

/** How tokens become a text, and where a text ends. */
interface Rules {
  readonly stops: readonly string[];
  readonly maxLength: number;
  readonly endTokens: readonly number[];
  /** Whether the last token of a text of the maximum length is forced. */
  readonly isForced: boolean;
  read(tokens: readonly number[]): string;
}

/** A text while a model writes it. */
class Writing {
  readonly #rules: Rules;
  readonly #context: readonly number[];
  readonly #before: string;
  readonly #tokens: number[] = [];
  readonly #tell: (piece: string) => void;
  #text = "";
  #told = 0;
  #isStopped = false;

  /** @param context the tokens before the text, which a decoder treats in a special way */
  constructor(rules: Rules, context: readonly number[], tell: (piece: string) => void) {
    this.#rules = rules;
    this.#context = context;
    this.#before = rules.read(context);
    this.#tell = tell;
  }

  /** Adds a token, and returns whether the text goes on. */
  take(token: number): boolean {
    const { stops, read } = this.#rules;
    this.#tokens.push(token);
    const all = read([...this.#context, ...this.#tokens]);
    const before = this.#before;
    this.#text = all.startsWith(before) ? all.slice(before.length) : read(this.#tokens);
    const end = firstStop(this.#text, stops);
    this.#isStopped = end >= 0;
    if (this.#isStopped) this.#text = this.#text.slice(0, end);
    this.#tellUpTo(this.#isStopped ? end : certainLength(this.#text, stops));
    return !this.#isStopped;
  }

  end(): WrittenText {
    this.#tellUpTo(this.#text.length);
    const { maxLength, endTokens, isForced } = this.#rules;
    const tokens = this.#tokens;
    const isLastForced = isForced && tokens.length === maxLength;
    const hasEnded = !isLastForced && endTokens.includes(tokens.at(-1) as number);
    const reason = this.#isStopped ? "stop" : hasEnded ? "end" : "length";
    return { text: this.#text, tokens, reason };
  }

  #tellUpTo(length: number): void {
    if (length > this.#told) this.#tell(this.#text.slice(this.#told, length));
    this.#told = Math.max(this.#told, length);
  }
}

/** Returns the function that writes the texts of a batch. */
function batchWriter(
  writer: CausalLanguageModel | Seq2SeqLanguageModel,
  writings: readonly Writing[],
  { onTokens, ...options }: Omit<WriteTextOptions, "stop" | "onText" | "batchSize" | "onProgress">,
) {
  const { beams = 1, seed = 0 } = options;
  let isOver = false;
  return async (rows: readonly (readonly number[])[], places: readonly number[]) => {
    const own = places.map((place) => writings[place] as Writing);
    const take = (tokens: readonly (number | undefined)[]): false | boolean[] => {
      const goesOn = own.map((writing, row) => {
        const token = tokens[row];
        return token !== undefined && writing.take(token);
      });
      const wanted = onTokens?.(writings.map((_, place) => tokens[places.indexOf(place)]));
      isOver ||= wanted === false;
      if (isOver || !Array.isArray(wanted)) return !isOver && goesOn;
      return goesOn.map((each, row) => each && wanted[places[row] as number] !== false);
    };
    if (!isOver && beams === 1) {
      const seeds = places.map((place) => (seed + place) >>> 0);
      await writer.generate(rows, { ...options, seed: seeds, onTokens: take });
    } else if (!isOver) {
      for (const [row, found] of (await writer.generate(rows, options)).entries())
        for (const token of found) {
          if (isOver) break;
          const goesOn = take(rows.map((_, at) => (at === row ? token : undefined)));
          if (goesOn === false || !goesOn[row]) break;
        }
    }
    return own.map((writing) => writing.end());
  };
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
 * const [same] = await writeText(model, letters, ["ab", "a longer prompt"], { maxLength: 3 });
 * console.log(text.length, reason, same!.text === text); // prints: 3 length true
 * ```
 */
export async function writeText(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  prompt: string,
  options: WriteTextOptions,
): Promise<WrittenText>;
/**
 * Continues texts in batches of similar lengths, each as alone. One prompt that is wrong or too long refuses the list.
 *
 * @returns the new texts, in the order of the prompts
 * @throws HeedError "option" that names the prompt, or `maxLength` if a text would be longer than the model's context
 */
export async function writeText(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  prompts: readonly string[],
  options: WriteTextOptions,
): Promise<WrittenText[]>;
export async function writeText(
  model: LoadedModel,
  tokenizer: TextTokenizer,
  given: string | readonly string[],
  options: WriteTextOptions,
): Promise<WrittenText | WrittenText[]> {
  checkArgument("model", model, isWriter);
  checkArgument("tokenizer", tokenizer, isTokenizerWith("encode", "decode"));
  const named = namedTextOrTexts("prompt", given);
  checkArgument("options", options, { expected: "an object with maxLength", accepts: isObject });
  const { stop: stops = [], onText, onTokens, onProgress, batchSize = 8, ...generation } = options;
  const { signal, seed, maxLength } = generation;
  const own = { stop: stops, onText, onTokens, onProgress, batchSize, signal, seed };
  checkOptions("writeText", own, ownChecks);
  checkArgument("maxLength", maxLength, isLength);
  const writer = model as CausalLanguageModel | Seq2SeqLanguageModel;
  const { config } = writer;
  const isSource = config.kind === "seq2seq";
  const starts = named.map((each) => wholeIds(tokenizer, each, config));
  const rules: Rules = {
    ...{ stops, maxLength, endTokens: [generation.endToken ?? config.endTokens].flat() },
    isForced: isSource && config.forcedEndTokens.length > 0,
    read: (tokens) => tokenizer.decode([...tokens], { skip_special_tokens: true }),
  };
  // A source is another text, and no beginning of the new one.
  const writings = starts.map(
    (start, i) => new Writing(rules, isSource ? [] : start, (piece) => onText?.(piece, i)),
  );
  const compute = batchWriter(writer, writings, { ...generation, ...(onTokens && { onTokens }) });
  // Only the prompts are padded. Afterwards the texts of a batch share each read of the weights.
  const texts = await inBatches(starts, { ...options, batchSize }, compute, () => Infinity);
  return typeof given === "string" ? (texts[0] as WrittenText) : texts;
}
