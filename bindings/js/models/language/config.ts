// Configs of the decoders and encoders that this package can run, of text and of images, read from
// a config.json of the Hugging Face hub.

import { isWholeNumber } from "../../core/validate.js";
import type { Activation } from "../../ops/activate.js";
import {
  activationNames,
  endTokensOf,
  Fields,
  type HubConfig,
  headSizeOf,
  isFor,
  type LanguageConfig,
  labelsOf,
  localLayers,
  type StackConfig,
} from "./fields.js";
import { type MaskedConfig, readBert, readDistilBert, readModernBert } from "./maskedConfig.js";
import { checkRotated, type Rotation, readRotation, readRotations } from "./rotation.js";
import { readBart, readT5, type Seq2SeqConfig } from "./seq2seqConfig.js";

/** A decoder that predicts the next token: GPT-2, the family of Llama, or Gemma 3. */
export interface CausalConfig extends LanguageConfig {
  /** Distinguishes the kinds of models. */
  readonly kind: "causal";
  /** Layer norms, as in GPT-2, or RMS norms, as in Llama. */
  readonly norm: "layer" | "rms";
  /**
   * The number of heads of keys and values. Each is shared by a group of heads (Ainslie et al.,
   * 2023); it equals `heads` if none is shared.
   */
  readonly kvHeads: number;
  /** The rotary position embedding of each layer; undefined for learned positions. */
  readonly rotations: readonly Rotation[] | undefined;
  /** The factor of the embedding: the square root of `size` in Gemma, otherwise 1. */
  readonly embeddingScale: number;
  /** The number that is added to the weights of norms: 1 in Gemma, otherwise 0. */
  readonly normOffset: number;
  /** Whether the outputs of attention and of the feed-forward network are normalised (Gemma). */
  readonly hasOutputNorms: boolean;
  /** The limit c of the logits, c tanh(logits / c); undefined for none. */
  readonly softcap: number | undefined;
  /** Whether the feed-forward network has a gate (Shazeer, 2020). */
  readonly isGated: boolean;
  /**
   * Which linear layers have biases: queries, keys and values; the output of attention; the
   * feed-forward network.
   */
  readonly biases: { readonly qkv: boolean; readonly output: boolean; readonly hidden: boolean };
  /** Whether the queries and keys of each head are normalised (Qwen3). */
  readonly hasHeadNorms: boolean;
  /** Whether the logits are computed with the table of the tokens. */
  readonly isTied: boolean;
  /** For each layer, how many keys up to its own a query sees; undefined for all. */
  readonly windows: readonly (number | undefined)[];
  /** For each layer, the factor of the scores. */
  readonly scales: readonly number[];
  /** Tokens that end a text. */
  readonly endTokens: readonly number[];
}

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

/** A stream without the scale and the additional norms of Gemma. */
const plainStream = {
  ...{ embeddingScale: 1, normOffset: 0, hasOutputNorms: false, softcap: undefined },
} as const;

function readGpt2(fields: Fields): CausalConfig {
  const size = fields.size("n_embd");
  const heads = fields.size("n_head");
  const layers = fields.layers("n_layer");
  const headSize = headSizeOf(fields, size, heads, "n_head");
  const isScaled = fields.flag("scale_attn_weights", true);
  const isScaledByLayer = fields.flag("scale_attn_by_inverse_layer_idx", false);
  const scale = isScaled ? 1 / Math.sqrt(headSize) : 1;
  return {
    ...{ kind: "causal", modelType: "gpt2", norm: "layer" },
    vocabularySize: fields.size("vocab_size"),
    ...{ size, layers, heads, kvHeads: heads, headSize },
    hiddenSize: fields.size("n_inner", 4 * size),
    activation: fields.choice("activation_function", activationNames, "gelu_new"),
    context: fields.size("n_positions", fields.size("n_ctx", 1024)),
    eps: fields.positive("layer_norm_epsilon", 1e-5),
    initialDeviation: fields.positive("initializer_range", 0.02),
    rotations: undefined,
    ...plainStream,
    isGated: false,
    biases: { qkv: true, output: true, hidden: true },
    hasHeadNorms: false,
    isTied: fields.flag("tie_word_embeddings", true),
    windows: Array.from({ length: layers }, () => undefined),
    scales: Array.from({ length: layers }, (_, i) => (isScaledByLayer ? scale / (i + 1) : scale)),
    endTokens: endTokensOf(fields),
  };
}

/**
 * Returns the window of each layer. Mistral has it in all layers; Qwen has it in the later layers
 * if it is enabled.
 */
function windowsOf(fields: Fields, modelType: string, layers: number): (number | undefined)[] {
  const isQwen = modelType.startsWith("qwen");
  const hasWindows =
    modelType === "mistral" || (isQwen && fields.flag("use_sliding_window", false));
  const none = Array.from({ length: layers }, () => undefined);
  if (!hasWindows || !fields.has("sliding_window")) return none;
  const window = fields.size("sliding_window");
  const isLocal = localLayers(fields, layers);
  if (isLocal) return isLocal.map((local) => (local ? window : undefined));
  const first = isQwen ? fields.read("max_window_layers", isWholeNumber(0), 28) : 0;
  return none.map((_, layer) => (layer >= first ? window : undefined));
}

