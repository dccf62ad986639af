// One attention from two over parts of the same keys.

import type { Engine } from "../core/engine.js";
import { describe, refuse } from "../core/error.js";
import { readPartialAttention } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { isObject } from "../core/validate.js";

/** Partial results of one attention: over some of its keys. */
export interface PartialAttention {
  /** [B, H, L, Dv] */
  output: Tensor;
  /** [B, H, L]; -Infinity for a query that saw no key of this part. */
  lse: Tensor;
}

export function mergeAttention(
  engine: Engine,
  a: PartialAttention,
  b: PartialAttention,
): PartialAttention {
  if (!isObject(a)) throw refuse("option", "a", "{ output, lse }", describe(a));
  if (!isObject(b)) throw refuse("option", "b", "{ output, lse }", describe(b));
  engine.run(engine.module.mergeAttention, [
    engine.handle("a.output", a.output),
    engine.handle("a.lse", a.lse),
    engine.handle("b.output", b.output),
    engine.handle("b.lse", b.lse),
  ]);
  const merged = readPartialAttention(engine);
  const taken = { "a.output": a.output, "a.lse": a.lse, "b.output": b.output, "b.lse": b.lse };
  recording()?.cut("mergeAttention", taken, [merged.output, merged.lse]);
  return merged;
}
