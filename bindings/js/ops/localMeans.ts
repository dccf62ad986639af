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

export function localMean(engine: Engine, image: Tensor, radius: number): Tensor {
  checkArgument("radius", radius, isWholeNumber(0));
  const mean = engine.apply(engine.module.localMean, [engine.handle("image", image), radius]);
  recording()?.cut("localMean", { image }, [mean]);
  return mean;
}

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
