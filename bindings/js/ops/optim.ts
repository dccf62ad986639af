// Optimiser steps, which update tensors in place: see nn/optim.ts.

import type { Engine } from "../core/engine.js";
import type { Tensor } from "../core/tensor.js";

export interface SgdNumbers {
  learningRate: number;
  momentum: number;
  dampening: number;
  nesterov: boolean;
  weightDecay: number;
}

export interface AdamNumbers {
  learningRate: number;
  beta1: number;
  beta2: number;
  eps: number;
  weightDecay: number;
  isDecoupled: boolean;
}

/** torch.optim.SGD's step; without momentum there is no buffer. */
export function sgdStep(
  engine: Engine,
  parameter: Tensor,
  gradient: Tensor,
  buffer: Tensor | undefined,
  isFirst: boolean,
  o: SgdNumbers,
): void {
  engine.run(engine.module.sgdStep, [
    engine.handle("parameter", parameter),
    engine.handle("gradient", gradient),
    engine.handleOrNone("buffer", buffer),
    Number(isFirst),
    o.learningRate,
    o.momentum,
    o.dampening,
    Number(o.nesterov),
    o.weightDecay,
  ]);
}

/** Step number `step`, from 1, of torch.optim.Adam or AdamW. */
export function adamStep(
  engine: Engine,
  parameter: Tensor,
  gradient: Tensor,
  average: Tensor,
  averageOfSquares: Tensor,
  step: number,
  o: AdamNumbers,
): void {
  engine.run(engine.module.adamStep, [
    engine.handle("parameter", parameter),
    engine.handle("gradient", gradient),
    engine.handle("average", average),
    engine.handle("averageOfSquares", averageOfSquares),
    step,
    o.learningRate,
    o.beta1,
    o.beta2,
    o.eps,
    o.weightDecay,
    Number(o.isDecoupled),
  ]);
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
