// Layer norm and RMS norm.

import type { Engine } from "../core/engine.js";
import { readNormGradients, withLayerNormOptions, withRmsNormOptions } from "../core/members.js";
import type { Operation } from "../core/module.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, isNumber, isTensor, isWholeNumber } from "../core/validate.js";

/** Options of `layerNorm`. */
export interface LayerNormOptions {
  /** The sizes of the normalised axes; ones by default. */
  weight?: Tensor;
  /** The sizes of the normalised axes; zeros by default. */
  bias?: Tensor;
  /** Added to the variance; 1e-5 by default. */
  eps?: number;
  /** The number of last axes that are normalised together; 1 by default. */
  axes?: number;
}

/** Options of `rmsNorm`. */
export interface RmsNormOptions {
  /** The sizes of the normalised axes; ones by default. */
  weight?: Tensor;
  /** Added to the mean of squares; 1e-6 by default. */
  eps?: number;
  /** The number of last axes that are normalised together; 1 by default. */
  axes?: number;
}

const layerNormChecks = {
  weight: isTensor,
  bias: isTensor,
  eps: isNumber,
  axes: isWholeNumber(1, 8),
} satisfies Record<keyof LayerNormOptions, Check>;
const rmsNormChecks = {
  weight: isTensor,
  eps: isNumber,
  axes: isWholeNumber(1, 8),
} satisfies Record<keyof RmsNormOptions, Check>;

/**
 * (x - mean) / sqrt(variance + eps) * weight + bias over the last axes (Ba et al., 2016).
 *
 * @param x [..., the normalised axes], the shape of the result
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(Array.from(heed.layerNorm(heed.tensor([[1, 3]])).data, (v) => v.toFixed(3)).join(" ")); // prints: -1.000 1.000
 * ```
 */
export function layerNorm(engine: Engine, x: Tensor, options: LayerNormOptions = {}): Tensor {
  checkOptions("layerNorm", options, layerNormChecks);
  const { module } = engine;
  const { weight, bias, eps, axes } = options;
  const operations = [module.layerNorm, module.layerNormBackward] as const;
  return runNorm(engine, "layerNorm", operations, { x, weight, bias }, (args) =>
    withLayerNormOptions(engine, args, { weight, bias, eps, axes }),
  );
}

/**
 * x / sqrt(mean(x^2) + eps) * weight over the last axes (Zhang and Sennrich, 2019).
 *
 * @param x [..., the normalised axes], the shape of the result
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(Array.from(heed.rmsNorm(heed.tensor([[3, 4]])).data, (v) => v.toFixed(3)).join(" ")); // prints: 0.849 1.131
 * ```
 */
export function rmsNorm(engine: Engine, x: Tensor, options: RmsNormOptions = {}): Tensor {
  checkOptions("rmsNorm", options, rmsNormChecks);
  const { module } = engine;
  const { weight, eps, axes } = options;
  const operations = [module.rmsNorm, module.rmsNormBackward] as const;
  return runNorm(engine, "rmsNorm", operations, { x, weight }, (args) =>
    withRmsNormOptions(engine, args, { weight, eps, axes }),
  );
}

function runNorm(
  engine: Engine,
  name: string,
  [forward, backward]: readonly [forward: Operation, backward: Operation],
  taken: { readonly x: Tensor } & Readonly<Record<string, Tensor | undefined>>,
  withOptions: (args: number[]) => number[],
): Tensor {
  const inputs = () => withOptions([engine.handle("x", taken.x)]);
  const y = engine.apply(forward, inputs());
  recording()?.record(name, taken, [y], ([d]) => {
    engine.run(backward, [engine.handle("d", d), ...inputs()]);
    return readNormGradients(engine);
  });
  return y;
}
