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

export function mergeAttention(
  engine: Engine,
  a: PartialAttention,
  b: PartialAttention,
): PartialAttention {
  checkArgument("a", a, isPart);
  checkArgument("b", b, isPart);
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
