// Random tensors: the same seed gives the same numbers.

import type { Engine } from "../core/engine.js";
import { checkShape, type Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isNumber,
  isWholeNumber,
} from "../core/validate.js";

/** Options of `uniform`. */
export interface UniformOptions {
  /** The smallest number; 0 by default. */
  low?: number;
  /** The upper bound, which is excluded; 1 by default. */
  high?: number;
  /** The seed and the index of an element decide its value. */
  seed: number;
}

/** Options of `normal`. */
export interface NormalOptions {
  /** The mean; 0 by default. */
  mean?: number;
  /** The standard deviation; 1 by default. */
  deviation?: number;
  /** The seed and the index of an element decide its value. */
  seed: number;
}

const uniformChecks = {
  low: isNumber,
  high: isNumber,
  seed: isWholeNumber(0),
} satisfies Record<keyof UniformOptions, Check>;
const normalChecks = {
  mean: isNumber,
  deviation: isNumber,
  seed: isWholeNumber(0),
} satisfies Record<keyof NormalOptions, Check>;

/**
 * Uniformly distributed numbers in [low, high), by default [0, 1). The same seed gives the same
 * numbers.
 *
 * @param shape any shape
 * @throws HeedError "shape", "option", "memory", "disposed"
 * @example
 * ```ts
 * const x = heed.uniform([1000], { low: -1, high: 1, seed: 1 });
 * console.log(Math.abs(Number(heed.mean(x).item())) < 0.1); // prints: true
 * ```
 */
export function uniform(engine: Engine, shape: readonly number[], options: UniformOptions): Tensor {
  checkOptions("uniform", options, uniformChecks);
  const { low = 0, high = 1, seed } = options;
  return random(engine, engine.module.randomUniform, shape, low, high, seed);
}

/**
 * Normally distributed numbers, by default with mean 0 and standard deviation 1.
 *
 * @param shape any shape
 * @throws HeedError "shape", "option", "memory", "disposed"
 * @example
 * ```ts
 * const x = heed.normal([1000], { mean: 5, deviation: 0.1, seed: 1 });
 * console.log(Math.round(Number(heed.mean(x).item()))); // prints: 5
 * ```
 */
export function normal(engine: Engine, shape: readonly number[], options: NormalOptions): Tensor {
  checkOptions("normal", options, normalChecks);
  const { mean = 0, deviation = 1, seed } = options;
  return random(engine, engine.module.randomNormal, shape, mean, deviation, seed);
}

function random(
  engine: Engine,
  operation: Engine["module"]["randomUniform"],
  shape: readonly number[],
  first: number,
  second: number,
  seed: number | undefined,
): Tensor {
  checkShape(shape);
  checkArgument("seed", seed, isWholeNumber(0));
  return engine.apply(operation, [shape.length, ...shape, first, second, seed as number]);
}
