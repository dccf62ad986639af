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

export function topK(engine: Engine, x: Tensor, k: number): TopKResult {
  checkArgument("k", k, isWholeNumber(1));
  engine.run(engine.module.topK, [engine.handle("x", x), k]);
  const result = readTopKResult(engine);
  recording()?.cut("topK", { x }, [result.values]);
  return result;
}

export function sample(engine: Engine, logits: Tensor, options: SampleOptions): Tensor {
  checkOptions("sample", options, checks);
  checkRequired(options, checks, "seed");
  return engine.apply(
    engine.module.sample,
    withSampleOptions([engine.handle("logits", logits)], options),
  );
}
