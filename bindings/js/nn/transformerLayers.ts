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
  /** Size between the two layers after attention; 2048 by default. */
  dimFeedforward?: number;
  /** Of weights, of what each part adds, and between those two layers; 0.1 by default. */
  dropout?: number;
  /** "relu" by default. */
  activation?: "relu" | "gelu";
  /** 1e-5 by default. */
  layerNormEps?: number;
  /** Norms stand before the parts and not after what they add to (Xiong et al., 2020): off by default. */
  normFirst?: boolean;
  /** Layers and norms have biases: true by default. */
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
  /** As of MultiHeadAttention. */
  mask?: Tensor;
  /** bool [B, L], true where a position may be seen. */
  keyMask?: Tensor;
  isCausal?: boolean;
  /** For decoding step by step: see TransformerEncoder.createCache. */
  cache?: LayerCache;
}

export interface TransformerDecoderLayerForwardOptions {
  /** As of MultiHeadAttention, for attention to the decoder's own positions. */
  tgtMask?: Tensor;
  /** bool [B, L], true where a position may be seen. */
  tgtKeyMask?: Tensor;
  tgtIsCausal?: boolean;
  /** The same for attention to what the encoder gave. */
  memoryMask?: Tensor;
  /** bool [B, S] */
  memoryKeyMask?: Tensor;
  memoryIsCausal?: boolean;
  /** For decoding step by step: see TransformerDecoder.createCache. */
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

/** What both kinds of layers are made of, under torch's names, and how their parts are joined. */
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

  /** x + part(norm(x)), or norm(x + part(x)). */
  protected residual(x: Tensor, norm: LayerNorm, part: (x: Tensor) => Tensor): Tensor {
    return this.normFirst
      ? this.heed.add(x, part(norm.forward(x)))
      : norm.forward(this.heed.add(x, part(x)));
  }

  /** The two linear layers (section 3.3). */
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

/** The attention options that were given, without those that were not. */
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

/** Attention to itself, then two linear layers: torch.nn.TransformerEncoderLayer. */
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

/** Attention to itself, to the encoder's result, then two linear layers: torch.nn.TransformerDecoderLayer. */
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
   * @param memory [B, S, E], what the encoder gave. With a cache it is read at the first step and kept.
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
