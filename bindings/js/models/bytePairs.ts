// Byte-pair encoding: the most frequent pair of adjacent tokens is merged into one token,
// repeatedly (Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword
// Units", 2016).

import {
  type Check,
  checkArgument,
  isListOf,
  isText,
  isTexts,
  isWholeNumber,
} from "../core/validate.js";
import { PairCounts } from "./pairCounts.js";
import { charactersOf } from "./tasks/task.js";

const isWordCounts: Check = {
  expected: "a map of words and their numbers, each 1 or more",
  accepts: (value) =>
    value instanceof Map &&
    [...value].every(([word, times]) => isText.accepts(word) && isWholeNumber(1).accepts(times)),
};

/** Splits a text into words, each with the space before it. Their concatenation is the text. */
const wordsOf = (text: string): string[] => text.split(/(?= )/);

/** Two adjacent tokens that are merged into one. */
export type TokenPair = readonly [left: string, right: string];

/**
 * Splits texts into tokens of one or more characters. No token extends from one word into the next.
 *
 * @example
 * ```ts
 * const pairs = BytePairs.learn([..."abc "], ["ab ab abc"], 1);
 * console.log(pairs.encode("abc ab")); // prints: [ 'ab', 'c', ' ', 'ab' ]
 * ```
 */
export class BytePairs {
  /** The pairs that are merged, in this order. */
  readonly merges: readonly TokenPair[];
  /** All characters and merged pairs, sorted. */
  readonly tokens: readonly string[];
  readonly #characters: readonly string[];
  /** The index of each merge, by its left and then its right token. */
  readonly #ranks = new Map<string, Map<string, number>>();

  /**
   * @param characters all characters that texts may contain, including characters that the training
   *   texts lack
   */
  constructor(characters: readonly string[], merges: readonly TokenPair[]) {
    checkArgument("characters", characters, isTexts);
    checkArgument("merges", merges, {
      expected: "a list of pairs of texts",
      accepts: (value) =>
        isListOf(value, (pair) => isTexts.accepts(pair) && (pair as unknown[]).length === 2),
    });
    this.merges = merges;
    this.#characters = characters;
    this.tokens = [...new Set([...characters, ...merges.map((pair) => pair.join(""))])].sort();
    for (const [rank, [left, right]] of merges.entries()) {
      const after = this.#ranks.get(left) ?? new Map<string, number>();
      this.#ranks.set(left, after);
      if (!after.has(right)) after.set(right, rank);
    }
  }

  /** Learns at most `count` merges; fewer if every word has become one token. */
  static learn(characters: readonly string[], texts: readonly string[], count: number): BytePairs {
    checkArgument("texts", texts, isTexts);
    const words = new Map<string, number>();
    for (const text of texts)
      for (const word of wordsOf(text)) words.set(word, (words.get(word) ?? 0) + 1);
    return BytePairs.learnWords(characters, words, count);
  }

  /**
   * Learns from words and the number of times that each occurs. Of equally frequent pairs, the
   * first in lexicographic order is merged, so that the order of the words does not matter.
   */
  static learnWords(
    characters: readonly string[],
    words: ReadonlyMap<string, number>,
    count: number,
  ): BytePairs {
    checkArgument("characters", characters, isTexts);
    checkArgument("words", words, isWordCounts);
    checkArgument("count", count, isWholeNumber(0));
    const counts = new PairCounts(words);
    const merges: TokenPair[] = [];
    while (merges.length < count) {
      const best = counts.mostFrequent();
      if (best === undefined) break;
      counts.merge(best);
      merges.push(best);
    }
    return new BytePairs(characters, merges);
  }

  /**
   * Splits a text into tokens. Their concatenation is the text.
   *
   * @throws HeedError "option" that names an unknown character
   */
  encode(text: string): string[] {
    checkArgument("text", text, isText);
    charactersOf(text, this.#characters);
    return wordsOf(text).flatMap((word) => this.split(word));
  }

  /**
   * Splits one word into tokens: it repeatedly merges the pair that was learned first among the
   * pairs of the word, until the word has no learned pair.
   */
  split(word: string): string[] {
    checkArgument("word", word, isText);
    let tokens = [...word];
    while (tokens.length > 1) {
      let best = Number.POSITIVE_INFINITY;
      for (let i = 1; i < tokens.length; i++)
        best = Math.min(best, this.#rank(tokens[i - 1] as string, tokens[i] as string));
      const pair = this.merges[best];
      if (pair === undefined) break;
      tokens = merged(tokens, pair);
    }
    return tokens;
  }

  #rank(left: string, right: string): number {
    return this.#ranks.get(left)?.get(right) ?? Number.POSITIVE_INFINITY;
  }

  get [Symbol.toStringTag](): string {
    return "BytePairs";
  }
}

/** Merges all occurrences of a pair, from left to right. */
function merged(tokens: readonly string[], [left, right]: TokenPair): string[] {
  const result: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const isPair = tokens[i] === left && tokens[i + 1] === right;
    result.push(isPair ? left + right : (tokens[i] as string));
    if (isPair) i++;
  }
  return result;
}
