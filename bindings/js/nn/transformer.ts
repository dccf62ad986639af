// Stacks of transformer layers, and the encoder-decoder (Vaswani et al., 2017, figure 1), as in torch.nn.

import { refuse } from "../core/error.js";
import { isObject, optional } from "../core/objects.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isFunction,
  isLayerCount,
  isTensor,
  isWholeNumber,
  mostBytes,
} from "../core/validate.js";
import type { Heed } from "../heed.js";
import { Module } from "./module.js";
import { LayerNorm } from "./norms.js";
import { defaultGenerator, xavierUniform } from "./random.js";
import {
  isTransformerCache,
  TransformerCache,
  type TransformerCacheOptions,
} from "./transformerCache.js";
import {
  decoderForwardChecks,
  encoderForwardChecks,
  layerChecks,
  type ReceiveTransformerLayer,
  TransformerDecoderLayer,
  type TransformerDecoderLayerForwardOptions,
  TransformerEncoderLayer,
  type TransformerEncoderLayerForwardOptions,
  type TransformerLayerOptions,
  type TransformerLayerParts,
} from "./transformerLayers.js";

/** Options of a new `TransformerEncoder` or `TransformerDecoder`. */
export interface TransformerStackOptions extends TransformerLayerOptions {
  /** Whether a norm follows the last layer; false by default, as in torch. Layers with `normFirst` need it. */
  norm?: boolean;
}

const stackChecks = { ...layerChecks, norm: isBoolean } satisfies Record<
  keyof TransformerStackOptions,
  Check
>;

/** The options of a layer, with the cache of the whole stack in place of a layer's. */
type OfStack<O> = Omit<O, "cache"> & {
  cache?: TransformerCache;
  /**
   * Called with the intermediate results of each layer, as soon as they are computed. The tensors
   * are valid until the stack has run: copy the ones that you need later.
   */
  receiveLayer?: ReceiveTransformerLayer;
};

const stackForwardChecks = { cache: isTransformerCache, receiveLayer: isFunction };

/** Throws a HeedError "memory" if the layers cannot fit in memory, before they are created. */
function checkMemory(layer: Module, layers: number): void {
  const bytes = layer.parameters().reduce((sum, { size }) => sum + 4 * size, 0);
  const most = Math.floor(mostBytes / bytes);
  if (layers <= most) return;
  layer.dispose();
  throw refuse("memory", "layers", `at most ${most} layers of ${bytes} bytes each`, `${layers}`);
}

/** A stack of layers with an optional norm after them. Each layer draws its own initial values. */
abstract class Stack<Layer extends Module> extends Module {
  /** The layers, from the first on. */
  readonly layers: readonly Layer[];
  /** The norm after the last layer; undefined without one. */
  readonly norm: LayerNorm | undefined;

  constructor(
    heed: Heed,
    [dModel, heads, layers]: readonly [number, number, number],
    options: TransformerStackOptions,
    Layer: new (h: Heed, dModel: number, heads: number, options: TransformerLayerOptions) => Layer,
  ) {
    super(heed);
    checkArgument("layers", layers, isLayerCount);
    const { norm = false, ...ofLayer } = options;
    const make = () => new Layer(heed, dModel, heads, ofLayer);
    const first = make();
    checkMemory(first, layers);
    this.layers = [first, ...Array.from({ length: layers - 1 }, make)];
    const { layerNormEps: eps = 1e-5, bias = true } = options;
    this.norm = norm ? new LayerNorm(heed, dModel, { eps, bias }) : undefined;
  }

  /** Runs the layers. Each uses its own part of the cache. */
  protected run<O>(
    x: Tensor,
    { cache, receiveLayer, ...rest }: OfStack<O>,
    partsOf: (layer: Layer, x: Tensor, options: O) => TransformerLayerParts,
  ): Tensor {
    const run = () => {
      let state = x;
      for (const [i, layer] of this.layers.entries()) {
        const parts = partsOf(layer, state, { ...rest, cache: cache?.layers[i] } as O);
        receiveLayer?.(i, parts);
        state = parts.feedForward.after;
      }
      return this.norm?.forward(state) ?? state;
    };
    return cache ? cache.appending(this.layers.length, run) : run();
  }
}

