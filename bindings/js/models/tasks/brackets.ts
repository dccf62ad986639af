// A small formal language: brackets of three kinds, each closed by its own and in order (Dyck-3).

import { isWholeNumber } from "../../core/validate.js";
import type { Generator } from "../../nn/random.js";
import type { Continuation, Task } from "../examples.js";
import { between, choose, share } from "./draw.js";
import { charactersOf, drawFrom, withDefaults } from "./task.js";

export type BracketOptions = {
  /** The most characters of a text, 32: an even number. */
  maxLength: number;
  /** How many brackets may be open at once: 8. */
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
 * Where chance decides whether a bracket closes. Below a half, so that texts grow deep, and above the third
 * of the rest that each opener has: wherever a bracket is open, the likeliest is the one that closes it.
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

/** For each closing bracket, the place of the one it closes. */
function openersOf(tokens: readonly string[]): (number | undefined)[] {
  const open: number[] = [];
  return tokens.map((token, place) => {
    if (!openers.includes(token)) return open.pop();
    open.push(place);
    return undefined;
  });
}

/**
 * Whether a bracket opens or closes is a matter of chance, and which one opens; which one closes is not:
 * that is what is asked, and it comes from the one that it closes.
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
