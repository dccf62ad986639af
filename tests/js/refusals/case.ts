// Helpers for the tables of refused calls.

import type { Heed, HeedErrorCode, Tensor } from "heed";
import { sizeOf } from "../values.js";

/** Passes values that the types reject, as JavaScript code can. */
export const any = <T>(value: unknown): T => value as T;

/** A float tensor of this shape. */
export type Make = (...shape: number[]) => Tensor;

export interface Case {
  what: string;
  /** `other` is another engine. */
  call: (heed: Heed, make: Make, other: Heed) => unknown;
  code: HeedErrorCode;
  argument: string;
  expected: string;
  got: string;
}

/** A case in one line: its title, the call, the code, and the message as [argument, expected, got]. */
export function row(
  what: string,
  call: Case["call"],
  code: HeedErrorCode,
  [argument, expected, got]: [argument: string, expected: string, got: string],
): Case {
  return { what, call, code, argument, expected, got };
}

export const ints = (heed: Heed, ...values: number[]) => heed.tensor(Int32Array.from(values));
export const bools = (heed: Heed, ...shape: number[]) =>
  heed.tensor(new Uint8Array(sizeOf(shape)), shape, "bool");
export function disposed(heed: Heed): Tensor {
  const tensor = heed.tensor([1]);
  tensor.dispose();
  return tensor;
}
export const gone: [string, string] = ["a live tensor", "a disposed one"];
export const foreign: [string, string] = ["a tensor of this engine", "one of another"];
