/** Reads the values of a link: each reader checks one value, and `readParams` reports those it rejects. */
import type { Cell } from "#parts";
import type { LinkReading } from "./room";

/** A reader throws a RangeError whose message names the values that it accepts. */
export type Readers<State> = Readonly<Record<string, (text: string) => Partial<State>>>;

export function oneOf<T extends string>(...choices: T[]) {
  return (text: string): T => {
    if (!(choices as string[]).includes(text)) throw new RangeError(`one of ${choices.join(", ")}`);
    return text as T;
  };
}

export interface Limits {
  readonly min: number;
  readonly max: number;
}

export const isNumberIn =
  ({ min, max }: Limits, whole: boolean) =>
  (text: string) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    return value >= min && value <= max && (!whole || Number.isInteger(value));
  };

export function numberIn(limits: Limits, whole = true) {
  const isRead = isNumberIn(limits, whole);
  return (text: string): number => {
    if (isRead(text)) return Number(text);
    const { min, max } = limits;
    throw new RangeError(`a ${whole ? "whole number" : "number"} from ${min} to ${max}`);
  };
}

/** Reads a text, which is never cut. */
export const textIn = (most: number) => (text: string) => {
  if (text.length > most) throw new RangeError(`at most ${most} characters`);
  return text;
};

export const onOff = (text: string): boolean => oneOf("on", "off")(text) === "on";

/** Reads an index, which a link counts from 1. */
export function indexIn(limits: Limits) {
  const read = numberIn(limits);
  return (text: string | undefined): number => read(text ?? "") - 1;
}

/** Reads a row and a column, which a link counts from 1: "7.4". */
export function cellIn(limits: Limits) {
  const index = indexIn(limits);
  return (text: string): Cell => {
    const [row, col, ...more] = text.split(".");
    if (more.length > 0) throw new RangeError("a row and a column, such as 7.4");
    return { row: index(row), col: index(col) };
  };
}

/** The inverse of `cellIn`. */
export function cellText(cell: Cell | null): string | null {
  return cell && `${cell.row + 1}.${cell.col + 1}`;
}

/** The notice about a value that a setting of a link does not take. */
export const refusalOf = (key: string, text: string, wanted: string): string =>
  `The link's ${key} is “${text.slice(0, 40)}”, but it takes ${wanted}; it was left out.`;

/**
 * The notices about names in a link that the shown model does not have.
 *
 * @param named the names by the setting of the link
 * @param wanted the values that the settings take, in words
 */
export function missingIn(
  named: Readonly<Record<string, string | null | readonly string[]>>,
  has: (name: string) => boolean,
  wanted: string,
): string[] {
  return Object.entries(named).flatMap(([setting, names]) =>
    [names ?? []]
      .flat()
      .filter((name) => !has(name))
      .map((name) => refusalOf(setting, name, wanted)),
  );
}

/**
 * Applies all valid parameters to `initial`, and describes the others in notices. They are applied in the order of their
 * readers, because a reader may reset what a later one sets.
 */
export function readParams<State>(
  params: URLSearchParams,
  initial: State,
  readers: Readers<State>,
): LinkReading<State> {
  let state = initial;
  const notices: string[] = [];
  const keys = new Set([...Object.keys(readers), ...params.keys()]);
  const given = [...keys].flatMap((key) => params.getAll(key).map((text) => [key, text] as const));
  for (const [key, text] of given) {
    const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
    if (!read) {
      notices.push(`The link has a setting “${key.slice(0, 40)}” that this page does not know.`);
      continue;
    }
    try {
      state = { ...state, ...read(text) };
    } catch (error) {
      notices.push(refusalOf(key, text, (error as RangeError).message));
    }
  }
  return { state, notices };
}
