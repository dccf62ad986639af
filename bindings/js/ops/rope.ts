// Rotary position embedding.

import { type RopeStyle, ropeStyles } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { withRopeOptions } from "../core/members.js";
import type { Operation } from "../core/module.js";
import { recording, snapshot } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkOptions,
  isPositive,
  isTensor,
  isWholeNumber,
  oneOf,
} from "../core/validate.js";

/** Options of `rope`. */
export interface RopeOptions {
  /** Pairs (x[c], x[c + rotarySize / 2]), or (x[2c], x[2c + 1]); "half" by default. */
  style?: RopeStyle;
  /** Heads of x [B, L, H*D]. */
  heads?: number;
  /** The number of entries of each head that are rotated, from the first on; all by default. */
  rotarySize?: number;
  /** 10000 by default. */
  base?: number;
  /** The position of the first row; 0 by default. */
  offset?: number;
  /** int32 [B, L] or [1, L], instead of the offset. */
  positionIds?: Tensor;
  /**
   * Tables instead of the base: [positions, rotarySize / 2], or for each row [B, L, rotarySize / 2] or
   * [1, L, rotarySize / 2].
   */
  cos?: Tensor;
  /** The sines, in the same shape as `cos`. */
  sin?: Tensor;
}

const checks = {
  style: oneOf(...ropeStyles),
  heads: isWholeNumber(1),
  rotarySize: isWholeNumber(2),
  base: isPositive,
  offset: isWholeNumber(-Number.MAX_SAFE_INTEGER),
  positionIds: isTensor,
  cos: isTensor,
  sin: isTensor,
} satisfies Record<keyof RopeOptions, Check>;

/**
 * Rotary position embedding (Su et al., 2021). In a row at position p, pair c is rotated by the
 * angle p base^(-2c / rotarySize). The shape of x is [B, H, L, D], or [B, L, H*D] with `heads`.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const x = heed.ones([1, 1, 3, 4]);
 * console.log(heed.rope(x).shape, Array.from(heed.rope(x).data.slice(0, 4))); // prints: [ 1, 1, 3, 4 ] [ 1, 1, 1, 1 ]
 * ```
 */
export function rope(engine: Engine, x: Tensor, options: RopeOptions = {}): Tensor {
  checkOptions("rope", options, checks);
  const { module } = engine;
  const tape = recording();
  const o = tape ? snapshot(options) : options;
  const turn = (operation: Operation, x: Tensor) =>
    engine.apply(operation, withRopeOptions(engine, [engine.handle("x", x)], o));
  const turned = turn(module.rope, x);
  tape?.cut("rope for its tables", { cos: o.cos, sin: o.sin }, [turned]);
  tape?.record("rope", { x }, [turned], ([d]) => ({
    x: d && turn(module.ropeBackward, d),
  }));
  return turned;
}
