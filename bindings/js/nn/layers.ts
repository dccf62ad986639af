// Layers of one operation, or of a few.

import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isPositive,
  isShare,
  isWholeNumber,
  shapeOf,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import type { LinearOptions as LinearOperationOptions } from "../ops/linear.js";
import { Module } from "./module.js";
import { defaultGenerator, type Generator, isGenerator, uniform } from "./random.js";

const isSize = isWholeNumber(1);

export interface LinearOptions {
  /** Has a bias: true by default. */
  bias?: boolean;
  generator?: Generator;
}

const linearChecks = { bias: isBoolean, generator: isGenerator } satisfies Record<
  keyof LinearOptions,
  Check
>;

/**
 * x W^T + b. Weight [out, in] and bias [out] begin evenly distributed in +-1/sqrt(in), as those of
 * torch.nn.Linear do.
 */
export class Linear extends Module {
  weight: Tensor;
  bias: Tensor | undefined;

  constructor(heed: Heed, inFeatures: number, outFeatures: number, options: LinearOptions = {}) {
    super(heed);
    checkArgument("inFeatures", inFeatures, isSize);
    checkArgument("outFeatures", outFeatures, isSize);
    checkOptions("Linear", options, linearChecks);
    const { bias = true, generator = defaultGenerator(heed) } = options;
    const bound = 1 / Math.sqrt(inFeatures);
    this.weight = uniform(heed, generator, [outFeatures, inFeatures], bound);
    this.bias = bias ? uniform(heed, generator, [outFeatures], bound) : undefined;
  }

  /** x [..., in] -> [..., out], with an activation after it if one is named. */
  forward(x: Tensor, activation?: LinearOperationOptions["activation"]): Tensor {
    const options: LinearOperationOptions = {};
    if (this.bias !== undefined) options.bias = this.bias;
    if (activation !== undefined) options.activation = activation;
    return this.heed.linear(x, this.weight, options);
  }

  override get [Symbol.toStringTag](): string {
    return "Linear";
  }
}

export interface SwiGLUOptions {
  /** The three layers have biases: false by default. */
  bias?: boolean;
  generator?: Generator;
}

/** down(silu(gate(x)) up(x)) (Shazeer, "GLU Variants Improve Transformer", 2020). */
export class SwiGLU extends Module {
  readonly gateProj: Linear;
  readonly upProj: Linear;
  readonly downProj: Linear;

  constructor(heed: Heed, size: number, hiddenSize: number, options: SwiGLUOptions = {}) {
    super(heed);
    checkOptions("SwiGLU", options, linearChecks);
    const inner = { bias: false, ...options };
    this.gateProj = new Linear(heed, size, hiddenSize, inner);
    this.upProj = new Linear(heed, size, hiddenSize, inner);
    this.downProj = new Linear(heed, hiddenSize, size, inner);
  }

  /** x [..., size] -> [..., size] */
  forward(x: Tensor): Tensor {
    return this.downProj.forward(
      this.heed.swiglu(this.gateProj.forward(x), this.upProj.forward(x)),
    );
  }

  override get [Symbol.toStringTag](): string {
    return "SwiGLU";
  }
}

export interface EmbeddingOptions {
  /** A row that begins as zeros and is not trained. */
  paddingIndex?: number;
  generator?: Generator;
}

/** A table of vectors [V, E], normally distributed at first with deviation 1, as torch.nn.Embedding. */
export class Embedding extends Module {
  weight: Tensor;
  readonly paddingIndex: number | undefined;

  constructor(
    heed: Heed,
    embeddings: number,
    embeddingDim: number,
    options: EmbeddingOptions = {},
  ) {
    super(heed);
    checkArgument("embeddings", embeddings, isSize);
    checkArgument("embeddingDim", embeddingDim, isSize);
    checkOptions("Embedding", options, {
      paddingIndex: isWholeNumber(0, embeddings - 1),
      generator: isGenerator,
    });
    const { paddingIndex, generator = defaultGenerator(heed) } = options;
    const seed = generator.next();
    this.weight = heed.normal([embeddings, embeddingDim], { mean: 0, deviation: 1, seed });
    this.paddingIndex = paddingIndex;
    if (paddingIndex !== undefined) {
      const begin = paddingIndex * embeddingDim;
      this.weight.data.fill(0, begin, begin + embeddingDim);
    }
  }

  /** ids int32 [...] -> [..., E] */
  forward(ids: Tensor): Tensor {
    const { paddingIndex } = this;
    return this.heed.embedding(
      ids,
      this.weight,
      paddingIndex === undefined ? {} : { paddingIndex },
    );
  }

  override get [Symbol.toStringTag](): string {
    return "Embedding";
  }
}

export interface DropoutOptions {
  generator?: Generator;
}

/** In train mode sets a share of the numbers to zero at random and enlarges the rest; else nothing. */
export class Dropout extends Module {
  readonly rate: number;
  readonly #generator: Generator;

  /** @param rate 0.5 by default, as torch.nn.Dropout's */
  constructor(heed: Heed, rate = 0.5, options: DropoutOptions = {}) {
    super(heed);
    checkArgument("rate", rate, isShare);
    checkOptions("Dropout", options, { generator: isGenerator });
    this.rate = rate;
    this.#generator = options.generator ?? defaultGenerator(heed);
  }

  /** x [...] -> [...] */
  forward(x: Tensor): Tensor {
    if (!this.training || this.rate === 0) return x;
    return this.heed.dropout(x, { rate: this.rate, seed: this.#generator.next() });
  }

  override get [Symbol.toStringTag](): string {
    return "Dropout";
  }
}

export interface PositionalEncodingOptions {
  /** 0.1 by default. */
  dropout?: number;
  /** 10000 by default. */
  base?: number;
  generator?: Generator;
}

const positionalChecks = {
  dropout: isShare,
  base: isPositive,
  generator: isGenerator,
} satisfies Record<keyof PositionalEncodingOptions, Check>;

/** Adds sines and cosines of the position, and then drops (Vaswani et al., 2017, sections 3.5 and 5.4). */
export class PositionalEncoding extends Module {
  readonly dropout: Dropout;
  readonly #size: number;
  readonly #base: number;

  constructor(heed: Heed, size: number, options: PositionalEncodingOptions = {}) {
    super(heed);
    checkArgument("size", size, isSize);
    checkOptions("PositionalEncoding", options, positionalChecks);
    const { dropout = 0.1, base = 10000, generator } = options;
    this.#size = size;
    this.#base = base;
    this.dropout = new Dropout(heed, dropout, generator && { generator });
  }

  /** x [..., L, E] -> [..., L, E]; its first row stands at position `offset`. */
  forward(x: Tensor, options: { offset?: number } = {}): Tensor {
    checkOptions("PositionalEncoding", options, { offset: isWholeNumber(0) });
    const { offset = 0 } = options;
    const { heed } = this;
    const length = shapeOf("x", x).at(-2) ?? 1;
    const table = heed.sinusoidalEncoding(length, this.#size, { base: this.#base, offset });
    return this.dropout.forward(heed.add(x, table));
  }

  override get [Symbol.toStringTag](): string {
    return "PositionalEncoding";
  }
}
