// The layers of a transformer (Vaswani et al., 2017, section 3.1), as torch.nn computes them.

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
import {
  isCache,
  MultiHeadAttention,
  type MultiHeadAttentionForwardOptions,
} from "./multiHeadAttention.js";
import { LayerNorm } from "./norms.js";
import { type Generator, isGenerator } from "./random.js";
import type { LayerCache } from "./transformerCache.js";

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
  generator?: Generator;
}

export const layerChecks = {
  dimFeedforward: isWholeNumber(1),
  dropout: isShare,
  activation: oneOf("relu", "gelu"),
  layerNormEps: isPositive,
  normFirst: isBoolean,
  bias: isBoolean,
  generator: isGenerator,
} satisfies Record<keyof TransformerLayerOptions, Check>;

export interface TransformerEncoderLayerForwardOptions {
  /** As the mask of MultiHeadAttention. */
  mask?: Tensor;
  /** bool [B, L], true where a position may be seen. */
  keyMask?: Tensor;
  isCausal?: boolean;
  /** For step-by-step decoding: see TransformerEncoder.createCache. */
  cache?: LayerCache;
}

export interface TransformerDecoderLayerForwardOptions {
  /** As the mask of MultiHeadAttention, for attention to the decoder's own positions. */
  tgtMask?: Tensor;
  /** bool [B, L], true where a position may be seen. */
  tgtKeyMask?: Tensor;
  tgtIsCausal?: boolean;
  /** As the mask of MultiHeadAttention, for attention to the output of the encoder. */
  memoryMask?: Tensor;
  /** bool [B, S], true where a position of the memory may be seen. */
  memoryKeyMask?: Tensor;
  memoryIsCausal?: boolean;
  /** For step-by-step decoding: see TransformerDecoder.createCache. */
  cache?: LayerCache;
}

const isLayerCache: Check = {
  expected: "a layer of a transformer's cache",
  accepts: (value) =>
    value !== null &&
    typeof value === "object" &&
    isCache.accepts((value as { selfAttn?: unknown }).selfAttn),
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
  readonly normFirst: boolean;
  readonly activation: "relu" | "gelu";
  readonly selfAttn: MultiHeadAttention;
  abstract readonly linear1: Linear;
  abstract readonly dropout: Dropout;
  abstract readonly linear2: Linear;

  constructor(heed: Heed, dModel: number, heads: number, options: TransformerLayerOptions) {
    super(heed);
    checkArgument("dModel", dModel, isWholeNumber(1));
    this.normFirst = options.normFirst ?? false;
    this.activation = options.activation ?? "relu";
    this.selfAttn = attentionOf(heed, dModel, heads, options);
  }

  /** Returns x + part(norm(x)) if `normFirst`, else norm(x + part(x)). */
  protected residual(x: Tensor, norm: LayerNorm, part: (x: Tensor) => Tensor): Tensor {
    return this.normFirst
      ? this.heed.add(x, part(norm.forward(x)))
      : norm.forward(this.heed.add(x, part(x)));
  }

  /** The feed-forward network (section 3.3). */
  protected feedForward(x: Tensor): Tensor {
    const hidden = this.linear1.forward(x, this.activation);
    return this.linear2.forward(this.dropout.forward(hidden));
  }
}

function attentionOf(
  heed: Heed,
  dModel: number,
  heads: number,
  { dropout = 0.1, bias = true, generator }: TransformerLayerOptions,
): MultiHeadAttention {
  const options = { dropout, bias, ...(generator && { generator }) };
  return new MultiHeadAttention(heed, dModel, heads, options);
}

function partsOf(heed: Heed, dModel: number, options: TransformerLayerOptions) {
  const { dimFeedforward = 2048, dropout = 0.1, layerNormEps = 1e-5, bias = true } = options;
  const given = options.generator && { generator: options.generator };
  return {
    linear: (inSize: number, outSize: number) =>
      new Linear(heed, inSize, outSize, { bias, ...given }),
    norm: () => new LayerNorm(heed, dModel, { eps: layerNormEps, bias }),
    dropout: () => new Dropout(heed, dropout, given),
    dimFeedforward,
  };
}

/** Returns the attention options that are defined. */
function masks(
  mask: Tensor | undefined,
  keyMask: Tensor | undefined,
  isCausal: boolean | undefined,
  cache: MultiHeadAttentionForwardOptions["cache"],
): MultiHeadAttentionForwardOptions {
  return {
    ...(mask && { mask }),
    ...(keyMask && { keyMask }),
    ...(isCausal && { isCausal }),
    ...(cache && { cache }),
  };
}

