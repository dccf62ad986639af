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
import { guard } from "./guard.js";
import { KvCache, type KvCacheOptions } from "./kvCache.js";
import {
  type LinearAttentionOptions,
  type LinearAttentionResult,
  linearAttention,
} from "./linearAttention.js";
import type { HeedInfo } from "./load.js";
import type { HeedModule, TensorHandle } from "./module.js";
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
  constructor(module: HeedModule, info: HeedInfo) {
    this.#engine = new Engine(module, info.threads);
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
    this.#engine.context();
    const { module } = this.#engine;
    const made = this.#engine.track(guard(module, () => createTensor(module, data, shape, dtype)));
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
    const blocked = this.#engine.handle("mask", mask);
    if (mask.dtype !== "bool") throw refuse("dtype", "mask", "bool", mask.dtype);
    const allowed = (blocked.data() as Uint8Array).map((value) => 1 - value);
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
    const inputs = [
      engine.handle("query", query),
      engine.handle("key", key),
      engine.handle("value", value),
    ] as const;
    return engine.call((context, own) => {
      const { module } = engine;
      const p = parameters;
      const weights = own(new module.MultiHeadAttentionParameters());
      if (p.inProjWeight) weights.setInProjWeight(engine.handle("inProjWeight", p.inProjWeight));
      if (p.qProjWeight) weights.setQProjWeight(engine.handle("qProjWeight", p.qProjWeight));
      if (p.kProjWeight) weights.setKProjWeight(engine.handle("kProjWeight", p.kProjWeight));
      if (p.vProjWeight) weights.setVProjWeight(engine.handle("vProjWeight", p.vProjWeight));
      if (p.inProjBias) weights.setInProjBias(engine.handle("inProjBias", p.inProjBias));
      if (p.outProjWeight)
        weights.setOutProjWeight(engine.handle("outProjWeight", p.outProjWeight));
      if (p.outProjBias) weights.setOutProjBias(engine.handle("outProjBias", p.outProjBias));
      const native = own(new module.MultiHeadAttentionOptions());
      if (options.heads !== undefined) native.heads = options.heads;
      if (options.isCausal) native.isCausal = true;
      if (options.mask) native.setMask(engine.handle("mask", options.mask));
      if (options.keyMask) native.setKeyMask(engine.handle("keyMask", options.keyMask));
      if (options.needWeights) native.needWeights = true;
      if (options.averageWeights) native.averageWeights = true;
      const result = own(module.multiHeadAttention(context, ...inputs, weights, native));
      return {
        output: engine.tensor(result.output()),
        weights: engine.optional(result.weights()),
      } as MultiHeadAttentionResult<O>;
    });
  }

  // ---- Where attention comes from

  /** The mean over the positions that may be seen: attention with equal scores. x [B, L, E]. */
  average(x: Tensor, options: AverageOptions = {}): Tensor {
    checkOptions("average", options, averageChecks);
    const handle = this.#engine.handle("x", x);
    const keyMask = options.keyMask ? this.#engine.handle("keyMask", options.keyMask) : null;
    const isCausal = options.isCausal ?? false;
    return this.#engine.run((module, context) =>
      module.average(context, handle, isCausal, keyMask),
    );
  }

  /** softmax(X X^T) X: dot-product attention with no parameters and no scale. x [B, L, E]. */
  selfSimilarity(x: Tensor): SelfSimilarityResult {
    const engine = this.#engine;
    const handle = engine.handle("x", x);
    return engine.call((context, own) => {
      const result = own(engine.module.selfSimilarity(context, handle));
      return { output: engine.tensor(result.output()), weights: engine.tensor(result.weights()) };
    });
  }

  // ---- The steps around attention

  /** x W^T + b. x [..., in], weight [out, in], bias [out] -> [..., out]. */
  linear(x: Tensor, weight: Tensor, bias?: Tensor): Tensor {
    const handles = this.#handles({ x, weight });
    const biasHandle = bias !== undefined ? this.#engine.handle("bias", bias) : null;
    return this.#engine.run((module, context) => module.linear(context, ...handles, biasHandle));
  }

  /** Softmax over the last axis; a row of nothing but -Infinity gives zeros. */
  softmax(x: Tensor): Tensor {
    const handle = this.#engine.handle("x", x);
    return this.#engine.run((module, context) => module.softmax(context, handle));
  }

  /** Rows of a table. ids int32 [...], weight [V, E] -> [..., E]. */
  embedding(ids: Tensor, weight: Tensor): Tensor {
    const handles = this.#handles({ ids, weight });
    return this.#engine.run((module, context) => module.embedding(context, ...handles));
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
    const handle = this.#engine.handle("x", x);
    return this.#engine.run((module, context) => module.cast(context, handle, module.DType[dtype]));
  }

  /** a + b; b broadcasts to the shape of a. */
  add(a: Tensor, b: Tensor): Tensor {
    const handles = this.#handles({ a, b });
    return this.#engine.run((module, context) => module.add(context, ...handles));
  }

  /** Stops the threads. The engine and its tensors cannot be used after it. */
  dispose(): void {
    this.#engine.dispose();
  }

  /** The C++ objects of two tensors, by the names that errors call them. */
  #handles(tensors: Record<string, Tensor>): [TensorHandle, TensorHandle] {
    const handles = Object.entries(tensors).map(([name, tensor]) =>
      this.#engine.handle(name, tensor),
    );
    return handles as [TensorHandle, TensorHandle];
  }
}
