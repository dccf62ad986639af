// Checks of options before a call. C++ checks shapes and ranges; this file finds errors that only JavaScript allows.

import type { Engine } from "./engine.js";
import { describe, refuse } from "./error.js";
import { isListOf, isObject, isRecord } from "./objects.js";
import { type DType, Tensor } from "./tensor.js";

export { isListOf, isObject, isRecord };

export interface Check {
  expected: string;
  accepts(value: unknown): boolean;
}

/** A check that accepts the instances of a class. */
// @__NO_SIDE_EFFECTS__
export const instanceOf = (
  expected: string,
  kind: abstract new (...args: never[]) => unknown,
): Check => ({ expected, accepts: (value) => value instanceof kind });

const largestFloat32 = 2 ** 128 - 2 ** 104;

export const isBoolean: Check = {
  expected: "true or false",
  accepts: (value) => typeof value === "boolean",
};

export const isNumber: Check = {
  expected: "a finite float32 number",
  accepts: (value) => Number.isFinite(value) && Math.abs(value as number) <= largestFloat32,
};

export const isPositive: Check = {
  expected: "a positive number",
  accepts: (value) => Number.isFinite(value) && (value as number) > 0,
};

export const isPositiveFloat: Check = {
  expected: "a positive float32 number",
  accepts: (value) => isNumber.accepts(value) && Math.fround(value as number) > 0,
};

/** A proportion below 1. */
export const isShare: Check = {
  expected: "a number from 0 to below 1",
  accepts: (value) => typeof value === "number" && value >= 0 && value < 1,
};

export const isTensor = instanceOf("a tensor", Tensor);

export const isText: Check = {
  expected: "a text",
  accepts: (value) => typeof value === "string",
};

export const isTexts: Check = {
  expected: "a list of texts",
  accepts: (value) => isListOf(value, isText.accepts),
};

export const isSignal: Check = {
  expected: "an AbortSignal",
  accepts: (value) => value instanceof AbortSignal,
};

export const isFunction: Check = {
  expected: "a function",
  accepts: (value) => typeof value === "function",
};

export const isListOrTensor: Check = {
  expected: "a list of numbers or a tensor",
  accepts: (value) => Array.isArray(value) || value instanceof Tensor,
};

/** Whether a value is an object whose members of these names can be read: a getter may throw. */
export function isReadable(value: unknown, ...names: string[]): value is Record<string, unknown> {
  try {
    for (const name of names) Reflect.get(value as object, name);
    return isObject(value);
  } catch {
    return false;
  }
}

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

/** An axis of a tensor; a negative one counts from the end. */
export const isAxis = isWholeNumber(-8, 7);

/** A number of layers: each has many objects, so it needs a bound. */
export const isLayerCount = isWholeNumber(1, 4096);

/** The number of bytes that WebAssembly can address. */
export const mostBytes = 2 ** 32;

export function oneOf(...names: string[]): Check {
  return {
    expected: names.map((name) => JSON.stringify(name)).join(" or "),
    accepts: (value) => names.includes(value as string),
  };
}

/**
 * Throws for options that are not an object, for an unknown option, and for a value that does not
 * fit or cannot be read. Options that an object inherits are checked, too. Returns whether any
 * option has a value other than false, because a flag of attention that is false has no effect.
 */
export function checkOptions(
  operation: string,
  options: unknown,
  checks: Readonly<Record<string, Check>>,
  kind: "option" | "parameter" = "option",
): boolean {
  const names = namesOf(options, checks);
  if (names === undefined) throw refuse("option", `${kind}s`, "an object", describe(options));
  let isAnyGiven = false;
  for (const name of names) {
    const value = readValue(options as Record<string, unknown>, name);
    if (value === undefined) continue;
    isAnyGiven ||= value !== false;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) {
      const known = Object.keys(checks).join(", ");
      const article = kind === "option" ? "an" : "a";
      const expected = `${article} ${kind} of ${operation} (${known})`;
      throw refuse("option", name, expected, "an unknown one");
    }
    checkArgument(name, value, check);
  }
  return isAnyGiven;
}