/**
 * A stack of encoder layers. With `isCausal` in each call it is a decoder-only transformer, as in GPT.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const encoder = new nn.TransformerEncoder(heed, 8, 2, 3).eval();
 * using cache = encoder.createCache({ capacity: 16 });
 * encoder.forward(heed.ones([1, 4, 8]), { isCausal: true, cache });
 * console.log(encoder.forward(heed.ones([1, 1, 8]), { isCausal: true, cache }).shape, cache.lengths); // prints: [ 1, 1, 8 ] [ 5 ]
 * ```
 */
export class TransformerEncoder extends Stack<TransformerEncoderLayer> {
  /** @internal */ static override readonly toStringTag = "TransformerEncoder";
  constructor(
    heed: Heed,
    dModel: number,
    heads: number,
    layers: number,
    options: TransformerStackOptions = {},
  ) {
    checkOptions("TransformerEncoder", options, stackChecks);
    super(heed, [dModel, heads, layers], options, TransformerEncoderLayer);
  }

  /** src [B, L, E] -> [B, L, E] */
  forward(src: Tensor, options: OfStack<TransformerEncoderLayerForwardOptions> = {}): Tensor {
    checkOptions("TransformerEncoder", options, { ...encoderForwardChecks, ...stackForwardChecks });
    return this.run(src, options, (layer, x, own) => layer.parts(x, own));
  }

  /**
   * Creates a cache, with which each call of `forward` computes only the new positions. For
   * example:
   *
   *     using cache = model.createCache({ batch: 1, capacity: 64 });
   *     const next = model.forward(token, { isCausal: true, cache }); // token [1, 1, E]
   */
  createCache(options: TransformerCacheOptions): TransformerCache {
    const layerOf = ({ selfAttn }: TransformerEncoderLayer) => ({
      selfAttn: selfAttn.createCache(options),
    });
    return this.heed.scope(() => new TransformerCache(this.layers.map(layerOf)));
  }
}

/**
 * A stack of decoder layers, which also attend to the output of an encoder.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const decoder = new nn.TransformerDecoder(heed, 8, 2, 3);
 * console.log(decoder.forward(heed.ones([1, 2, 8]), heed.ones([1, 5, 8]), { tgtIsCausal: true }).shape); // prints: [ 1, 2, 8 ]
 * ```
 */
export class TransformerDecoder extends Stack<TransformerDecoderLayer> {
  /** @internal */ static override readonly toStringTag = "TransformerDecoder";
  constructor(
    heed: Heed,
    dModel: number,
    heads: number,
    layers: number,
    options: TransformerStackOptions = {},
  ) {
    checkOptions("TransformerDecoder", options, stackChecks);
    super(heed, [dModel, heads, layers], options, TransformerDecoderLayer);
  }

  /** tgt [B, L, E], memory [B, S, E] -> [B, L, E] */
  forward(
    tgt: Tensor,
    memory: Tensor,
    options: OfStack<TransformerDecoderLayerForwardOptions> = {},
  ): Tensor {
    checkOptions("TransformerDecoder", options, { ...decoderForwardChecks, ...stackForwardChecks });
    return this.run(tgt, options, (layer, x, own) => layer.parts(x, memory, own));
  }

  /**
   * Creates a cache of the keys and values of the decoder's own positions and of the memory, which is
   * projected only once.
   *
   * @param options including memoryLength, the number of positions of the memory
   */
  createCache(options: TransformerCacheOptions & { memoryLength: number }): TransformerCache {
    checkArgument("options", options, { expected: "an object", accepts: isObject });
    const { memoryLength, ...own } = options;
    checkArgument("memoryLength", memoryLength, isWholeNumber(1));
    const layerOf = ({ selfAttn, multiheadAttn }: TransformerDecoderLayer) => ({
      selfAttn: selfAttn.createCache(own),
      multiheadAttn: multiheadAttn.createCache({ ...own, capacity: memoryLength }),
    });
    return this.heed.scope(() => new TransformerCache(this.layers.map(layerOf)));
  }
}

