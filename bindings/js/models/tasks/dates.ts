// The task of dates: from common notations to ISO 8601.

import { isWholeNumber, oneOf } from "../../core/validate.js";
import { Generator } from "../../nn/random.js";
import { BytePairs } from "../bytePairs.js";
import type { Task, Translation } from "../examples.js";
import { below, between, choose } from "./draw.js";
import { charactersOf, drawFrom, unanswered, withDefaults } from "./task.js";

export type DateOptions = {
  /** The forms of the dates: "short" has numbers and abbreviations, "long" has words in full; "all" by default. */
  forms: "all" | "short" | "long";
  /** The tokens of a source; "character" by default. Answers always consist of characters. */
  tokens: "character" | "subword";
  /** The number of merges of subwords; 120 by default. */
  merges: number;
};

const defaults: DateOptions = { forms: "all", tokens: "character", merges: 120 };
const checks = {
  forms: oneOf("all", "short", "long"),
  tokens: oneOf("character", "subword"),
  merges: isWholeNumber(1, 1000),
};

interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const [firstYear, lastYear] = [1900, 2099];
const months =
  "January February March April May June July August September October November December".split(
    " ",
  );
const weekdays = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const ones = "first second third fourth fifth sixth seventh eighth ninth tenth".split(" ");
const teens =
  "eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth";
const ordinals = [
  ...ones,
  ...teens.split(" "),
  "twentieth",
  ...ones.slice(0, 9).map((one) => `twenty-${one}`),
  "thirtieth",
  "thirty-first",
];

const twoDigits = (count: number) => String(count).padStart(2, "0");
const isoOf = ({ year, month, day }: CalendarDate) =>
  `${year}-${twoDigits(month)}-${twoDigits(day)}`;

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** The day of the week; 0 is Sunday (Sakamoto, 1992: January and February belong to the year before). */
function weekdayOf({ year, month, day }: CalendarDate): number {
  const shift = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4][month - 1] as number;
  const y = month < 3 ? year - 1 : year;
  return (y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + shift + day) % 7;
}

/** The ordinal ending, such as "st" in "1st". */
function endingOf(day: number): string {
  const isTeen = day > 10 && day < 20;
  return (isTeen ? undefined : ["th", "st", "nd", "rd"][day % 10]) ?? "th";
}

type Part = keyof CalendarDate;

/** A field of a form: its text for a date, all possible texts, and the part of the date that it gives. */
interface Field {
  readonly part?: Part;
  readonly all: readonly string[];
  of(date: CalendarDate): string;
}

const named = (
  all: readonly string[],
  place: (date: CalendarDate) => number,
  part?: Part,
): Field => ({
  ...(part === undefined ? {} : { part }),
  all,
  of: (date) => all[place(date)] as string,
});
const countsTo = (most: number) => Array.from({ length: most }, (_, i) => i + 1);
const ofMonth = (name: (month: string) => string) =>
  named(months.map(name), ({ month }) => month - 1, "month");
const ofDay = (name: (day: number) => string, part?: Part) =>
  named(countsTo(31).map(name), ({ day }) => day - 1, part);

const fields: Readonly<Record<string, Field>> = {
  year: named(
    Array.from({ length: lastYear - firstYear + 1 }, (_, i) => String(firstYear + i)),
    ({ year }) => year - firstYear,
    "year",
  ),
  m: named(countsTo(12).map(String), ({ month }) => month - 1, "month"),
  mm: named(countsTo(12).map(twoDigits), ({ month }) => month - 1, "month"),
  Mar: ofMonth((name) => name.slice(0, 3)),
  March: ofMonth((name) => name),
  march: ofMonth((name) => name.toLowerCase()),
  MARCH: ofMonth((name) => name.toUpperCase()),
  d: ofDay(String, "day"),
  dd: ofDay(twoDigits, "day"),
  third: ofDay((day) => ordinals[day - 1] as string, "day"),
  // The ending gives no information beyond the number before it.
  rd: ofDay(endingOf),
  Wed: named(
    weekdays.map((name) => name.slice(0, 3)),
    weekdayOf,
  ),
  Wednesday: named(weekdays, weekdayOf),
};

/**
 * In notations with dots the day is first. In notations with slashes the month is first, unless the
 * year is first. No notation has two meanings.
 */
const shortForms = [
  "<mm>/<dd>/<year>",
  "<m>/<d>/<year>",
  "<d>.<m>.<year>",
  "<dd>.<mm>.<year>",
  "<year>/<mm>/<dd>",
  "<year><mm><dd>",
  "<d>-<Mar>-<year>",
  "<d> <Mar> <year>",
  "<Mar> <d> <year>",
  "<Mar>. <d>, <year>",
  "<year> <Mar> <d>",
  "<Wed> <d> <Mar> <year>",
];
const longForms = [
  "<March> <d>, <year>",
  "<d> <March> <year>",
  "<MARCH> <d> <year>",
  "<march> <d> <year>",
  "<d><rd> of <March> <year>",
  "the <d><rd> of <March>, <year>",
  "<March> the <d><rd>, <year>",
  "<Wednesday>, <March> <d>, <year>",
  "<Wednesday> the <d><rd> of <March> <year>",
  "the <third> of <March> <year>",
];

