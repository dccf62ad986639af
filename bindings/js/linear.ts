// heed.linear and heed.packWeights.

import type { Border } from "./border.js";
import type { Engine } from "./engine.js";
import { HeedError } from "./error.js";
import type { Handle } from "./module.js";
import { disposeSymbol, Tensor } from "./tensor.js";
import { type Check, checkOptions, isTensor, oneOf } from "./validate.js";

export interface LinearOptions {
  /** [out] */
  bias?: Tensor;
  /**
   * What is done to each number of the result: "gelu" is x Phi(x) and "geluTanh" its approximation by
   * tanh, "silu" x / (1 + exp(-x)). Nothing by default.
   */
  activation?: "relu" | "gelu" | "geluTanh" | "silu";
}

export interface PackWeightsOptions {
  /**
   * "float32" by default. "int8" takes a quarter of the memory and about half of the time; results are
   * off by some 2 % of their root mean square on normally distributed numbers.
   */
  format?: "float32" | "int8";
}

const linearChecks = {
  bias: isTensor,
  activation: oneOf("relu", "gelu", "geluTanh", "silu"),
} satisfies Record<keyof LinearOptions, Check>;

const packChecks = {
  format: oneOf("float32", "int8"),
} satisfies Record<keyof PackWeightsOptions, Check>;

/** The weights of a linear layer in the order in which its kernel reads them. */
export class PackedWeights implements Disposable {
  /** [out, in] */
  readonly shape: readonly number[];
  readonly format: "float32" | "int8";
  /** Memory held, in bytes. */
  readonly bytes: number;
  readonly #engine: Engine;
  /** 0 once they are disposed of. */
  #handle: Handle;

  /** @internal Made by `heed.packWeights`. */
  constructor(engine: Engine, weight: Tensor, options: PackWeightsOptions) {
    checkOptions("packWeights", options, packChecks);
    const { module, border } = engine;
    this.format = options.format ?? "float32";
    const format = module.PackedWeightsFormat[this.format].value;
    border.run(module.newPackedWeights, [engine.handle("weight", weight), format]);
    this.#handle = border.next();
    border.run(module.packedWeightsBytes, [this.#handle]);
    this.bytes = border.next();
    this.shape = weight.shape;
    this.#engine = engine;
  }

  /** Frees the memory. Doing so again does nothing. */
  dispose(): void {
    if (this.#handle !== 0) this.#engine.module.deletePackedWeights(this.#handle);
    this.#handle = 0;
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** @internal For the operations of this library. */
  handle(argument: string, border: Border): Handle {
    border.checkAlive();
    if (this.#handle === 0) {
      throw new HeedError("disposed", `${argument}: expected live weights, got disposed ones`);
    }
    if (this.#engine.border !== border) {
      throw new HeedError(
        "option",
        `${argument}: expected weights of this engine, got those of another`,
      );
    }
    return this.#handle;
  }
}

export function linear(
  engine: Engine,
  x: Tensor,
  weight: Tensor | PackedWeights,
  given: Tensor | LinearOptions = {},
): Tensor {
  const options = given instanceof Tensor ? { bias: given } : given;
  checkOptions("linear", options, linearChecks);
  const { module } = engine;
  const isPacked = weight instanceof PackedWeights;
  const args = [
    engine.handle("x", x),
    isPacked ? weight.handle("weight", engine.border) : engine.handle("weight", weight),
    engine.handleOrNone("bias", options.bias),
    module.Activation[options.activation ?? "none"].value,
  ];
  return engine.run(isPacked ? module.linearPacked : module.linear, args).tensor();
}
