/** How the properties of the elements are read from attributes, and which values they accept. */

import { describe, refuse } from "../../core/error.js";
import { colourCurves, colourRanges } from "../picture/colour.js";
import type { Cell } from "../picture/layout.js";
import { readNumbers, wordsOf } from "./input.js";

/** How a property is read from its attribute, and which value is stored when it is set. */
export interface Rule {
  readonly initial: unknown;
  /** The value of an attribute's text. */
  parse(text: string): unknown;
  /**
   * Called when the property is set. Returns the value that `update` needs, or throws a HeedError.
   * By default, it returns the value itself.
   */
  take?(value: unknown, name: string): unknown;
}

/** A list as JSON, or as words with spaces between them. The first word may be "[CLS]". */
const parseList = (text: string): unknown =>
  /^\s*\[\s*["\]]/.test(text) ? JSON.parse(text) : (text.match(/\S+/g) ?? []);

const numbersIn = (text: string): number[] =>
  text
    .trim()
    .split(/[\s,]+/)
    .map(Number);

/** A property that stores a value if it fits, and refuses it otherwise. */
export const fitting = (
  initial: unknown,
  parse: Rule["parse"],
  expected: string,
  fits: (value: unknown) => boolean,
): Rule => ({
  initial,
  parse,
  take(value, name) {
    if (fits(value)) return value;
    throw refuse("option", name, expected, describe(value));
  },
});

const asGiven = (text: string): string => text;

/** A property with one of several values; the first one is the default. */
export function choice(...values: readonly string[]): Rule {
  const expected = values.map((value) => JSON.stringify(value)).join(" or ");
  return fitting(values[0], asGiven, expected, (value) => values.includes(value as string));
}

/**
 * A property with a list of texts, or null. The list is copied, because the same list may have
 * other texts when it is set again.
 */
export const texts: Rule = {
  initial: null,
  parse: parseList,
  take: (value, name) => (value === null ? null : [...wordsOf(name, value)]),
};

/** A property with a text. */
export const text = (initial: string): Rule =>
  fitting(initial, asGiven, "a text", (value) => typeof value === "string");

/** A property with a number that fits, or the initial value. */
export const numberThat = (
  initial: number | null,
  expected: string,
  fits: (value: number) => boolean,
): Rule =>
  fitting(
    initial,
    (given) => (given.trim() === "" ? given : Number(given)),
    expected,
    (value) => value === initial || (typeof value === "number" && fits(value)),
  );

/** A property with numbers, or null: see `Numbers`. */
export const numbers: Rule = {
  initial: null,
  parse: (given) => JSON.parse(given),
  take: (value, name) => (value === null ? null : readNumbers(name, value)),
};

/** A property with an index along an axis, from 0, or null if the initial value is null. */
export const place = (initial: 0 | null): Rule =>
  numberThat(
    initial,
    "a whole number of 0 or more",
    (value) => Number.isInteger(value) && value >= 0,
  );

/** A property with a cell or null; "row col" in an attribute. */
export const cell: Rule = fitting(
  null,
  (given) => {
    const [row, col] = numbersIn(given);
    return { row, col };
  },
  "{ row, col } or null",
  (value) => {
    const { row, col } = Object(value) as Cell;
    return value === null || [row, col].every((each) => Number.isInteger(each) && each >= 0);
  },
);

const shape: Rule = {
  initial: null,
  parse: (given) => (given.trim().startsWith("[") ? JSON.parse(given) : numbersIn(given)),
};

const mask: Rule = {
  initial: null,
  parse: (given) => (given === "causal" ? given : JSON.parse(given)),
  take: (value, name) =>
    value === null || value === "causal" ? value : (readNumbers(name, value)[0] ?? null),
};

const locale: Rule = {
  ...text(""),
  take(value, name) {
    try {
      return Intl.getCanonicalLocales(value as string | [])[0] ?? "";
    } catch {
      if (value === "") return "";
      throw refuse("option", name, "a language tag such as de-CH", describe(value));
    }
  },
};

/** The properties that every element has. */
export const commonRules = {
  ...{ data: numbers, shape, mask },
  ...{ tokens: texts, queries: texts, keys: texts, roles: texts },
  theme: choice("auto", "light", "dark"),
  range: choice(...colourRanges),
  curve: choice(...colourCurves),
  controls: choice("all", "none"),
  ...{ locale, label: text("") },
} satisfies Record<string, Rule>;

/** Reads an attribute, which has the name of its property. */
export const fromText = (rule: Rule, name: string, given: string): unknown => {
  try {
    return rule.parse(given);
  } catch {
    throw refuse("option", name, "JSON", describe(given));
  }
};
