// Letters to be written again: as they are, from the last to the first, or in order.

import { isWholeNumber } from "../../core/validate.js";
import type { Generator } from "../../nn/random.js";
import type { Alignment, Task, Translation } from "../examples.js";
import { between, choose } from "./draw.js";
import { charactersOf, checkOrder, drawFrom, unanswered, withDefaults } from "./task.js";

export type SequenceOptions = {
  /** How many of the alphabet there are: 26. */
  letters: number;
  /** 1 */
  minLength: number;
  /** 16; the vocabulary does not depend on it, so a model can be asked for longer ones than it learned. */
  maxLength: number;
};

const defaults: SequenceOptions = { letters: 26, minLength: 1, maxLength: 16 };
const isLength = isWholeNumber(1, 1024);
const checks = { letters: isWholeNumber(1, 26), minLength: isLength, maxLength: isLength };

/** The answer to letters, and where each of its own comes from. */
type Rule = (source: readonly string[]) => { target: readonly string[]; alignment: Alignment };

function sequences(name: string, about: string, rule: Rule) {
  return (given: Partial<SequenceOptions> = {}): Task<Translation> => {
    const options = withDefaults(name, defaults, given, checks);
    checkOrder(options, "minLength", "maxLength");
    const { minLength, maxLength } = options;
    const letters = [..."abcdefghijklmnopqrstuvwxyz"].slice(0, options.letters);
    // The longer of two: the longest ones are the hardest, so they come most often.
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

/** Which of several equal letters a place has is a matter of taste: it is aligned with all of them. */
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
