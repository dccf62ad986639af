// Attention modules of recurrent encoder-decoders: Bahdanau's and Luong's.

import { optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isTensor,
  isWholeNumber,
  oneOf,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import type { ScoredAttentionResult } from "../ops/scoredAttention.js";
import { receiverOf } from "./capture.js";
import { Linear } from "./layers.js";
import { Module } from "./module.js";
import { defaultGenerator, type Generator, isGenerator, uniform } from "./random.js";

/** Options of a new `BahdanauAttention`. */
export interface BahdanauAttentionOptions {
  /** Whether the projection of the query has a bias; false by default. */
  bias?: boolean;
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

/** Options of a call of `BahdanauAttention`. */
export interface BahdanauAttentionForwardOptions {
  /** bool [B, S], true where a key may be seen. */
  keyMask?: Tensor;
  /** Whether `keys` are a result of `projectKeys`; false by default. A decoder projects the keys once for all steps. */
  areKeysProjected?: boolean;
}

const bahdanauChecks = { bias: isBoolean, generator: isGenerator } satisfies Record<
  keyof BahdanauAttentionOptions,
  Check
>;

const bahdanauForwardChecks = { keyMask: isTensor, areKeysProjected: isBoolean } satisfies Record<
  keyof BahdanauAttentionForwardOptions,
  Check
>;

/**
 * Attention with the score v . tanh(W q + U k) (Bahdanau et al., 2015, appendix A.1.2). W is the parameter
 * query_layer.weight [A, Dq], U is key_layer.weight [A, Dk], and v is energy_layer.weight [1, A]. Their
 * initial values have the distribution of Linear's.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const attention = new nn.BahdanauAttention(heed, 3, 5, 8); // sizes of a query, a key, the attention
 * const { output, weights } = attention.forward(heed.ones([1, 2, 3]), heed.ones([1, 4, 5]), heed.ones([1, 4, 6]));
 * console.log(output.shape, weights.shape); // prints: [ 1, 2, 6 ] [ 1, 2, 4 ]
 * ```
 */
export class BahdanauAttention extends Module {
  /** @internal */ static override readonly toStringTag = "BahdanauAttention";
  /** W, which projects queries: weight [A, Dq]. */
  readonly queryLayer: Linear;
  /** U, which projects keys: weight [A, Dk]. */
  readonly keyLayer: Linear;
  /** v: weight [1, A]. */
  readonly energyLayer: Linear;

  constructor(
    heed: Heed,
    querySize: number,
    keySize: number,
    attentionSize: number,
    options: BahdanauAttentionOptions = {},
  ) {
    super(heed);
    checkOptions("BahdanauAttention", options, bahdanauChecks);
    for (const [name, size] of Object.entries({ querySize, keySize, attentionSize }))
      checkArgument(name, size, isWholeNumber(1));
    const { bias = false, generator = defaultGenerator(heed) } = options;
    this.queryLayer = new Linear(heed, querySize, attentionSize, { bias, generator });
    this.keyLayer = new Linear(heed, keySize, attentionSize, { bias: false, generator });
    this.energyLayer = new Linear(heed, attentionSize, 1, { bias: false, generator });
  }

  /** Projects keys [B, S, Dk] to [B, S, A], for `forward` with `areKeysProjected`. */
  projectKeys(keys: Tensor): Tensor {
    return this.keyLayer.forward(keys);
  }

  /**
   * Attends: a weighted mean of the values for each query.
   *
   * @param query [B, L, Dq]
   * @param keys [B, S, Dk]; [B, S, A] if they are projected
   * @param values [B, S, Dv]
   * @returns output [B, L, Dv] and weights [B, L, S]
   */
  forward(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    options: BahdanauAttentionForwardOptions = {},
  ): ScoredAttentionResult {
    checkOptions("BahdanauAttention", options, bahdanauForwardChecks);
    const { keyMask, areKeysProjected = false } = options;
    const q = this.queryLayer.forward(query);
    const k = areKeysProjected ? keys : this.projectKeys(keys);
    const v = this.heed.reshape(this.energyLayer.weight, [-1]);
    const result = this.heed.additiveScores(q, k, values, v, optional({ keyMask }));
    receiverOf(this)?.(result.weights);
    return result;
  }
}

/** Options of a new `LuongAttention`. */
export interface LuongAttentionOptions {
  /** The score: "dot" is q . k, "general" is q W k, "concat" is v . tanh(W [q; k]). "dot" by default. */
  score?: "dot" | "general" | "concat";
  /** The number A of rows of W for "concat"; keySize by default. */
  attentionSize?: number;
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

const luongChecks = {
  score: oneOf("dot", "general", "concat"),
  attentionSize: isWholeNumber(1),
  generator: isGenerator,
} satisfies Record<keyof LuongAttentionOptions, Check>;

/** Options of a call of `LuongAttention`. */
export interface LuongAttentionForwardOptions {
  /** bool [B, S], true where a key may be seen. */
  keyMask?: Tensor;
}

/**
 * Attention with the scores of Luong et al., 2015, section 3.1, without a scale. The score "dot",
 * q . k, has no parameters; "general", q W k, has `weight` [Dq, Dk]; "concat", v . tanh(W [q; k]),
 * has `weight` [A, Dq + Dk] and `scoreWeight` [A]. As in Linear, initial values are uniform in
 * +-1/sqrt(in).
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const attention = new nn.LuongAttention(heed, 3, 5, { score: "general" });
 * const { output } = attention.forward(heed.ones([1, 2, 3]), heed.ones([1, 4, 5]), heed.ones([1, 4, 6]));
 * console.log(output.shape); // prints: [ 1, 2, 6 ]
 * ```
 */
export class LuongAttention extends Module {
  /** @internal */ static override readonly toStringTag = "LuongAttention";
  /** Which score it computes. */
  readonly score: "dot" | "general" | "concat";
  /** W: [Dq, Dk] for "general", [A, Dq + Dk] for "concat"; undefined for "dot". */
  weight: Tensor | undefined;
  /** v: [A] for "concat", else undefined. */
  scoreWeight: Tensor | undefined;

  constructor(heed: Heed, querySize: number, keySize: number, options: LuongAttentionOptions = {}) {
    super(heed);
    checkArgument("querySize", querySize, isWholeNumber(1));
    checkArgument("keySize", keySize, isWholeNumber(1));
    checkOptions("LuongAttention", options, luongChecks);
    const { score = "dot", attentionSize = keySize } = options;
    const { generator = defaultGenerator(heed) } = options;
    const make = (...shape: number[]) =>
      uniform(heed, generator, shape, 1 / Math.sqrt(shape.at(-1) as number));
    this.score = score;
    if (score === "dot") {
      checkArgument("keySize", keySize, {
        expected: `querySize ${querySize}, as the score "dot" requires`,
        accepts: (value) => value === querySize,
      });
    } else if (score === "general") {
      this.weight = make(querySize, keySize);
    } else {
      this.weight = make(attentionSize, querySize + keySize);
      this.scoreWeight = make(attentionSize);
    }
  }

  /**
   * Attends: a weighted mean of the values for each query.
   *
   * @param query [B, L, Dq]
   * @param keys [B, S, Dk]
   * @param values [B, S, Dv]
   * @returns output [B, L, Dv] and weights [B, L, S]
   */
  forward(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    options: LuongAttentionForwardOptions = {},
  ): ScoredAttentionResult {
    checkOptions("LuongAttention", options, { keyMask: isTensor });
    const { score, weight, scoreWeight } = this;
    const operation = optional({ score, weight, scoreWeight, ...options });
    const result = this.heed.luongAttention(query, keys, values, operation);
    receiverOf(this)?.(result.weights);
    return result;
  }
}
