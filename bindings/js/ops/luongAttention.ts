// Attention with the scores of Luong et al. (2015).

import type { Engine } from "../core/engine.js";
import { refuse } from "../core/error.js";
import { optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  checkTensor,
  isTensor,
  oneOf,
} from "../core/validate.js";
import { additiveAttention } from "./additiveAttention.js";
import { matmul } from "./matmul.js";
import { split } from "./rearrange.js";
import {
  checkScoredInputs,
  dotProductAttention,
  type KeyMaskOptions,
  type ScoredAttentionResult,
} from "./scoredAttention.js";

/** Options of `luongAttention`. */
export interface LuongAttentionOptions extends KeyMaskOptions {
  /** q . k, q W k, or v . tanh(W [q; k]) (Luong et al., 2015, section 3.1). */
  score: "dot" | "general" | "concat";
  /** W: [Dq, Dk] for "general", [A, Dq + Dk] for "concat". */
  weight?: Tensor;
  /** v: [A] for "concat". */
  scoreWeight?: Tensor;
}

const checks = {
  keyMask: isTensor,
  score: oneOf("dot", "general", "concat"),
  weight: isTensor,
  scoreWeight: isTensor,
} satisfies Record<keyof LuongAttentionOptions, Check>;

/** Refuses a missing tensor that the score needs, and a given tensor that it does not need. */
function checkPresence(
  name: string,
  tensor: Tensor | undefined,
  score: string,
  isNeeded: boolean,
): void {
  if ((tensor !== undefined) === isNeeded) return;
  const because = `because score is "${score}"`;
  throw isNeeded
    ? refuse("option", name, `a tensor, ${because}`, "nothing")
    : refuse("option", name, `nothing, ${because}`, "a tensor");
}

/**
 * Attention with Luong's scores, without a scale (Luong et al., 2015).
 *
 * @param query [B, L, Dq]
 * @param keys [B, S, Dk]; "dot" requires Dk = Dq
 * @param values [B, S, Dv]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const [query, keys] = [heed.tensor([[[1, 0]]]), heed.tensor([[[9, 0], [0, 9]]])];
 * const { weights } = heed.luongAttention(query, keys, keys, { score: "dot" });
 * console.log(Array.from(weights.data, (v) => v.toFixed(3)).join(" ")); // prints: 1.000 0.000
 * ```
 */
export function luongAttention(
  engine: Engine,
  query: Tensor,
  keys: Tensor,
  values: Tensor,
  options: LuongAttentionOptions,
): ScoredAttentionResult {
  checkOptions("luongAttention", options, checks);
  const { score, weight, scoreWeight, keyMask } = options;
  checkArgument("score", score, checks.score);
  const { B, S, Dq, Dk } = checkScoredInputs(engine, query, keys, values, keyMask);
  checkPresence("weight", weight, score, score !== "dot");
  checkPresence("scoreWeight", scoreWeight, score, score === "concat");
  if (score === "dot") checkTensor(engine, "keys", keys, [B, S, Dq]);
  if (score === "general") checkTensor(engine, "weight", weight, [Dq, Dk]);
  if (score === "concat") {
    checkTensor(engine, "weight", weight, [undefined, Dq + Dk]);
    checkTensor(engine, "scoreWeight", scoreWeight, [weight?.shape[0]]);
  }
  const run = () => {
    if (score === "dot") return dotProductAttention(engine, query, keys, values, keyMask);
    if (score === "general")
      return dotProductAttention(
        engine,
        matmul(engine, query, weight as Tensor),
        keys,
        values,
        keyMask,
      );
    const [queryWeight, keyWeight] = split(engine, weight as Tensor, [Dq, Dk], { axis: 1 }) as [
      Tensor,
      Tensor,
    ];
    const parameters = { queryWeight, keyWeight, scoreWeight: scoreWeight as Tensor };
    return additiveAttention(engine, query, keys, values, parameters, optional({ keyMask }));
  };
  return engine.scope(run);
}
