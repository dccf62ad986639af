// Shared by the attentions of recurrent encoder-decoders: their results, their checks, and dot-product scores.

import type { Engine } from "../core/engine.js";
import { optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import { checkTensor } from "../core/validate.js";
import { attention } from "./attention.js";
import { reshape } from "./rearrange.js";

/** The result of attention with one head. */
export interface ScoredAttentionResult {
  /** [B, L, Dv] */
  output: Tensor;
  /** [B, L, S] */
  weights: Tensor;
}

/** Which keys attention with one head sees. */
export interface KeyMaskOptions {
  /** bool [B, S], true where a key is visible. */
  keyMask?: Tensor;
}

/** Checks the inputs, and returns their sizes. */
export function checkScoredInputs(
  engine: Engine,
  query: Tensor,
  keys: Tensor,
  values: Tensor,
  keyMask: Tensor | undefined,
) {
  checkTensor(engine, "query", query, [undefined, undefined, undefined]);
  const [B = 0, , Dq = 0] = query.shape;
  checkTensor(engine, "keys", keys, [B, undefined, undefined]);
  const [, S = 0, Dk = 0] = keys.shape;
  checkTensor(engine, "values", values, [B, S, undefined]);
  if (keyMask) checkTensor(engine, "keyMask", keyMask, [B, S], "bool");
  return { B, S, Dq, Dk };
}

/** Attention of one head with the unscaled product as score. */
export function dotProductAttention(
  engine: Engine,
  query: Tensor,
  keys: Tensor,
  values: Tensor,
  keyMask: Tensor | undefined,
): ScoredAttentionResult {
  const run = () => {
    const [b = 0, s = 0] = keyMask?.shape ?? [];
    const mask = keyMask && reshape(engine, keyMask, [b, 1, 1, s]);
    const { output, weights } = attention(engine, query, keys, values, {
      ...{ heads: 1, scale: 1, needWeights: true },
      ...optional({ mask }),
    });
    const [B = 0, , L = 0, S = 0] = weights.shape;
    return { output, weights: reshape(engine, weights, [B, L, S]) };
  };
  return engine.scope(run);
}
