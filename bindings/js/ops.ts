// The operations, as methods of an engine. Each allocates its results; what it took stays as it was.

import {
  type AttentionOptions,
  type AttentionResult,
  attention,
  type If,
  mergeAttention,
  type NothingElse,
  type PartialAttention,
} from "./attention.js";
import { BlockMask, type BlockMaskSizes, type MaskFunction } from "./blockMask.js";
import { Engine } from "./engine.js";
import { refuse } from "./error.js";
import { KvCache, type KvCacheOptions } from "./kvCache.js";
import { type LinearOptions, linear, PackedWeights, type PackWeightsOptions } from "./linear.js";
import {
  type LinearAttentionOptions,
  type LinearAttentionResult,
  linearAttention,
} from "./linearAttention.js";
import type { HeedInfo } from "./load.js";
import type { HeedModule } from "./module.js";
import { type RopeOptions, rope, type SinusoidalOptions, sinusoidalEncoding } from "./positions.js";
import { createTensor, type DType, type Tensor, type TensorSource } from "./tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isTensor,
  isWholeNumber,
  oneOf,
} from "./validate.js";

/** The parameters of torch.nn.MultiheadAttention, in its layout. */
export interface MultiHeadAttentionParameters {
  /** [3E, E]; or leave it out and give the three below. */
  inProjWeight?: Tensor;
  /** [E, E] */
  qProjWeight?: Tensor;
  /** [E, size of a key] */
  kProjWeight?: Tensor;
  /** [E, size of a value] */
  vProjWeight?: Tensor;
  /** [3E] */
  inProjBias?: Tensor;
  /** [E, E] */
  outProjWeight: Tensor;
  /** [E] */
  outProjBias?: Tensor;
}

export interface MultiHeadAttentionOptions {
  /** Must divide E. */
  heads: number;
  isCausal?: boolean;
  /** As in AttentionOptions. torch's boolean mask has the opposite sense: see `fromTorchMask`. */
  mask?: Tensor;
  /** bool [B, S], true where a key may be seen; torch's key_padding_mask has the opposite sense. */
  keyMask?: Tensor;
  needWeights?: boolean;
  /** Weights as the mean over heads, [B, L, S], instead of [B, H, L, S]. */
  averageWeights?: boolean;
}

export interface MultiHeadAttentionResult<
  O extends MultiHeadAttentionOptions = MultiHeadAttentionOptions,
> {
  /** [B, L, E] */
  output: Tensor;
  weights: If<O["needWeights"], Tensor>;
}

export interface AverageOptions {
  /** Position i averages the positions j <= i only. */
  isCausal?: boolean;
  /** bool [B, L], true where a position counts. */
  keyMask?: Tensor;
}

export interface SelfSimilarityResult {
  /** [B, L, E] */
  output: Tensor;
  /** [B, L, L] */
  weights: Tensor;
}

const parameterChecks = {
  inProjWeight: isTensor,
  qProjWeight: isTensor,
  kProjWeight: isTensor,
  vProjWeight: isTensor,
  inProjBias: isTensor,
  outProjWeight: isTensor,
  outProjBias: isTensor,
} satisfies Record<keyof MultiHeadAttentionParameters, Check>;

const multiHeadChecks = {
  heads: isWholeNumber(1),
  isCausal: isBoolean,
  mask: isTensor,
  keyMask: isTensor,
  needWeights: isBoolean,
  averageWeights: isBoolean,
} satisfies Record<keyof MultiHeadAttentionOptions, Check>;

const averageChecks = { isCausal: isBoolean, keyMask: isTensor } satisfies Record<
  keyof AverageOptions,
  Check
>;

/** An engine: the WebAssembly module with its memory and threads. Made by `load`. */
export class Heed {
  readonly info: HeedInfo;
  readonly #engine: Engine;

  /** @internal Made by `load`. */
  constructor(module: HeedModule, memory: WebAssembly.Memory, info: HeedInfo) {
    this.#engine = new Engine(module, memory, info.threads);
    this.info = Object.freeze(info);
  }

  // ---- Tensors

