// Random calls: the drawn data, and the call made from it. The tests and `./dev soak` run the same ones.

import * as fc from "fast-check";
import type { Heed } from "heed";
import { broadcastAt, type Values } from "../oracle.js";
import { Random } from "../values.js";

/** Calls of one kind. The drawn data is plain, so that a failure can be printed, repeated and made smaller. */
export interface Family {
  readonly given: fc.Arbitrary<unknown>;
  /** Makes the call, and throws if its result is wrong. Returns whether the engine refused it. */
  readonly run: (heed: Heed, given: unknown) => boolean;
}

/** Valid calls, whose results are compared with the reference. */
export function right<T>(given: fc.Arbitrary<T>, run: (heed: Heed, given: T) => void): Family {
  return {
    given,
    run: (heed, drawn) => {
      heed.scope(() => run(heed, drawn as T));
      return false;
    },
  };
}

export const whole = (min: number, max: number) => fc.integer({ min, max });
export const flag = fc.boolean();
export const pick = <const T>(...choices: T[]): fc.Arbitrary<T> => fc.constantFrom(...choices);
export const maybe = <T>(given: fc.Arbitrary<T>) => fc.option(given, { nil: undefined });
/** The seed of the numbers in a call's tensors. */
export const seed = whole(0, 2 ** 31 - 1);
export const shape = fc.array(whole(0, 6), { maxLength: 4 });
/** Sizes from 1 on: at least `least` of them. */
export const sizes = (least: number) => fc.array(whole(1, 6), { minLength: least, maxLength: 4 });
export const random = (drawn: number) => new Random(drawn);

/** Only the options that are given. */
export function given<T extends object>(options: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> };
}

/** All indices of a shape, in the order of its elements. */
export function indices(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (all, size) => all.flatMap((index) => Array.from({ length: size }, (_, i) => [...index, i])),
    [[]],
  );
}

export const at = (x: Values, index: readonly number[]) => broadcastAt(x, index) as number;

/** Replaces the size of an axis. */
export const resized = (shape: readonly number[], axis: number, size: number) =>
  shape.map((old, i) => (i === axis ? size : old));

/** A shape, and one of its axes. */
export const shapeWithAxis = fc
  .array(whole(0, 6), { minLength: 1, maxLength: 4 })
  .chain((shape) => fc.record({ shape: fc.constant(shape), axis: whole(0, shape.length - 1) }));