/** Options of a new `Transformer`. */
export interface TransformerOptions extends TransformerLayerOptions {
  /** The size E of a position's vector; 512 by default. */
  dModel?: number;
  /** Attention heads; 8 by default. */
  heads?: number;
  /** 6 by default. */
  encoderLayers?: number;
  /** 6 by default. */
  decoderLayers?: number;
}

const transformerChecks = {
  ...layerChecks,
  dModel: isWholeNumber(1),
  heads: isWholeNumber(1),
  encoderLayers: isLayerCount,
  decoderLayers: isLayerCount,
} satisfies Record<keyof TransformerOptions, Check>;

/** The masks of the encoder and of the decoder, with the names of the decoder's layers. See MultiHeadAttention. */
export interface TransformerForwardOptions
  extends Omit<TransformerDecoderLayerForwardOptions, "cache"> {
  /** For the encoder: as the mask of MultiHeadAttention. */
  srcMask?: Tensor;
  /**
   * bool [B, S], true where a position of the source may be seen by the encoder. As in torch, the decoder
   * uses memoryKeyMask.
   */
  srcKeyMask?: Tensor;
  /** Whether a position of the source sees only the positions up to itself; false by default. */
  srcIsCausal?: boolean;
}

const { cache: _, ...decoderMaskChecks } = decoderForwardChecks;
const transformerForwardChecks = {
  srcMask: isTensor,
  srcKeyMask: isTensor,
  srcIsCausal: isBoolean,
  ...decoderMaskChecks,
} satisfies Record<keyof TransformerForwardOptions, Check>;

/**
 * An encoder and a decoder, each followed by a norm, with the default sizes of torch.nn.Transformer. The
 * initial values of all parameters with two axes have Glorot's distribution.
 *
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const model = new nn.Transformer(heed, { dModel: 8, heads: 2, encoderLayers: 1, decoderLayers: 1 });
 * console.log(model.forward(heed.ones([1, 5, 8]), heed.ones([1, 2, 8]), { tgtIsCausal: true }).shape); // prints: [ 1, 2, 8 ]
 * ```
 */
export class Transformer extends Module {
  /** @internal */ static override readonly toStringTag = "Transformer";
  /** Encodes the source. */
  readonly encoder: TransformerEncoder;
  /** Decodes the target. */
  readonly decoder: TransformerDecoder;

  constructor(heed: Heed, options: TransformerOptions = {}) {
    super(heed);
    checkOptions("Transformer", options, transformerChecks);
    const { dModel = 512, heads = 8, encoderLayers = 6, decoderLayers = 6, ...layer } = options;
    const ofStack = { ...layer, norm: true };
    this.encoder = new TransformerEncoder(heed, dModel, heads, encoderLayers, ofStack);
    this.decoder = new TransformerDecoder(heed, dModel, heads, decoderLayers, ofStack);
    const generator = layer.generator ?? defaultGenerator(heed);
    for (const parameter of this.parameters()) {
      const { shape } = parameter;
      if (shape.length !== 2) continue;
      const values = xavierUniform(heed, generator, shape as [number, number]);
      parameter.data.set(values.data);
      values.dispose();
    }
  }

  /** src [B, S, E], tgt [B, L, E] -> [B, L, E] */
  forward(src: Tensor, tgt: Tensor, options: TransformerForwardOptions = {}): Tensor {
    checkOptions("Transformer", options, transformerForwardChecks);
    const { srcMask, srcKeyMask, srcIsCausal, ...rest } = options;
    const masks = { mask: srcMask, keyMask: srcKeyMask, isCausal: srcIsCausal };
    const memory = this.encoder.forward(src, optional(masks));
    return this.decoder.forward(tgt, memory, rest);
  }
}