  /**
   * Copies data into the engine's memory.
   *
   * @param data a Float32Array, Int32Array, Uint8Array (bools) or Uint16Array (the bits of a 16-bit
   *   floating type), or numbers or booleans in arrays
   * @param shape the sizes; by default those of the nested arrays, or [length]
   * @param dtype by default what the data is: numbers are float32
   * @throws HeedError "shape", "dtype", "memory"
   */
  tensor(data: TensorSource, shape?: readonly number[], dtype?: DType): Tensor {
    const { border } = this.#engine;
    border.checkAlive();
    const made = this.#engine.track(createTensor(border, data, shape, dtype));
    if (made.dtype === (dtype ?? made.dtype)) return made;
    // Numbers for a 16-bit type come as float32, and the engine rounds them.
    try {
      return this.cast(made, dtype as "float16");
    } finally {
      made.dispose();
    }
  }

  /**
   * Runs a function and then frees the tensors it made, but for those it returns, alone or in an array
   * or object. The function must not be async.
   */
  scope<T>(run: () => T): T {
    return this.#engine.scope(run);
  }

  /**
   * torch.nn.MultiheadAttention's boolean masks are true where a key may not be seen. This gives one
   * with Heed's sense, true where it may.
   */
  fromTorchMask(mask: Tensor): Tensor {
    this.#engine.handle("mask", mask);
    if (mask.dtype !== "bool") throw refuse("dtype", "mask", "bool", mask.dtype);
    const allowed = (mask.data as Uint8Array).map((value) => 1 - value);
    return this.tensor(allowed, mask.shape, "bool");
  }

  // ---- Attention

