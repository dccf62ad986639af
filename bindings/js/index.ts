export type { AllocationSite, HeldMemory } from "./core/border.js";
export type { MemoryUse } from "./core/engine.js";
export { HeedError, type HeedErrorCode } from "./core/error.js";
export { pause } from "./core/pause.js";
export type {
  DType,
  NestedArray,
  NestedValues,
  Tensor,
  TensorData,
  TensorSource,
} from "./core/tensor.js";
export type { Heed, HeedInfo } from "./heed.js";
export type { Variant } from "./load/features.js";
export { type LoadOptions, load } from "./load/load.js";
export type { Activation } from "./ops/activate.js";
export type { AdditiveAttentionParameters } from "./ops/additiveAttention.js";
export type { AttentionOptions, AttentionResult, CaptureStage } from "./ops/attention.js";
export type { AverageOptions, SelfSimilarityResult } from "./ops/average.js";
export {
  type BlockMask,
  type BlockMaskSizes,
  type MaskFunction,
  maskFunctions,
} from "./ops/blockMask.js";
export type { CrossEntropyOptions } from "./ops/crossEntropy.js";
export type { DropoutOptions } from "./ops/dropout.js";
export type { EmbeddingOptions } from "./ops/embedding.js";
export type { GruOptions, GruParameters, GruResult } from "./ops/gru.js";
export type { KernelRegressionResult } from "./ops/kernelRegression.js";
export type { KvCache, KvCacheOptions } from "./ops/kvCache.js";
export type { LinearOptions } from "./ops/linear.js";
export type { LinearAttentionOptions, LinearAttentionResult } from "./ops/linearAttention.js";
export type { NonLocalMeansOptions, NonLocalMeansResult } from "./ops/localMeans.js";
export type { LuongAttentionOptions } from "./ops/luongAttention.js";
export type { MatmulOptions } from "./ops/matmul.js";
export type { PartialAttention } from "./ops/mergeAttention.js";
export type {
  MultiHeadAttentionOptions,
  MultiHeadAttentionParameters,
  MultiHeadAttentionResult,
} from "./ops/multiHeadAttention.js";
export type { LayerNormOptions, RmsNormOptions } from "./ops/norm.js";
export type { PackedWeights, PackWeightsOptions } from "./ops/packedWeights.js";
export type { SinusoidalOptions } from "./ops/positionalEncoding.js";
export type { NormalOptions, UniformOptions } from "./ops/random.js";
export type { AxisOptions, SliceOptions } from "./ops/rearrange.js";
export type { RopeOptions } from "./ops/rope.js";
export type { SampleOptions, TopKResult } from "./ops/sampling.js";
export type { KeyMaskOptions, ScoredAttentionResult } from "./ops/scoredAttention.js";
export type { CumsumOptions, ReduceOptions } from "./ops/sums.js";
