// Layers that consist of one operation or a few.

import { optional } from "../core/objects.js";
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

/** Options of a new `Linear`. */
export interface LinearOptions {
  /** Whether the layer has a bias; true by default. */
  bias?: boolean;
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

const linearChecks = { bias: isBoolean, generator: isGenerator } satisfies Record<
  keyof LinearOptions,
  Check
>;

/**
 * Computes x W^T + b. The initial values of weight [out, in] and bias [out] are uniform in +-1/sqrt(in), as
 * in torch.nn.Linear.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const layer = new nn.Linear(heed, 3, 4);
 * console.log(layer.forward(heed.ones([2, 3]), "relu").shape, Object.keys(layer.stateDict())); // prints: [ 2, 4 ] [ 'weight', 'bias' ]
 * ```
 */
export class Linear extends Module {
  /** @internal */ static override readonly toStringTag = "Linear";
  /** [out, in] */
  weight: Tensor;
  /** [out]; undefined without a bias. */
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

  /** x [..., in] -> [..., out], followed by the activation if one is given. */
  forward(x: Tensor, activation?: LinearOperationOptions["activation"]): Tensor {
    const { heed, weight, bias } = this;
    return heed.linear(x, weight, optional({ bias, activation }));
  }
}

/** Options of a new `SwiGLU`. */
export interface SwiGLUOptions {
  /** Whether the three linear layers have biases; false by default. */
  bias?: boolean;
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

/**
 * Computes down(silu(gate(x)) * up(x)) (Shazeer, "GLU Variants Improve Transformer", 2020).
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * console.log(new nn.SwiGLU(heed, 4, 8).forward(heed.ones([2, 4])).shape); // prints: [ 2, 4 ]
 * ```
 */
export class SwiGLU extends Module {
  /** @internal */ static override readonly toStringTag = "SwiGLU";
  /** weight [hiddenSize, size] */
  readonly gateProj: Linear;
  /** weight [hiddenSize, size] */
  readonly upProj: Linear;
  /** weight [size, hiddenSize] */
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
}

/** Options of a new `Embedding`. */
export interface EmbeddingOptions {
  /** The index of a row whose initial values are zeros and that is not trained. */
  paddingIndex?: number;
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

/**
 * A table of vectors [V, E]. The initial values are normally distributed with a standard deviation of 1, as
 * in torch.nn.Embedding.
 *
 * @throws HeedError "shape", "dtype", "option" for an id outside the table, "memory", "disposed"
 * @example
 * ```ts
 * const table = new nn.Embedding(heed, 100, 8);
 * console.log(table.forward(heed.tensor([[1, 2, 3]], undefined, "int32")).shape); // prints: [ 1, 3, 8 ]
 * ```
 */
export class Embedding extends Module {
  /** @internal */ static override readonly toStringTag = "Embedding";
  /** [V, E] */
  weight: Tensor;
  /** The row that is not trained; undefined if there is none. */
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
    const { heed, weight, paddingIndex } = this;
    return heed.embedding(ids, weight, optional({ paddingIndex }));
  }
}

/** Options of a new `Dropout`. */
export interface DropoutOptions {
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

/**
 * In train mode, sets each element to zero with the probability `rate` and multiplies the others by 1 / (1
 * - rate). In eval mode, changes nothing.
 *
 * @throws HeedError "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const dropout = new nn.Dropout(heed, 0.5).eval();
 * console.log(dropout.forward(heed.ones([2])).toArray()); // prints: [ 1, 1 ]
 * ```
 */
export class Dropout extends Module {
  /** @internal */ static override readonly toStringTag = "Dropout";
  /** The proportion of elements that become zero in train mode. */
  readonly rate: number;
  readonly #generator: Generator;

  /** @param rate the probability that an element is set to zero; 0.5 by default, as in torch.nn.Dropout */
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
}

/** Options of a new `PositionalEncoding`. */
export interface PositionalEncodingOptions {
  /** The dropout rate; 0.1 by default. */
  dropout?: number;
  /** The base of the wavelengths; 10000 by default. */
  base?: number;
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

const positionalChecks = {
  dropout: isShare,
  base: isPositive,
  generator: isGenerator,
} satisfies Record<keyof PositionalEncodingOptions, Check>;

/**
 * Adds sinusoidal position encodings, then applies dropout (Vaswani et al., 2017, sections 3.5 and 5.4).
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const positions = new nn.PositionalEncoding(heed, 4).eval();
 * console.log(positions.forward(heed.zeros([1, 1, 4])).toArray()); // prints: [ [ [ 0, 1, 0, 1 ] ] ]
 * ```
 */
export class PositionalEncoding extends Module {
  /** @internal */ static override readonly toStringTag = "PositionalEncoding";
  /** The dropout after the sum. */
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
    this.dropout = new Dropout(heed, dropout, optional({ generator }));
  }

  /** x [..., L, E] -> [..., L, E]. The first row has the position `offset`, 0 by default. */
  forward(x: Tensor, options: { offset?: number } = {}): Tensor {
    checkOptions("PositionalEncoding", options, { offset: isWholeNumber(0) });
    const { offset = 0 } = options;
    const { heed } = this;
    const length = shapeOf("x", x).at(-2) ?? 1;
    const table = heed.sinusoidalEncoding(length, this.#size, { base: this.#base, offset });
    return this.dropout.forward(heed.add(x, table));
  }
}
