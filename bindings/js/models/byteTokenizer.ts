// A byte-level tokenizer: byte-pair encoding over the bytes of UTF-8, so that every text has tokens
// (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, section 2.2). Its
// file is a tokenizer.json of Hugging Face's tokenizers: a BPE model with the pre-tokenizer and
// decoder "ByteLevel", like the file of GPT-2.

import { describe, refuse } from "../core/error.js";
import { parseText } from "../core/objects.js";
import {
  type Check,
  checkArgument,
  isListOf,
  isRecord,
  isText,
  isWholeNumber,
} from "../core/validate.js";
import { BytePairs, type TokenPair } from "./bytePairs.js";
import type { TextTokenizer } from "./tokenizer.js";

/**
 * The token between two texts, and before the first one.
 *
 * @example
 * ```ts
 * console.log(endOfText); // prints: <|endoftext|>
 * ```
 */
export const endOfText = "<|endoftext|>";

/**
 * The words within which bytes are merged: English contractions, letters, digits and other signs,
 * each with the space before them, and white space. It is the pattern of GPT-2, which "ByteLevel"
 * requires.
 */
const wordPattern = /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/**
 * The character that represents each byte: the byte's character in Latin-1 if it is visible,
 * otherwise a character from U+0100 on.
 */
const byteCharacters: readonly string[] = (() => {
  const isVisible = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCharCode(isVisible(byte) ? byte : next++),
  );
})();
const byteOf = new Map(byteCharacters.map((character, byte) => [character, byte]));

const encoder = new TextEncoder();
const inByteCharacters = (text: string): string =>
  Array.from(encoder.encode(text), (byte) => byteCharacters[byte]).join("");

const wordsOf = (text: string): readonly string[] => text.match(wordPattern) ?? [];

const isIds: Check = {
  expected: "a list of whole numbers of 0 or more",
  accepts: (value) =>
    (value instanceof Int32Array && value.every((id) => id >= 0)) ||
    isListOf(value, isWholeNumber(0).accepts),
};

const wrong = (what: string, expected: string, got: string) =>
  refuse("format", `tokenizer: ${what}`, expected, got);

/** The number of words whose tokens are cached, so that a long text is split quickly. */
const mostKept = 2 ** 16;

/**
 * Converts any text to ids and back. In a tokenizer that `learn` makes, id 0 is the end of a text,
 * ids 1 to 256 are the bytes, and the others are merges.
 *
 * @example
 * ```ts
 * const tokenizer = ByteTokenizer.learn(["the cat and the hat"], 260);
 * const { ids } = tokenizer.encode("the hat");
 * console.log(tokenizer.decode(ids), tokenizer.size); // prints: the hat 260
 * ```
 */
export class ByteTokenizer implements TextTokenizer {
  /** The tokens by id. Each character of a token represents one byte. */
  readonly tokens: readonly string[];
  /** The id of `endOfText`. `encode` never returns it: these characters have no special meaning in a text. */
  readonly endId: number;
  readonly #pairs: BytePairs;
  readonly #ids: ReadonlyMap<string, number>;
  readonly #kept = new Map<string, readonly number[]>();