function readLlama(fields: Fields, modelType: string): CausalConfig {
  const size = fields.size("hidden_size");
  const heads = fields.size("num_attention_heads");
  const layers = fields.layers("num_hidden_layers");
  const kvHeads = fields.size("num_key_value_heads", heads);
  if (heads % kvHeads !== 0)
    throw fields.refuse("num_key_value_heads", `a divisor of the ${heads} heads`, kvHeads);
  const headSize = headSizeOf(fields, size, heads, "num_attention_heads");
  checkRotated(fields, headSize);
  const hasBiases = fields.flag("attention_bias", false);
  const rotation = readRotation(fields, headSize);
  return {
    ...{ kind: "causal", modelType, norm: "rms" },
    vocabularySize: fields.size("vocab_size"),
    ...{ size, layers, heads, kvHeads, headSize },
    hiddenSize: fields.size("intermediate_size"),
    activation: fields.choice("hidden_act", { silu: "silu", swish: "silu" } as const, "silu"),
    context: fields.size("max_position_embeddings", 2048),
    eps: fields.positive("rms_norm_eps", 1e-6),
    initialDeviation: fields.positive("initializer_range", 0.02),
    rotations: Array.from({ length: layers }, () => rotation),
    ...plainStream,
    isGated: true,
    biases: {
      qkv: hasBiases || modelType === "qwen2",
      output: hasBiases,
      hidden: fields.flag("mlp_bias", false),
    },
    hasHeadNorms: modelType === "qwen3",
    isTied: fields.flag("tie_word_embeddings", false),
    windows: windowsOf(fields, modelType, layers),
    scales: Array.from({ length: layers }, () => 1 / Math.sqrt(headSize)),
    endTokens: endTokensOf(fields),
  };
}

/** The sizes that a config of Gemma 3 may leave out (transformers, Gemma3TextConfig, 2025). */
const gemma3Defaults = {
  ...{ vocab_size: 262_208, hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 26 },
  ...{ num_attention_heads: 8, num_key_value_heads: 4, head_dim: 256, sliding_window: 4096 },
  ...{ max_position_embeddings: 131_072, query_pre_attn_scalar: 256, rope_theta: 1_000_000 },
  tie_word_embeddings: true,
};

/**
 * Gemma 3 (Gemma Team, "Gemma 3 Technical Report", 2025): local layers with a window between global
 * layers, each kind with its own rotation. A config with images has the model of texts in
 * `text_config`.
 */
function readGemma3(given: Fields): CausalConfig {
  const fields = (given.inner("text_config") ?? given).withDefaults(gemma3Defaults);
  if (fields.has("attn_logit_softcapping"))
    throw fields.refuse("attn_logit_softcapping", "none", fields.raw("attn_logit_softcapping"));
  const shared = readLlama(fields, "gemma3");
  const { layers, size, headSize } = shared;
  const window = fields.size("sliding_window");
  const every = fields.size("sliding_window_pattern", 6);
  const isLocal =
    localLayers(fields, layers) ?? shared.windows.map((_, i) => (i + 1) % every !== 0);
  const { global, local } = readRotations(fields, headSize, {
    global: ["rope_theta", 1_000_000],
    local: ["rope_local_base_freq", 10_000],
  });
  const scale = 1 / Math.sqrt(fields.positive("query_pre_attn_scalar"));
  const cap = "final_logit_softcapping";
  return {
    ...shared,
    activation: fields.choice("hidden_activation", activationNames, "gelu_pytorch_tanh"),
    rotations: isLocal.map((each) => (each ? local : global)),
    // The published models round the factor to their type, and float32 is the most precise.
    embeddingScale: Math.fround(Math.sqrt(size)),
    ...{ normOffset: 1, hasOutputNorms: true, hasHeadNorms: true },
    softcap: fields.has(cap) ? fields.positive(cap) : undefined,
    windows: isLocal.map((each) => (each ? window : undefined)),
    scales: shared.scales.map(() => scale),
    endTokens: endTokensOf(given.has("eos_token_id") ? given : fields),
  };
}

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
  gpt2: readGpt2,
  ...{ gemma3: readGemma3, gemma3_text: readGemma3 },
  ...{ llama: readLlama, mistral: readLlama, qwen2: readLlama, qwen3: readLlama },
  ...{ bert: readBert, roberta: readBert, "xlm-roberta": readBert, mpnet: readBert },
  ...{ distilbert: readDistilBert, modernbert: readModernBert },
  ...{ t5: readT5, mt5: readT5, bart: readBart, marian: readBart },
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
  return reader(fields, fields.raw("model_type") as string);
}
