// The facade: every operation is a method of an engine. Operations allocate their results and do
// not change their arguments.

import { isInstance, mark, markKey } from "./core/copies.js";
import type { Engine, MemoryUse } from "./core/engine.js";
import { describe, refuse } from "./core/error.js";
import { inspectSymbol } from "./core/owned.js";
import type { DType, Tensor, TensorSource } from "./core/tensor.js";
import type { Variant } from "./load/features.js";
import { type Activation, activate, swiglu } from "./ops/activate.js";
import {
  type AdditiveAttentionParameters,
  additiveAttention,
  additiveScores,
} from "./ops/additiveAttention.js";
import { add, divide, multiply, subtract } from "./ops/arithmetic.js";
import {
  type AttentionOptions,
  type AttentionResult,
  attention,
  type NothingElse,
} from "./ops/attention.js";
import {
  type AverageOptions,
  average,
  type SelfSimilarityResult,
  selfSimilarity,
} from "./ops/average.js";
import { BlockMask, type BlockMaskSizes, type MaskFunction } from "./ops/blockMask.js";
import { cast } from "./ops/cast.js";
import { ones, tensor, zeros } from "./ops/create.js";
import { type CrossEntropyOptions, crossEntropy } from "./ops/crossEntropy.js";
import { type DropoutOptions, dropout } from "./ops/dropout.js";
import { type EmbeddingOptions, embedding } from "./ops/embedding.js";
import { type GruOptions, type GruParameters, type GruResult, gru } from "./ops/gru.js";
import { type KernelRegressionResult, kernelRegression } from "./ops/kernelRegression.js";
import { KvCache, type KvCacheOptions } from "./ops/kvCache.js";
import { type LinearOptions, linear } from "./ops/linear.js";
import {
  type LinearAttentionOptions,
  type LinearAttentionResult,
  linearAttention,
} from "./ops/linearAttention.js";
import {
  localMean,
  type NonLocalMeansOptions,
  type NonLocalMeansResult,
  nonLocalMeans,
  nonLocalMeansWeights,
} from "./ops/localMeans.js";
import { type LuongAttentionOptions, luongAttention } from "./ops/luongAttention.js";
import { type MatmulOptions, matmul } from "./ops/matmul.js";
import { adaptiveMaxPool } from "./ops/maxPool.js";
import { mergeAttention, type PartialAttention } from "./ops/mergeAttention.js";
import {
  fromTorchMask,
  type MultiHeadAttentionOptions,
  type MultiHeadAttentionParameters,
  type MultiHeadAttentionResult,
  multiHeadAttention,
} from "./ops/multiHeadAttention.js";
import { type LayerNormOptions, layerNorm, type RmsNormOptions, rmsNorm } from "./ops/norm.js";
import { PackedWeights, type PackWeightsOptions } from "./ops/packedWeights.js";
import { type SinusoidalOptions, sinusoidalEncoding } from "./ops/positionalEncoding.js";
import { type NormalOptions, normal, type UniformOptions, uniform } from "./ops/random.js";
import {
  type AxisOptions,
  concat,
  reshape,
  type SliceOptions,
  slice,
  split,
  transpose,
} from "./ops/rearrange.js";
import { type RopeOptions, rope } from "./ops/rope.js";
import { type SampleOptions, sample, type TopKResult, topK } from "./ops/sampling.js";
import type { KeyMaskOptions, ScoredAttentionResult } from "./ops/scoredAttention.js";
import { softmax } from "./ops/softmax.js";
import {
  broadcastTo,
  type CumsumOptions,
  cumsum,
  mean,
  type ReduceOptions,
  sum,
} from "./ops/sums.js";

/** Facts about a loaded engine. */
export interface HeedInfo {
  /** The version of the binary, which equals the version of the package. */
  readonly version: string;
  /** The binary that was chosen. */
  readonly variant: Variant;
  /** The number of running threads, including the caller's. */
  readonly threads: number;
  /** Whether the page or worker is cross-origin isolated; false in Node. */
  readonly crossOriginIsolated: boolean;
  /** The reason for fewer threads or less memory than requested; null if there is none. */
  readonly reason: string | null;
}

/**
 * An engine: the WebAssembly module with its memory and threads. Made by `load`.
 *
 * @example
 * ```ts
 * const engine = await load({ threads: 1 });
 * console.log(engine.info.threads, engine.ones([2]).toArray()); // prints: 1 [ 1, 1 ]
 * engine.dispose();
 * ```
 */
export class Heed {
  /** A private field, so that no function that prints this object also prints the engine. */
  readonly #engine: Engine;
  readonly #describe: () => HeedInfo;

  /** @internal Made by `load`. */
  constructor(engine: Engine, describe: () => HeedInfo) {
    this.#engine = engine;
    this.#describe = describe;
  }

  /**
   * The engine of `this`. Throws if a method was detached from its object, so that `this` is
   * undefined.
   */
  static #engineOf(given: unknown): Engine {
    if (typeof given === "object" && given !== null && #engine in given) return given.#engine;
    const call = "call a method on its object, as in heed.add(a, b)";
    throw refuse("option", "this", "a Heed", `${describe(given)}: ${call}`);
  }

  /** @internal */
  get engine(): Engine {
    return Heed.#engineOf(this);
  }

