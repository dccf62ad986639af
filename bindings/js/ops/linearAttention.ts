// Linear attention.

import { type LinearRule, linearRules } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { readLinearAttentionResult, withLinearAttentionOptions } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkOptions,
  isNumber,
  isTensor,
  isWholeNumber,
  oneOf,
} from "../core/validate.js";

/** Options of `linearAttention`. */
export interface LinearAttentionOptions {
  /** How a token changes the state S [D, Dv]: see include/heed/heed.hpp. */
  rule?: LinearRule;
  /** Query heads of inputs [B, L, H*D]. */
  heads?: number;
  /** Key/value heads of inputs [B, L, G*D]; as many as `heads` by default. */
  kvHeads?: number;
  /** 1/sqrt(D) by default. */
  scale?: number;
  /**
   * The logarithm of the decay, for the gated rules. It is given for each row of the state,
   * [B, G, L, D] or [B, L, G*D], or for all rows, [B, G, L] or [B, L, G]. An axis of size 1 is
   * repeated: [B, L, 1] is one decay for all heads.
   */
  decay?: Tensor;
  /** For the delta rules: [B, G, L], [B, G, L, 1] or [B, L, G]; axes of size 1 as for `decay`. */
  beta?: Tensor;
  /** [B, G, D, Dv]; zeros by default. */
  pastState?: Tensor;
}

/** The result of `linearAttention`. */
export interface LinearAttentionResult {
  /** [B, H, L, Dv], or [B, L, H*Dv]. */
  output: Tensor;
  /** [B, G, D, Dv] */
  presentState: Tensor;
}

const checks = {
  rule: oneOf(...linearRules),
  heads: isWholeNumber(1),
  kvHeads: isWholeNumber(1),
  scale: isNumber,
  decay: isTensor,
  beta: isTensor,
  pastState: isTensor,
} satisfies Record<keyof LinearAttentionOptions, Check>;

/**
 * Linear attention: a state instead of a cache (Katharopoulos et al., 2020), with gates, the
 * delta rule or both. q, k, v as in `attention`, with as many keys as queries.
 *
 * @param q [B, H, L, D], or [B, L, H*D] with `heads`
 * @param k [B, G, L, D], or [B, L, G*D]
 * @param v [B, G, L, Dv], or [B, L, G*Dv]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const x = heed.ones([1, 1, 3, 1]);
 * // each token adds k v^T = 1
 * console.log(Array.from(heed.linearAttention(x, x, x).output.data)); // prints: [ 1, 2, 3 ]
 * ```
 */
export function linearAttention(
  engine: Engine,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options: LinearAttentionOptions = {},
): LinearAttentionResult {
  checkOptions("linearAttention", options, checks);
  const args = engine.handles({ q, k, v });
  engine.run(engine.module.linearAttention, withLinearAttentionOptions(engine, args, options));
  const result = readLinearAttentionResult(engine);
  const { decay, beta, pastState } = options;
  const results = [result.output, result.presentState];
  recording()?.cut("linearAttention", { q, k, v, decay, beta, pastState }, results);
  return result;
}
