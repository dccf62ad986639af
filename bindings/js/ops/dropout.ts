// Dropout.

import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkOptions,
  checkRequired,
  isNumber,
  isWholeNumber,
} from "../core/validate.js";

/** Options of `dropout`. */
export interface DropoutOptions {
  /** The proportion of elements that become 0. */
  rate: number;
  /** The seed and the place of an element decide whether it becomes 0. */
  seed: number;
}

const checks = {
  rate: isNumber,
  seed: isWholeNumber(0),
} satisfies Record<keyof DropoutOptions, Check>;

/**
 * Sets random elements to 0 and scales the others by 1 / (1 - rate) (Srivastava et al., 2014).
 *
 * @param x float32 of any shape, which is the result's
 * @throws HeedError "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const kept = heed.dropout(heed.ones([1000]), { rate: 0.25, seed: 1 }).data.filter((v) => v > 0);
 * console.log(Math.round(kept.length / 100), kept[0]!.toFixed(3)); // prints: 8 1.333
 * ```
 */
export function dropout(engine: Engine, x: Tensor, options: DropoutOptions): Tensor {
  checkOptions("dropout", options, checks);
  checkRequired(options, checks, "rate", "seed");
  const { rate, seed } = options;
  const drop = (x: Tensor) =>
    engine.apply(engine.module.dropout, [engine.handle("x", x), rate, seed]);
  const y = drop(x);
  recording()?.record("dropout", { x }, [y], ([d]) => ({ x: d && drop(d) }));
  return y;
}
