export type { HeldMemory } from "./core/border.js";
export type { MemoryUse } from "./core/engine.js";
export { HeedError, type HeedErrorCode } from "./core/error.js";
export type {
  DType,
  NestedArray,
  NestedValues,
  Tensor,
  TensorData,
  TensorSource,
} from "./core/tensor.js";
export type { Heed } from "./heed.js";
export type { Variant } from "./load/features.js";
export { type HeedInfo, type LoadOptions, load } from "./load/load.js";
export type {
  AxisOptions,
  MatmulOptions,
  NormalOptions,
  ReduceOptions,
  SliceOptions,
  UniformOptions,
} from "./ops/arrays.js";
export type {
  AttentionOptions,
  AttentionResult,
  CaptureStage,
  PartialAttention,
} from "./ops/attention.js";
export {
  type BlockMask,
  type BlockMaskSizes,
  type MaskFunction,
  maskFunctions,
} from "./ops/blockMask.js";
export type { GruOptions, GruParameters, GruResult } from "./ops/gru.js";
export type { KvCache, KvCacheOptions } from "./ops/kvCache.js";
export type {
  CrossEntropyOptions,
  DropoutOptions,
  EmbeddingOptions,
  LayerNormOptions,
  RmsNormOptions,
} from "./ops/layers.js";
export type { Activation, LinearOptions, PackedWeights, PackWeightsOptions } from "./ops/linear.js";
export type { LinearAttentionOptions, LinearAttentionResult } from "./ops/linearAttention.js";
export type {
  MultiHeadAttentionOptions,
  MultiHeadAttentionParameters,
  MultiHeadAttentionResult,
} from "./ops/multiHeadAttention.js";
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
} from "./ops/origins.js";
export type { RopeOptions, SinusoidalOptions } from "./ops/positions.js";
export type { SampleOptions, TopKResult } from "./ops/sampling.js";
