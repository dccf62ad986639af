// Merges two attentions over disjoint parts of the keys into one.

import type { Engine } from "../core/engine.js";
import { readPartialAttention } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkArgument, isReadable } from "../core/validate.js";

/** Partial results of one attention: over some of its keys. */
export interface PartialAttention {
  /** [B, H, L, Dv] */
  output: Tensor;
  /** [B, H, L]; -Infinity for a query that saw no key of this part. */
  lse: Tensor;
}

const isPart: Check = {
  expected: "{ output, lse }",
  accepts: (value) => isReadable(value, "output", "lse"),
};

/**
 * Combines two attentions over disjoint parts of the keys into one. Associative; a part without
 * keys changes nothing.
 *
 * @param a output [B, H, L, Dv] and lse [B, H, L]
 * @param b the same shapes (Ye et al., "Cascade Inference", FlashInfer, 2024)
 * @throws HeedError "shape", "dtype", "memory", "disposed"
 * @example
 * ```ts
 * const [q, k] = [heed.normal([1, 1, 2, 4], { seed: 1 }), heed.normal([1, 1, 6, 4], { seed: 2 })];
 * const parts = heed.split(k, 2, { axis: 2 }).map((part) => heed.attention(q, part, part, { needLse: true }));
 * const merged = heed.mergeAttention(parts[0]!, parts[1]!).output.data.slice();
 * console.log(heed.attention(q, k, k).output.data.every((v, i) => Math.abs(v - merged[i]!) < 1e-6)); // prints: true
 * ```
 */
export function mergeAttention(
  engine: Engine,
  a: PartialAttention,
  b: PartialAttention,
): PartialAttention {
  checkArgument("a", a, isPart);
  checkArgument("b", b, isPart);
  const taken = { "a.output": a.output, "a.lse": a.lse, "b.output": b.output, "b.lse": b.lse };
  engine.run(engine.module.mergeAttention, engine.handles(taken));
  const merged = readPartialAttention(engine);
  recording()?.cut("mergeAttention", taken, [merged.output, merged.lse]);
  return merged;
}