  /**
   * softmax(scale Q K^T + mask) V (Vaswani et al., 2017, section 3.2.1), tiled so that nothing of size
   * L x S is stored unless it is asked for.
   *
   * @param q [B, H, L, D], or [B, L, H*D] with `heads`
   * @param k [B, G, S, D], or [B, S, G*D]; H must be a multiple of G
   * @param v [B, G, S, Dv], or [B, S, G*Dv]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   */
  attention<const O extends AttentionOptions = Record<never, never>>(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options?: O & NothingElse<O, AttentionOptions>,
  ): AttentionResult<O> {
    return attention(this.#engine, q, k, v, options);
  }

  /** A cache of keys and values, for `attention` with `past`. */
  createKvCache(options: KvCacheOptions): KvCache {
    return new KvCache(this.#engine, options);
  }

  /**
   * A mask from a function, evaluated once for every pair of these sizes and kept by blocks
   * (Dong et al., "FlexAttention", 2024). `maskFunctions` has the usual ones.
   */
  blockMask(visible: MaskFunction, sizes: BlockMaskSizes): BlockMask {
    return new BlockMask(this.#engine, visible, sizes);
  }

  /**
   * One attention from two over parts of the same keys. Associative; a part with no key changes
   * nothing.
   */
  mergeAttention(a: PartialAttention, b: PartialAttention): PartialAttention {
    return mergeAttention(this.#engine, a, b);
  }

  /**
   * Linear attention: a state instead of a cache (Katharopoulos et al., 2020), with gates, the delta
   * rule or both. q, k, v as in `attention`, with as many keys as queries.
   */
  linearAttention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options: LinearAttentionOptions = {},
  ): LinearAttentionResult {
    return linearAttention(this.#engine, q, k, v, options);
  }

  /**
   * Multi-head attention: projections, attention, output projection (Vaswani et al., 2017, section
   * 3.2.2), with the parameters of torch.nn.MultiheadAttention.
   *
   * @param query [B, L, E]
   * @param key [B, S, size of a key]
   * @param value [B, S, size of a value]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   */
  multiHeadAttention<const O extends MultiHeadAttentionOptions>(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    parameters: MultiHeadAttentionParameters,
    options: O & NothingElse<O, MultiHeadAttentionOptions>,
  ): MultiHeadAttentionResult<O> {
    checkOptions("multiHeadAttention", options, multiHeadChecks);
    checkOptions("multiHeadAttention", parameters, parameterChecks, "parameter");
    const engine = this.#engine;
    const p = parameters;
    engine.run(engine.module.multiHeadAttention, [
      engine.handle("query", query),
      engine.handle("key", key),
      engine.handle("value", value),
      engine.handleOrNone("inProjWeight", p.inProjWeight),
      engine.handleOrNone("qProjWeight", p.qProjWeight),
      engine.handleOrNone("kProjWeight", p.kProjWeight),
      engine.handleOrNone("vProjWeight", p.vProjWeight),
      engine.handleOrNone("inProjBias", p.inProjBias),
      engine.handleOrNone("outProjWeight", p.outProjWeight),
      engine.handleOrNone("outProjBias", p.outProjBias),
      options.heads ?? 0,
      Number(options.isCausal ?? false),
      engine.handleOrNone("mask", options.mask),
      engine.handleOrNone("keyMask", options.keyMask),
      Number(options.needWeights ?? false),
      Number(options.averageWeights ?? false),
    ]);
    return {
      output: engine.tensor(),
      weights: engine.optional(),
    } as MultiHeadAttentionResult<O>;
  }

  // ---- Where attention comes from

  /** The mean over the positions that may be seen: attention with equal scores. x [B, L, E]. */
  average(x: Tensor, options: AverageOptions = {}): Tensor {
    checkOptions("average", options, averageChecks);
    const engine = this.#engine;
    const args = [
      engine.handle("x", x),
      Number(options.isCausal ?? false),
      engine.handleOrNone("keyMask", options.keyMask),
    ];
    return engine.run(engine.module.average, args).tensor();
  }

  /** softmax(X X^T) X: dot-product attention with no parameters and no scale. x [B, L, E]. */
  selfSimilarity(x: Tensor): SelfSimilarityResult {
    const engine = this.#engine;
    engine.run(engine.module.selfSimilarity, [engine.handle("x", x)]);
    return { output: engine.tensor(), weights: engine.tensor() };
  }

  // ---- The steps around attention

  /**
   * activation(x W^T + bias). x [..., in], weight [out, in] -> [..., out].
   *
   * @param options a bias [out] alone, or options
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   */
  linear(x: Tensor, weight: Tensor | PackedWeights, options?: Tensor | LinearOptions): Tensor {
    return linear(this.#engine, x, weight, options);
  }

  /** Weights [out, in] packed once, for a `linear` that runs many times. */
  packWeights(weight: Tensor, options: PackWeightsOptions = {}): PackedWeights {
    return new PackedWeights(this.#engine, weight, options);
  }

  /** Softmax over the last axis; a row of nothing but -Infinity gives zeros. */
  softmax(x: Tensor): Tensor {
    const engine = this.#engine;
    return engine.run(engine.module.softmax, [engine.handle("x", x)]).tensor();
  }

  /** Rows of a table. ids int32 [...], weight [V, E] -> [..., E]. */
  embedding(ids: Tensor, weight: Tensor): Tensor {
    const engine = this.#engine;
    const args = [engine.handle("ids", ids), engine.handle("weight", weight)];
    return engine.run(engine.module.embedding, args).tensor();
  }

  /** The sines and cosines of Vaswani et al., 2017, section 3.5: [length, size]. */
  sinusoidalEncoding(length: number, size: number, options: SinusoidalOptions = {}): Tensor {
    return sinusoidalEncoding(this.#engine, length, size, options);
  }

  /**
   * Rotary position embedding (Su et al., 2021): pair c of a row at position p is turned by the angle
   * p base^(-2c / rotarySize). x [B, H, L, D], or [B, L, H*D] with `heads`.
   */
  rope(x: Tensor, options: RopeOptions = {}): Tensor {
    return rope(this.#engine, x, options);
  }

  /** The same numbers as another floating type, rounded to nearest, ties to even. */
  cast(x: Tensor, dtype: "float32" | "float16" | "bfloat16"): Tensor {
    checkArgument("dtype", dtype, oneOf("float32", "float16", "bfloat16"));
    const engine = this.#engine;
    const args = [engine.handle("x", x), engine.module.DType[dtype].value];
    return engine.run(engine.module.cast, args).tensor();
  }

  /** a + b; b broadcasts to the shape of a. */
  add(a: Tensor, b: Tensor): Tensor {
    const engine = this.#engine;
    return engine.run(engine.module.add, [engine.handle("a", a), engine.handle("b", b)]).tensor();
  }

  /** Stops the threads. The engine and its tensors cannot be used after it. */
  dispose(): void {
    this.#engine.dispose();
  }
}
