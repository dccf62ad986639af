// Optimiser steps, which update tensors in place: see nn/optim.ts.

import type { Engine } from "../core/engine.js";
import {
  type AdamOptionsMembers,
  type SgdOptionsMembers,
  withAdamOptions,
  withSgdOptions,
} from "../core/members.js";
import type { Tensor } from "../core/tensor.js";

/** torch.optim.SGD's step; without momentum there is no buffer. */
export function sgdStep(
  engine: Engine,
  parameter: Tensor,
  gradient: Tensor,
  buffer: Tensor | undefined,
  isFirst: boolean,
  o: Required<SgdOptionsMembers>,
): void {
  const args = [
    ...engine.handles({ parameter, gradient }),
    engine.handleOrNone("buffer", buffer),
    Number(isFirst),
  ];
  engine.run(engine.module.sgdStep, withSgdOptions(args, o));
}

/** Step number `step`, from 1, of torch.optim.Adam or AdamW. */
export function adamStep(
  engine: Engine,
  parameter: Tensor,
  gradient: Tensor,
  average: Tensor,
  averageOfSquares: Tensor,
  step: number,
  o: Required<AdamOptionsMembers>,
): void {
  const args = [...engine.handles({ parameter, gradient, average, averageOfSquares }), step];
  engine.run(engine.module.adamStep, withAdamOptions(args, o));
}

/** Scales gradients to a common norm of at most `maxNorm`, and returns their norm before that. */
export function clipGradients(
  engine: Engine,
  gradients: readonly Tensor[],
  maxNorm: number,
): number {
  const handles = gradients.map((gradient, i) => engine.handle(`gradients[${i}]`, gradient));
  engine.run(engine.module.clipGradients, [handles.length, ...handles, maxNorm]);
  return engine.border.next();
}
