/** Why a text is not like the training data: another form, another year, a day that does not exist, or no date. */

export interface Untaught {
  readonly why: string;
  /** The same date, or a similar one, in a form of the training data; null if there is none. */
  readonly instead: string | null;
  /** The right answer, if the text is a date that people read in one way. */
  readonly answer: string | null;
}

interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const monthNames =
  "January February March April May June July August September October November December".split(
    " ",
  );
const weekdays = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const ordinals =
  "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first".split(
    " ",
  );
/** The years of the training examples. */
const taughtYears = { first: 1900, last: 2099 };

/** Date.UTC would read years below 100 as years from 1900 on. */
const utcDate = (year: number, month: number, day: number) =>
  new Date(new Date(0).setUTCFullYear(year, month - 1, day));
const daysIn = ({ year, month }: CalendarDate) => utcDate(year, month + 1, 0).getUTCDate();
const weekdayOf = ({ year, month, day }: CalendarDate) =>
  weekdays[utcDate(year, month, day).getUTCDay()] as string;
const abbreviates = (word: string, name: string) =>
  word.length >= 3 && name.toLowerCase().startsWith(word);
/** Also true in languages whose month begins like the English one, such as “März”. */
const namesMonth = (word: string, name: string) => word.startsWith(name.slice(0, 3).toLowerCase());
/** Tuesday in French and in Spanish, which would otherwise be read as March. */
const otherTuesdays = ["mardi", "martes"];

/** The number of the month; 0 if there is none, or if words of different languages name two. */
function monthIn(words: readonly string[]): number {
  const months = monthNames.flatMap((name, i) =>
    words.some((word) => !otherTuesdays.includes(word) && namesMonth(word, name)) ? [1 + i] : [],
  );
  return months.length === 1 ? (months[0] as number) : 0;
}

const inWords = ({ year, month, day }: CalendarDate) => `${day} ${monthNames[month - 1]} ${year}`;
const taughtForm = ({ year, month, day }: CalendarDate) => `${day}.${month}.${year}`;

/** Lower case without accents. Unicode's compatibility forms of digits become 0 to 9. */
const folded = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

interface Parts {
  readonly numbers: readonly string[];
  /** 1 to 12; 0 if no month is named. */
  readonly month: number;
  /** The day as an ordinal in words; 0 if there is none. */
  readonly ordinal: number;
  /** A weekday's full name; null if there is none. */
  readonly weekday: string | null;
}

function partsOf(text: string): Parts {
  const plain = folded(text);
  const words = Array.from(plain.matchAll(/\p{L}+(-\p{L}+)?/gu), ([word]) => word);
  const single = words.flatMap((word) => word.split("-"));
  const numbers = Array.from(plain.matchAll(/\d+/g), ([digits]) => digits);
  // Eight digits in a row are a year, a month and a day.
  const split = numbers.flatMap(
    (number) => /^(\d{4})(\d\d)(\d\d)$/.exec(number)?.slice(1) ?? [number],
  );
  return {
    numbers: split,
    month: monthIn(single),
    ordinal: 1 + ordinals.findIndex((name) => words.includes(name)),
    weekday: weekdays.find((name) => single.some((word) => abbreviates(word, name))) ?? null,
  };
}

/** Every way to read three numbers, or two and a named month, as year, month and day. The days may not exist. */
function readingsOf({ numbers, month, ordinal }: Parts): CalendarDate[] {
  const rest = ordinal > 0 ? [...numbers, String(ordinal)] : [...numbers];
  const years = rest.filter((number) => number.length === 4);
  if (years.length !== 1) return [];
  const year = Number(years[0]);
  const at = rest.indexOf(years[0] as string);
  const others = rest.filter((_, i) => i !== at).map(Number);
  const [first = 0, second = 0] = others;
  if (month > 0) return others.length === 1 ? [{ year, month, day: first }] : [];
  if (others.length !== 2) return [];
  const monthFirst = { year, month: first, day: second };
  return at === 0 ? [monthFirst] : [monthFirst, { year, month: second, day: first }];
}

const isReading = ({ month, day }: CalendarDate) => month >= 1 && month <= 12 && day >= 1;
const exists = (date: CalendarDate) => isReading(date) && date.day <= daysIn(date);
const isTaughtYear = ({ year }: CalendarDate) =>
  year >= taughtYears.first && year <= taughtYears.last;

const form = "This form was not taught";
const padded = (number: number, digits: number) => String(number).padStart(digits, "0");
const isoOf = ({ year, month, day }: CalendarDate) =>
  `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;

/** Explains a text to which the task of dates has no answer. */
export function explainUntaught(text: string): Untaught {
  const parts = partsOf(text);
  const readings = readingsOf(parts);
  const there = readings.filter(exists);
  const [date] = there;
  if (!date) return explainMissing(text, readings.find(isReading));
  const answer = there.every((other) => inWords(other) === inWords(date)) ? isoOf(date) : null;
  if (!isTaughtYear(date)) {
    const { first, last } = taughtYears;
    const why = `The models were taught the years ${first} to ${last} only, not ${date.year}.`;
    return { why, instead: null, answer };
  }
  if (parts.weekday !== null && parts.weekday !== weekdayOf(date)) {
    const why = `${inWords(date)} is a ${weekdayOf(date)}, not a ${parts.weekday}, so the text contradicts itself.`;
    return { why, instead: taughtForm(date), answer: null };
  }
  if (answer === null) {
    const why = `${form}, and it has two readings: ${there.map(inWords).join(" or ")}.`;
    return { why, instead: taughtForm(there[1] as CalendarDate), answer };
  }
  const [monthFirst] = readings;
  const why =
    monthFirst && !isReading(monthFirst) && text.includes("/")
      ? `${form}: slashes put the month first, and there is no month ${monthFirst.month}. Day first, it is ${inWords(date)}.`
      : `${form}. It means ${inWords(date)}.`;
  return { why, instead: taughtForm(date), answer };
}

/** @param missing a reading of the text whose day does not exist */
function explainMissing(text: string, missing: CalendarDate | undefined): Untaught {
  if (missing) {
    const { year, month, day } = missing;
    const last = daysIn(missing);
    const why = `${monthNames[month - 1]} ${year} has ${last} days, so there is no day ${day} and no right answer.`;
    const instead = isTaughtYear(missing) ? taughtForm({ year, month, day: last }) : null;
    return { why, instead, answer: null };
  }
  const why = /\p{L}|\d/u.test(text)
    ? "This is not a date with a year of four digits, a month and a day, so there is no right answer."
    : "There is no date in this text, so there is no right answer.";
  return { why, instead: null, answer: null };
}