/** The names of options; undefined if the value is not an object of options or cannot be read. */
function namesOf(
  options: unknown,
  checks: Readonly<Record<string, Check>>,
): readonly string[] | undefined {
  try {
    if (!isRecord(options) || ArrayBuffer.isView(options) || options instanceof Tensor)
      return undefined;
    const names = Object.keys(options);
    const prototype = Object.getPrototypeOf(options);
    if (prototype === Object.prototype || prototype === null) return names;
    const inherited = Object.keys(checks).filter(
      (name) => !Object.hasOwn(options, name) && name in options,
    );
    return [...names, ...inherited];
  } catch {
    return undefined;
  }
}

/** A value that throws when it is read, in the place of an option whose getter does. */
const unreadable = new Proxy(
  {},
  {
    getPrototypeOf: () => {
      throw new TypeError();
    },
  },
);

function readValue(options: Record<string, unknown>, name: string): unknown {
  try {
    return options[name];
  } catch {
    return unreadable;
  }
}

export function checkArgument(name: string, value: unknown, check: Check): void {
  if (!fits(value, check)) throw refuse("option", name, check.expected, describe(value));
}

/** Whether a check accepts a value; false if the value cannot be read. */
function fits(value: unknown, check: Check): boolean {
  try {
    return check.accepts(value);
  } catch {
    return false;
  }
}

/** The parameters of a module; any other value is returned as it is. */
export function parametersOf(given: unknown): unknown {
  if (!isObject(given) || !("parameters" in given)) return given;
  return typeof given.parameters === "function" ? given.parameters() : given;
}

/** Throws for the result of an async function, which would continue after its caller has finished. */
export function checkNoPromise(argument: string, result: unknown): void {
  if (!(result instanceof Promise)) return;
  // Its outcome is ignored.
  result.catch(() => {});
  throw refuse("option", argument, "a function that is not async", "a promise");
}

/**
 * Throws unless a value is a live tensor of the engine with this type and shape, with C++'s order of checks
 * and its messages. A size that is undefined may have any value.
 */
export function checkTensor(
  engine: Engine,
  name: string,
  tensor: unknown,
  sizes: readonly (number | undefined)[],
  dtype: DType = "float32",
): void {
  engine.handle(name, tensor);
  const { shape, dtype: given } = tensor as Tensor;
  if (given !== dtype) throw refuse("dtype", name, dtype, given);
  const got = `[${shape.join(", ")}]`;
  const isSameRank = shape.length === sizes.length;
  if (!isSameRank && sizes.includes(undefined))
    throw refuse("shape", name, `rank ${sizes.length}`, got);
  const expected = sizes.map((size, axis) => size ?? shape[axis]);
  if (!isSameRank || shape.some((size, axis) => size !== expected[axis]))
    throw refuse("shape", name, `[${expected.join(", ")}]`, got);
}

/** Throws for a required option that is missing. */
export function checkRequired<Name extends string>(
  options: Readonly<Partial<Record<Name, unknown>>>,
  checks: Readonly<Record<Name, Check>>,
  ...names: Name[]
): void {
  for (const name of names) checkArgument(name, options[name], checks[name]);
}

/** An axis of x, counted from the first one. */
export function axisOf(x: Tensor, axis: number): number {
  checkArgument("axis", axis, isAxis);
  const rank = x.shape.length;
  const found = axis < 0 ? axis + rank : axis;
  if (found < 0 || found >= rank)
    throw refuse("option", "axis", `an axis of [${x.shape.join(", ")}]`, String(axis));
  return found;
}

/** The shape of a tensor; throws unless it is a live tensor. */
export function shapeOf(name: string, value: unknown): readonly number[] {
  if (!(value instanceof Tensor)) throw refuse("dtype", name, "a tensor", describe(value));
  value.engine.handle(name, value);
  return value.shape;
}
