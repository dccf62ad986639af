// Converts tokens to ids and back, and lists of different lengths to tensors.

import { describe, refuse } from "../core/error.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkArgument, isListOf, isTexts, isWholeNumber } from "../core/validate.js";
import type { Heed } from "../heed.js";
import { checkEngine } from "../nn/module.js";

/**
 * The special tokens, with which every vocabulary begins, in this order.
 *
 * @example
 * ```ts
 * console.log(specialTokens.length, specialTokens[padId]); // prints: 3 <pad>
 * ```
 */
export const specialTokens: readonly string[] = ["<pad>", "<start>", "<end>"];
/**
 * The id of padding in every vocabulary.
 *
 * @example
 * ```ts
 * console.log(padId); // prints: 0
 * ```
 */
export const padId = 0;
/**
 * The id before the first token of an answer.
 *
 * @example
 * ```ts
 * console.log(startId); // prints: 1
 * ```
 */
export const startId = 1;
/**
 * The id after the last token of an answer.
 *
 * @example
 * ```ts
 * console.log(endId); // prints: 2
 * ```
 */
export const endId = 2;

const isIds: Check = {
  expected: "a list of whole numbers of 0 or more",
  accepts: (value) => isListOf(value, isWholeNumber(0).accepts),
};
const isLengths: Check = {
  expected: "a list of whole numbers from 0 to 1048576",
  accepts: (value) => isListOf(value, isWholeNumber(0, 2 ** 20).accepts),
};
const isRows: Check = {
  expected: "a list of lists of whole numbers",
  accepts: (value) => isListOf(value, (row) => isListOf(row, Number.isInteger)),
};

/**
 * Tokens and their ids.
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * const vocabulary = new Vocabulary(["a", "b"]);
 * console.log(vocabulary.decode(vocabulary.encode(["b", "a"]))); // prints: [ 'b', 'a' ]
 * ```
 */
export class Vocabulary {
  /** The special tokens, then the others. */
  readonly tokens: readonly string[];
  readonly #ids: ReadonlyMap<string, number>;

  constructor(tokens: readonly string[]) {
    checkArgument("vocabulary", tokens, isTexts);
    this.tokens = [...specialTokens, ...tokens];
    this.#ids = new Map(this.tokens.map((token, id) => [token, id]));
    if (this.#ids.size !== this.tokens.length) {
      const twice = this.tokens.find((token, id) => this.#ids.get(token) !== id);
      throw refuse("option", "vocabulary", "each token once", `${describe(twice)} twice`);
    }
  }

  /** The number of tokens. */
  get size(): number {
    return this.tokens.length;
  }

  /**
   * Returns the ids of tokens.
   *
   * @throws HeedError "option" that names the unknown token and its position
   */
  encode(tokens: readonly string[]): number[] {
    checkArgument("tokens", tokens, isTexts);
    return tokens.map((token, place) => {
      const id = this.#ids.get(token);
      if (id === undefined)
        throw refuse("option", `tokens[${place}]`, "a token that the model knows", describe(token));
      return id;
    });
  }

  /** Returns the tokens before the end token, or all if there is none. */
  decode(ids: readonly number[]): string[] {
    checkArgument("ids", ids, isIds);
    const end = ids.indexOf(endId);
    const said = end === -1 ? ids : ids.slice(0, end);
    return said.map((id) => this.tokens[id] ?? `<${id}>`);
  }

  get [Symbol.toStringTag](): string {
    return "Vocabulary";
  }
}

/**
 * int32 [rows.length, length of the longest row]; `fill` pads the shorter rows.
 *
 * @throws HeedError "option", "memory"
 * @example
 * ```ts
 * console.log(padded(heed, [[5, 6, 7], [8]]).toArray()); // prints: [ [ 5, 6, 7 ], [ 8, 0, 0 ] ]
 * ```
 */
export function padded(heed: Heed, rows: readonly (readonly number[])[], fill = padId): Tensor {
  checkEngine(heed);
  checkArgument("rows", rows, isRows);
  const length = Math.max(...rows.map((row) => row.length));
  const ids = new Int32Array(rows.length * length).fill(fill);
  for (const [i, row] of rows.entries()) ids.set(row, i * length);
  return heed.tensor(ids, [rows.length, length]);
}

/**
 * bool [lengths.length, largest length], true up to each length; undefined if all lengths are
 * equal.
 *
 * @throws HeedError "option", "memory"
 * @example
 * ```ts
 * console.log(maskOf(heed, [3, 1])!.toArray()); // prints: [ [ true, true, true ], [ true, false, false ] ]
 * ```
 */
export function maskOf(heed: Heed, lengths: readonly number[]): Tensor | undefined {
  checkEngine(heed);
  checkArgument("lengths", lengths, isLengths);
  const longest = Math.max(...lengths);
  if (lengths.every((length) => length === longest)) return undefined;
  const mask = new Uint8Array(lengths.length * longest);
  for (const [i, length] of lengths.entries()) mask.fill(1, i * longest, i * longest + length);
  return heed.tensor(mask, [lengths.length, longest], "bool");
}
