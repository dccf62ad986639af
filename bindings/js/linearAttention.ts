// heed.linearAttention: its options, their checks, and the call.

import type { Engine } from "./engine.js";
import type { Tensor } from "./tensor.js";
import { type Check, checkOptions, isNumber, isTensor, isWholeNumber, oneOf } from "./validate.js";

export interface LinearAttentionOptions {
  /** How a token changes the state S [D, Dv]: see the names in include/heed/heed.hpp. */
  rule?: "linear" | "gated" | "delta" | "gatedDelta";
  /** Query heads of inputs [B, L, H*D]. */
  heads?: number;
  /** Key/value heads of inputs [B, L, G*D]; as many as `heads` by default. */
  kvHeads?: number;
  /** 1/sqrt(D) by default. */
  scale?: number;
  /**
   * With the gated rules: the logarithm of the decay, for each row of the state, [B, G, L, D] or
   * [B, L, G*D], or for all of them, [B, G, L] or [B, L, G].
   */
  decay?: Tensor;
  /** With the delta rules: [B, G, L] or [B, L, G]. */
  beta?: Tensor;
  /** [B, G, D, Dv]; zeros by default. */
  pastState?: Tensor;
}

export interface LinearAttentionResult {
  /** [B, H, L, Dv], or [B, L, H*Dv]. */
  output: Tensor;
  /** [B, G, D, Dv] */
  presentState: Tensor;
}

const checks = {
  rule: oneOf("linear", "gated", "delta", "gatedDelta"),
  heads: isWholeNumber(1),
  kvHeads: isWholeNumber(1),
  scale: isNumber,
  decay: isTensor,
  beta: isTensor,
  pastState: isTensor,
} satisfies Record<keyof LinearAttentionOptions, Check>;

export function linearAttention(
  engine: Engine,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options: LinearAttentionOptions,
): LinearAttentionResult {
  checkOptions("linearAttention", options, checks);
  const handles = [engine.handle("q", q), engine.handle("k", k), engine.handle("v", v)] as const;
  return engine.call((context, own) => {
    const { module } = engine;
    const native = own(new module.LinearAttentionOptions());
    if (options.rule) native.rule = module.LinearRule[options.rule];
    if (options.heads !== undefined) native.heads = options.heads;
    if (options.kvHeads !== undefined) native.kvHeads = options.kvHeads;
    if (options.scale !== undefined) native.setScale(options.scale);
    if (options.decay) native.setDecay(engine.handle("decay", options.decay));
    if (options.beta) native.setBeta(engine.handle("beta", options.beta));
    if (options.pastState) native.setPastState(engine.handle("pastState", options.pastState));
    const result = own(module.linearAttention(context, ...handles, native));
    return {
      output: engine.tensor(result.output()),
      presentState: engine.tensor(result.presentState()),
    };
  });
}
