// The cross-entropy loss.

import { notGiven } from "../core/border.js";
import type { Engine } from "../core/engine.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, isNumber, isWholeNumber, oneOf } from "../core/validate.js";

export interface CrossEntropyOptions {
  /** Rows with this target have loss 0 and do not count in the mean. */
  ignoreIndex?: number;
  /** The proportion of the target that is spread evenly over all classes; 0 by default. */
  labelSmoothing?: number;
  /** "mean" by default; "none" gives the loss of each row. */
  reduction?: "mean" | "sum" | "none";
}

const crossEntropyChecks = {
  ignoreIndex: isWholeNumber(-(2 ** 31), 2 ** 31 - 1),
  labelSmoothing: isNumber,
  reduction: oneOf("mean", "sum", "none"),
} satisfies Record<keyof CrossEntropyOptions, Check>;

export function crossEntropy(
  engine: Engine,
  logits: Tensor,
  targets: Tensor,
  options: CrossEntropyOptions = {},
): Tensor {
  checkOptions("crossEntropy", options, crossEntropyChecks);
  const { module } = engine;
  const { ignoreIndex, labelSmoothing = 0, reduction = "mean" } = options;
  const args = () => [
    engine.handle("logits", logits),
    engine.handle("targets", targets),
    ignoreIndex ?? notGiven,
    labelSmoothing,
    module.Reduction[reduction].value,
  ];
  const loss = engine.apply(module.crossEntropy, args());
  recording()?.record("crossEntropy", { logits }, [loss], ([d]) => {
    engine.run(module.crossEntropyBackward, [engine.handle("d", d), ...args()]);
    return { logits: engine.tensor() };
  });
  return loss;
}
