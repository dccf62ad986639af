export type {
  AxisOptions,
  MatmulOptions,
  NormalOptions,
  ReduceOptions,
  SliceOptions,
  UniformOptions,
} from "./arrays.js";
export type {
  AttentionOptions,
  AttentionResult,
  CaptureStage,
  PartialAttention,
} from "./attention.js";
export {
  type BlockMask,
  type BlockMaskSizes,
  type MaskFunction,
  maskFunctions,
} from "./blockMask.js";
export type { HeldMemory } from "./border.js";
export type { MemoryUse } from "./engine.js";
export { HeedError, type HeedErrorCode } from "./error.js";
export type { Variant } from "./features.js";
export type { GruOptions, GruParameters, GruResult } from "./gru.js";
export type { KvCache, KvCacheOptions } from "./kvCache.js";
export type {
  CrossEntropyOptions,
  DropoutOptions,
  EmbeddingOptions,
  LayerNormOptions,
  RmsNormOptions,
} from "./layers.js";
export type { Activation, LinearOptions, PackedWeights, PackWeightsOptions } from "./linear.js";
export type { LinearAttentionOptions, LinearAttentionResult } from "./linearAttention.js";
export { type HeedInfo, type LoadOptions, load } from "./load.js";
export type {
  MultiHeadAttentionOptions,
  MultiHeadAttentionParameters,
  MultiHeadAttentionResult,
} from "./multiHeadAttention.js";
export type { Heed } from "./ops.js";
export type {
  AdditiveAttentionParameters,
  AverageOptions,
  KernelRegressionResult,
  KeyMaskOptions,
  LuongAttentionOptions,
  NonLocalMeansOptions,
  NonLocalMeansResult,
  ScoredAttentionResult,
  SelfSimilarityResult,
} from "./origins.js";
export type { RopeOptions, SinusoidalOptions } from "./positions.js";
export type { SampleOptions, TopKResult } from "./sampling.js";
export type {
  DType,
  NestedArray,
  NestedValues,
  Tensor,
  TensorData,
  TensorSource,
} from "./tensor.js";
