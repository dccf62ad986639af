// The baseline of a language model: interpolated modified Kneser-Ney smoothing (Chen and Goodman, "An Empirical Study
// of Smoothing Techniques for Language Modeling", 1999, section 3).

/** An open-addressing hash table from whole numbers below 2^53 to ids in the order of insertion. */
class Index {
  #keys = new Float64Array(1 << 10).fill(-1);
  #ids = new Int32Array(1 << 10);
  size = 0;

  /** The id of a key, or -1. */
  get(key) {
    return this.#ids[this.#place(key)] - 1;
  }

  /** The id of a key, which is the next one if the key is new. */
  add(key) {
    let place = this.#place(key);
    if (this.#ids[place] === 0) {
      if (2 * this.size >= this.#keys.length) {
        this.#grow();
        place = this.#place(key);
      }
      this.#keys[place] = key;
      this.#ids[place] = ++this.size;
    }
    return this.#ids[place] - 1;
  }

  #place(key) {
    const mask = this.#keys.length - 1;
    const [low, high] = [key >>> 0, Math.floor(key / 2 ** 32)];
    let place = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    place = (place ^ (place >>> 15)) & mask;
    while (this.#ids[place] !== 0 && this.#keys[place] !== key) place = (place + 1) & mask;
    return place;
  }

  #grow() {
    const [keys, ids] = [this.#keys, this.#ids];
    this.#keys = new Float64Array(2 * keys.length).fill(-1);
    this.#ids = new Int32Array(2 * keys.length);
    for (const [old, id] of ids.entries()) {
      if (id === 0) continue;
      const place = this.#place(keys[old]);
      this.#keys[place] = keys[old];
      this.#ids[place] = id;
    }
  }
}

/**
 * The discounts of counts of 1, of 2, and of 3 or more (equation 26), from the number of n-grams with each count. If
 * one of these numbers is 0, the text is too short for the equation, and the discounts are 1/2, 1 and 3/2.
 */
function discountsOf(counts) {
  const n = [0, 0, 0, 0, 0];
  for (const count of counts) if (count <= 4) ++n[count];
  if (n.slice(1).includes(0)) return [0, 0.5, 1, 1.5];
  const y = n[1] / (n[1] + 2 * n[2]);
  return [0, ...[1, 2, 3].map((i) => i - ((i + 1) * y * n[i + 1]) / n[i])];
}

/**
 * An n-gram model. It counts each occurrence of the longest n-grams, and each different preceding token of shorter
 * ones. The ids of n-grams are in the order of insertion for each length. A context is an n-gram without its last
 * token.
 */
export class KneserNey {
  #vocabulary;
  /** For each length from 1: the ids of n-grams, their counts and discounts, and sums for contexts. */
  #orders;

  /**
   * @param tokens ids of tokens, below `vocabulary`, of one text
   * @param vocabulary the size of the vocabulary, including tokens that the text does not contain
   * @param order the length of the longest n-grams
   */
  constructor(tokens, vocabulary, order = 5) {
    this.#vocabulary = vocabulary;
    const indices = Array.from({ length: order }, () => new Index());
    const room = tokens.length;
    const counts = indices.map(() => new Int32Array(room));
    const contexts = indices.map(() => new Int32Array(room));
    // The ids of the n-grams that end at the previous token, by their length minus 1.
    let before = [];
    for (const token of tokens) {
      const ending = [];
      let isNewAbove = false;
      for (let n = Math.min(before.length + 1, order) - 1; n >= 0; n--) {
        const context = n === 0 ? 0 : before[n - 1];
        const known = indices[n].size;
        const id = indices[n].add(context * vocabulary + token);
        contexts[n][id] = context;
        ending[n] = id;
        if (n === order - 1 || isNewAbove) ++counts[n][id];
        isNewAbove = id === known;
      }
      before = ending;
    }
    this.#orders = indices.map((index, n) => {
      const size = index.size;
      const contextCount = n === 0 ? 1 : indices[n - 1].size;
      const own = counts[n].subarray(0, size);
      const discounts = discountsOf(own);
      const total = new Float64Array(contextCount);
      const kept = new Float64Array(contextCount);
      for (const [id, count] of own.entries()) {
        total[contexts[n][id]] += count;
        kept[contexts[n][id]] += discounts[Math.min(count, 3)];
      }
      return { index, counts: own, discounts, total, kept };
    });
  }

  /**
   * The probability of a token after a history, of which only the last tokens matter.
   *
   * @param history ids, the newest last
   */
  probability(token, history) {
    const order = this.#orders.length;
    const known = history.slice(Math.max(0, history.length - order + 1));
    let probability = 1 / this.#vocabulary;
    // From the shortest context to the longest one that occurs in the text.
    for (let length = 0; length <= known.length; length++) {
      const context = this.#contextId(known.slice(known.length - length));
      const { index, counts, discounts, total, kept } = this.#orders[length];
      if (context === -1) break;
      if (total[context] === 0) continue;
      const id = index.get(context * this.#vocabulary + token);
      const count = id === -1 ? 0 : counts[id];
      const own = count - discounts[Math.min(count, 3)];
      probability = (own + kept[context] * probability) / total[context];
    }
    return probability;
  }

  /** The id of an n-gram as a context; -1 if it does not occur in the text. */
  #contextId(tokens) {
    let id = 0;
    for (const [n, token] of tokens.entries()) {
      id = this.#orders[n].index.get(id * this.#vocabulary + token);
      if (id === -1) return -1;
    }
    return id;
  }

  /** The sum of -ln p over all tokens of a text except the first. */
  loss(tokens) {
    let sum = 0;
    const order = this.#orders.length;
    for (let i = 1; i < tokens.length; i++)
      sum -= Math.log(this.probability(tokens[i], tokens.slice(Math.max(0, i - order + 1), i)));
    return sum;
  }
}
