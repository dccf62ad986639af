// Tests and types of values that need no engine, so that files may be checked without one.

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

export const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object";

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
