// The layers of a transformer (Vaswani et al., 2017, section 3.1), as torch.nn computes them.

import { isObject, optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isPositive,
  isShare,
  isTensor,
  isWholeNumber,
  oneOf,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import { Dropout, Linear } from "./layers.js";
import { Module } from "./module.js";
import { isCache, MultiHeadAttention } from "./multiHeadAttention.js";
import { LayerNorm } from "./norms.js";
import { type Generator, isGenerator } from "./random.js";
import type { LayerCache } from "./transformerCache.js";

/** Options of a new layer of a transformer. */
export interface TransformerLayerOptions {
  /** The size of the hidden layer of the feed-forward network; 2048 by default. */
  dimFeedforward?: number;
  /**
   * The dropout rate of the attention weights, of the hidden layer, and of the output of each sublayer; 0.1
   * by default.
   */
  dropout?: number;
  /** The activation of the hidden layer; "relu" by default. */
  activation?: "relu" | "gelu";
  /** The eps of the norms; 1e-5 by default. */
  layerNormEps?: number;
  /**
   * Whether norms precede the sublayers (Xiong et al., 2020) instead of following the residual additions;
   * false by default.
   */
  normFirst?: boolean;
  /** Whether linear layers and norms have biases; true by default. */
  bias?: boolean;
  /** The source of initial values and of the seeds of dropout; the engine's `defaultGenerator` by default. */
  generator?: Generator;
}

/**
 * The intermediate results of a part of a layer. With `normFirst`, `input` is norm(before) and
 * `after` is before + added; otherwise `input` is `before` and `after` is norm(before + added).
 */
export interface SublayerParts {
  /** The residual stream before the part, [B, L, E]. */
  readonly before: Tensor;
  /** The input of the part, [B, L, E]. */
  readonly input: Tensor;
  /** The output of the part, which is added to the stream, [B, L, E]. */
  readonly added: Tensor;
  /** The stream after the part, [B, L, E]. */
  readonly after: Tensor;
}

/** The intermediate results of a layer: one entry for each of its parts, under torch's names, in their order. */
export interface TransformerLayerParts {
  /** Self-attention. */
  readonly selfAttn: SublayerParts;
  /** Attention to the output of the encoder; undefined in the layers of an encoder. */
  readonly multiheadAttn: SublayerParts | undefined;
  /** The feed-forward network, with the values of its hidden layer after the activation, [B, L, F]. */
  readonly feedForward: SublayerParts & { readonly units: Tensor };
}

/**
 * Receives the intermediate results of a layer.
 *
 * @param layer counted from 0
 * @example
 * ```ts
 * const receiveLayer: nn.ReceiveTransformerLayer = (layer, { selfAttn }) => console.log(layer, selfAttn.added.shape);
 * new nn.TransformerEncoder(heed, 8, 2, 1).forward(heed.ones([1, 3, 8]), { receiveLayer }); // prints: 0 [ 1, 3, 8 ]
 * ```
 */
export type ReceiveTransformerLayer = (layer: number, parts: TransformerLayerParts) => void;

export const layerChecks = {
  dimFeedforward: isWholeNumber(1),
  dropout: isShare,
  activation: oneOf("relu", "gelu"),
  layerNormEps: isPositive,
  normFirst: isBoolean,
  bias: isBoolean,
  generator: isGenerator,
} satisfies Record<keyof TransformerLayerOptions, Check>;

/** Options of a call of an encoder layer or its stack. */
export interface TransformerEncoderLayerForwardOptions {
  /** As the mask of MultiHeadAttention. */
  mask?: Tensor;
  /** bool [B, L], true where a position may be seen. */
  keyMask?: Tensor;
  /** Whether a position sees only the positions up to itself; false by default. */
  isCausal?: boolean;
  /** For step-by-step decoding: see TransformerEncoder.createCache. */
  cache?: LayerCache;
}

/** Options of a call of a decoder layer or its stack. */
export interface TransformerDecoderLayerForwardOptions {
  /** As the mask of MultiHeadAttention, for attention to the decoder's own positions. */
  tgtMask?: Tensor;
  /** bool [B, L], true where a position may be seen. */
  tgtKeyMask?: Tensor;
  /** Whether a position of the target sees only the positions up to itself; false by default. */
  tgtIsCausal?: boolean;
  /** As the mask of MultiHeadAttention, for attention to the output of the encoder. */
  memoryMask?: Tensor;
  /** bool [B, S], true where a position of the memory may be seen. */
  memoryKeyMask?: Tensor;
  /** Whether position i of the target sees only the positions up to i of the memory; false by default. */
  memoryIsCausal?: boolean;
  /** For step-by-step decoding: see TransformerDecoder.createCache. */
  cache?: LayerCache;
}

const isLayerCache: Check = {
  expected: "a layer of a transformer's cache",
  accepts: (value) => isObject(value) && isCache.accepts(value.selfAttn),
};

export const encoderForwardChecks = {
  mask: isTensor,
  keyMask: isTensor,
  isCausal: isBoolean,
  cache: isLayerCache,
} satisfies Record<keyof TransformerEncoderLayerForwardOptions, Check>;

export const decoderForwardChecks = {
  tgtMask: isTensor,
  tgtKeyMask: isTensor,
  tgtIsCausal: isBoolean,
  memoryMask: isTensor,
  memoryKeyMask: isTensor,
  memoryIsCausal: isBoolean,
  cache: isLayerCache,
} satisfies Record<keyof TransformerDecoderLayerForwardOptions, Check>;

/** The sublayers that both kinds of layers have, under torch's names, and their residual connections. */
abstract class TransformerLayer extends Module {
  /** Whether norms precede the sublayers. */
  readonly normFirst: boolean;
  /** The activation of the hidden layer. */
  readonly activation: "relu" | "gelu";
  /** Self-attention. */
  readonly selfAttn: MultiHeadAttention;
  /** From E to the hidden layer: weight [F, E]. */
  declare readonly linear1: Linear;
  /** The dropout after the activation of the hidden layer. */
  declare readonly dropout: Dropout;
  /** From the hidden layer to E: weight [E, F]. */
  declare readonly linear2: Linear;
  /** The norm of self-attention. */
  declare readonly norm1: LayerNorm;
  /** The norm of the second sublayer: attention to the memory in a decoder, else the feed-forward network. */
  declare readonly norm2: LayerNorm;
  /** The dropout after self-attention. */
  declare readonly dropout1: Dropout;
  /** The dropout after the second sublayer. */
  declare readonly dropout2: Dropout;

  constructor(
    heed: Heed,
    dModel: number,
    heads: number,
    options: TransformerLayerOptions,
    readsMemory = false,
  ) {
    super(heed);
    checkArgument("dModel", dModel, isWholeNumber(1));
    this.normFirst = options.normFirst ?? false;
    this.activation = options.activation ?? "relu";
    const make = partsOf(heed, dModel, heads, options);
    this.selfAttn = make.attention();
    // torch's parameters and the random numbers have this order. A declared field exists once it is set.
    if (readsMemory) Object.assign(this, { multiheadAttn: make.attention() });
    this.linear1 = make.linear(dModel, make.dimFeedforward);
    this.dropout = make.dropout();
    this.linear2 = make.linear(make.dimFeedforward, dModel);
    this.norm1 = make.norm();
    this.norm2 = make.norm();
    this.dropout1 = make.dropout();
    this.dropout2 = make.dropout();
  }

  /** Returns the stream after the part: x + part(norm(x)) if `normFirst`, else norm(x + part(x)). */
  protected residual(x: Tensor, norm: LayerNorm, part: (x: Tensor) => Tensor): SublayerParts {
    const input = this.normFirst ? norm.forward(x) : x;
    const added = part(input);
    const sum = this.heed.add(x, added);
    return { before: x, input, added, after: this.normFirst ? sum : norm.forward(sum) };
  }

  /** The feed-forward network (section 3.3), with a dropout after it. */
  protected feedForward(
    x: Tensor,
    norm: LayerNorm,
    after: Dropout,
  ): TransformerLayerParts["feedForward"] {
    let units = x;
    const parts = this.residual(x, norm, (input) => {
      units = this.dropout.forward(this.linear1.forward(input, this.activation));
      return after.forward(this.linear2.forward(units));
    });
    return { ...parts, units };
  }
}

function partsOf(heed: Heed, dModel: number, heads: number, options: TransformerLayerOptions) {
  const { dimFeedforward = 2048, dropout = 0.1, layerNormEps = 1e-5, bias = true } = options;
  const given = options.generator && { generator: options.generator };
  return {
    attention: () => new MultiHeadAttention(heed, dModel, heads, { dropout, bias, ...given }),
    linear: (inSize: number, outSize: number) =>
      new Linear(heed, inSize, outSize, { bias, ...given }),
    norm: () => new LayerNorm(heed, dModel, { eps: layerNormEps, bias }),
    dropout: () => new Dropout(heed, dropout, given),
    dimFeedforward,
  };
}

/**
 * Self-attention, then a feed-forward network: torch.nn.TransformerEncoderLayer.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const layer = new nn.TransformerEncoderLayer(heed, 8, 2, { dimFeedforward: 32, normFirst: true });
 * console.log(layer.forward(heed.ones([1, 3, 8])).shape); // prints: [ 1, 3, 8 ]
 * ```
 */
export class TransformerEncoderLayer extends TransformerLayer {
  /** @internal */ static override readonly toStringTag = "TransformerEncoderLayer";
  constructor(heed: Heed, dModel: number, heads: number, options: TransformerLayerOptions = {}) {
    checkOptions("TransformerEncoderLayer", options, layerChecks);
    super(heed, dModel, heads, options);
  }

  /** src [B, L, E] -> [B, L, E] */
  forward(src: Tensor, options: TransformerEncoderLayerForwardOptions = {}): Tensor {
    return this.parts(src, options).feedForward.after;
  }

  /** @internal Computes the intermediate results of `forward`. */
  parts(src: Tensor, options: TransformerEncoderLayerForwardOptions): TransformerLayerParts {
    checkOptions("TransformerEncoderLayer", options, encoderForwardChecks);
    const { mask, keyMask, isCausal, cache } = options;
    const own = optional({ mask, keyMask, isCausal, cache: cache?.selfAttn });
    const selfAttn = this.residual(src, this.norm1, (x) =>
      this.dropout1.forward(this.selfAttn.forward(x, x, x, own).output),
    );
    const feedForward = this.feedForward(selfAttn.after, this.norm2, this.dropout2);
    return { selfAttn, multiheadAttn: undefined, feedForward };
  }
}

/**
 * Self-attention, attention to the encoder's output, then a feed-forward network:
 * torch.nn.TransformerDecoderLayer.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const layer = new nn.TransformerDecoderLayer(heed, 8, 2);
 * console.log(layer.forward(heed.ones([1, 3, 8]), heed.ones([1, 5, 8])).shape); // prints: [ 1, 3, 8 ]
 * ```
 */
export class TransformerDecoderLayer extends TransformerLayer {
  /** @internal */ static override readonly toStringTag = "TransformerDecoderLayer";
  /** Attention to the memory. */
  declare readonly multiheadAttn: MultiHeadAttention;
  /** The norm of the feed-forward network. */
  readonly norm3: LayerNorm;
  /** The dropout after the feed-forward network. */
  readonly dropout3: Dropout;

  constructor(heed: Heed, dModel: number, heads: number, options: TransformerLayerOptions = {}) {
    checkOptions("TransformerDecoderLayer", options, layerChecks);
    super(heed, dModel, heads, options, true);
    const make = partsOf(heed, dModel, heads, options);
    this.norm3 = make.norm();
    this.dropout3 = make.dropout();
  }

  /**
   * Computes the layer: [B, L, E].
   *
   * @param tgt [B, L, E]
   * @param memory [B, S, E], the output of the encoder. With a cache, only the first step reads it
   */
  forward(
    tgt: Tensor,
    memory: Tensor,
    options: TransformerDecoderLayerForwardOptions = {},
  ): Tensor {
    return this.parts(tgt, memory, options).feedForward.after;
  }

  /** @internal Computes the intermediate results of `forward`. */
  parts(
    tgt: Tensor,
    memory: Tensor,
    options: TransformerDecoderLayerForwardOptions,
  ): TransformerLayerParts {
    checkOptions("TransformerDecoderLayer", options, decoderForwardChecks);
    const { cache } = options;
    const own = optional({
      mask: options.tgtMask,
      keyMask: options.tgtKeyMask,
      isCausal: options.tgtIsCausal,
      cache: cache?.selfAttn,
    });
    const others = optional({
      mask: options.memoryMask,
      keyMask: options.memoryKeyMask,
      isCausal: options.memoryIsCausal,
      cache: cache?.multiheadAttn,
    });
    const keys = cache?.multiheadAttn?.lengths.some((length) => length > 0) ? undefined : memory;
    const selfAttn = this.residual(tgt, this.norm1, (x) =>
      this.dropout1.forward(this.selfAttn.forward(x, x, x, own).output),
    );
    const multiheadAttn = this.residual(selfAttn.after, this.norm2, (x) =>
      this.dropout2.forward(this.multiheadAttn.forward(x, keys, keys, others).output),
    );
    const feedForward = this.feedForward(multiheadAttn.after, this.norm3, this.dropout3);
    return { selfAttn, multiheadAttn, feedForward };
  }
}
