// Helpers for the tables of refused calls.

import type { Heed, HeedErrorCode, Tensor } from "heed";
import { sizeOf } from "../values.js";

/** Passes values that the types reject, as JavaScript code can. */
export const any = <T>(value: unknown): T => value as T;

/** A float tensor of this shape. */
export type Make = (...shape: number[]) => Tensor;

/** `other` is another engine. */
export type Attempt = (heed: Heed, make: Make, other: Heed) => unknown;

/** Refused calls by their titles, each with the code and the message of its error. */
export type Refusals = Readonly<
  Record<
    string,
    readonly [
      call: Attempt,
      error: `${HeedErrorCode}: ${string}: expected ${string}, got ${string}`,
    ]
  >
>;

/** Options or other changed arguments, or a function that makes them. */
export type Change =
  | ((make: Make, heed: Heed) => unknown)
  | object
  | string
  | number
  | null
  | undefined;
export const changed = (change: Change, make: Make, heed: Heed): unknown =>
  typeof change === "function" ? change(make, heed) : change;

/** An argument, the value that the message expects, and the values or shapes that are refused. */
type Wrong<V> = readonly [argument: string, expected: string, ...refused: V[]];

/** A value as messages show it. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${Array.from(value, shown).join(", ")}]`;
  return typeof value === "string" ? `"${value}"` : `${value}`;
}

/** Refused calls that differ in one value. */
export function wrong<V = unknown>(
  title: string,
  code: HeedErrorCode,
  rows: readonly Wrong<NoInfer<V>>[],
  call: (refused: V, argument: string) => Attempt,
): Refusals {
  const cases = rows.flatMap(([argument, expected, ...refused]) =>
    refused.map((each) => {
      const error = `${code}: ${argument}: expected ${expected}, got ${shown(each)}` as const;
      return [`${title} with ${argument} ${shown(each)}`, [call(each, argument), error]] as const;
    }),
  );
  return Object.fromEntries(cases);
}

/** The engine, which is called without the options whose value is undefined. */
function omitting(heed: Heed): Heed {
  const without = (argument: unknown) =>
    argument && Object.getPrototypeOf(argument) === Object.prototype
      ? Object.fromEntries(Object.entries(argument).filter(([, value]) => value !== undefined))
      : argument;
  const get = (_: Heed, name: keyof Heed) => {
    const found: unknown = heed[name];
    if (typeof found !== "function") return found;
    return (...given: unknown[]) => found.apply(heed, given.map(without));
  };
  return new Proxy(heed, { get: get as ProxyHandler<Heed>["get"] & {} });
}

/** Refused calls that differ in the value of one option. A required one is also left out. */
export function wrongOptions(
  title: string,
  call: (options: object) => Attempt,
  rows: readonly Wrong<unknown>[],
): Refusals {
  const refused = wrong(title, "option", rows, (value, name) => call({ [name]: value }));
  const required = rows.filter(([, , ...values]) => values.includes(undefined));
  const missing = wrong(
    title,
    "option",
    required.map(([name, expected]) => [name, expected, undefined]),
    (_, name) =>
      (heed, ...more) =>
        call({ [name]: undefined })(omitting(heed), ...more),
  );
  const titled = Object.entries(missing).map(
    ([words, row]) => [`${words}, left out`, row] as const,
  );
  return { ...refused, ...Object.fromEntries(titled) };
}

/** Refused calls that differ in the shape of one tensor. */
export const wrongShapes = (
  title: string,
  call: (change: (make: Make, heed: Heed) => object) => Attempt,
  rows: readonly Wrong<readonly number[]>[],
  tensor?: (heed: Heed, ...shape: number[]) => Tensor,
): Refusals =>
  wrong(title, "shape", rows, (shape: readonly number[], name) =>
    call((t, h) => ({ [name]: tensor ? tensor(h, ...shape) : t(...shape) })),
  );

/** One table of several. */
export const merged = (tables: readonly Refusals[]): Refusals => Object.assign({}, ...tables);

export const ints = (heed: Heed, ...values: number[]) => heed.tensor(Int32Array.from(values));
export const bools = (heed: Heed, ...shape: number[]) =>
  heed.tensor(new Uint8Array(sizeOf(shape)), shape, "bool");
export function disposed(heed: Heed): Tensor {
  const tensor = heed.tensor([1]);
  tensor.dispose();
  return tensor;
}
export const gone = "expected a live tensor, got a disposed one";
export const foreign = "expected a tensor of this engine, got one of another";
