// Configs of the decoders and encoders that this package can run, of text and of images, read from
// a config.json of the Hugging Face hub.

import type { Activation } from "../../ops/activate.js";
import { type CausalConfig, causalTypes, readCausal } from "./causalConfig.js";
import {
  activationNames,
  Fields,
  type HubConfig,
  headSizeOf,
  isFor,
  labelsOf,
  type StackConfig,
} from "./fields.js";
import { type MaskedConfig, readBert, readDistilBert, readModernBert } from "./maskedConfig.js";
import { bartTypes, readBart, readT5, type Seq2SeqConfig } from "./seq2seqConfig.js";

/** An encoder of images: the Vision Transformer. */
export interface VisionConfig extends StackConfig {
  /** Distinguishes the kinds of models. */
  readonly kind: "vision";
  /** The height and the width of an image, in pixels. */
  readonly imageSize: number;
  /** The height and the width of a patch, in pixels. */
  readonly patchSize: number;
  /** The number C of a pixel's channels. */
  readonly channels: number;
  /** Whether queries, keys and values have biases. */
  readonly hasBiases: boolean;
  /** The size of the pooled state, and the activation that gives it. */
  readonly pooledSize: number;
  /** The activation of the pooled state. */
  readonly pooledActivation: Activation;
  /**
   * The names of the classes, in the order of the logits. Only a classifier gives them a meaning:
   * `VisionTransformer.config` has none if the model has no classifier.
   */
  readonly labels: readonly string[];
  /** Whether a model that is not loaded has a pooler. */
  readonly hasPooler: boolean;
  /** Whether a model that is not loaded has a head for classes. */
  readonly hasHead: boolean;
}

export type HubModelConfig = CausalConfig | MaskedConfig | Seq2SeqConfig | VisionConfig;

function readVit(fields: Fields): VisionConfig {
  const size = fields.size("hidden_size");
  const heads = fields.size("num_attention_heads");
  const imageSize = fields.size("image_size", 224);
  const patchSize = fields.size("patch_size", 16);
  if (imageSize % patchSize !== 0)
    throw fields.refuse("patch_size", `a divisor of the image_size ${imageSize}`, patchSize);
  return {
    ...{ kind: "vision", modelType: "vit", imageSize, patchSize },
    channels: fields.size("num_channels", 3),
    ...{ size, layers: fields.layers("num_hidden_layers"), heads },
    headSize: headSizeOf(fields, size, heads, "num_attention_heads"),
    hiddenSize: fields.size("intermediate_size"),
    activation: fields.choice("hidden_act", activationNames, "gelu"),
    eps: fields.positive("layer_norm_eps", 1e-12),
    initialDeviation: fields.positive("initializer_range", 0.02),
    hasBiases: fields.flag("qkv_bias", true),
    pooledSize: fields.size("pooler_output_size", size),
    pooledActivation: fields.choice("pooler_act", activationNames, "tanh"),
    labels: labelsOf(fields),
    hasPooler: isFor(fields, "Model"),
    hasHead: isFor(fields, "ForImageClassification"),
  };
}

type Reader = (fields: Fields, modelType: string) => HubModelConfig;

const readers: Readonly<Record<string, Reader>> = {
  ...Object.fromEntries(causalTypes.map((type) => [type, readCausal])),
  ...{ bert: readBert, roberta: readBert, "xlm-roberta": readBert, mpnet: readBert },
  ...{ distilbert: readDistilBert, modernbert: readModernBert },
  ...{ t5: readT5, mt5: readT5 },
  ...Object.fromEntries(bartTypes.map((type) => [type, readBart])),
  vit: readVit,
};

/**
 * Reads a config.json.
 *
 * @throws HeedError "option" that names the field, or the architecture if it is not known
 */
export function readConfig(config: HubConfig): HubModelConfig {
  const fields = new Fields(config);
  const reader = fields.choice("model_type", readers);
  const quantised = fields.inner("quantization_config")?.raw("quant_method");
  if (quantised !== undefined) {
    const expected = "none: weights are float32, float16 or bfloat16, or a GGUF file packs them";
    throw fields.refuse("quantization_config", expected, quantised);
  }
  return reader(fields, fields.raw("model_type") as string);
}
