// Layers that normalise over the last axes.

import { describe, refuse } from "../core/error.js";
import { optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isListOf,
  isNumber,
  isWholeNumber,
  shapeOf,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import { Module } from "./module.js";

/** Options of a new `LayerNorm`. */
export interface LayerNormOptions {
  /** Added to the variance; 1e-5 by default. */
  eps?: number;
  /** Whether there is a weight and, unless `bias` is false, a bias; true by default. */
  elementwiseAffine?: boolean;
  /** Whether there is a bias; true by default. */
  bias?: boolean;
}

/** Options of a new `RMSNorm`. */
export interface RMSNormOptions {
  /** Added to the mean square; by default 2^-23, the distance from 1 to the next float32, as in torch.nn.RMSNorm. */
  eps?: number;
  /** Whether there is a weight; true by default. */
  elementwiseAffine?: boolean;
}

const rmsChecks = { eps: isNumber, elementwiseAffine: isBoolean } satisfies Record<
  keyof RMSNormOptions,
  Check
>;
const layerChecks = { ...rmsChecks, bias: isBoolean } satisfies Record<
  keyof LayerNormOptions,
  Check
>;

const isShape: Check = {
  expected: "a size or a list of sizes of 1 or more",
  accepts: (value) => isListOf(value, isWholeNumber(1).accepts) && value.length > 0,
};

abstract class Norm extends Module {
  /** The sizes of the axes that are normalised together. */
  readonly normalizedShape: readonly number[];
  /** Added to the variance or the mean square. */
  readonly eps: number;
  /** [normalizedShape]; the initial values are ones. */
  weight: Tensor | undefined;

  constructor(
    heed: Heed,
    normalizedShape: number | readonly number[],
    eps: number,
    hasWeight: boolean,
  ) {
    super(heed);
    const shape = typeof normalizedShape === "number" ? [normalizedShape] : normalizedShape;
    checkArgument("normalizedShape", shape, isShape);
    this.normalizedShape = shape;
    this.eps = eps;
    this.weight = hasWeight ? heed.ones(shape) : undefined;
  }

  protected checkInput(x: Tensor): void {
    const expected = this.normalizedShape;
    const shape = shapeOf("x", x);
    if (String(shape.slice(-expected.length)) === String(expected)) return;
    throw refuse("shape", "x", `[..., ${expected.join(", ")}]`, describe([...shape]));
  }
}

/**
 * Computes (x - mean) / sqrt(variance + eps) * weight + bias (Ba et al., "Layer Normalization", 2016).
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(new nn.LayerNorm(heed, 4).forward(heed.ones([2, 4])).shape); // prints: [ 2, 4 ]
 * ```
 */
export class LayerNorm extends Norm {
  /** @internal */ static override readonly toStringTag = "LayerNorm";
  /** [normalizedShape]; the initial values are zeros. */
  bias: Tensor | undefined;

  constructor(
    heed: Heed,
    normalizedShape: number | readonly number[],
    options: LayerNormOptions = {},
  ) {
    checkOptions("LayerNorm", options, layerChecks);
    const { eps = 1e-5, elementwiseAffine = true, bias = true } = options;
    super(heed, normalizedShape, eps, elementwiseAffine);
    this.bias = elementwiseAffine && bias ? heed.zeros(this.normalizedShape) : undefined;
  }

  /** x [..., normalizedShape] -> a tensor of the same shape */
  forward(x: Tensor): Tensor {
    this.checkInput(x);
    const { heed, eps, weight, bias } = this;
    const axes = this.normalizedShape.length;
    return heed.layerNorm(x, optional({ axes, eps, weight, bias }));
  }
}

/**
 * Computes x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich, "Root Mean Square Layer Normalization",
 * 2019).
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(new nn.RMSNorm(heed, 4).forward(heed.ones([2, 4])).shape); // prints: [ 2, 4 ]
 * ```
 */
export class RMSNorm extends Norm {
  /** @internal */ static override readonly toStringTag = "RMSNorm";
  constructor(
    heed: Heed,
    normalizedShape: number | readonly number[],
    options: RMSNormOptions = {},
  ) {
    checkOptions("RMSNorm", options, rmsChecks);
    const { eps = 2 ** -23, elementwiseAffine = true } = options;
    super(heed, normalizedShape, eps, elementwiseAffine);
  }

  /** x [..., normalizedShape] -> a tensor of the same shape */
  forward(x: Tensor): Tensor {
    this.checkInput(x);
    const { heed, eps, weight } = this;
    const axes = this.normalizedShape.length;
    return heed.rmsNorm(x, optional({ axes, eps, weight }));
  }
}
