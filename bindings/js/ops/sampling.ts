// From logits to tokens: the largest ones, and sampling.

import type { Engine } from "../core/engine.js";
import { readTopKResult, withSampleOptions } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  checkRequired,
  isNumber,
  isWholeNumber,
} from "../core/validate.js";

/** The result of `topK`. */
export interface TopKResult {
  /** [..., k], the largest first. */
  values: Tensor;
  /** int32 [..., k]; equal values are in the order of their indices. */
  indices: Tensor;
}

/** Options of `sample`. */
export interface SampleOptions {
  /** Divides the logits; 0 takes the largest. 1 by default. */
  temperature?: number;
  /** Only the k most likely tokens (Fan et al., 2018); all by default. */
  topK?: number;
  /** Only the most likely tokens whose probabilities sum to p (Holtzman et al., 2020); 1 by default. */
  topP?: number;
  /** For one seed, row r always draws the same random number. */
  seed: number;
}

const checks = {
  temperature: isNumber,
  topK: isWholeNumber(0),
  topP: isNumber,
  seed: isWholeNumber(0),
} satisfies Record<keyof SampleOptions, Check>;

/**
 * The k largest numbers of each row, and their indices. x [..., N].
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const { values, indices } = heed.topK(heed.tensor([[0.1, 0.7, 0.2]]), 2);
 * console.log(indices.toArray(), values.shape); // prints: [ [ 1, 2 ] ] [ 1, 2 ]
 * ```
 */
export function topK(engine: Engine, x: Tensor, k: number): TopKResult {
  checkArgument("k", k, isWholeNumber(1));
  engine.run(engine.module.topK, [engine.handle("x", x), k]);
  const result = readTopKResult(engine);
  recording()?.cut("topK", { x }, [result.values]);
  return result;
}

/**
 * A token for each row of logits [..., V], sampled at random or the most likely: int32 [...].
 *
 * @throws HeedError "shape", "dtype", "option" for a row without a finite logit, "memory",
 *   "disposed"
 * @example
 * ```ts
 * const logits = heed.tensor([[0, 5, 1], [9, 0, 0]]);
 * console.log(heed.sample(logits, { temperature: 0, seed: 1 }).toArray()); // prints: [ 1, 0 ]
 * ```
 */
export function sample(engine: Engine, logits: Tensor, options: SampleOptions): Tensor {
  checkOptions("sample", options, checks);
  checkRequired(options, checks, "seed");
  return engine.apply(
    engine.module.sample,
    withSampleOptions([engine.handle("logits", logits)], options),
  );
}