/** Self-attention, then a feed-forward network: torch.nn.TransformerEncoderLayer. */
export class TransformerEncoderLayer extends TransformerLayer {
  readonly linear1: Linear;
  readonly dropout: Dropout;
  readonly linear2: Linear;
  readonly norm1: LayerNorm;
  readonly norm2: LayerNorm;
  readonly dropout1: Dropout;
  readonly dropout2: Dropout;

  constructor(heed: Heed, dModel: number, heads: number, options: TransformerLayerOptions = {}) {
    checkOptions("TransformerEncoderLayer", options, layerChecks);
    super(heed, dModel, heads, options);
    const make = partsOf(heed, dModel, options);
    this.linear1 = make.linear(dModel, make.dimFeedforward);
    this.dropout = make.dropout();
    this.linear2 = make.linear(make.dimFeedforward, dModel);
    this.norm1 = make.norm();
    this.norm2 = make.norm();
    this.dropout1 = make.dropout();
    this.dropout2 = make.dropout();
  }

  /** src [B, L, E] -> [B, L, E] */
  forward(src: Tensor, options: TransformerEncoderLayerForwardOptions = {}): Tensor {
    checkOptions("TransformerEncoderLayer", options, encoderForwardChecks);
    const { mask, keyMask, isCausal, cache } = options;
    const own = masks(mask, keyMask, isCausal, cache?.selfAttn);
    const x = this.residual(src, this.norm1, (x) =>
      this.dropout1.forward(this.selfAttn.forward(x, x, x, own).output),
    );
    return this.residual(x, this.norm2, (x) => this.dropout2.forward(this.feedForward(x)));
  }

  override get [Symbol.toStringTag](): string {
    return "TransformerEncoderLayer";
  }
}

/**
 * Self-attention, attention to the encoder's output, then a feed-forward network:
 * torch.nn.TransformerDecoderLayer.
 */
export class TransformerDecoderLayer extends TransformerLayer {
  readonly multiheadAttn: MultiHeadAttention;
  readonly linear1: Linear;
  readonly dropout: Dropout;
  readonly linear2: Linear;
  readonly norm1: LayerNorm;
  readonly norm2: LayerNorm;
  readonly norm3: LayerNorm;
  readonly dropout1: Dropout;
  readonly dropout2: Dropout;
  readonly dropout3: Dropout;

  constructor(heed: Heed, dModel: number, heads: number, options: TransformerLayerOptions = {}) {
    checkOptions("TransformerDecoderLayer", options, layerChecks);
    super(heed, dModel, heads, options);
    this.multiheadAttn = attentionOf(heed, dModel, heads, options);
    const make = partsOf(heed, dModel, options);
    this.linear1 = make.linear(dModel, make.dimFeedforward);
    this.dropout = make.dropout();
    this.linear2 = make.linear(make.dimFeedforward, dModel);
    this.norm1 = make.norm();
    this.norm2 = make.norm();
    this.norm3 = make.norm();
    this.dropout1 = make.dropout();
    this.dropout2 = make.dropout();
    this.dropout3 = make.dropout();
  }

  /**
   * @param tgt [B, L, E]
   * @param memory [B, S, E], the output of the encoder. With a cache, only the first step reads it
   */
  forward(
    tgt: Tensor,
    memory: Tensor,
    options: TransformerDecoderLayerForwardOptions = {},
  ): Tensor {
    checkOptions("TransformerDecoderLayer", options, decoderForwardChecks);
    const { tgtMask, tgtKeyMask, tgtIsCausal, memoryMask, memoryKeyMask, memoryIsCausal } = options;
    const { cache } = options;
    const own = masks(tgtMask, tgtKeyMask, tgtIsCausal, cache?.selfAttn);
    const others = masks(memoryMask, memoryKeyMask, memoryIsCausal, cache?.multiheadAttn);
    const keys = cache?.multiheadAttn?.lengths.some((length) => length > 0) ? undefined : memory;
    let x = this.residual(tgt, this.norm1, (x) =>
      this.dropout1.forward(this.selfAttn.forward(x, x, x, own).output),
    );
    x = this.residual(x, this.norm2, (x) =>
      this.dropout2.forward(this.multiheadAttn.forward(x, keys, keys, others).output),
    );
    return this.residual(x, this.norm3, (x) => this.dropout3.forward(this.feedForward(x)));
  }

  override get [Symbol.toStringTag](): string {
    return "TransformerDecoderLayer";
  }
}
