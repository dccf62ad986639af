/** Reads the values of a link: each reader checks one value, and `readParams` reports those it rejects. */
import type { LinkReading } from "./room";

/** A reader throws a RangeError whose message names the values that it accepts. */
export type Readers<State> = Readonly<Record<string, (text: string) => Partial<State>>>;

export function oneOf<T extends string>(...choices: T[]) {
  return (text: string): T => {
    if (!(choices as string[]).includes(text)) throw new RangeError(`one of ${choices.join(", ")}`);
    return text as T;
  };
}

export function numberIn({ min, max }: { min: number; max: number }, whole = true) {
  return (text: string): number => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!(value >= min && value <= max) || (whole && !Number.isInteger(value))) {
      throw new RangeError(`a ${whole ? "whole number" : "number"} from ${min} to ${max}`);
    }
    return value;
  };
}

export const onOff = (text: string): boolean => oneOf("on", "off")(text) === "on";

/** Applies all valid parameters to `initial`, and describes the others in notices. */
export function readParams<State>(
  params: URLSearchParams,
  initial: State,
  readers: Readers<State>,
): LinkReading<State> {
  let state = initial;
  const notices: string[] = [];
  for (const [key, text] of params) {
    const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
    if (!read) {
      notices.push(`The link has a setting “${key.slice(0, 40)}” that this page does not know.`);
      continue;
    }
    try {
      state = { ...state, ...read(text) };
    } catch (error) {
      const wanted = (error as RangeError).message;
      notices.push(
        `The link's ${key} is “${text.slice(0, 40)}”, but it takes ${wanted}; it was left out.`,
      );
    }
  }
  return { state, notices };
}
