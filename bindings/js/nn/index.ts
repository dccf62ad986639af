export {
  BahdanauAttention,
  type BahdanauAttentionForwardOptions,
  type BahdanauAttentionOptions,
  LuongAttention,
  type LuongAttentionForwardOptions,
  type LuongAttentionOptions,
} from "./alignment.js";
export { type Compared, captureAttention, type ReceiveWeights } from "./capture.js";
export {
  Dropout,
  type DropoutOptions,
  Embedding,
  type EmbeddingOptions,
  Linear,
  type LinearOptions,
  PositionalEncoding,
  type PositionalEncodingOptions,
  SwiGLU,
  type SwiGLUOptions,
} from "./layers.js";
export { Module } from "./module.js";
export {
  MultiHeadAttention,
  type MultiHeadAttentionForwardOptions,
  type MultiHeadAttentionForwardResult,
  type MultiHeadAttentionOptions,
} from "./multiHeadAttention.js";
export { LayerNorm, type LayerNormOptions, RMSNorm, type RMSNormOptions } from "./norms.js";
export { defaultGenerator, Generator, manualSeed } from "./random.js";
export {
  GRU,
  type GRUForwardOptions,
  type GRUForwardResult,
  type GRUOptions,
} from "./recurrent.js";
export {
  Transformer,
  TransformerDecoder,
  TransformerEncoder,
  type TransformerForwardOptions,
  type TransformerOptions,
  type TransformerStackOptions,
} from "./transformer.js";
export {
  type LayerCache,
  TransformerCache,
  type TransformerCacheOptions,
} from "./transformerCache.js";
export {
  type ReceiveTransformerLayer,
  type SublayerParts,
  TransformerDecoderLayer,
  type TransformerDecoderLayerForwardOptions,
  TransformerEncoderLayer,
  type TransformerEncoderLayerForwardOptions,
  type TransformerLayerOptions,
  type TransformerLayerParts,
} from "./transformerLayers.js";
