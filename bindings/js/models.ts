// The entry heed/models: small models that learn to attend, their tasks, and their training; models of the hub.

export type { BatchOptions } from "./models/batches.js";
export * from "./models/bytePairs.js";
export * from "./models/byteTokenizer.js";
export * from "./models/chat.js";
export * from "./models/classify.js";
export { type ConfigOptions, checkConfig, configOf } from "./models/config.js";
export * from "./models/createModel.js";
export * from "./models/embed.js";
export { EncoderModel } from "./models/encoderModel.js";
export * from "./models/evaluate.js";
export type * from "./models/examples.js";
export type { ByteSource } from "./models/fetched.js";
export * from "./models/files.js";
export * from "./models/fillMasks.js";
export { deleteKept, type KeptFile, listKept } from "./models/kept.js";
export type { CausalConfig } from "./models/language/causalConfig.js";
export {
  type CausalForwardOptions,
  type CausalForwardResult,
  CausalLanguageModel,
  type GenerateTextOptions,
} from "./models/language/causalModel.js";
export type { VisionConfig } from "./models/language/config.js";
export type { HubConfig } from "./models/language/fields.js";
export type { HubModelOptions } from "./models/language/inputs.js";
export type { HubModel, LoadModelOptions, LoadProgress } from "./models/language/load.js";
export type {
  ClassifierConfig,
  ClassifierTask,
  MaskedConfig,
} from "./models/language/maskedConfig.js";
export {
  type MaskedForwardOptions,
  type MaskedForwardResult,
  MaskedLanguageModel,
} from "./models/language/maskedModel.js";
export type { LayerParts, ReceiveLayer } from "./models/language/preNormLayer.js";
export type { Seq2SeqConfig, SideConfig } from "./models/language/seq2seqConfig.js";
export {
  type DecodeOptions,
  type DecodeResult,
  type EncodeOptions,
  type EncodeResult,
  type GenerateFromOptions,
  type Seq2SeqCacheOptions,
  Seq2SeqLanguageModel,
  type Seq2SeqResult,
} from "./models/language/seq2seqModel.js";
export * from "./models/model.js";
export * from "./models/modelConfig.js";
export * from "./models/recipes.js";
export { RecurrentModel } from "./models/recurrent.js";
export type { FileSource, ModelSource } from "./models/sources.js";
export * from "./models/tasks.js";
export * from "./models/text.js";
export * from "./models/textTrainer.js";
export type { Encoded, TextTokenizer, TokenizerClass } from "./models/tokenizer.js";
export { type LoadTokenizerOptions, loadTokenizer } from "./models/tokenizerFiles.js";
export * from "./models/trainer.js";
export {
  Training,
  type TrainingRecipe,
  type TrainingStep,
} from "./models/training.js";
export type { Best } from "./models/trainingState.js";
export { DecoderModel, TransformerModel } from "./models/transformers.js";
export { type ImageLike, pixelsOf } from "./models/vision/pixels.js";
export {
  type VisionForwardOptions,
  type VisionForwardResult,
  VisionTransformer,
} from "./models/vision/visionTransformer.js";
export * from "./models/vocabulary.js";
export * from "./models/withoutHeads.js";
