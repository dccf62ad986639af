// Checks of options, before anything reaches the module: C++ checks shapes and ranges, this file what
// only JavaScript can get wrong.

import { refuse } from "./error.js";

export interface Check {
  expected: string;
  accepts(value: unknown): boolean;
}

export const isBoolean: Check = {
  expected: "true or false",
  accepts: (value) => typeof value === "boolean",
};

export const isNumber: Check = {
  expected: "a finite number",
  accepts: (value) => Number.isFinite(value),
};

export function isWholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Check {
  return {
    expected:
      most === Number.MAX_SAFE_INTEGER
        ? `a whole number of ${least} or more`
        : `a whole number from ${least} to ${most}`,
    accepts: (value) =>
      Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  };
}

export function oneOf(...names: string[]): Check {
  return {
    expected: names.map((name) => JSON.stringify(name)).join(" or "),
    accepts: (value) => names.includes(value as string),
  };
}

/** Refuses what is not an object, an option that is not known, and a value that does not fit. */
export function checkOptions(
  operation: string,
  options: unknown,
  checks: Readonly<Record<string, Check>>,
): void {
  if (options === null || typeof options !== "object") {
    throw refuse("option", "options", "an object", options);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      const known = Object.keys(checks).join(", ");
      throw refuse("option", name, `an option of ${operation} (${known})`, "an unknown one");
    }
    if (!check.accepts(value)) throw refuse("option", name, check.expected, value);
  }
}

export function checkArgument(name: string, value: unknown, check: Check): void {
  if (!check.accepts(value)) throw refuse("option", name, check.expected, value);
}
