// One row for each operation, from which the suites derive its tests:
//   errors.test.ts      wrong tensors (another value, disposed of, from another engine, another type); wrong
//                       options; a loss through a result without gradient; its own refusals
//   autograd.test.ts    gradients against finite differences
//   arrays.test.ts      shapes without elements and with eight axes
//   operations.test.ts  results that can be checked by hand; that every operation has a row
//   right_calls.test.ts  random calls against the reference
//   calls.test.ts       the arguments of `calls` replaced by random ones
//   out_of_memory.test.ts  `calls` with no memory left at each allocation
//   tsc -p tests/js     types

import type { Heed, Tensor } from "heed";
import type { Family } from "../calls/family.js";
import type { Make, Refusals } from "../refusals/case.js";
import { sizeOf } from "../values.js";

export type Type = "float32" | "int32" | "bool";

/** A tensor that a call takes. */
export interface Taken {
  shape: readonly number[];
  /** Undefined for an operation that only moves elements, which accepts any type. */
  type?: Type;
  /** The types that the message names, if there are several. */
  types?: string;
  /** Whether it is a member of an object of options or parameters. */
  isNamed?: boolean;
  /** The expectation in the message if no tensor is given. */
  expected?: string;
}

export const floats = (...shape: number[]): Taken => ({ shape, type: "float32" });
export const floatsOrHalves = (...shape: number[]): Taken => ({
  ...floats(...shape),
  types: "float32 or float16",
});
export const ids = (...shape: number[]): Taken => ({ shape, type: "int32" });
export const bools = (...shape: number[]): Taken => ({ shape, type: "bool" });
export const elements = (...shape: number[]): Taken => ({ shape });
export const named = (taken: Taken): Taken => ({ ...taken, isNamed: true });

export type Given = Record<string, Tensor>;

/** A valid call: the tensors that it takes, by their names in messages. */
export type Call = readonly [
  taken: Readonly<Record<string, Taken>>,
  call: (heed: Heed, given: Given) => unknown,
];

/** The options of an operation, as the message about an unknown one lists them, and a call with some. */
export type WithOptions = readonly [
  known: string,
  call: (heed: Heed, make: Make, options: never) => unknown,
];

/** A call of float32 tensors of these shapes, all of which have a gradient. */
export interface Differentiable {
  shapes: readonly (readonly number[])[];
  run: (heed: Heed, inputs: Tensor[]) => Tensor | Tensor[];
  /** The inputs keep a distance from this value, where the function has a kink or a pole. */
  away: number;
}

/** A shape, or a row of numbers. */
export const list = (...numbers: number[]): readonly number[] => numbers;

type Inputs = [Tensor, Tensor, Tensor, Tensor, Tensor, Tensor];
export const gradient = (
  shapes: readonly (readonly number[])[],
  run: (heed: Heed, ...inputs: Inputs) => Tensor | Tensor[],
  { away = 0 } = {},
): Differentiable => ({ shapes, run: (heed, inputs) => run(heed, ...(inputs as Inputs)), away });

export type Unary = (heed: Heed, x: Tensor) => Tensor;

/** A call on ones of a shape without elements, or that makes one: the shape and the numbers of its result. */
export type OfNothing = readonly [
  shape: readonly number[],
  call: Unary,
  result: readonly [shape: readonly number[], numbers: readonly number[]],
];

/** Everything that the suites know of an operation. Titles begin with its name. */
export interface Operation {
  calls: Readonly<Record<string, Call>>;
  options?: WithOptions;
  /** Empty where no float32 tensor goes in or comes out; "none" where one does and has no gradient. */
  gradients: Readonly<Record<string, Differentiable>> | "none";
  /** Calls whose result has the shape of x. */
  keepsShape?: Readonly<Record<string, Unary>>;
  ofNothing?: Readonly<Record<string, OfNothing>>;
  /** Calls that any number of axes may precede: with axes of size 1 they give the same numbers. */
  anyRank?: Readonly<Record<string, Unary>>;
  /** A call and its result, as nested lists. */
  results?: Readonly<Record<string, readonly [call: (heed: Heed) => Tensor, result: unknown]>>;
  /** Random calls against the reference. Long calls, and calls of several operations, are in tests/js/calls. */
  right?: Family;
  refusals?: Refusals;
  /** Compiled and not called: a line under @ts-expect-error that compiles is an error. */
  types?: (heed: Heed, x: Tensor) => void;
}

/** A tensor of ones as a call takes it. */
export function made(heed: Heed, { shape, type = "float32" }: Taken): Tensor {
  const size = sizeOf(shape);
  if (type === "int32") return heed.tensor(new Int32Array(size), shape);
  if (type === "bool") return heed.tensor(new Uint8Array(size).fill(1), shape, "bool");
  return heed.tensor(new Float32Array(size).fill(1), shape);
}
