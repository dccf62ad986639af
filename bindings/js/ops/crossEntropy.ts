// The cross-entropy loss.

import { type Reduction, reductions } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { withCrossEntropyOptions } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, isNumber, isWholeNumber, oneOf } from "../core/validate.js";

/** Options of `crossEntropy`. */
export interface CrossEntropyOptions {
  /** Rows with this target have loss 0 and do not count in the mean. */
  ignoreIndex?: number;
  /** The proportion of the target that is spread evenly over all classes; 0 by default. */
  labelSmoothing?: number;
  /** "mean" by default; "none" gives the loss of each row. */
  reduction?: Reduction;
}

const crossEntropyChecks = {
  ignoreIndex: isWholeNumber(-(2 ** 31), 2 ** 31 - 1),
  labelSmoothing: isNumber,
  reduction: oneOf(...reductions),
} satisfies Record<keyof CrossEntropyOptions, Check>;

/**
 * -log softmax(logits)[target].
 *
 * @param logits [..., C]
 * @param targets int32 [...]
 * @returns [], or [...] with reduction "none"
 * @throws HeedError "shape", "dtype", "option" for a target that is not a class, "memory",
 *   "disposed"
 * @example
 * ```ts
 * const logits = heed.tensor([[0, 0], [20, 0]]);
 * const targets = heed.tensor([1, 0], undefined, "int32");
 * const losses = heed.crossEntropy(logits, targets, { reduction: "none" });
 * console.log(Array.from(losses.data, (loss) => loss.toFixed(3)).join(" ")); // prints: 0.693 0.000
 * ```
 */
export function crossEntropy(
  engine: Engine,
  logits: Tensor,
  targets: Tensor,
  options: CrossEntropyOptions = {},
): Tensor {
  checkOptions("crossEntropy", options, crossEntropyChecks);
  const { module } = engine;
  const { ignoreIndex, labelSmoothing, reduction } = options;
  const withInputs = (args: number[]) => {
    args.push(engine.handle("logits", logits), engine.handle("targets", targets));
    return withCrossEntropyOptions(args, { ignoreIndex, labelSmoothing, reduction });
  };
  const loss = engine.apply(module.crossEntropy, withInputs([]));
  recording()?.record("crossEntropy", { logits }, [loss], ([d]) => {
    engine.run(module.crossEntropyBackward, withInputs([engine.handle("d", d)]));
    return { logits: engine.tensor() };
  });
  return loss;
}
