// Functions that all tasks share: options with defaults, and splits that cannot overlap.

import { describe, refuse } from "../../core/error.js";
import { type Check, checkArgument, checkOptions, oneOf } from "../../core/validate.js";
import type { Split, Translation } from "../examples.js";
import { hashOf } from "../hash.js";

type Options = Record<string, number | string | boolean>;

/** Returns all options of a task: the given ones, and defaults for the others. */
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

/** Throws if a minimum is above its maximum. */
export function checkOrder(options: Options, least: string, most: string): void {
  const [low, high] = [options[least] as number, options[most] as number];
  if (low > high) throw refuse("option", least, `${most}, ${high}, or less`, `${low}`);
}

/**
 * Returns the split of an example from a key that identifies its content: fourteen of sixteen keys
 * are in "train", one is in "validation", one in "test".
 */
export function splitOf(key: string): Split {
  const part = hashOf(key) >>> 28;
  if (part === 0) return "test";
  return part === 1 ? "validation" : "train";
}

const isSplit = oneOf("train", "validation", "test");

/** With this many draws, a split that has one of sixteen examples is almost certain to occur. */
const mostDraws = 4096;

/**
 * Draws until a draw belongs to the split.
 *
 * @throws HeedError "option" if no draw does
 */
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
    `a split with examples of ${task} under these options`,
    `${describe(split)}: none in ${mostDraws} draws, because too few examples are different`,
  );
}

/** A translation example without an answer. */
export function unanswered(source: readonly string[]): Translation {
  return { kind: "translation", source, target: [], alignment: [] };
}

/**
 * Returns the characters of a text.
 *
 * @throws HeedError "option" that names the first unknown character
 */
export function charactersOf(text: string, known: readonly string[]): string[] {
  checkText(text);
  const characters = [...text];
  for (const [place, character] of characters.entries())
    if (!known.includes(character))
      throw refuse("option", `text[${place}]`, `one of ${known.join("")}`, describe(character));
  return characters;
}

/** Throws unless the value is a text that is not empty. */
export function checkText(text: unknown): void {
  checkArgument("text", text, {
    expected: "a text that is not empty",
    accepts: (value) => typeof value === "string" && value.trim() !== "",
  });
}
