// A small formal language: brackets of three kinds that are closed in the right order (Dyck-3).

import { isWholeNumber } from "../../core/validate.js";
import type { Generator } from "../../nn/random.js";
import type { Continuation, Task } from "../examples.js";
import { between, choose, share } from "./draw.js";
import { charactersOf, drawFrom, withDefaults } from "./task.js";

export type BracketOptions = {
  /** The maximum number of characters of a text, an even number; 32 by default. */
  maxLength: number;
  /** The maximum number of brackets that are open at the same time; 8 by default. */
  maxDepth: number;
};

const defaults: BracketOptions = { maxLength: 32, maxDepth: 8 };
const checks = {
  maxLength: {
    expected: "an even number from 2 to 1024",
    accepts: (value: unknown) =>
      isWholeNumber(2, 1024).accepts(value) && (value as number) % 2 === 0,
  },
  maxDepth: isWholeNumber(1, 512),
};

const closerOf: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const openers = Object.keys(closerOf);
const known = [...openers, ...Object.values(closerOf)].sort();

/**
 * The probability of a closing bracket at a position where both kinds are possible. It is below a
 * half, so that texts become deep. It is above a third of the rest, which is the probability of
 * each opening bracket. So the closing bracket is the most likely token at each position with an
 * open bracket.
 */
const shareOfClosers = 0.4;

function draw(random: Generator, { maxLength, maxDepth }: BracketOptions): string[] {
  const pairs = [0, 1].map(() => between(random, 1, maxLength / 2));
  const length = 2 * Math.max(...pairs);
  const open: string[] = [];
  return Array.from({ length }, (_, place) => {
    const isFull = open.length === maxDepth || open.length === length - place;
    if (open.length > 0 && (isFull || share(random) < shareOfClosers))
      return closerOf[open.pop() as string] as string;
    const opener = choose(random, openers);
    open.push(opener);
    return opener;
  });
}

/** Returns, for each closing bracket, the position of the bracket that it closes. */
function openersOf(tokens: readonly string[]): (number | undefined)[] {
  const open: number[] = [];
  return tokens.map((token, place) => {
    if (!openers.includes(token)) return open.pop();
    open.push(place);
    return undefined;
  });
}

/**
 * The task of brackets. Whether a bracket opens or closes is random, and so is the kind of an
 * opening bracket. The kind of a closing bracket is not random: the model must predict it from the
 * bracket that it closes.
 */
export function brackets(given: Partial<BracketOptions> = {}): Task<Continuation> {
  const options = withDefaults("brackets", defaults, given, checks);
  const { maxLength } = options;
  const write = (tokens: readonly string[]) => tokens.join("");
  return {
    name: "brackets",
    about: "Go on with brackets of three kinds, so that each is closed by its own.",
    kind: "continuation",
    options,
    vocabulary: { source: known, target: known },
    longest: { source: maxLength, target: maxLength },
    generate(random, split) {
      const tokens = drawFrom("brackets", split, () => draw(random, options), write);
      const opened = openersOf(tokens);
      return {
        kind: "continuation",
        tokens,
        allowed: tokens.map((token, place) => (opened[place] === undefined ? undefined : [token])),
        alignment: opened.map((place) => (place === undefined ? [] : [place])),
      };
    },
    read(text) {
      const tokens = charactersOf(text, known);
      return {
        kind: "continuation",
        tokens,
        allowed: tokens.map(() => undefined),
        alignment: tokens.map(() => []),
      };
    },
    write,
  };
}
