// Random seeds, and PyTorch's distributions of initial parameters.

import { inCommon, isInstance, mark, markKey } from "../core/copies.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument, instanceOf, isWholeNumber } from "../core/validate.js";
import type { Heed } from "../heed.js";
import { checkEngine } from "./module.js";

/** The seeds of generators. */
export const isSeed = isWholeNumber(0, 2 ** 32 - 1);

/**
 * Generates seeds for initial values, dropout and sampling. The same seed gives the same sequence
 * (mulberry32).
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * const generator = new nn.Generator(1);
 * const first = generator.next();
 * console.log(new nn.Generator(1).next() === first, generator.next() === first); // prints: true false
 * ```
 */
export class Generator {
  #state: number;

  constructor(seed = 0) {
    checkArgument("seed", seed, isSeed);
    this.#state = seed;
  }

  /**
   * The position in the sequence. Setting it to an earlier value repeats the sequence from there, so that
   * training can be resumed.
   */
  get state(): number {
    return this.#state;
  }

  set state(state: number) {
    checkArgument("state", state, isSeed);
    this.#state = state;
  }

  /** Returns the next seed for an operation, a whole number of 53 bits. */
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

export const isGenerator = instanceOf("a generator", Generator);

const generators = inCommon("generators", () => new WeakMap<Heed, Generator>());

/**
 * Returns the generator of modules that were created without one. Each engine has its own; its first seed
 * is 0.
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * const generator = nn.defaultGenerator(heed);
 * const { state } = generator; // to repeat what follows
 * const layer = new nn.Linear(heed, 2, 2);
 * generator.state = state;
 * console.log(new nn.Linear(heed, 2, 2).weight.data[0] === layer.weight.data[0]); // prints: true
 * ```
 */
export function defaultGenerator(heed: Heed): Generator {
  checkEngine(heed);
  const known = generators.get(heed) ?? new Generator();
  generators.set(heed, known);
  return known;
}

/**
 * Restarts the default generator of an engine from a seed.
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * nn.manualSeed(heed, 1);
 * const layer = new nn.Linear(heed, 2, 2);
 * nn.manualSeed(heed, 1);
 * console.log(new nn.Linear(heed, 2, 2).weight.data[0] === layer.weight.data[0]); // prints: true
 * ```
 */
export function manualSeed(heed: Heed, seed: number): void {
  checkArgument("seed", seed, isSeed);
  defaultGenerator(heed).state = seed;
}

/** Creates a tensor of values that are uniform in [-bound, bound). */
export function uniform(
  heed: Heed,
  generator: Generator,
  shape: readonly number[],
  bound: number,
): Tensor {
  return heed.uniform(shape, { low: -bound, high: bound, seed: generator.next() });
}

/** Creates a weight [out, in] of uniform values with the variance 2 / (in + out) (Glorot and Bengio, 2010). */
export function xavierUniform(
  heed: Heed,
  generator: Generator,
  shape: readonly [number, number],
): Tensor {
  return uniform(heed, generator, shape, Math.sqrt(6 / (shape[0] + shape[1])));
}
