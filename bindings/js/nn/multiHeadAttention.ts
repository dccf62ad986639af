// Multi-head attention as a module, with a cache for step-by-step decoding.

import { describe, refuse } from "../core/error.js";
import { optional } from "../core/objects.js";
import { noGrad } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  instanceOf,
  isBoolean,
  isShare,
  isTensor,
  isWholeNumber,
  shapeOf,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import type { If, NothingElse } from "../ops/attention.js";
import { KvCache, type KvCacheOptions } from "../ops/kvCache.js";
import {
  inSteps,
  type MultiHeadAttentionParameters,
  type MultiHeadAttentionOptions as MultiHeadOperationOptions,
  project,
} from "../ops/multiHeadAttention.js";
import { type Compared, comparedOf, receiverOf } from "./capture.js";
import { Linear } from "./layers.js";
import { Module } from "./module.js";
import { defaultGenerator, type Generator, isGenerator, xavierUniform } from "./random.js";

/** Options of a new `MultiHeadAttention`. */
export interface MultiHeadAttentionOptions {
  /** The size of a key; embedDim by default. */
  kdim?: number;
  /** The size of a value; embedDim by default. */
  vdim?: number;
  /** The proportion of weights that are set to zero at random in train mode; 0 by default. */
  dropout?: number;
  /** Whether the projections have biases; true by default. */
  bias?: boolean;
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

/** Options of a call of `MultiHeadAttention`. */
export interface MultiHeadAttentionForwardOptions {
  /** Query i sees key j only if j <= i; with a cache, i counts from the start of the cache. */
  isCausal?: boolean;
  /**
   * bool, true where a key may be seen, or float32, added to the scores. Broadcasts to [B, H, L, S].
   * torch's boolean mask has the opposite meaning: see `heed.fromTorchMask`.
   */
  mask?: Tensor;
  /** bool [B, S], true where a key may be seen. */
  keyMask?: Tensor;
  /** Whether to return the weights. */
  needWeights?: boolean;
  /** Whether the weights are averaged over the heads: [B, L, S] instead of [B, H, L, S]. */
  averageWeights?: boolean;
  /**
   * Keys and values of earlier calls. This call appends its own, and S counts all of them. Not for
   * training. `createCache` creates one.
   */
  cache?: KvCache;
}

/** The result of a call of `MultiHeadAttention`. */
export interface MultiHeadAttentionForwardResult<
  O extends MultiHeadAttentionForwardOptions = MultiHeadAttentionForwardOptions,
> {
  /** [B, L, E] */
  output: Tensor;
  /** [B, H, L, S], or [B, L, S] with `averageWeights`; undefined unless `needWeights`. */
  weights: If<O["needWeights"], Tensor>;
}

const checks = {
  kdim: isWholeNumber(1),
  vdim: isWholeNumber(1),
  dropout: isShare,
  bias: isBoolean,
  generator: isGenerator,
} satisfies Record<keyof MultiHeadAttentionOptions, Check>;

export const isCache = instanceOf("a cache", KvCache);

const forwardChecks = {
  isCausal: isBoolean,
  mask: isTensor,
  keyMask: isTensor,
  needWeights: isBoolean,
  averageWeights: isBoolean,
  cache: isCache,
} satisfies Record<keyof MultiHeadAttentionForwardOptions, Check>;

/**
 * Multi-head attention (Vaswani et al., 2017, section 3.2.2) with the parameters of
 * torch.nn.MultiheadAttention with batch_first. The initial values of the input projections have
 * Glorot's distribution. The initial values of out_proj have the distribution of Linear's; biases
 * are zeros.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const attention = new nn.MultiHeadAttention(heed, 8, 2);
 * const x = heed.ones([1, 3, 8]);
 * const { output, weights } = attention.forward(x, x, x, { isCausal: true, needWeights: true });
 * console.log(output.shape, weights.shape); // prints: [ 1, 3, 8 ] [ 1, 2, 3, 3 ]
 * ```
 */
export class MultiHeadAttention extends Module {
  /** @internal */ static override readonly toStringTag = "MultiHeadAttention";
  /** The size E. */
  readonly embedDim: number;
  /** The number H of heads, a divisor of E. */
  readonly heads: number;
  /** The proportion of weights that become zero in train mode. */
  readonly dropout: number;
  /** [3E, E], if keys and values have the size E; else the module uses the three weights below. */
  inProjWeight: Tensor | undefined;
  /** [E, E] */
  qProjWeight: Tensor | undefined;
  /** [E, kdim] */
  kProjWeight: Tensor | undefined;
  /** [E, vdim] */
  vProjWeight: Tensor | undefined;
  /** [3E] */
  inProjBias: Tensor | undefined;
  /** The projection of the joined heads: weight [E, E]. */
  readonly outProj: Linear;
  readonly #generator: Generator;

