// Attention without parameters: with equal scores, or with the products of the inputs as scores.

import type { Engine } from "../core/engine.js";
import { readSelfSimilarityResult, withAverageOptions } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, checkTensor, isBoolean, isTensor } from "../core/validate.js";
import { dotProductAttention } from "./scoredAttention.js";

/** Options of `average`. */
export interface AverageOptions {
  /** Position i averages the positions j <= i only. */
  isCausal?: boolean;
  /** bool [B, L], true where a position counts. */
  keyMask?: Tensor;
}

/** The result of `selfSimilarity`. */
export interface SelfSimilarityResult {
  /** [B, L, E] */
  output: Tensor;
  /** [B, L, L] */
  weights: Tensor;
}

const checks = { isCausal: isBoolean, keyMask: isTensor } satisfies Record<
  keyof AverageOptions,
  Check
>;

/**
 * The mean over the visible positions: attention with equal scores. x [B, L, E].
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.average(heed.tensor([[[2], [4]]]), { isCausal: true }).toArray()); // prints: [ [ [ 2 ], [ 3 ] ] ]
 * ```
 */
export function average(engine: Engine, x: Tensor, options: AverageOptions = {}): Tensor {
  checkOptions("average", options, checks);
  const { module } = engine;
  const { isCausal, keyMask } = options;
  const withOptions = (args: number[]) => withAverageOptions(engine, args, { isCausal, keyMask });
  const y = engine.apply(module.average, withOptions([engine.handle("x", x)]));
  recording()?.record("average", { x }, [y], ([d]) => {
    const args = withOptions([engine.handle("d", d)]);
    return { x: engine.apply(module.averageBackward, args) };
  });
  return y;
}

/**
 * softmax(X X^T) X: dot-product attention with no parameters and no scale. x [B, L, E].
 *
 * @throws HeedError "shape", "dtype", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.selfSimilarity(heed.zeros([1, 2, 3])).weights.toArray()); // prints: [ [ [ 0.5, 0.5 ], [ 0.5, 0.5 ] ] ]
 * ```
 */
export function selfSimilarity(engine: Engine, x: Tensor): SelfSimilarityResult {
  if (recording()) {
    checkTensor(engine, "x", x, [undefined, undefined, undefined]);
    return dotProductAttention(engine, x, x, x, undefined);
  }
  engine.run(engine.module.selfSimilarity, [engine.handle("x", x)]);
  return readSelfSimilarityResult(engine);
}
