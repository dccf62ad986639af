// Byte-pair encoding: the most frequent pair of adjacent tokens is merged into one token, repeatedly
// (Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016).

import { type Check, checkArgument, isListOf, isWholeNumber } from "../core/validate.js";
import { charactersOf } from "./tasks/task.js";

const isText: Check = { expected: "a text", accepts: (value) => typeof value === "string" };
const isTexts: Check = {
  expected: "a list of texts",
  accepts: (value) => isListOf(value, isText.accepts),
};

/** Splits a text into words, each with the space before it. Their concatenation is the text. */
const wordsOf = (text: string): string[] => text.split(/(?= )/);

/** Merges all occurrences of a pair, from left to right. */
function merged(tokens: readonly string[], left: string, right: string): string[] {
  const result: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const isPair = tokens[i] === left && tokens[i + 1] === right;
    result.push(isPair ? left + right : (tokens[i] as string));
    if (isPair) i++;
  }
  return result;
}

type Pair = readonly [string, string];

/** Whether pair a precedes pair b in lexicographic order, which breaks ties. */
const isBefore = (a: Pair, b: Pair): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

/** Splits texts into tokens of one or more characters. No token extends from one word into the next. */
export class BytePairs {
  /** The pairs that are merged, in this order. */
  readonly merges: readonly Pair[];
  /** All characters and merged pairs, sorted. */
  readonly tokens: readonly string[];
  readonly #characters: readonly string[];

  /** @param characters all characters that texts may have, whether or not the training texts have them */
  constructor(characters: readonly string[], merges: readonly Pair[]) {
    checkArgument("characters", characters, isTexts);
    checkArgument("merges", merges, {
      expected: "a list of pairs of texts",
      accepts: (value) => isListOf(value, (pair) => isTexts.accepts(pair)),
    });
    this.merges = merges;
    this.#characters = characters;
    this.tokens = [...new Set([...characters, ...merges.map((pair) => pair.join(""))])].sort();
  }

  /** Learns at most `count` merges; fewer if every word has become one token. */
  static learn(characters: readonly string[], texts: readonly string[], count: number): BytePairs {
    checkArgument("characters", characters, isTexts);
    checkArgument("texts", texts, isTexts);
    checkArgument("count", count, isWholeNumber(0));
    const counts = new Map<string, number>();
    for (const word of texts.flatMap(wordsOf)) counts.set(word, (counts.get(word) ?? 0) + 1);
    let words = [...counts].map(([word, times]) => ({ tokens: [...word], times }));
    const merges: Pair[] = [];
    while (merges.length < count) {
      const pairs = new Map<string, { pair: Pair; times: number }>();
      for (const { tokens, times } of words) {
        for (let i = 1; i < tokens.length; i++) {
          const pair: Pair = [tokens[i - 1] as string, tokens[i] as string];
          const key = pair.join("\0");
          pairs.set(key, { pair, times: (pairs.get(key)?.times ?? 0) + times });
        }
      }
      let best: { pair: Pair; times: number } | undefined;
      for (const each of pairs.values()) {
        const lead = each.times - (best?.times ?? 0);
        if (lead > 0 || (best && lead === 0 && isBefore(each.pair, best.pair))) best = each;
      }
      if (best === undefined) break;
      const [left, right] = best.pair;
      merges.push(best.pair);
      words = words.map((word) => ({ ...word, tokens: merged(word.tokens, left, right) }));
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
    return wordsOf(text).flatMap((word) =>
      this.merges.reduce((tokens, pair) => merged(tokens, ...pair), [...word]),
    );
  }

  get [Symbol.toStringTag](): string {
    return "BytePairs";
  }
}
