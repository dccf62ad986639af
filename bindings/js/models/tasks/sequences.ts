// The tasks of letters: copy them, reverse them, or sort them.

import { isWholeNumber } from "../../core/validate.js";
import type { Generator } from "../../nn/random.js";
import type { Alignment, Task, Translation } from "../examples.js";
import { between, choose } from "./draw.js";
import { charactersOf, checkOrder, drawFrom, unanswered, withDefaults } from "./task.js";

export type SequenceOptions = {
  /** The number of letters of the alphabet; 26 by default. */
  letters: number;
  /** The minimum length; 1 by default. */
  minLength: number;
  /**
   * The maximum length; 16 by default. The vocabulary does not depend on it, so a model can answer
   * longer examples than the examples of its training.
   */
  maxLength: number;
};

const defaults: SequenceOptions = { letters: 26, minLength: 1, maxLength: 16 };
const isLength = isWholeNumber(1, 1024);
const checks = { letters: isWholeNumber(1, 26), minLength: isLength, maxLength: isLength };

/** Computes the answer to letters, and its alignment. */
type Rule = (source: readonly string[]) => { target: readonly string[]; alignment: Alignment };

function sequences(name: string, about: string, rule: Rule) {
  return (given: Partial<SequenceOptions> = {}): Task<Translation> => {
    const options = withDefaults(name, defaults, given, checks);
    checkOrder(options, "minLength", "maxLength");
    const { minLength, maxLength } = options;
    const letters = [..."abcdefghijklmnopqrstuvwxyz"].slice(0, options.letters);
    // Draws two lengths and takes the larger one: long examples are the hardest, so they should be the most frequent.
    const draw = (random: Generator) => {
      const lengths = [0, 1].map(() => between(random, minLength, maxLength));
      return Array.from({ length: Math.max(...lengths) }, () => choose(random, letters));
    };
    return {
      name,
      about,
      kind: "translation",
      options,
      vocabulary: { source: letters, target: letters },
      longest: { source: maxLength, target: maxLength },
      generate(random, split) {
        const key = (drawn: readonly string[]) => drawn.join("");
        const source = drawFrom(name, split, () => draw(random), key);
        return { kind: "translation", source, ...rule(source) };
      },
      read: (text) => unanswered(charactersOf(text, letters)),
      solve(text) {
        const source = [...text];
        const isWritten = source.length > 0 && source.every((each) => letters.includes(each));
        return isWritten ? { kind: "translation", source, ...rule(source) } : undefined;
      },
      write: (tokens) => tokens.join(""),
    };
  };
}

export const copy = sequences("copy", "Write the letters as they are.", (source) => ({
  target: source,
  alignment: source.map((_, place) => [place]),
}));

export const reverse = sequences(
  "reverse",
  "Write the letters from the last to the first.",
  (source) => ({
    target: [...source].reverse(),
    alignment: source.map((_, place) => [source.length - 1 - place]),
  }),
);

/** An answer's letter is aligned with all equal letters of the source, because any of them could be its origin. */
export const sort = sequences(
  "sort",
  "Write the letters in the order of the alphabet.",
  (source) => {
    const target = [...source].sort();
    const placesOf = (letter: string) =>
      source.flatMap((other, place) => (other === letter ? [place] : []));
    return { target, alignment: target.map(placesOf) };
  },
);