  /** Facts about the loaded engine, with the present number of threads. */
  get info(): HeedInfo {
    return Object.freeze(this.#describe());
  }

  // ---- Tensors

  /**
   * Copies data into the engine's memory.
   *
   * @param data a Float32Array or Int32Array, or numbers or booleans in arrays; or a Uint8Array or
   *   Uint16Array with a type
   * @param shape the sizes; by default the sizes of the nested arrays, or [length]
   * @param dtype by default the type of the data: numbers are float32. The bytes of a Uint8Array
   *   become numbers of any type, or bools if they are 0 and 1; a Uint16Array holds the bits of
   *   float16 or bfloat16.
   * @throws HeedError "shape", "dtype", "option", "memory"
   * @example
   * ```ts
   * console.log(heed.tensor([[1, 2, 3]]).shape); // prints: [ 1, 3 ]
   * console.log(heed.tensor(Int32Array.of(7, 8, 9, 10), [2, 2]).toArray()); // prints: [ [ 7, 8 ], [ 9, 10 ] ]
   * console.log(heed.tensor(Uint8Array.of(0, 1), [2], "bool").toArray()); // prints: [ false, true ]
   * ```
   */
  tensor(
    data: Exclude<TensorSource, Uint8Array | Uint16Array>,
    shape?: readonly number[],
    dtype?: DType,
  ): Tensor;
  tensor(data: TensorSource, shape: readonly number[] | undefined, dtype: DType): Tensor;
  tensor(data: TensorSource, shape?: readonly number[], dtype?: DType): Tensor {
    return tensor(Heed.#engineOf(this), data, shape, dtype);
  }

  /**
   * Runs a function and then frees the objects that the function made in the engine's memory:
   * tensors, caches, packed weights and block masks. The parameters of modules are tensors, so they
   * are freed too.
   *
   * The function's result is kept, and belongs to the enclosing scope if there is one. The result
   * may be an object itself. It may also contain objects in arrays, maps, sets, modules and the
   * fields of any other object, at any depth. Objects that can be reached only through a closure, a
   * getter or a `#private` field are freed. Objects that outlive the scope in another way, such as
   * packed weights that the first call makes and stores, need `keep`.
   *
   * An optimiser's own tensors belong to the optimiser and to no scope. The function must not be
   * async. While a tape runs, the gradients need the objects, so they pass to the enclosing scope,
   * such as the scope of `valueAndGrad`.
   *
   * @throws HeedError "option" for an async function, and any error of the function; all its
   *   objects are then freed
   * @example
   * ```ts
   * const before = heed.memory().tensors.count;
   * const mean = heed.scope(() => heed.mean(heed.multiply(heed.ones([8]), 3)));
   * console.log(mean.item(), heed.memory().tensors.count - before); // prints: 3 1
   * ```
   */
  scope<T>(run: () => T): T {
    return Heed.#engineOf(this).scope(run);
  }

  /**
   * Removes the objects in a value, found as in the result of a `scope`, from all open scopes. They
   * live until they are disposed of. The tape still frees the results of operations that it
   * records.
   *
   * @returns the value
   * @throws nothing: a value without such objects is returned as it is
   * @example
   * ```ts
   * let table: Tensor | undefined;
   * heed.scope(() => {
   *   table ??= heed.keep(heed.ones([4])); // made once, used by later calls
   * });
   * console.log(table?.toArray()); // prints: [ 1, 1, 1, 1 ]
   * ```
   */
  keep<T>(value: T): T {
    return Heed.#engineOf(this).keep(value);
  }

  /**
   * The current use of the engine's memory, in bytes. Objects dropped without `dispose` count until
   * the garbage collector has freed them.
   *
   * @example
   * ```ts
   * const { tensors } = heed.memory();
   * using x = heed.zeros([1024]);
   * console.log(heed.memory().tensors.bytes - tensors.bytes); // prints: 4096
   * ```
   */
  memory(): MemoryUse {
    return Heed.#engineOf(this).memory();
  }

  /**
   * Converts a boolean mask of torch.nn.MultiheadAttention, where true hides a key, to Heed's
   * meaning, where true makes it visible.
   *
   * @param mask bool of any shape, which is the result's
   * @throws HeedError "dtype", "memory", "disposed"
   * @example
   * ```ts
   * const padding = heed.tensor([[false, false, true]]); // key_padding_mask: the last one is hidden
   * console.log(heed.fromTorchMask(padding).toArray()); // prints: [ [ true, true, false ] ]
   * ```
   */
  fromTorchMask(mask: Tensor): Tensor {
    return fromTorchMask(Heed.#engineOf(this), mask);
  }

  // ---- Attention

  /**
   * softmax(scale Q K^T + mask) V (Vaswani et al., 2017, section 3.2.1), tiled so that nothing of
   * size L x S is stored unless requested.
   *
   * @param q [B, H, L, D], or [B, L, H*D] with `heads`
   * @param k [B, G, S, D], or [B, S, G*D]; H must be a multiple of G
   * @param v [B, G, S, Dv], or [B, S, G*Dv]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const q = heed.tensor([[[[1, 0], [0, 1], [1, 1]]]]); // [1, 1, 3, 2]
   * const { output, weights } = heed.attention(q, q, q, { isCausal: true, needWeights: true });
   * console.log(output.shape, Array.from(weights.data.slice(0, 3))); // prints: [ 1, 1, 3, 2 ] [ 1, 0, 0 ]
   * ```
   */
  attention<const O extends AttentionOptions = Record<never, never>>(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options?: O & NothingElse<O, AttentionOptions>,
  ): AttentionResult<O> {
    return attention(Heed.#engineOf(this), q, k, v, options);
  }

  /**
   * A cache of keys and values, for `attention` with `past`.
   *
   * @throws HeedError "option", "memory", "disposed"
   * @example
   * ```ts
   * const cache = heed.createKvCache({ heads: 2, headSize: 4, capacity: 16, dtype: "float16" });
   * const step = heed.ones([1, 2, 1, 4]);
   * const { output } = heed.attention(step, step, step, { past: cache, isCausal: true });
   * console.log(output.shape, cache.lengths); // prints: [ 1, 2, 1, 4 ] [ 1 ]
   * ```
   */
  createKvCache(options: KvCacheOptions): KvCache {
    const engine = Heed.#engineOf(this);
    return engine.track(new KvCache(engine, options));
  }

  /**
   * A mask from a function, evaluated once for every pair of these sizes and stored by blocks
   * (Dong et al., "FlexAttention", 2024). `maskFunctions` has common ones.
   *
   * @param visible called once for each pair: true where query q may see key k
   * @throws HeedError "option", "memory", "disposed", and any error of the function
   * @example
   * ```ts
   * const x = heed.normal([1, 1, 100, 8], { seed: 1 });
   * using blockMask = heed.blockMask(maskFunctions.window(10, 10), { queries: 100, keys: 100 });
   * const same = heed.attention(x, x, x, { window: [10, 10] }).output.data.slice();
   * console.log(heed.attention(x, x, x, { blockMask }).output.data.every((v, i) => Math.abs(v - same[i]!) < 1e-6)); // prints: true
   * ```
   */
  blockMask(visible: MaskFunction, sizes: BlockMaskSizes): BlockMask {
    const engine = Heed.#engineOf(this);
    return engine.track(new BlockMask(engine, visible, sizes));
  }

  /**
   * Combines two attentions over parts of the same keys into one. Associative; a part without keys
   * changes nothing.
   *
   * @param a output [B, H, L, Dv] and lse [B, H, L]
   * @param b the same shapes (Ye et al., "Cascade Inference", FlashInfer, 2024)
   * @throws HeedError "shape", "dtype", "memory", "disposed"
   * @example
   * ```ts
   * const [q, k] = [heed.normal([1, 1, 2, 4], { seed: 1 }), heed.normal([1, 1, 6, 4], { seed: 2 })];
   * const parts = heed.split(k, 2, { axis: 2 }).map((part) => heed.attention(q, part, part, { needLse: true }));
   * const merged = heed.mergeAttention(parts[0]!, parts[1]!).output.data.slice();
   * console.log(heed.attention(q, k, k).output.data.every((v, i) => Math.abs(v - merged[i]!) < 1e-6)); // prints: true
   * ```
   */
  mergeAttention(a: PartialAttention, b: PartialAttention): PartialAttention {
    return mergeAttention(Heed.#engineOf(this), a, b);
  }

  /**
   * Linear attention: a state instead of a cache (Katharopoulos et al., 2020), with gates, the
   * delta rule or both. q, k, v as in `attention`, with as many keys as queries.
   *
   * @param q [B, H, L, D], or [B, L, H*D] with `heads`
   * @param k [B, G, L, D], or [B, L, G*D]
   * @param v [B, G, L, Dv], or [B, L, G*Dv]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const x = heed.ones([1, 1, 3, 1]);
   * // each token adds k v^T = 1
   * console.log(Array.from(heed.linearAttention(x, x, x).output.data)); // prints: [ 1, 2, 3 ]
   * ```
   */
  linearAttention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    options?: LinearAttentionOptions,
  ): LinearAttentionResult {
    return linearAttention(Heed.#engineOf(this), q, k, v, options);
  }

  /**
   * Multi-head attention: projections, attention, output projection (Vaswani et al., 2017, section
   * 3.2.2), with the parameters of torch.nn.MultiheadAttention.
   *
   * @param query [B, L, E]
   * @param key [B, S, size of a key]
   * @param value [B, S, size of a value]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const x = heed.normal([1, 3, 4], { seed: 1 }); // [B, L, E]
   * const parameters = { inProjWeight: heed.normal([12, 4], { seed: 2 }), outProjWeight: heed.normal([4, 4], { seed: 3 }) };
   * const { output, weights } = heed.multiHeadAttention(x, x, x, parameters, { heads: 2, needWeights: true });
   * console.log(output.shape, weights.shape); // prints: [ 1, 3, 4 ] [ 1, 2, 3, 3 ]
   * ```
   */
  multiHeadAttention<const O extends MultiHeadAttentionOptions>(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    parameters: MultiHeadAttentionParameters,
    options: O & NothingElse<O, MultiHeadAttentionOptions>,
  ): MultiHeadAttentionResult<O> {
    return multiHeadAttention(Heed.#engineOf(this), query, key, value, parameters, options);
  }

  // ---- From logits to tokens

  /**
   * The k largest numbers of each row, and their indices. x [..., N].
   *
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const { values, indices } = heed.topK(heed.tensor([[0.1, 0.7, 0.2]]), 2);
   * console.log(indices.toArray(), values.shape); // prints: [ [ 1, 2 ] ] [ 1, 2 ]
   * ```
   */
  topK(x: Tensor, k: number): TopKResult {
    return topK(Heed.#engineOf(this), x, k);
  }

  /**
   * A token for each row of logits [..., V], sampled at random or the most likely: int32 [...].
   *
   * @throws HeedError "shape", "dtype", "option" for a row without a finite logit, "memory",
   *   "disposed"
   * @example
   * ```ts
   * const logits = heed.tensor([[0, 5, 1], [9, 0, 0]]);
   * console.log(heed.sample(logits, { temperature: 0, seed: 1 }).toArray()); // prints: [ 1, 0 ]
   * ```
   */
  sample(logits: Tensor, options: SampleOptions): Tensor {
    return sample(Heed.#engineOf(this), logits, options);
  }

  // ---- Types

  /**
   * The same numbers as another floating type, rounded to nearest, ties to even.
   *
   * @param x float32, float16 or bfloat16 of any shape, which is the result's
   * @throws HeedError "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const half = heed.cast(heed.tensor([1, 0.1]), "float16");
   * console.log(half.dtype, heed.cast(half, "float32").toArray()); // prints: float16 [ 1, 0.0999755859375 ]
   * ```
   */
  cast(x: Tensor, dtype: "float32" | "float16" | "bfloat16"): Tensor {
    return cast(Heed.#engineOf(this), x, dtype);
  }

  // ---- Arithmetic

  /**
   * a + b; b, a tensor or a number, broadcasts to the shape of a.
   *
   * @param a float32 of any shape, which is the result's
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.add(heed.tensor([[1, 2], [3, 4]]), heed.tensor([10, 20])).toArray()); // prints: [ [ 11, 22 ], [ 13, 24 ] ]
   * ```
   */
  add(a: Tensor, b: Tensor | number): Tensor {
    return add(Heed.#engineOf(this), a, b);
  }

  /**
   * a - b, as `add`.
   *
   * @param a float32 of any shape, which is the result's
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.subtract(heed.tensor([3, 4]), 1).toArray()); // prints: [ 2, 3 ]
   * ```
   */
  subtract(a: Tensor, b: Tensor | number): Tensor {
    return subtract(Heed.#engineOf(this), a, b);
  }

  /**
   * a b, element by element, as `add`.
   *
   * @param a float32 of any shape, which is the result's
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.multiply(heed.tensor([3, 4]), heed.tensor([2])).toArray()); // prints: [ 6, 8 ]
   * ```
   */
  multiply(a: Tensor, b: Tensor | number): Tensor {
    return multiply(Heed.#engineOf(this), a, b);
  }

  /**
   * a / b, element by element, as `add`.
   *
   * @param a float32 of any shape, which is the result's
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.divide(heed.tensor([3, 4]), 2).toArray()); // prints: [ 1.5, 2 ]
   * ```
   */
  divide(a: Tensor, b: Tensor | number): Tensor {
    return divide(Heed.#engineOf(this), a, b);
  }

  // ---- Products and sums

  /**
   * The product of matrices, or of batches of them.
   *
   * @param a [..., M, K]
   * @param b [K, N], or [..., K, N] with the same axes before -> [..., M, N]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const a = heed.tensor([[1, 2], [3, 4]]);
   * console.log(heed.matmul(a, a).toArray(), heed.matmul(a, a, { transposeB: true }).toArray()); // prints: [ [ 7, 10 ], [ 15, 22 ] ] [ [ 5, 11 ], [ 11, 25 ] ]
   * ```
   */
  matmul(a: Tensor, b: Tensor, options?: MatmulOptions): Tensor {
    return matmul(Heed.#engineOf(this), a, b, options);
  }

  /**
   * The sum of all numbers, or along an axis.
   *
   * @param x float32 of any shape; added in double precision
   * @returns one number of shape [], or the shape of x without the axis
   * @throws HeedError "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const x = heed.tensor([[1, 2], [3, 4]]);
   * console.log(heed.sum(x).item(), heed.sum(x, { axis: 0 }).toArray()); // prints: 10 [ 4, 6 ]
   * ```
   */
  sum(x: Tensor, options?: ReduceOptions): Tensor {
    return sum(Heed.#engineOf(this), x, options);
  }

  /**
   * The mean of all numbers, or along an axis.
   *
   * @param x float32 of any shape; added in double precision
   * @returns one number of shape [], or the shape of x without the axis
   * @throws HeedError "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.mean(heed.tensor([[1, 2], [3, 4]]), { axis: 1, keepDims: true }).toArray()); // prints: [ [ 1.5 ], [ 3.5 ] ]
   * ```
   */
  mean(x: Tensor, options?: ReduceOptions): Tensor {
    return mean(Heed.#engineOf(this), x, options);
  }

  /**
   * Cumulative sums along an axis: entry i is the sum of the entries up to i, or with `reverse`
   * from i on. Added in double precision.
   *
   * @param x float32 of any shape, which is the result's
   * @throws HeedError "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.cumsum(heed.tensor([1, 2, 3]), { axis: 0 }).toArray()); // prints: [ 1, 3, 6 ]
   * ```
   */
  cumsum(x: Tensor, options: CumsumOptions): Tensor {
    return cumsum(Heed.#engineOf(this), x, options);
  }

  /**
   * x repeated to a shape, like numpy, aligned right.
   *
   * @param x float32; aligned right with the shape [...], each of its sizes is 1 or the same
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.broadcastTo(heed.tensor([1, 2]), [2, 2]).toArray()); // prints: [ [ 1, 2 ], [ 1, 2 ] ]
   * ```
   */
  broadcastTo(x: Tensor, shape: readonly number[]): Tensor {
    return broadcastTo(Heed.#engineOf(this), x, shape);
  }

  // ---- Rearrangement

  /**
   * The same elements with another shape. The result shares memory with x: a write to one changes
   * both.
   *
   * @param shape the sizes; one may be -1 and is computed
   * @param x of any shape and type
   * @throws HeedError "shape", "option", "disposed"
   * @example
   * ```ts
   * console.log(heed.reshape(heed.tensor([1, 2, 3, 4]), [2, 2]).toArray()); // prints: [ [ 1, 2 ], [ 3, 4 ] ]
   * ```
   */
  reshape(x: Tensor, shape: readonly number[]): Tensor {
    return reshape(Heed.#engineOf(this), x, shape);
  }

  /**
   * x with its axes in another order.
   *
   * @param order axis i of the result is axis order[i] of x; by default the last two are swapped
   * @param x of any shape and type
   * @throws HeedError "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.transpose(heed.tensor([[1, 2, 3]])).toArray(), heed.transpose(heed.ones([2, 3, 4]), [2, 0, 1]).shape); // prints: [ [ 1 ], [ 2 ], [ 3 ] ] [ 4, 2, 3 ]
   * ```
   */
  transpose(x: Tensor, order?: readonly number[]): Tensor {
    return transpose(Heed.#engineOf(this), x, order);
  }

  /**
   * Entries [start, start + length) of an axis. A slice of the first axis shares memory with x.
   *
   * @param x of any shape and type
   * @throws HeedError "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.slice(heed.tensor([[1, 2, 3], [4, 5, 6]]), { axis: 1, start: 1, length: 2 }).toArray()); // prints: [ [ 2, 3 ], [ 5, 6 ] ]
   * ```
   */
  slice(x: Tensor, options: SliceOptions): Tensor {
    return slice(Heed.#engineOf(this), x, options);
  }

  /**
   * Splits x into parts along an axis, the first one by default.
   *
   * @param sizes the sizes of the parts, which add up to the axis; or the number of parts, if they
   *   are equal
   * @param x of any shape and type
   * @throws HeedError "option", "memory", "disposed"
   * @example
   * ```ts
   * const [left, right] = heed.split(heed.tensor([[1, 2, 3]]), [1, 2], { axis: 1 });
   * console.log(left!.toArray(), right!.toArray()); // prints: [ [ 1 ] ] [ [ 2, 3 ] ]
   * ```
   */
  split(x: Tensor, sizes: readonly number[] | number, options?: AxisOptions): Tensor[] {
    return split(Heed.#engineOf(this), x, sizes, options);
  }

  /**
   * Joins tensors end to end along an axis, the first one by default.
   *
   * @param given tensors of one type, of any shape; the shapes may differ only in the axis
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.concat([heed.tensor([[1, 2]]), heed.tensor([[3]])], { axis: 1 }).toArray()); // prints: [ [ 1, 2, 3 ] ]
   * ```
   */
  concat(given: readonly Tensor[], options?: AxisOptions): Tensor {
    return concat(Heed.#engineOf(this), given, options);
  }

  /**
   * The maximum of each part of a matrix. The matrix is divided into rows and columns of parts as
   * by torch.nn.AdaptiveMaxPool2d. The result is a small version of a large matrix that keeps its
   * peaks. A part that contains NaN gives NaN. The operation has no gradient.
   *
   * @param x [..., H, W] -> [..., rows, columns]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.adaptiveMaxPool(heed.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]), 1, 2).toArray()); // prints: [ [ 6, 8 ] ]
   * ```
   */
  adaptiveMaxPool(x: Tensor, rows: number, columns: number): Tensor {
    return adaptiveMaxPool(Heed.#engineOf(this), x, rows, columns);
  }

  // ---- Constant and random tensors

  /**
   * A float32 tensor of zeros.
   *
   * @param shape any shape; [] is a scalar
   * @throws HeedError "shape", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.zeros([2, 2]).toArray()); // prints: [ [ 0, 0 ], [ 0, 0 ] ]
   * ```
   */
  zeros(shape: readonly number[]): Tensor {
    return zeros(Heed.#engineOf(this), shape);
  }

  /**
   * A float32 tensor of ones.
   *
   * @param shape any shape; [] is a scalar
   * @throws HeedError "shape", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.ones([3]).toArray()); // prints: [ 1, 1, 1 ]
   * ```
   */
  ones(shape: readonly number[]): Tensor {
    return ones(Heed.#engineOf(this), shape);
  }

  /**
   * Uniformly distributed numbers in [low, high), by default [0, 1). The same seed gives the same
   * numbers.
   *
   * @param shape any shape
   * @throws HeedError "shape", "option", "memory", "disposed"
   * @example
   * ```ts
   * const x = heed.uniform([1000], { low: -1, high: 1, seed: 1 });
   * console.log(Math.abs(Number(heed.mean(x).item())) < 0.1); // prints: true
   * ```
   */
  uniform(shape: readonly number[], options: UniformOptions): Tensor {
    return uniform(Heed.#engineOf(this), shape, options);
  }

  /**
   * Normally distributed numbers, by default with mean 0 and standard deviation 1.
   *
   * @param shape any shape
   * @throws HeedError "shape", "option", "memory", "disposed"
   * @example
   * ```ts
   * const x = heed.normal([1000], { mean: 5, deviation: 0.1, seed: 1 });
   * console.log(Math.round(Number(heed.mean(x).item()))); // prints: 5
   * ```
   */
  normal(shape: readonly number[], options: NormalOptions): Tensor {
    return normal(Heed.#engineOf(this), shape, options);
  }

  // ---- Linear layers and activations

  /**
   * activation(x W^T + bias). x [..., in], weight [out, in] -> [..., out].
   *
   * @param weight float32; float16, in half of the memory; or packed weights. The last two have no
   *   gradient
   * @param options only a bias [out], or options
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const [x, weight, bias] = [heed.tensor([[1, -2]]), heed.tensor([[1, 0], [0, 1]]), heed.tensor([1, 1])];
   * console.log(heed.linear(x, weight, { bias, activation: "relu" }).toArray()); // prints: [ [ 2, 0 ] ]
   * ```
   */
  linear(x: Tensor, weight: Tensor | PackedWeights, options?: Tensor | LinearOptions): Tensor {
    return linear(Heed.#engineOf(this), x, weight, options);
  }

  /**
   * Packs weights [out, in] once, for many calls of `linear`.
   *
   * @param weight float32 [out, in]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * using packed = heed.packWeights(heed.tensor([[1, 0], [0, 1]]));
   * console.log(heed.linear(heed.tensor([[3, 4]]), packed).toArray()); // prints: [ [ 3, 4 ] ]
   * ```
   */
  packWeights(weight: Tensor, options: PackWeightsOptions = {}): PackedWeights {
    const engine = Heed.#engineOf(this);
    return engine.track(new PackedWeights(engine, weight, options));
  }

  /**
   * A function of each element: max(x, 0), x Phi(x) and its approximation by tanh,
   * x / (1 + exp(-x)), tanh(x), 1 / (1 + exp(-x)).
   *
   * @param x float32 of any shape, which is the result's
   * @throws HeedError "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.activate(heed.tensor([-1, 2]), "relu").toArray()); // prints: [ 0, 2 ]
   * ```
   */
  activate(x: Tensor, activation: Activation): Tensor {
    return activate(Heed.#engineOf(this), x, activation);
  }

  /**
   * silu(gate) up (Shazeer, "GLU Variants Improve Transformer", 2020), of two tensors of one shape.
   *
   * @param gate float32 of any shape, which is the result's
   * @throws HeedError "shape", "dtype", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.swiglu(heed.tensor([0]), heed.tensor([3])).toArray()); // prints: [ 0 ]
   * ```
   */
  swiglu(gate: Tensor, up: Tensor): Tensor {
    return swiglu(Heed.#engineOf(this), gate, up);
  }

  // ---- Norms

  /**
   * (x - mean) / sqrt(variance + eps) * weight + bias over the last axes (Ba et al., 2016).
   *
   * @param x [..., the normalised axes], the shape of the result
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(Array.from(heed.layerNorm(heed.tensor([[1, 3]])).data, (v) => v.toFixed(3)).join(" ")); // prints: -1.000 1.000
   * ```
   */
  layerNorm(x: Tensor, options?: LayerNormOptions): Tensor {
    return layerNorm(Heed.#engineOf(this), x, options);
  }

  /**
   * x / sqrt(mean(x^2) + eps) * weight over the last axes (Zhang and Sennrich, 2019).
   *
   * @param x [..., the normalised axes], the shape of the result
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(Array.from(heed.rmsNorm(heed.tensor([[3, 4]])).data, (v) => v.toFixed(3)).join(" ")); // prints: 0.849 1.131
   * ```
   */
  rmsNorm(x: Tensor, options?: RmsNormOptions): Tensor {
    return rmsNorm(Heed.#engineOf(this), x, options);
  }

  // ---- Softmax, dropout, loss

  /**
   * Softmax over the last axis; a row of only -Infinity gives zeros.
   *
   * @param x float32 [..., N], the shape of the result
   * @throws HeedError "shape", "dtype", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.softmax(heed.tensor([[0, 0], [1, -Infinity]])).toArray()); // prints: [ [ 0.5, 0.5 ], [ 1, 0 ] ]
   * ```
   */
  softmax(x: Tensor): Tensor {
    return softmax(Heed.#engineOf(this), x);
  }

  /**
   * Sets random elements to 0 and scales the others by 1 / (1 - rate) (Srivastava et al., 2014).
   *
   * @param x float32 of any shape, which is the result's
   * @throws HeedError "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const kept = heed.dropout(heed.ones([1000]), { rate: 0.25, seed: 1 }).data.filter((v) => v > 0);
   * console.log(Math.round(kept.length / 100), kept[0]!.toFixed(3)); // prints: 8 1.333
   * ```
   */
  dropout(x: Tensor, options: DropoutOptions): Tensor {
    return dropout(Heed.#engineOf(this), x, options);
  }

  /**
   * -log softmax(logits)[target].
   *
   * @param logits [..., C]
   * @param targets int32 [...]
   * @returns [], or [...] with reduction "none"
   * @throws HeedError "shape", "dtype", "option" for a target that is not a class, "memory",
   *   "disposed"
   * @example
   * ```ts
   * const logits = heed.tensor([[0, 0], [20, 0]]);
   * const targets = heed.tensor([1, 0], undefined, "int32");
   * const losses = heed.crossEntropy(logits, targets, { reduction: "none" });
   * console.log(Array.from(losses.data, (loss) => loss.toFixed(3)).join(" ")); // prints: 0.693 0.000
   * ```
   */
  crossEntropy(logits: Tensor, targets: Tensor, options?: CrossEntropyOptions): Tensor {
    return crossEntropy(Heed.#engineOf(this), logits, targets, options);
  }

  // ---- Embeddings and positions

  /**
   * Rows of a table. ids int32 [...], weight [V, E] -> float32 [..., E]. A float16 table has no
   * gradient.
   *
   * @throws HeedError "shape", "dtype", "option" for an id outside the table, "memory", "disposed"
   * @example
   * ```ts
   * const table = heed.tensor([[0, 0], [1, 2], [3, 4]]);
   * console.log(heed.embedding(heed.tensor([2, 1], undefined, "int32"), table).toArray()); // prints: [ [ 3, 4 ], [ 1, 2 ] ]
   * ```
   */
  embedding(ids: Tensor, weight: Tensor, options?: EmbeddingOptions): Tensor {
    return embedding(Heed.#engineOf(this), ids, weight, options);
  }

  /**
   * The sines and cosines of Vaswani et al., 2017, section 3.5: [length, size].
   *
   * @throws HeedError "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.sinusoidalEncoding(1, 4).toArray()); // prints: [ [ 0, 1, 0, 1 ] ]
   * ```
   */
  sinusoidalEncoding(length: number, size: number, options?: SinusoidalOptions): Tensor {
    return sinusoidalEncoding(Heed.#engineOf(this), length, size, options);
  }

  /**
   * Rotary position embedding (Su et al., 2021). In a row at position p, pair c is rotated by the
   * angle p base^(-2c / rotarySize). The shape of x is [B, H, L, D], or [B, L, H*D] with `heads`.
   *
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const x = heed.ones([1, 1, 3, 4]);
   * console.log(heed.rope(x).shape, Array.from(heed.rope(x).data.slice(0, 4))); // prints: [ 1, 1, 3, 4 ] [ 1, 1, 1, 1 ]
   * ```
   */
  rope(x: Tensor, options?: RopeOptions): Tensor {
    return rope(Heed.#engineOf(this), x, options);
  }

  // ---- Recurrent layers

  /**
   * Gated recurrent unit (Cho et al., 2014), with the parameters of torch.nn.GRU.
   *
   * @param x [B, L, I]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const [x, weightIh, weightHh] = [heed.ones([1, 3, 2]), heed.ones([12, 2]), heed.ones([12, 4])];
   * const { output, state } = heed.gru(x, { weightIh, weightHh });
   * console.log(output.shape, state.shape); // prints: [ 1, 3, 4 ] [ 1, 4 ]
   * ```
   */
  gru(x: Tensor, parameters: GruParameters, options?: GruOptions): GruResult {
    return gru(Heed.#engineOf(this), x, parameters, options);
  }

  // ---- Averages, kernel regression, other scores

  /**
   * The mean over the visible positions: attention with equal scores. x [B, L, E].
   *
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.average(heed.tensor([[[2], [4]]]), { isCausal: true }).toArray()); // prints: [ [ [ 2 ], [ 3 ] ] ]
   * ```
   */
  average(x: Tensor, options?: AverageOptions): Tensor {
    return average(Heed.#engineOf(this), x, options);
  }

  /**
   * softmax(X X^T) X: dot-product attention with no parameters and no scale. x [B, L, E].
   *
   * @throws HeedError "shape", "dtype", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.selfSimilarity(heed.zeros([1, 2, 3])).weights.toArray()); // prints: [ [ [ 0.5, 0.5 ], [ 0.5, 0.5 ] ] ]
   * ```
   */
  selfSimilarity(x: Tensor): SelfSimilarityResult {
    return selfSimilarity(Heed.#engineOf(this), x);
  }

  /**
   * Attention with the score v . tanh(W_q q + W_k k + b), without a scale (Bahdanau et al., 2015,
   * appendix A.1.2).
   *
   * @param query [B, L, Dq]
   * @param keys [B, S, Dk]
   * @param values [B, S, Dv]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const [query, keys] = [heed.ones([1, 2, 3]), heed.ones([1, 4, 5])];
   * const parameters = { queryWeight: heed.ones([6, 3]), keyWeight: heed.ones([6, 5]), scoreWeight: heed.ones([6]) };
   * const { output, weights } = heed.additiveAttention(query, keys, keys, parameters);
   * console.log(output.shape, weights.shape); // prints: [ 1, 2, 5 ] [ 1, 2, 4 ]
   * ```
   */
  additiveAttention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    parameters: AdditiveAttentionParameters,
    options?: KeyMaskOptions,
  ): ScoredAttentionResult {
    return additiveAttention(Heed.#engineOf(this), query, keys, values, parameters, options);
  }

  /**
   * Additive attention for projected queries and keys, with the bias already added.
   *
   * @param q [B, L, A]
   * @param k [B, S, A]
   * @param v [B, S, Dv]
   * @param scoreWeight [A]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const [q, k] = [heed.zeros([1, 1, 2]), heed.zeros([1, 4, 2])];
   * console.log(heed.additiveScores(q, k, k, heed.ones([2])).weights.toArray()); // prints: [ [ [ 0.25, 0.25, 0.25, 0.25 ] ] ]
   * ```
   */
  additiveScores(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scoreWeight: Tensor,
    options?: KeyMaskOptions,
  ): ScoredAttentionResult {
    return additiveScores(Heed.#engineOf(this), q, k, v, scoreWeight, options);
  }

  /**
   * Attention with Luong's scores, without a scale (Luong et al., 2015).
   *
   * @param query [B, L, Dq]
   * @param keys [B, S, Dk]; "dot" requires Dk = Dq
   * @param values [B, S, Dv]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const [query, keys] = [heed.tensor([[[1, 0]]]), heed.tensor([[[9, 0], [0, 9]]])];
   * const { weights } = heed.luongAttention(query, keys, keys, { score: "dot" });
   * console.log(Array.from(weights.data, (v) => v.toFixed(3)).join(" ")); // prints: 1.000 0.000
   * ```
   */
  luongAttention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    options: LuongAttentionOptions,
  ): ScoredAttentionResult {
    return luongAttention(Heed.#engineOf(this), query, keys, values, options);
  }

  /**
   * The Nadaraya-Watson estimate (1964): the mean of yTrain, weighted by
   * softmax_j(-|xQuery_i - xTrain_j|^2 / (2 bandwidth^2)).
   *
   * @param xQuery [Q], or [Q, F]
   * @param xTrain [N], or [N, F]
   * @param yTrain [N, M]
   * @param bandwidth [1]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const [x, y] = [heed.tensor([0, 1, 2]), heed.tensor([[0], [1], [4]])];
   * const { output } = heed.kernelRegression(heed.tensor([1]), x, y, heed.tensor([0.1]));
   * console.log(Number(output.item()).toFixed(3)); // prints: 1.000
   * ```
   */
  kernelRegression(
    xQuery: Tensor,
    xTrain: Tensor,
    yTrain: Tensor,
    bandwidth: Tensor,
  ): KernelRegressionResult {
    return kernelRegression(Heed.#engineOf(this), xQuery, xTrain, yTrain, bandwidth);
  }

  /**
   * The mean over a square of 2 radius + 1 pixels per side, clipped at the edges. image [H, W].
   *
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * console.log(heed.localMean(heed.tensor([[1, 3]]), 1).toArray()); // prints: [ [ 2, 2 ] ]
   * ```
   */
  localMean(image: Tensor, radius: number): Tensor {
    return localMean(Heed.#engineOf(this), image, radius);
  }

  /**
   * Non-local means (Buades et al., 2005): each pixel becomes a mean of its neighbours, weighted by
   * the similarity of their patches. The weight is exp(-max(d - 2 sigma^2, 0) / h^2), where d is
   * the mean squared difference of two patches. The search window is clipped at the edges.
   * image [H, W].
   *
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const { output } = heed.nonLocalMeans(heed.ones([8, 8]), { patchRadius: 1, searchRadius: 2 });
   * console.log(output.shape, Number(heed.mean(output).item()).toFixed(3)); // prints: [ 8, 8 ] 1.000
   * ```
   */
  nonLocalMeans(image: Tensor, options?: NonLocalMeansOptions): NonLocalMeansResult {
    return nonLocalMeans(Heed.#engineOf(this), image, options);
  }

  /**
   * The weights of one pixel's mean, divided by their sum: [H, W], zero outside its search window.
   *
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   * @example
   * ```ts
   * const weights = heed.nonLocalMeansWeights(heed.ones([8, 8]), 4, 4, { patchRadius: 1, searchRadius: 2 });
   * console.log(Number(heed.sum(weights).item()).toFixed(3)); // prints: 1.000
   * ```
   */
  nonLocalMeansWeights(
    image: Tensor,
    row: number,
    column: number,
    options?: NonLocalMeansOptions,
  ): Tensor {
    return nonLocalMeansWeights(Heed.#engineOf(this), image, row, column, options);
  }

  /**
   * Stops the threads. The engine and its tensors cannot be used afterwards.
   *
   * @example
   * ```ts
   * const own = await load({ threads: 1 });
   * own.dispose();
   * console.log(String(own).endsWith("disposed)")); // prints: true
   * ```
   */
  dispose(): void {
    Heed.#engineOf(this).dispose();
  }

  /** Facts about the loaded engine. */
  toJSON(): { info: HeedInfo } {
    return { info: this.info };
  }

  /** A description in one line. */
  toString(): string {
    const { version, variant, threads } = this.info;
    const end = Heed.#engineOf(this).border.isDisposed ? ", disposed" : "";
    return `Heed(${version}, ${variant}, threads ${threads}${end})`;
  }

  [inspectSymbol](): string {
    return this.toString();
  }

  /** @internal */
  get [markKey](): object | undefined {
    return #engine in this ? mark : undefined;
  }

  static readonly [Symbol.hasInstance] = isInstance;

  get [Symbol.toStringTag](): string {
    return "Heed";
  }
}