/** A form: its fields and the texts between them. */
type Form = readonly (Field | string)[];
const formOf = (text: string): Form =>
  text
    .split(/<(\w+)>/)
    .map((piece, i) => (i % 2 === 1 ? (fields[piece] as Field) : piece))
    .filter((piece) => piece !== "");
const forms = { short: shortForms.map(formOf), long: longForms.map(formOf) };
const allForms = [...forms.short, ...forms.long];

const textsOf = (piece: Field | string) => (typeof piece === "string" ? [piece] : piece.all);
const characters = [...new Set(allForms.flat().flatMap(textsOf).join(""))].sort();
const answers = [..."-0123456789"];
const longestOf = (form: Form) =>
  form.reduce((sum, piece) => sum + Math.max(...textsOf(piece).map((text) => text.length)), 0);

/** Writes a date in a form: the text, and for each character the part of the date that it gives. */
function written(form: Form, date: CalendarDate): { text: string; parts: (Part | undefined)[] } {
  const pieces = form.map((piece) =>
    typeof piece === "string"
      ? { text: piece, part: undefined }
      : { text: piece.of(date), part: piece.part },
  );
  return {
    text: pieces.map(({ text }) => text).join(""),
    parts: pieces.flatMap(({ text, part }) => [...text].map(() => part)),
  };
}

/** Parses a date in a form, exactly: the weekday must be right, and the day must exist. */
function dateIn(form: Form, text: string): CalendarDate | undefined {
  const pattern = form.map((piece) => {
    if (typeof piece === "string") return piece.replace(/\W/g, "\\$&");
    return `(${piece.part === undefined ? "?:" : `?<${piece.part}>`}${piece.all.join("|")})`;
  });
  const told = new RegExp(`^${pattern.join("")}$`).exec(text)?.groups;
  if (told === undefined) return undefined;
  const placeOf = (part: Part) => {
    const field = form.find((piece) => typeof piece !== "string" && piece.part === part) as Field;
    return field.all.indexOf(told[part] as string);
  };
  const date = {
    year: firstYear + placeOf("year"),
    month: 1 + placeOf("month"),
    day: 1 + placeOf("day"),
  };
  const isThere = date.day <= daysOf(date.year, date.month);
  return isThere && written(form, date).text === text ? date : undefined;
}

function drawDate(random: Generator): CalendarDate {
  const [year, month] = [between(random, firstYear, lastYear), 1 + below(random, 12)];
  return { year, month, day: between(random, 1, daysOf(year, month)) };
}

const draw = (random: Generator, split: "train" | "validation" | "test") =>
  drawFrom("dates", split, () => drawDate(random), isoOf);

/** The number of dates from which subwords are learned. */
const textsToLearnFrom = 1000;

function learnSubwords(merges: number): BytePairs {
  const random = new Generator(0);
  const texts = Array.from(
    { length: textsToLearnFrom },
    () => written(choose(random, allForms), draw(random, "train")).text,
  );
  return BytePairs.learn(characters, texts, merges);
}

/** For each character of an answer, its part of the date and its index in that part. */
const targetParts: readonly (readonly [Part, number] | undefined)[] = [
  ...[0, 1, 2, 3].map((digit) => ["year", digit] as const),
  undefined,
  ...[0, 1].map((digit) => ["month", digit] as const),
  undefined,
  ...[0, 1].map((digit) => ["day", digit] as const),
];

/**
 * The task of dates. The digits of a year are aligned with the same digits. The digits of a month
 * or a day are aligned with all characters that give the month or the day, because the first digit
 * of 12 requires both. Hyphens have no alignment. All forms of a date belong to the same split, so
 * a model never saw the dates of other splits in training.
 */
export function dates(given: Partial<DateOptions> = {}): Task<Translation> {
  const options = withDefaults("dates", defaults, given, checks);
  const subwords = options.tokens === "subword" ? learnSubwords(options.merges) : undefined;
  const drawn = options.forms === "all" ? allForms : forms[options.forms];
  const tokensOf = (text: string) =>
    subwords === undefined ? charactersOf(text, characters) : subwords.encode(text);
  const exampleOf = (form: Form, date: CalendarDate): Translation => {
    const { text, parts } = written(form, date);
    const source = tokensOf(text);
    // The index of the token of each character.
    const tokens = source.flatMap((token, place) => [...token].map(() => place));
    const alignment = targetParts.map((target) => {
      if (target === undefined) return [];
      const [part, digit] = target;
      const all = tokens.filter((_, place) => parts[place] === part);
      return part === "year" ? all.slice(digit, digit + 1) : [...new Set(all)];
    });
    return { kind: "translation", source, target: [...isoOf(date)], alignment };
  };
  return {
    name: "dates",
    about: "Write a date, in whatever form it comes, as year, month and day in numbers.",
    kind: "translation",
    options,
    vocabulary: { source: subwords?.tokens ?? characters, target: answers },
    longest: { source: Math.max(...drawn.map(longestOf)), target: 10 },
    generate(random, split) {
      const date = draw(random, split);
      return exampleOf(choose(random, drawn), date);
    },
    read: (text) => unanswered(tokensOf(text)),
    solve(text) {
      for (const form of allForms) {
        const date = dateIn(form, text);
        if (date !== undefined) return exampleOf(form, date);
      }
      return undefined;
    },
    write: (tokens) => tokens.join(""),
  };
}