  /**
   * @param merges pairs of tokens, in their order; each byte is written as one character
   * @param tokens all tokens by id; by default the end of a text, the bytes and the merges
   */
  constructor(merges: readonly TokenPair[], tokens?: readonly string[]) {
    this.#pairs = new BytePairs(byteCharacters, merges);
    const needed = new Set([...byteCharacters, ...merges.map((pair) => pair.join(""))]);
    for (const token of merges.flat())
      if (!needed.has(token))
        throw wrong("merges", "pairs of bytes and of earlier merges", describe(token));
    if (needed.has(endOfText)) throw wrong("merges", `none to ${endOfText}`, "one");
    this.tokens = tokens ?? [endOfText, ...needed];
    this.#ids = new Map(this.tokens.map((token, id) => [token, id]));
    for (const token of [endOfText, ...needed])
      if (!this.#ids.has(token)) throw wrong("tokens", `${describe(token)} among them`, "none");
    this.endId = this.#ids.get(endOfText) as number;
    for (const token of this.tokens)
      if (token !== endOfText && ![...token].every((character) => byteOf.has(character)))
        throw wrong("tokens", "characters that stand for bytes", describe(token));
  }

  /**
   * Learns a tokenizer from texts.
   *
   * @param size the number of tokens, 257 or more; the texts may give fewer
   */
  static learn(texts: Iterable<string>, size: number): ByteTokenizer {
    checkArgument("size", size, isWholeNumber(257));
    const counts = new Map<string, number>();
    for (const text of texts) {
      checkArgument("texts", text, isText);
      for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const words = new Map([...counts].map(([word, times]) => [inByteCharacters(word), times]));
    return new ByteTokenizer(BytePairs.learnWords(byteCharacters, words, size - 257).merges);
  }

  /** The number of tokens. */
  get size(): number {
    return this.tokens.length;
  }

  /** Returns the ids of a text. Half of a surrogate pair becomes U+FFFD, as in every UTF-8 text. */
  encode(text: string): { ids: number[] } {
    checkArgument("text", text, isText);
    const ids: number[] = [];
    for (const word of wordsOf(text)) {
      // The longest word may have more tokens than a call can have arguments.
      for (const id of this.#idsOf(word)) ids.push(id);
    }
    return { ids };
  }

  #idsOf(word: string): readonly number[] {
    const known = this.#kept.get(word);
    if (known) return known;
    const tokens = this.#pairs.split(inByteCharacters(word));
    const ids = tokens.map((token) => this.#ids.get(token) as number);
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(word, ids);
    return ids;
  }

  /** Returns the bytes of tokens; the end of a text has none. */
  bytes(ids: ArrayLike<number>): Uint8Array {
    checkArgument("ids", ids, isIds);
    const bytes: number[] = [];
    for (const [place, id] of Array.from(ids).entries()) {
      const token = this.tokens[id];
      if (token === undefined) {
        const range = `ids below ${this.size}`;
        throw refuse("option", `ids[${place}]`, range, `${id}`);
      }
      if (id === this.endId) continue;
      for (const character of token) bytes.push(byteOf.get(character) as number);
    }
    return Uint8Array.from(bytes);
  }

  /** Returns the text of tokens. Bytes that are not UTF-8, such as a part of a character, become U+FFFD. */
  decode(ids: ArrayLike<number>): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.bytes(ids));
  }

  /** Returns the id of a token in the notation of `tokens`; undefined if there is none. */
  token_to_id(token: string): number | undefined {
    checkArgument("token", token, isText);
    return this.#ids.get(token);
  }

  /** Returns the content of a tokenizer.json. */
  toFile(): string {
    const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true };
    const special = { single_word: false, lstrip: false, rstrip: false, normalized: false };
    const file = {
      version: "1.0",
      truncation: null,
      padding: null,
      added_tokens: [{ id: this.endId, content: endOfText, ...special, special: true }],
      normalizer: null,
      pre_tokenizer: { ...byteLevel, use_regex: true },
      post_processor: null,
      decoder: { ...byteLevel, use_regex: true },
      model: {
        ...{ type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: null },
        ...{ end_of_word_suffix: null, fuse_unk: false, byte_fallback: false },
        vocab: Object.fromEntries(this.#ids),
        merges: this.#pairs.merges.map((pair) => pair.join(" ")),
      },
    };
    return `${JSON.stringify(file, undefined, 1)}\n`;
  }

  /**
   * Reads the content of a tokenizer.json of byte-level byte-pair encoding with the words of GPT-2
   * and `endOfText` as the only special token: a file that `toFile` wrote, or GPT-2's. The content
   * is not trusted.
   *
   * @throws HeedError "format" for any other file
   */
  static fromFile(json: string): ByteTokenizer {
    checkArgument("json", json, isText);
    const file = parseText(json, "tokenizer: file");
    for (const [path, expected, accepts] of demands) {
      const given = at(file, path);
      if (!accepts(given)) throw wrong(path, expected, describe(given));
    }
    return new ByteTokenizer(readMerges(at(file, "model.merges")), readTokens(file));
  }

  get [Symbol.toStringTag](): string {
    return "ByteTokenizer";
  }
}

/** The value at a path of names; undefined if there is none. */
const at = (file: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce(
      (part, name) => (isRecord(part) && Object.hasOwn(part, name) ? part[name] : undefined),
      file,
    );

type Demand = readonly [path: string, expected: string, accepts: (value: unknown) => boolean];

const none = (path: string): Demand => [path, "none", (value) => !value];

/** The requirements on a file that this class can read. */
const demands: readonly Demand[] = [
  ["model.type", '"BPE"', (type) => type === undefined || type === "BPE"],
  ["pre_tokenizer.type", '"ByteLevel"', (type) => type === "ByteLevel"],
  ["pre_tokenizer.use_regex", "true", (flag) => flag === undefined || flag === true],
  ["decoder.type", '"ByteLevel"', (type) => type === "ByteLevel"],
  [
    "post_processor.type",
    'none, or "ByteLevel"',
    (type) => type === undefined || type === "ByteLevel",
  ],
  ...["pre_tokenizer.add_prefix_space", "normalizer", "truncation", "padding"].map(none),
  ...["dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback"].map((name) =>
    none(`model.${name}`),
  ),
  none("model.ignore_merges"),
  [
    "added_tokens",
    `${endOfText} alone`,
    (list) =>
      isListOf<unknown>(list, isRecord) &&
      list.length === 1 &&
      at(list[0], "content") === endOfText,
  ],
];

function readMerges(given: unknown): TokenPair[] {
  if (!Array.isArray(given))
    throw wrong("model.merges", "a list of pairs of tokens", describe(given));
  return given.map((merge: unknown) => {
    const pair = typeof merge === "string" ? merge.split(" ") : merge;
    const isPair = isListOf<string>(pair, (token) => isText.accepts(token) && token !== "");
    if (isPair && pair.length === 2) return pair as unknown as TokenPair;
    throw wrong("model.merges", "two tokens in each", describe(merge));
  });
}

/** The tokens by id. */
function readTokens(file: unknown): string[] {
  const vocabulary = at(file, "model.vocab");
  if (!isRecord(vocabulary)) throw wrong("model.vocab", "the ids of tokens", describe(vocabulary));
  const [end] = at(file, "added_tokens") as unknown[];
  const ids = new Map([...Object.entries(vocabulary), [endOfText, at(end, "id")]]);
  const tokens = new Array<string | undefined>(ids.size).fill(undefined);
  for (const [token, id] of ids) {
    if (!isWholeNumber(0, ids.size - 1).accepts(id) || tokens[id as number] !== undefined) {
      const expected = `each id from 0 to ${ids.size - 1} once`;
      throw wrong("model.vocab", expected, `${describe(id)} of ${describe(token)}`);
    }
    tokens[id as number] = token;
  }
  return tokens as string[];
}
