// The sinusoidal positional encoding.

import type { Engine } from "../core/engine.js";
import { withSinusoidalOptions } from "../core/members.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isPositive,
  isWholeNumber,
} from "../core/validate.js";

/** Options of `sinusoidalEncoding`. */
export interface SinusoidalOptions {
  /** 10000 by default. */
  base?: number;
  /** The position of the first row; 0 by default. */
  offset?: number;
}

const checks = { base: isPositive, offset: isWholeNumber(0) } satisfies Record<
  keyof SinusoidalOptions,
  Check
>;

/**
 * The sines and cosines of Vaswani et al., 2017, section 3.5: [length, size].
 *
 * @throws HeedError "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.sinusoidalEncoding(1, 4).toArray()); // prints: [ [ 0, 1, 0, 1 ] ]
 * ```
 */
export function sinusoidalEncoding(
  engine: Engine,
  length: number,
  size: number,
  options: SinusoidalOptions = {},
): Tensor {
  checkArgument("length", length, isWholeNumber(0));
  checkArgument("size", size, isWholeNumber(0));
  checkOptions("sinusoidalEncoding", options, checks);
  const args = withSinusoidalOptions([length, size], options);
  return engine.apply(engine.module.sinusoidalEncoding, args);
}
