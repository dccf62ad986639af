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
export { HeedError, type HeedErrorCode } from "./error.js";
export type { Variant } from "./features.js";
export type { KvCache, KvCacheOptions } from "./kvCache.js";
export type { LinearOptions, PackedWeights, PackWeightsOptions } from "./linear.js";
export type { LinearAttentionOptions, LinearAttentionResult } from "./linearAttention.js";
export { type HeedInfo, type LoadOptions, load } from "./load.js";
export type {
  AverageOptions,
  Heed,
  MultiHeadAttentionOptions,
  MultiHeadAttentionParameters,
  MultiHeadAttentionResult,
  SelfSimilarityResult,
} from "./ops.js";
export type { RopeOptions, SinusoidalOptions } from "./positions.js";
export type {
  DType,
  NestedArray,
  NestedValues,
  Tensor,
  TensorData,
  TensorSource,
} from "./tensor.js";
