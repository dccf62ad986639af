// Local and non-local means of an image.

import { type Border, borders } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { readNonLocalMeansResult, withNonLocalMeansOptions } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isNumber,
  isPositive,
  isWholeNumber,
  oneOf,
} from "../core/validate.js";

/** Options of `nonLocalMeans`. Distances are squared differences of pixel values, in the units of the image. */
export interface NonLocalMeansOptions {
  /** Patches have 2 patchRadius + 1 pixels per side; 3 by default, 128 at most. */
  patchRadius?: number;
  /** Search windows have 2 searchRadius + 1 pixels per side; 10 by default. */
  searchRadius?: number;
  /** The weight falls by a factor of e for each h^2 of distance between patches; 0.1 by default. */
  h?: number;
  /** Standard deviation of the noise: 2 sigma^2 is subtracted from the distances; 0 by default. */
  sigma?: number;
  /** The image outside its edges: mirrored (the default) or zero. */
  border?: Border;
}

/** The result of `nonLocalMeans`. */
export interface NonLocalMeansResult {
  /** [H, W] */
  output: Tensor;
  /** [H, W]: the sum of each pixel's weights before normalisation. */
  weightSum: Tensor;
}

const checks = {
  // The work grows with its square: much larger values would take hours.
  patchRadius: isWholeNumber(0, 128),
  searchRadius: isWholeNumber(0),
  h: isPositive,
  sigma: isNumber,
  border: oneOf(...borders),
} satisfies Record<keyof NonLocalMeansOptions, Check>;

/**
 * The mean over a square of 2 radius + 1 pixels per side, clipped at the edges. image [H, W].
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(heed.localMean(heed.tensor([[1, 3]]), 1).toArray()); // prints: [ [ 2, 2 ] ]
 * ```
 */
export function localMean(engine: Engine, image: Tensor, radius: number): Tensor {
  checkArgument("radius", radius, isWholeNumber(0));
  const mean = engine.apply(engine.module.localMean, [engine.handle("image", image), radius]);
  recording()?.cut("localMean", { image }, [mean]);
  return mean;
}

/**
 * Non-local means (Buades et al., 2005): each pixel becomes a mean of its neighbours, weighted by
 * the similarity of their patches. The weight is exp(-max(d - 2 sigma^2, 0) / h^2), where d is
 * the mean squared difference of two patches. The search window is clipped at the edges.
 * image [H, W].
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const { output } = heed.nonLocalMeans(heed.ones([8, 8]), { patchRadius: 1, searchRadius: 2 });
 * console.log(output.shape, Number(heed.mean(output).item()).toFixed(3)); // prints: [ 8, 8 ] 1.000
 * ```
 */
export function nonLocalMeans(
  engine: Engine,
  image: Tensor,
  options: NonLocalMeansOptions = {},
): NonLocalMeansResult {
  checkOptions("nonLocalMeans", options, checks);
  const args = withNonLocalMeansOptions([engine.handle("image", image)], options);
  engine.run(engine.module.nonLocalMeans, args);
  const result = readNonLocalMeansResult(engine);
  recording()?.cut("nonLocalMeans", { image }, [result.output, result.weightSum]);
  return result;
}

/**
 * The weights of one pixel's mean, divided by their sum: [H, W], zero outside its search window.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const weights = heed.nonLocalMeansWeights(heed.ones([8, 8]), 4, 4, { patchRadius: 1, searchRadius: 2 });
 * console.log(Number(heed.sum(weights).item()).toFixed(3)); // prints: 1.000
 * ```
 */
export function nonLocalMeansWeights(
  engine: Engine,
  image: Tensor,
  row: number,
  column: number,
  options: NonLocalMeansOptions = {},
): Tensor {
  checkArgument("row", row, isWholeNumber(0));
  checkArgument("column", column, isWholeNumber(0));
  checkOptions("nonLocalMeansWeights", options, checks);
  const args = withNonLocalMeansOptions([engine.handle("image", image), row, column], options);
  const weights = engine.apply(engine.module.nonLocalMeansWeights, args);
  recording()?.cut("nonLocalMeansWeights", { image }, [weights]);
  return weights;
}
