// Weights of a linear layer, packed once for many calls.

import type { Kind } from "../core/border.js";
import { type PackedWeightsFormat, packedWeightsFormats } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { describe } from "../core/error.js";
import { Owned } from "../core/owned.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, oneOf } from "../core/validate.js";

/** Options of `packWeights`. */
export interface PackWeightsOptions {
  /**
   * "float32" by default. "int8" takes a quarter of the memory and about half of the time; its error is about
   * 2 % of the results' root mean square on normally distributed numbers. "int4" takes 4.5 bits for a number, in
   * groups of 32 inputs with a float16 scale; its error is about 8 %. The numbers must be finite.
   */
  format?: PackedWeightsFormat;
}

const checks = {
  format: oneOf(...packedWeightsFormats),
} satisfies Record<keyof PackWeightsOptions, Check>;

/**
 * The weights of a linear layer in the order in which the kernel reads them.
 *
 * @example
 * ```ts
 * using weights = heed.packWeights(heed.ones([8, 16]), { format: "int8" });
 * console.log(weights.shape, weights.format); // prints: [ 8, 16 ] int8
 * ```
 */
export class PackedWeights extends Owned {
  /** [out, in] */
  readonly shape: readonly number[];
  /** How the numbers are stored. */
  readonly format: PackedWeightsFormat;
  /** Memory held, in bytes. */
  readonly bytes: number;
  /** The tensor from which they were packed; a tape checks whether it depends on a source. */
  readonly #weight: WeakRef<Tensor>;

  /** @internal Made by `heed.packWeights`. */
  constructor(engine: Engine, weight: Tensor, options: PackWeightsOptions) {
    checkOptions("packWeights", options, checks);
    const { module, border } = engine;
    const { format = "float32" } = options;
    const args = [engine.handle("weight", weight), packedWeightsFormats.indexOf(format)];
    border.run(module.newPackedWeights, args);
    super(engine, border.nextHeld("weights"));
    border.run(module.packedWeightsBytes, [this.handle("weight", border)]);
    this.bytes = border.next();
    this.format = format;
    this.shape = weight.shape;
    this.#weight = new WeakRef(weight);
  }

  /** @internal The tensor from which they were packed, if it still exists. */
  get weight(): Tensor | undefined {
    return this.#weight.deref();
  }

  /** @internal */
  get kind(): Kind {
    return "weights";
  }

  override get [Symbol.toStringTag](): string {
    return "PackedWeights";
  }

  protected traits(): string[] {
    return [this.format, describe(this.shape), `${this.bytes} bytes`];
  }
}

/**
 * Packs weights [out, in] once, for many calls of `linear`.
 *
 * @param weight float32 [out, in]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * using packed = heed.packWeights(heed.tensor([[1, 0], [0, 1]]));
 * console.log(heed.linear(heed.tensor([[3, 4]]), packed).toArray()); // prints: [ [ 3, 4 ] ]
 * ```
 */
export function packWeights(
  engine: Engine,
  weight: Tensor,
  options: PackWeightsOptions = {},
): PackedWeights {
  return engine.track(new PackedWeights(engine, weight, options));
}
