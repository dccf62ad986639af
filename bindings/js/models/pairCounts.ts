// The number of times that each pair of adjacent tokens occurs in a set of words, kept up to date
// while pairs are merged. A merge visits only the words that have its pair, so that thousands of
// merges of a text of millions of words take seconds.

type Pair = readonly [left: string, right: string];

interface Word {
  /** The ids of its tokens. */
  tokens: number[];
  readonly times: number;
}

interface Occurrences {
  readonly left: number;
  readonly right: number;
  times: number;
  /** The words that have, or once had, the pair. */
  readonly words: Set<Word>;
}

/** The largest number of different tokens: a pair of ids is one number of 53 bits. */
const mostTokens = 2 ** 26;

export class PairCounts {
  readonly #texts: string[] = [];
  readonly #ids = new Map<string, number>();
  readonly #pairs = new Map<number, Occurrences>();

  /** @param words each word and the number of times that it occurs */
  constructor(words: ReadonlyMap<string, number>) {
    for (const [text, times] of words) {
      const word = { tokens: [...text].map((character) => this.#id(character)), times };
      this.#count(word, 1);
    }
  }

  /** The most frequent pair; of equally frequent ones the first in lexicographic order. */
  mostFrequent(): Pair | undefined {
    let best: Occurrences | undefined;
    for (const each of this.#pairs.values()) {
      const lead = each.times - (best?.times ?? 0);
      if (lead > 0 || (best && lead === 0 && this.#isBefore(each, best))) best = each;
    }
    return best && [this.#texts[best.left] as string, this.#texts[best.right] as string];
  }

  /** Merges all occurrences of a pair, in each word from left to right. */
  merge([left, right]: Pair): void {
    const [first, second] = [this.#id(left), this.#id(right)];
    const occurrences = this.#pairs.get(first * mostTokens + second);
    if (occurrences === undefined) return;
    const whole = this.#id(left + right);
    for (const word of [...occurrences.words]) {
      this.#count(word, -1);
      const tokens: number[] = [];
      for (let i = 0; i < word.tokens.length; i++) {
        const isPair = word.tokens[i] === first && word.tokens[i + 1] === second;
        tokens.push(isPair ? whole : (word.tokens[i] as number));
        if (isPair) i++;
      }
      word.tokens = tokens;
      this.#count(word, 1);
    }
  }

  /** Adds the pairs of a word, or removes them with the sign -1. */
  #count(word: Word, sign: 1 | -1): void {
    for (let i = 1; i < word.tokens.length; i++) {
      const [left, right] = [word.tokens[i - 1] as number, word.tokens[i] as number];
      const key = left * mostTokens + right;
      const pair = this.#pairs.get(key) ?? { left, right, times: 0, words: new Set() };
      pair.times += sign * word.times;
      if (pair.times === 0) this.#pairs.delete(key);
      else this.#pairs.set(key, pair);
      if (sign > 0) pair.words.add(word);
      else pair.words.delete(word);
    }
  }

  #isBefore(a: Occurrences, b: Occurrences): boolean {
    const [left, other] = [this.#texts[a.left] as string, this.#texts[b.left] as string];
    return left < other || (left === other && this.#right(a) < this.#right(b));
  }

  #right({ right }: Occurrences): string {
    return this.#texts[right] as string;
  }

  #id(token: string): number {
    const known = this.#ids.get(token);
    if (known !== undefined) return known;
    this.#ids.set(token, this.#texts.length);
    return this.#texts.push(token) - 1;
  }
}
