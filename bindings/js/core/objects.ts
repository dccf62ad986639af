// Tests, types and parsing of values that need no engine, so that files may be checked without one.

import { describe, HeedError, isObject, refuse } from "./error.js";

export { isObject };

/** Whether a value is a list whose entries all fit. Unlike `every`, this checks the holes of a list, too. */
export function isListOf<T>(
  value: unknown,
  fits: (entry: unknown) => boolean,
): value is readonly T[] {
  try {
    return Array.isArray(value) && value.findIndex((entry) => !fits(entry)) === -1;
  } catch {
    return false; // an entry that cannot be read
  }
}

/** Whether a value is an object and not a list. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && !Array.isArray(value);

type Optional<T> = {
  [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name];
} & { [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined> };

/**
 * Options of which some may be undefined. The types of options exclude undefined, but the functions treat it as
 * an option that is absent.
 */
export const optional = <T extends object>(options: T) => options as Optional<T>;

/** @throws HeedError "format" for a text that is not JSON */
export function parseText(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refuse("format", name, "JSON", error instanceof Error ? error.message : "none");
  }
}

/** @throws HeedError "format" for a text that is not an object in JSON */
export function parseJson(text: string, name: string): Record<string, unknown> {
  const given = parseText(text, name);
  if (isRecord(given)) return given;
  throw refuse("format", name, "an object", describe(given));
}

/** Runs a function, and reports its refusals as faults of a file: HeedError "format" with the file's name. */
export function within<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const isRefusal =
      error instanceof HeedError && ["option", "shape", "dtype", "format"].includes(error.code);
    if (!isRefusal) throw error;
    throw new HeedError("format", `${file}: ${error.message}`, { cause: error });
  }
}
