// What all tasks share: options with their defaults, and splits that cannot overlap.

import { describe, refuse } from "../../core/error.js";
import { type Check, checkArgument, checkOptions, oneOf } from "../../core/validate.js";
import type { Split, Translation } from "../examples.js";
import { hashOf } from "../hash.js";

type Options = Record<string, number | string | boolean>;

/** All options of a task, with those that were given. */
export function withDefaults<O extends Options>(
  task: string,
  defaults: O,
  given: Partial<O>,
  checks: Readonly<Record<keyof O & string, Check>>,
): Readonly<O> {
  checkOptions(task, given, checks);
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.freeze({ ...defaults, ...Object.fromEntries(known) });
}

/** Refuses a least that is above its most. */
export function checkOrder(options: Options, least: string, most: string): void {
  const [low, high] = [options[least] as number, options[most] as number];
  if (low > high) throw refuse("option", least, `${most}, ${high}, or less`, `${low}`);
}

/**
 * The split that an example belongs to, whoever draws it, from what makes it one of its own: fourteen of
 * sixteen are for training, one for validation, one for the test.
 */
export function splitOf(key: string): Split {
  const part = hashOf(key) >>> 28;
  if (part === 0) return "test";
  return part === 1 ? "validation" : "train";
}

const isSplit = oneOf("train", "validation", "test");

/** Enough for a split of one example in sixteen to be met by all but certainty. */
const mostDraws = 4096;

/** Draws until something of the split is met. */
export function drawFrom<D>(
  task: string,
  split: Split,
  draw: () => D,
  keyOf: (drawn: D) => string,
): D {
  checkArgument("split", split, isSplit);
  for (let i = 0; i < mostDraws; i++) {
    const drawn = draw();
    if (splitOf(keyOf(drawn)) === split) return drawn;
  }
  throw refuse(
    "option",
    "split",
    `one that ${task} has examples of with these options`,
    `${describe(split)}, of which ${mostDraws} draws had none: too few are different`,
  );
}

/** What is to be translated. */
export function unanswered(source: readonly string[]): Translation {
  return { kind: "translation", source, target: [], alignment: [] };
}

/** A text's characters. @throws HeedError "option" that names the first that is not known */
export function charactersOf(text: string, known: readonly string[]): string[] {
  checkText(text);
  const characters = [...text];
  for (const [place, character] of characters.entries())
    if (!known.includes(character))
      throw refuse("option", `text[${place}]`, `one of ${known.join("")}`, describe(character));
  return characters;
}

/** Refuses what is no text, or an empty one. */
export function checkText(text: unknown): void {
  checkArgument("text", text, {
    expected: "a text that is not empty",
    accepts: (value) => typeof value === "string" && value.trim() !== "",
  });
}