  constructor(
    heed: Heed,
    embedDim: number,
    heads: number,
    options: MultiHeadAttentionOptions = {},
  ) {
    super(heed);
    checkArgument("embedDim", embedDim, isWholeNumber(1));
    checkArgument("heads", heads, {
      expected: `a divisor of embedDim ${embedDim}`,
      accepts: (value) => isWholeNumber(1).accepts(value) && embedDim % (value as number) === 0,
    });
    checkOptions("MultiHeadAttention", options, checks);
    const { kdim = embedDim, vdim = embedDim, bias = true, dropout = 0 } = options;
    const { generator = defaultGenerator(heed) } = options;
    this.embedDim = embedDim;
    this.heads = heads;
    this.dropout = dropout;
    this.#generator = generator;
    const weight = (rows: number, columns: number) =>
      xavierUniform(heed, generator, [rows, columns]);
    if (kdim === embedDim && vdim === embedDim) {
      this.inProjWeight = weight(3 * embedDim, embedDim);
    } else {
      this.qProjWeight = weight(embedDim, embedDim);
      this.kProjWeight = weight(embedDim, kdim);
      this.vProjWeight = weight(embedDim, vdim);
    }
    this.inProjBias = bias ? heed.zeros([3 * embedDim]) : undefined;
    this.outProj = new Linear(heed, embedDim, embedDim, { bias, generator });
    this.outProj.bias?.data.fill(0);
  }

  /**
   * Projects, attends with all heads, joins them and projects again.
   *
   * @param query [B, L, E]
   * @param key [B, S, kdim]. With a cache, key and value may both be undefined: the query then attends to
   *   the content of the cache
   * @param value [B, S, vdim]
   */
  forward<const O extends MultiHeadAttentionForwardOptions = Record<never, never>>(
    query: Tensor,
    key: Tensor | undefined,
    value: Tensor | undefined,
    options?: O & NothingElse<O, MultiHeadAttentionForwardOptions>,
  ): MultiHeadAttentionForwardResult<O> {
    const given: MultiHeadAttentionForwardOptions = options ?? {};
    checkOptions("MultiHeadAttention", given, forwardChecks);
    const shape = shapeOf("query", query);
    if (shape.length !== 3 || shape[2] !== this.embedDim) {
      throw refuse("shape", "query", `[B, L, ${this.embedDim}]`, describe([...shape]));
    }
    const { cache, averageWeights = false, needWeights = false, ...masks } = given;
    const receive = receiverOf(this);
    const wanted = { ...masks, needWeights: needWeights || receive !== undefined };
    const { output, weights } = this.#attend([query, key, value], wanted, cache);
    if (weights !== undefined)
      receive?.(weights, cache ? undefined : () => this.#compared([query, key, value]));
    const average = () => this.heed.mean(weights as Tensor, { axis: 1 });
    return {
      output,
      weights: needWeights ? (averageWeights ? average() : weights) : undefined,
    } as MultiHeadAttentionForwardResult<O>;
  }

  /** Creates a cache for `forward`. */
  createCache(options: Omit<KvCacheOptions, "heads" | "headSize" | "valueSize">): KvCache {
    const { heads, embedDim } = this;
    return this.heed.createKvCache({ ...options, heads, headSize: embedDim / heads });
  }

  #attend(inputs: Inputs, masks: Masks, cache: KvCache | undefined) {
    const { heed, heads, dropout } = this;
    const options: MultiHeadOperationOptions = { ...masks, heads };
    if (cache !== undefined)
      return inSteps(heed.engine, inputs, this.#parameters(), options, cache);
    if (this.training && dropout > 0) {
      options.dropout = dropout;
      options.seed = this.#generator.next();
    }
    const [query, key, value] = inputs as [Tensor, Tensor, Tensor];
    return heed.multiHeadAttention(query, key, value, this.#parameters(), options);
  }

  #parameters(): MultiHeadAttentionParameters {
    const { inProjWeight, qProjWeight, kProjWeight, vProjWeight, inProjBias, outProj } = this;
    const { weight: outProjWeight, bias: outProjBias } = outProj;
    const own = { inProjWeight, qProjWeight, kProjWeight, vProjWeight, inProjBias };
    return optional({ ...own, outProjWeight, outProjBias });
  }

  #compared(inputs: Inputs): Compared {
    const { heed, heads, embedDim } = this;
    const projected = noGrad(() => project(heed.engine, inputs, this.#parameters()));
    return comparedOf(heed, projected, embedDim / heads, { capture: "scores" });
  }
}

type Inputs = [query: Tensor, key: Tensor | undefined, value: Tensor | undefined];

type Masks = Pick<MultiHeadAttentionForwardOptions, "isCausal" | "mask" | "keyMask"> & {
  needWeights: boolean;
};
