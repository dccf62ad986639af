// Checks of options, before anything reaches the module: C++ checks shapes and ranges, this file what
// only JavaScript can get wrong.

import { describe, refuse } from "./error.js";
import { Tensor } from "./tensor.js";

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

export const isPositive: Check = {
  expected: "a positive number",
  accepts: (value) => Number.isFinite(value) && (value as number) > 0,
};

/** A share of numbers, not all of them. */
export const isShare: Check = {
  expected: "a number from 0 to below 1",
  accepts: (value) => typeof value === "number" && value >= 0 && value < 1,
};

export const isTensor: Check = {
  expected: "a tensor",
  accepts: (value) => value instanceof Tensor,
};

export const isListOrTensor: Check = {
  expected: "a list of numbers or a tensor",
  accepts: (value) => Array.isArray(value) || value instanceof Tensor,
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
  kind: "option" | "parameter" = "option",
): void {
  if (options === null || typeof options !== "object") {
    throw refuse("option", `${kind}s`, "an object", describe(options));
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      const known = Object.keys(checks).join(", ");
      const article = kind === "option" ? "an" : "a";
      throw refuse(
        "option",
        name,
        `${article} ${kind} of ${operation} (${known})`,
        "an unknown one",
      );
    }
    if (!check.accepts(value)) throw refuse("option", name, check.expected, describe(value));
  }
}

export function checkArgument(name: string, value: unknown, check: Check): void {
  if (!check.accepts(value)) throw refuse("option", name, check.expected, describe(value));
}

/** What a module has to train, or what was given in its place. */
export function parametersOf(given: unknown): unknown {
  if (given === null || typeof given !== "object" || !("parameters" in given)) return given;
  return typeof given.parameters === "function" ? given.parameters() : given;
}

/** The shape of what must be a live tensor. */
export function shapeOf(name: string, value: unknown): readonly number[] {
  if (!(value instanceof Tensor)) throw refuse("dtype", name, "a tensor", describe(value));
  value.engine.handle(name, value);
  return value.shape;
}
