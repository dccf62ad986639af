// Additive attention.

import type { Engine } from "../core/engine.js";
import { readAdditiveAttentionGradients, readAdditiveAttentionResult } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, checkTensor, isTensor } from "../core/validate.js";
import { linear } from "./linear.js";
import {
  checkScoredInputs,
  type KeyMaskOptions,
  type ScoredAttentionResult,
} from "./scoredAttention.js";

/** The parameters of `additiveAttention`. A is the size to which queries and keys are projected. */
export interface AdditiveAttentionParameters {
  /** [A, Dq] */
  queryWeight: Tensor;
  /** [A, Dk] */
  keyWeight: Tensor;
  /** [A] */
  bias?: Tensor;
  /** [A] */
  scoreWeight: Tensor;
}

const additiveChecks = {
  queryWeight: isTensor,
  keyWeight: isTensor,
  bias: isTensor,
  scoreWeight: isTensor,
} satisfies Record<keyof AdditiveAttentionParameters, Check>;
const keyMaskChecks = { keyMask: isTensor } satisfies Record<keyof KeyMaskOptions, Check>;

/**
 * Attention with the score v . tanh(W_q q + W_k k + b), without a scale (Bahdanau et al., 2015,
 * appendix A.1.2).
 *
 * @param query [B, L, Dq]
 * @param keys [B, S, Dk]
 * @param values [B, S, Dv]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const [query, keys] = [heed.ones([1, 2, 3]), heed.ones([1, 4, 5])];
 * const parameters = { queryWeight: heed.ones([6, 3]), keyWeight: heed.ones([6, 5]), scoreWeight: heed.ones([6]) };
 * const { output, weights } = heed.additiveAttention(query, keys, keys, parameters);
 * console.log(output.shape, weights.shape); // prints: [ 1, 2, 5 ] [ 1, 2, 4 ]
 * ```
 */
export function additiveAttention(
  engine: Engine,
  query: Tensor,
  keys: Tensor,
  values: Tensor,
  parameters: AdditiveAttentionParameters,
  options: KeyMaskOptions = {},
): ScoredAttentionResult {
  checkOptions("additiveAttention", parameters, additiveChecks, "parameter");
  checkOptions("additiveAttention", options, keyMaskChecks);
  const { queryWeight, keyWeight, bias, scoreWeight } = parameters;
  const { Dq, Dk } = checkScoredInputs(engine, query, keys, values, options.keyMask);
  checkTensor(engine, "queryWeight", queryWeight, [undefined, Dq]);
  const [A] = queryWeight.shape;
  checkTensor(engine, "keyWeight", keyWeight, [A, Dk]);
  if (bias) checkTensor(engine, "bias", bias, [A]);
  checkTensor(engine, "scoreWeight", scoreWeight, [A]);
  const run = () => {
    const q = linear(engine, query, queryWeight, bias);
    const k = linear(engine, keys, keyWeight);
    return additiveScores(engine, q, k, values, scoreWeight, options);
  };
  return engine.scope(run);
}

/**
 * Additive attention for projected queries and keys, with the bias already added.
 *
 * @param q [B, L, A]
 * @param k [B, S, A]
 * @param v [B, S, Dv]
 * @param scoreWeight [A]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const [q, k] = [heed.zeros([1, 1, 2]), heed.zeros([1, 4, 2])];
 * console.log(heed.additiveScores(q, k, k, heed.ones([2])).weights.toArray()); // prints: [ [ [ 0.25, 0.25, 0.25, 0.25 ] ] ]
 * ```
 */
export function additiveScores(
  engine: Engine,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  scoreWeight: Tensor,
  options: KeyMaskOptions = {},
): ScoredAttentionResult {
  checkOptions("additiveScores", options, keyMaskChecks);
  const { module } = engine;
  const taken = { q, k, v, scoreWeight };
  const inputs = () => engine.handles(taken);
  const mask = engine.handleOrNone("keyMask", options.keyMask);
  engine.run(module.additiveAttention, [...inputs(), mask], { weight: "scoreWeight" });
  const { output, weights } = readAdditiveAttentionResult(engine);
  recording()?.record("additiveAttention", taken, [output, weights], ([given, dWeights]) => {
    const d = given ?? engine.zeros(output.shape);
    engine.run(module.additiveAttentionBackward, [
      engine.handle("d", d),
      engine.handleOrNone("d", dWeights),
      ...inputs(),
      engine.handle("weights", weights),
    ]);
    const { weight, ...gradients } = readAdditiveAttentionGradients(engine);
    if (d !== given) d.dispose();
    return { ...gradients, scoreWeight: weight };
  });
  return { output, weights };
}
