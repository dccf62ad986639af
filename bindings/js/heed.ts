// The facade: every operation as a method of an engine. Operations allocate their results and leave their
// arguments unchanged.

import { isInstance, mark, markKey } from "./core/copies.js";
import type { Engine, MemoryUse } from "./core/engine.js";
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

/** What was loaded. */
export interface HeedInfo {
  readonly version: string;
  readonly variant: Variant;
  /** The number of running threads, including the caller's. */
  readonly threads: number;
  readonly crossOriginIsolated: boolean;
  /** The reason for fewer threads or less memory than requested; null if there is none. */
  readonly reason: string | null;
}

/** An engine: the WebAssembly module with its memory and threads. Made by `load`. */
export class Heed {
  /** Private to the object, so that nothing prints it with an engine. */
  readonly #engine: Engine;
  readonly #describe: () => HeedInfo;

  /** @internal Made by `load`. */
  constructor(engine: Engine, describe: () => HeedInfo) {
    this.#engine = engine;
    this.#describe = describe;
  }

  /** @internal */
  get engine(): Engine {
    return this.#engine;
  }

  /** What was loaded, and how many threads run now. */
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
   * @param dtype by default the type of the data: numbers are float32. The bytes of a Uint8Array become
   *   numbers of any type, or bools if they are 0 and 1; a Uint16Array holds the bits of float16 or bfloat16.
   * @throws HeedError "shape", "dtype", "option", "memory"
   */
  tensor(
    data: Exclude<TensorSource, Uint8Array | Uint16Array>,
    shape?: readonly number[],
    dtype?: DType,
  ): Tensor;
  tensor(data: TensorSource, shape: readonly number[] | undefined, dtype: DType): Tensor;
  tensor(data: TensorSource, shape?: readonly number[], dtype?: DType): Tensor {
    return tensor(this.#engine, data, shape, dtype);
  }

  /**
   * Runs a function and then frees the objects that it made in the engine's memory: tensors, caches, packed
   * weights and block masks, and with them the parameters of modules.
   *
   * The function's result is kept, and belongs to the enclosing scope if there is one: an object itself, or
   * the objects in arrays, maps, sets, modules and the fields of any other object, at any depth. Objects that
   * can be reached only through a closure, a getter or a `#private` field are freed. Objects that outlive the
   * scope in another way, such as packed weights that the first call makes and stores, need `keep`.
   *
   * An optimiser's own tensors belong to the optimiser and to no scope. The function must not be async. While
   * a tape runs, the objects are needed for the gradients and pass to the enclosing scope, such as that of
   * `valueAndGrad`.
   *
   * @throws HeedError "option" for an async function, and any error of the function; all its objects are then
   *   freed
   */
  scope<T>(run: () => T): T {
    return this.#engine.scope(run);
  }

  /**
   * Removes the objects in a value, found as in the result of a `scope`, from all open scopes: they live until
   * they are disposed of. The tape still frees the results of operations that it records.
   *
   * @returns the value
   */
  keep<T>(value: T): T {
    return this.#engine.keep(value);
  }

  /**
   * The current use of the engine's memory, in bytes. Objects dropped without `dispose` count until the
   * garbage collector has freed them.
   */
  memory(): MemoryUse {
    return this.#engine.memory();
  }

  /**
   * Converts a boolean mask of torch.nn.MultiheadAttention, true where a key is hidden, to Heed's meaning, true
   * where it is visible.
   */
  fromTorchMask(mask: Tensor): Tensor {
    return fromTorchMask(this.#engine, mask);
  }

  // ---- Attention

  /**
   * softmax(scale Q K^T + mask) V (Vaswani et al., 2017, section 3.2.1), tiled so that nothing of size
   * L x S is stored unless requested.
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
    return this.#engine.track(new KvCache(this.#engine, options));
  }

  /**
   * A mask from a function, evaluated once for every pair of these sizes and stored by blocks
   * (Dong et al., "FlexAttention", 2024). `maskFunctions` has common ones.
   */
  blockMask(visible: MaskFunction, sizes: BlockMaskSizes): BlockMask {
    return this.#engine.track(new BlockMask(this.#engine, visible, sizes));
  }

  /**
   * Combines two attentions over parts of the same keys into one. Associative; a part without keys changes
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
    options?: LinearAttentionOptions,
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
    return multiHeadAttention(this.#engine, query, key, value, parameters, options);
  }

  // ---- From logits to tokens

  /** The k largest numbers of each row, and their indices. x [..., N]. */
  topK(x: Tensor, k: number): TopKResult {
    return topK(this.#engine, x, k);
  }

  /** A token for each row of logits [..., V], sampled at random or the most likely: int32 [...]. */
  sample(logits: Tensor, options: SampleOptions): Tensor {
    return sample(this.#engine, logits, options);
  }

  // ---- Types

  /** The same numbers as another floating type, rounded to nearest, ties to even. */
  cast(x: Tensor, dtype: "float32" | "float16" | "bfloat16"): Tensor {
    return cast(this.#engine, x, dtype);
  }

  // ---- Arithmetic

  /** a + b; b, a tensor or a number, broadcasts to the shape of a. */
  add(a: Tensor, b: Tensor | number): Tensor {
    return add(this.#engine, a, b);
  }

  /** a - b, as `add`. */
  subtract(a: Tensor, b: Tensor | number): Tensor {
    return subtract(this.#engine, a, b);
  }

  /** a b, element by element, as `add`. */
  multiply(a: Tensor, b: Tensor | number): Tensor {
    return multiply(this.#engine, a, b);
  }

  /** a / b, element by element, as `add`. */
  divide(a: Tensor, b: Tensor | number): Tensor {
    return divide(this.#engine, a, b);
  }

  // ---- Products and sums

  /**
   * The product of matrices, or of batches of them.
   *
   * @param a [..., M, K]
   * @param b [K, N], or [..., K, N] with the same axes before -> [..., M, N]
   */
  matmul(a: Tensor, b: Tensor, options?: MatmulOptions): Tensor {
    return matmul(this.#engine, a, b, options);
  }

  /** The sum of all numbers, or along an axis. */
  sum(x: Tensor, options?: ReduceOptions): Tensor {
    return sum(this.#engine, x, options);
  }

  /** The mean of all numbers, or along an axis. */
  mean(x: Tensor, options?: ReduceOptions): Tensor {
    return mean(this.#engine, x, options);
  }

  /**
   * Cumulative sums along an axis: entry i is the sum of the entries up to i, or with `reverse` from i on.
   * Added in double precision.
   */
  cumsum(x: Tensor, options: CumsumOptions): Tensor {
    return cumsum(this.#engine, x, options);
  }

  /** x repeated to a shape, like numpy, aligned right. */
  broadcastTo(x: Tensor, shape: readonly number[]): Tensor {
    return broadcastTo(this.#engine, x, shape);
  }

  // ---- Rearrangement

  /**
   * The same elements with another shape. It shares memory with x: a write to one changes both.
   *
   * @param shape the sizes; one may be -1 and is computed
   */
  reshape(x: Tensor, shape: readonly number[]): Tensor {
    return reshape(this.#engine, x, shape);
  }

  /**
   * The axes in another order.
   *
   * @param order axis i of the result is axis order[i] of x; by default the last two are swapped
   */
  transpose(x: Tensor, order?: readonly number[]): Tensor {
    return transpose(this.#engine, x, order);
  }

  /** Entries [start, start + length) of an axis. A slice of the first axis shares memory with x. */
  slice(x: Tensor, options: SliceOptions): Tensor {
    return slice(this.#engine, x, options);
  }

  /**
   * Parts along an axis, the first one by default.
   *
   * @param sizes of the parts, together the axis; or their number, if they are equal
   */
  split(x: Tensor, sizes: readonly number[] | number, options?: AxisOptions): Tensor[] {
    return split(this.#engine, x, sizes, options);
  }

  /** Tensors end to end along an axis, the first one by default. */
  concat(given: readonly Tensor[], options?: AxisOptions): Tensor {
    return concat(this.#engine, given, options);
  }

  /**
   * The maximum of each part of a matrix that is divided into rows and columns of parts as by
   * torch.nn.AdaptiveMaxPool2d: a small version of a large matrix that keeps its peaks. NaN if a part has one.
   * It has no gradient.
   *
   * @param x [..., H, W] -> [..., rows, columns]
   */
  adaptiveMaxPool(x: Tensor, rows: number, columns: number): Tensor {
    return adaptiveMaxPool(this.#engine, x, rows, columns);
  }

  // ---- Constant and random tensors

  /** A float32 tensor of zeros. */
  zeros(shape: readonly number[]): Tensor {
    return zeros(this.#engine, shape);
  }

  /** A float32 tensor of ones. */
  ones(shape: readonly number[]): Tensor {
    return ones(this.#engine, shape);
  }

  /** Uniformly distributed numbers in [low, high), by default [0, 1). The same seed gives the same numbers. */
  uniform(shape: readonly number[], options: UniformOptions): Tensor {
    return uniform(this.#engine, shape, options);
  }

  /** Normally distributed numbers, by default with mean 0 and standard deviation 1. */
  normal(shape: readonly number[], options: NormalOptions): Tensor {
    return normal(this.#engine, shape, options);
  }

  // ---- Linear layers and activations

  /**
   * activation(x W^T + bias). x [..., in], weight [out, in] -> [..., out].
   *
   * @param options a bias [out] alone, or options
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   */
  linear(x: Tensor, weight: Tensor | PackedWeights, options?: Tensor | LinearOptions): Tensor {
    return linear(this.#engine, x, weight, options);
  }

  /** Packs weights [out, in] once, for many calls of `linear`. */
  packWeights(weight: Tensor, options: PackWeightsOptions = {}): PackedWeights {
    return this.#engine.track(new PackedWeights(this.#engine, weight, options));
  }

  /**
   * A function of each element: max(x, 0), x Phi(x) and its approximation by tanh, x / (1 + exp(-x)),
   * tanh(x), 1 / (1 + exp(-x)).
   */
  activate(x: Tensor, activation: Activation): Tensor {
    return activate(this.#engine, x, activation);
  }

  /** silu(gate) up (Shazeer, "GLU Variants Improve Transformer", 2020), of two tensors of one shape. */
  swiglu(gate: Tensor, up: Tensor): Tensor {
    return swiglu(this.#engine, gate, up);
  }

  // ---- Norms

  /** (x - mean) / sqrt(variance + eps) * weight + bias over the last axes (Ba et al., 2016). */
  layerNorm(x: Tensor, options?: LayerNormOptions): Tensor {
    return layerNorm(this.#engine, x, options);
  }

  /** x / sqrt(mean(x^2) + eps) * weight over the last axes (Zhang and Sennrich, 2019). */
  rmsNorm(x: Tensor, options?: RmsNormOptions): Tensor {
    return rmsNorm(this.#engine, x, options);
  }

  // ---- Softmax, dropout, loss

  /** Softmax over the last axis; a row of only -Infinity gives zeros. */
  softmax(x: Tensor): Tensor {
    return softmax(this.#engine, x);
  }

  /** Sets random elements to 0 and scales the others by 1 / (1 - rate) (Srivastava et al., 2014). */
  dropout(x: Tensor, options: DropoutOptions): Tensor {
    return dropout(this.#engine, x, options);
  }

  /**
   * -log softmax(logits)[target].
   *
   * @param logits [..., C]
   * @param targets int32 [...]
   * @returns [], or [...] with reduction "none"
   */
  crossEntropy(logits: Tensor, targets: Tensor, options?: CrossEntropyOptions): Tensor {
    return crossEntropy(this.#engine, logits, targets, options);
  }

  // ---- Embeddings and positions

  /** Rows of a table. ids int32 [...], weight [V, E] -> [..., E]. */
  embedding(ids: Tensor, weight: Tensor, options?: EmbeddingOptions): Tensor {
    return embedding(this.#engine, ids, weight, options);
  }

  /** The sines and cosines of Vaswani et al., 2017, section 3.5: [length, size]. */
  sinusoidalEncoding(length: number, size: number, options?: SinusoidalOptions): Tensor {
    return sinusoidalEncoding(this.#engine, length, size, options);
  }

  /**
   * Rotary position embedding (Su et al., 2021): pair c of a row at position p is rotated by the angle
   * p base^(-2c / rotarySize). x [B, H, L, D], or [B, L, H*D] with `heads`.
   */
  rope(x: Tensor, options?: RopeOptions): Tensor {
    return rope(this.#engine, x, options);
  }

  // ---- Recurrent layers

  /**
   * Gated recurrent unit (Cho et al., 2014), with the parameters of torch.nn.GRU.
   *
   * @param x [B, L, I]
   * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
   */
  gru(x: Tensor, parameters: GruParameters, options?: GruOptions): GruResult {
    return gru(this.#engine, x, parameters, options);
  }

  // ---- Averages, kernel regression, other scores

  /** The mean over the visible positions: attention with equal scores. x [B, L, E]. */
  average(x: Tensor, options?: AverageOptions): Tensor {
    return average(this.#engine, x, options);
  }

  /** softmax(X X^T) X: dot-product attention with no parameters and no scale. x [B, L, E]. */
  selfSimilarity(x: Tensor): SelfSimilarityResult {
    return selfSimilarity(this.#engine, x);
  }

  /**
   * Attention with the score v . tanh(W_q q + W_k k + b), without a scale (Bahdanau et al., 2015,
   * appendix A.1.2).
   *
   * @param query [B, L, Dq]
   * @param keys [B, S, Dk]
   * @param values [B, S, Dv]
   */
  additiveAttention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    parameters: AdditiveAttentionParameters,
    options?: KeyMaskOptions,
  ): ScoredAttentionResult {
    return additiveAttention(this.#engine, query, keys, values, parameters, options);
  }

  /**
   * Additive attention for projected queries and keys, with the bias already added.
   *
   * @param q [B, L, A]
   * @param k [B, S, A]
   * @param v [B, S, Dv]
   * @param scoreWeight [A]
   */
  additiveScores(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scoreWeight: Tensor,
    options?: KeyMaskOptions,
  ): ScoredAttentionResult {
    return additiveScores(this.#engine, q, k, v, scoreWeight, options);
  }

  /**
   * Attention with Luong's scores, without a scale (Luong et al., 2015).
   *
   * @param query [B, L, Dq]
   * @param keys [B, S, Dk]; "dot" requires Dk = Dq
   * @param values [B, S, Dv]
   */
  luongAttention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    options: LuongAttentionOptions,
  ): ScoredAttentionResult {
    return luongAttention(this.#engine, query, keys, values, options);
  }

  /**
   * The Nadaraya-Watson estimate (1964): the mean of yTrain, weighted by
   * softmax_j(-|xQuery_i - xTrain_j|^2 / (2 bandwidth^2)).
   *
   * @param xQuery [Q], or [Q, F]
   * @param xTrain [N], or [N, F]
   * @param yTrain [N, M]
   * @param bandwidth [1]
   */
  kernelRegression(
    xQuery: Tensor,
    xTrain: Tensor,
    yTrain: Tensor,
    bandwidth: Tensor,
  ): KernelRegressionResult {
    return kernelRegression(this.#engine, xQuery, xTrain, yTrain, bandwidth);
  }

  /** The mean over a square of 2 radius + 1 pixels per side, clipped at the edges. image [H, W]. */
  localMean(image: Tensor, radius: number): Tensor {
    return localMean(this.#engine, image, radius);
  }

  /**
   * Each pixel becomes a mean of its neighbours, weighted by the similarity of their patches:
   * exp(-max(d - 2 sigma^2, 0) / h^2), d the mean squared difference of two patches (Buades et al.,
   * 2005). The search window is clipped at the edges. image [H, W].
   */
  nonLocalMeans(image: Tensor, options?: NonLocalMeansOptions): NonLocalMeansResult {
    return nonLocalMeans(this.#engine, image, options);
  }

  /** The weights of one pixel's mean, divided by their sum: [H, W], zero outside its search window. */
  nonLocalMeansWeights(
    image: Tensor,
    row: number,
    column: number,
    options?: NonLocalMeansOptions,
  ): Tensor {
    return nonLocalMeansWeights(this.#engine, image, row, column, options);
  }

  /** Stops the threads. The engine and its tensors cannot be used afterwards. */
  dispose(): void {
    this.#engine.dispose();
  }

  /** What was loaded. */
  toJSON(): { info: HeedInfo } {
    return { info: this.info };
  }

  /** A description in one line. */
  toString(): string {
    const { version, variant, threads } = this.info;
    const end = this.#engine.border.isDisposed ? ", disposed" : "";
    return `Heed(${version}, ${variant}, threads ${threads}${end})`;
  }

  [inspectSymbol](): string {
    return this.toString();
  }

  /** @internal */
  get [markKey](): object {
    return mark;
  }

  static readonly [Symbol.hasInstance] = isInstance;

  get [Symbol.toStringTag](): string {
    return "Heed";
  }
}
