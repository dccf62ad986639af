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
