// Random numbers, and the distributions that parameters begin with: PyTorch's.

import { inCommon, isInstance, mark, markKey } from "../core/copies.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkArgument, isWholeNumber } from "../core/validate.js";
import type { Heed } from "../heed.js";
import { checkEngine } from "./module.js";

const isSeed = isWholeNumber(0, 2 ** 32 - 1);

/** Seeds for initial values, dropout and sampling: the same ones for the same seed (mulberry32). */
export class Generator {
  #state: number;

  constructor(seed = 0) {
    checkArgument("seed", seed, isSeed);
    this.#state = seed;
  }

  /** Where the sequence stands. Set to what it was, it goes on as it did: a training can be resumed. */
  get state(): number {
    return this.#state;
  }

  set state(state: number) {
    checkArgument("state", state, isSeed);
    this.#state = state;
  }

  /** The next seed for an operation, a whole number of 53 bits. */
  next(): number {
    return this.#bits() * 2 ** 21 + (this.#bits() >>> 11);
  }

  #bits(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** @internal */
  get [markKey](): object {
    return mark;
  }

  static readonly [Symbol.hasInstance] = isInstance;

  get [Symbol.toStringTag](): string {
    return "Generator";
  }
}

export const isGenerator: Check = {
  expected: "a generator",
  accepts: (value) => value instanceof Generator,
};

const generators = inCommon("generators", () => new WeakMap<Heed, Generator>());

/** The generator of modules that were given none: one for each engine, which begins with seed 0. */
export function defaultGenerator(heed: Heed): Generator {
  checkEngine(heed);
  const known = generators.get(heed) ?? new Generator();
  generators.set(heed, known);
  return known;
}

/** Starts the default generator of an engine anew. */
export function manualSeed(heed: Heed, seed: number): void {
  checkArgument("seed", seed, isSeed);
  defaultGenerator(heed).state = seed;
}

/** Evenly from [-bound, bound). */
export function uniform(
  heed: Heed,
  generator: Generator,
  shape: readonly number[],
  bound: number,
): Tensor {
  return heed.uniform(shape, { low: -bound, high: bound, seed: generator.next() });
}

/** With the variance 2 / (in + out) of a weight [out, in] (Glorot and Bengio, 2010). */
export function xavierUniform(
  heed: Heed,
  generator: Generator,
  shape: readonly [number, number],
): Tensor {
  return uniform(heed, generator, shape, Math.sqrt(6 / (shape[0] + shape[1])));
}
