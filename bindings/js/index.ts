export { HeedError, type HeedErrorCode } from "./error.js";
export type { Variant } from "./features.js";
export { type HeedInfo, type LoadOptions, load } from "./load.js";
export type {
  AttentionOptions,
  AttentionResult,
  AverageOptions,
  CaptureStage,
  Heed,
  MultiHeadAttentionOptions,
  MultiHeadAttentionParameters,
  MultiHeadAttentionResult,
  SelfSimilarityResult,
  SinusoidalOptions,
} from "./ops.js";
export type {
  DType,
  NestedArray,
  NestedValues,
  Tensor,
  TensorData,
  TensorSource,
} from "./tensor.js";
