// Dropout.

import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isNumber,
  isWholeNumber,
} from "../core/validate.js";

export interface DropoutOptions {
  /** The share of numbers that become 0. */
  rate: number;
  /** Which ones is a function of it and of their places. */
  seed: number;
}

const dropoutChecks = {
  rate: isNumber,
  seed: isWholeNumber(0),
} satisfies Record<keyof DropoutOptions, Check>;

export function dropout(engine: Engine, x: Tensor, options: DropoutOptions): Tensor {
  checkOptions("dropout", options, dropoutChecks);
  checkArgument("rate", options.rate, isNumber);
  checkArgument("seed", options.seed, isWholeNumber(0));
  const { rate, seed } = options;
  const drop = (x: Tensor) =>
    engine.run(engine.module.dropout, [engine.handle("x", x), rate, seed]).tensor();
  const y = drop(x);
  recording()?.record("dropout", { x }, [y], ([d]) => ({ x: d && drop(d) }));
  return y;
}
