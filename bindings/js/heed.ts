// The operations, as methods of an engine. Each allocates its results; what it took stays as it was.

import { isInstance, mark, markKey } from "./core/copies.js";
import type { Engine, MemoryUse } from "./core/engine.js";
import { refuse } from "./core/error.js";
import { inspectSymbol } from "./core/owned.js";
import { recording } from "./core/tape.js";
import { createTensor, type DType, type Tensor, type TensorSource } from "./core/tensor.js";
import { checkArgument, oneOf } from "./core/validate.js";
import type { HeedInfo } from "./load/load.js";
import {
  type AttentionOptions,
  type AttentionResult,
  attention,
  mergeAttention,
  type NothingElse,
  type PartialAttention,
} from "./ops/attention.js";
import { BlockMask, type BlockMaskSizes, type MaskFunction } from "./ops/blockMask.js";
import { KvCache, type KvCacheOptions } from "./ops/kvCache.js";
import {
  type LinearAttentionOptions,
  type LinearAttentionResult,
  linearAttention,
} from "./ops/linearAttention.js";
import {
  type MultiHeadAttentionOptions,
  type MultiHeadAttentionParameters,
  type MultiHeadAttentionResult,
  multiHeadAttention,
} from "./ops/multiHeadAttention.js";
import { OriginOperations } from "./ops/origins.js";
import { type SampleOptions, sample, type TopKResult, topK } from "./ops/sampling.js";

/** An engine: the WebAssembly module with its memory and threads. Made by `load`. */
export class Heed extends OriginOperations {
  readonly #describe: () => HeedInfo;

  /** @internal Made by `load`. */
  constructor(engine: Engine, describe: () => HeedInfo) {
    super(engine);
    this.#describe = describe;
  }

  /** What was loaded, and how many threads run at this moment. */
  get info(): HeedInfo {
    return Object.freeze(this.#describe());
  }

  // ---- Tensors

  /**
   * Copies data into the engine's memory.
   *
   * @param data a Float32Array or Int32Array, or numbers or booleans in arrays; or a Uint8Array or
   *   Uint16Array with a type
   * @param shape the sizes; by default those of the nested arrays, or [length]
   * @param dtype by default what the data is: numbers are float32. The bytes of a Uint8Array become
   *   numbers of any type, or bools if they are 0 and 1; a Uint16Array has the bits of float16 or bfloat16.
   * @throws HeedError "shape", "dtype", "option", "memory"
   */
  tensor(
    data: Exclude<TensorSource, Uint8Array | Uint16Array>,
    shape?: readonly number[],
    dtype?: DType,
  ): Tensor;
  tensor(data: TensorSource, shape: readonly number[] | undefined, dtype: DType): Tensor;
  tensor(data: TensorSource, shape?: readonly number[], dtype?: DType): Tensor {
    const { border } = this.engine;
    border.checkAlive();
    const made = this.engine.track(createTensor(this.engine, data, shape, dtype));
    if (made.dtype === (dtype ?? made.dtype)) return made;
    // Numbers for a 16-bit type come as float32, and the engine rounds them.
    try {
      return this.cast(made, dtype as "float16");
    } finally {
      made.dispose();
    }
  }

  /**
   * Runs a function and then frees what it made in the engine's memory: tensors, caches, packed weights,
   * block masks, and so also the parameters of modules.
   *
   * What the function returns stays, and belongs to the enclosing scope if there is one: an object itself,
   * or those in arrays, maps, sets, modules and the fields of any other object, however deep. Objects that
   * are reached only through a closure, a getter or a `#private` field are freed. What outlives the scope
   * in another way, such as packed weights that are made at the first call and stored, needs `keep`.
   *
   * An optimiser's own tensors belong to it and to no scope. The function must not be async. While a
   * tape runs, what the function made is needed on the way back, and passes to the enclosing scope, such as
   * that of `valueAndGrad`.
   *
   * @throws HeedError "option" for an async function, and whatever the function throws; then all that it
   *   made is freed
   */
  scope<T>(run: () => T): T {
    return this.engine.scope(run);
  }

  /**
   * Takes what is in a value, found as in the result of a `scope`, out of all open scopes: it lives until it
   * is disposed of. Results of operations that a tape records end with the tape nevertheless.
   *
   * @returns the value
   */
  keep<T>(value: T): T {
    return this.engine.keep(value);
  }

  /**
   * What is held in the engine's memory now, in bytes. What was abandoned without `dispose` counts until
   * the garbage collector has freed it.
   */
  memory(): MemoryUse {
    return this.engine.memory();
  }

  /**
   * torch.nn.MultiheadAttention's boolean masks are true where a key may not be seen. This gives one
   * with Heed's sense, true where it may.
   */
  fromTorchMask(mask: Tensor): Tensor {
    this.engine.handle("mask", mask);
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
    return attention(this.engine, q, k, v, options);
  }

  /** A cache of keys and values, for `attention` with `past`. */
  createKvCache(options: KvCacheOptions): KvCache {
    return this.engine.track(new KvCache(this.engine, options));
  }

  /**
   * A mask from a function, evaluated once for every pair of these sizes and kept by blocks
   * (Dong et al., "FlexAttention", 2024). `maskFunctions` has the usual ones.
   */
  blockMask(visible: MaskFunction, sizes: BlockMaskSizes): BlockMask {
    return this.engine.track(new BlockMask(this.engine, visible, sizes));
  }

  /**
   * One attention from two over parts of the same keys. Associative; a part with no key changes
   * nothing.
   */
  mergeAttention(a: PartialAttention, b: PartialAttention): PartialAttention {
    return mergeAttention(this.engine, a, b);
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
    return linearAttention(this.engine, q, k, v, options);
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
    return multiHeadAttention(this, this.engine, query, key, value, parameters, options);
  }

  // ---- From logits to tokens

  /** The k largest numbers of each row, and where they stand. x [..., N]. */
  topK(x: Tensor, k: number): TopKResult {
    return topK(this.engine, x, k);
  }

  /** A token for each row of logits [..., V], drawn at random or the likeliest: int32 [...]. */
  sample(logits: Tensor, options: SampleOptions): Tensor {
    return sample(this.engine, logits, options);
  }

  // ---- Types

  /** The same numbers as another floating type, rounded to nearest, ties to even. */
  cast(x: Tensor, dtype: "float32" | "float16" | "bfloat16"): Tensor {
    checkArgument("dtype", dtype, oneOf("float32", "float16", "bfloat16"));
    const { engine } = this;
    const args = [engine.handle("x", x), engine.module.DType[dtype].value];
    const y = engine.run(engine.module.cast, args).tensor();
    recording()?.cut("cast", { x }, [y]);
    return y;
  }

  /** Stops the threads. The engine and its tensors cannot be used after it. */
  dispose(): void {
    this.engine.dispose();
  }

  /** What was loaded. */
  toJSON(): { info: HeedInfo } {
    return { info: this.info };
  }

  /** What was loaded, in one line. */
  override toString(): string {
    const { version, variant, threads } = this.info;
    const end = this.engine.border.isDisposed ? ", disposed" : "";
    return `Heed(${version}, ${variant}, threads ${threads}${end})`;
  }

  [inspectSymbol](): string {
    return this.toString();
  }

  /** @internal */
  get [markKey](): object {
    return mark;
  }

  static override readonly [Symbol.hasInstance] = isInstance;

  get [Symbol.toStringTag](): string {
    return "Heed";
  }
}
