// Configs of language models: the layouts of the decoders and encoders that this package can run, read from
// a config.json of the Hugging Face hub.

import { isListOf, isWholeNumber } from "../../core/validate.js";
import type { Activation } from "../../ops/activate.js";
import { Fields, type HubConfig } from "./fields.js";
import { type Rotation, readRotation } from "./rotation.js";

/** What all language models have. */
interface LanguageConfig {
  /** The architecture's name in config.json. */
  readonly modelType: string;
  /** The number of tokens V. */
  readonly vocabularySize: number;
  /** The size E of a position's vector. */
  readonly size: number;
  readonly layers: number;
  readonly heads: number;
  /** The size D of a head; heads * headSize may differ from `size`. */
  readonly headSize: number;
  /** The size of the hidden layer of the feed-forward network. */
  readonly hiddenSize: number;
  readonly activation: Activation;
  /** The largest number of positions. */
  readonly context: number;
  /** The eps of the norms. */
  readonly eps: number;
  /** The standard deviation of the initial weights of a model that is not loaded. */
  readonly initialDeviation: number;
}

/** A decoder that predicts the next token: GPT-2, or the family of Llama. */
export interface CausalConfig extends LanguageConfig {
  readonly kind: "causal";
  readonly norm: "layer" | "rms";
  /** Groups of heads with one key and value (Ainslie et al., 2023); as many as `heads` if none share. */
  readonly kvHeads: number;
  /** The rotary position embedding; undefined for learned positions. */
  readonly rotation: Rotation | undefined;
  /** Whether the feed-forward network has a gate (Shazeer, 2020). */
  readonly isGated: boolean;
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

/** An encoder that sees both sides of each position: BERT, DistilBERT, RoBERTa. */
export interface MaskedConfig extends LanguageConfig {
  readonly kind: "masked";
  /** The number of token types; 0 if the model has none. */
  readonly types: number;
  /** The token of padding in RoBERTa, whose positions count from this token's number + 1. */
  readonly paddingToken: number | undefined;
  /** Whether a model that is not loaded has a pooler, and a head for masked words. */
  readonly hasPooler: boolean;
  readonly hasHead: boolean;
}

const activationNames: Readonly<Record<string, Activation>> = {
  gelu: "gelu",
  gelu_new: "geluTanh",
  gelu_fast: "geluTanh",
  gelu_pytorch_tanh: "geluTanh",
  relu: "relu",
  silu: "silu",
  swish: "silu",
  tanh: "tanh",
};

const isToken = isWholeNumber(0, 2 ** 31 - 1);

/** Reads what a config says of the end of a text: one token, several or none. */
function endTokensOf(fields: Fields): number[] {
  const tokens = fields.read(
    "eos_token_id",
    {
      expected: "a token or a list of tokens",
      accepts: (value) => isToken.accepts(value) || isListOf(value, isToken.accepts),
    },
    [] as number | number[],
  );
  return [tokens].flat();
}

/** Returns the size of a head, which must divide the size of the model unless the config has it. */
function headSizeOf(fields: Fields, size: number, heads: number, headsName: string): number {
  if (fields.has("head_dim")) return fields.size("head_dim");
  if (size % heads !== 0) throw fields.refuse(headsName, `a divisor of the size ${size}`, heads);
  return size / heads;
}

function readGpt2(fields: Fields): CausalConfig {
  const size = fields.size("n_embd");
  const heads = fields.size("n_head");
  const layers = fields.size("n_layer");
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
    rotation: undefined,
    isGated: false,
    biases: { qkv: true, output: true, hidden: true },
    hasHeadNorms: false,
    isTied: fields.flag("tie_word_embeddings", true),
    windows: Array.from({ length: layers }, () => undefined),
    scales: Array.from({ length: layers }, (_, i) => (isScaledByLayer ? scale / (i + 1) : scale)),
    endTokens: endTokensOf(fields),
  };
}

/** Returns the window of each layer. Mistral has it in all layers, Qwen in the later ones if it is switched on. */
function windowsOf(fields: Fields, modelType: string, layers: number): (number | undefined)[] {
  const isQwen = modelType.startsWith("qwen");
  const hasWindows =
    modelType === "mistral" || (isQwen && fields.flag("use_sliding_window", false));
  const none = Array.from({ length: layers }, () => undefined);
  if (!hasWindows || !fields.has("sliding_window")) return none;
  const window = fields.size("sliding_window");
  if (fields.has("layer_types")) {
    const isType = (value: unknown) => value === "full_attention" || value === "sliding_attention";
    const types = fields.read<string[]>("layer_types", {
      expected: `a list of ${layers}, each "full_attention" or "sliding_attention"`,
      accepts: (value) => isListOf(value, isType) && value.length === layers,
    });
    return types.map((type) => (type === "sliding_attention" ? window : undefined));
  }
  const first = isQwen ? fields.read("max_window_layers", isWholeNumber(0), 28) : 0;
  return none.map((_, layer) => (layer >= first ? window : undefined));
}

function readLlama(fields: Fields, modelType: string): CausalConfig {
  const size = fields.size("hidden_size");
  const heads = fields.size("num_attention_heads");
  const layers = fields.size("num_hidden_layers");
  const kvHeads = fields.size("num_key_value_heads", heads);
  if (heads % kvHeads !== 0)
    throw fields.refuse("num_key_value_heads", `a divisor of the ${heads} heads`, kvHeads);
  const headSize = headSizeOf(fields, size, heads, "num_attention_heads");
  if (headSize % 2 !== 0) throw fields.refuse("head_dim", "an even size of a head", headSize);
  const hasBiases = fields.flag("attention_bias", false);
  const context = fields.size("max_position_embeddings", 2048);
  return {
    ...{ kind: "causal", modelType, norm: "rms" },
    vocabularySize: fields.size("vocab_size"),
    ...{ size, layers, heads, kvHeads, headSize },
    hiddenSize: fields.size("intermediate_size"),
    activation: fields.choice("hidden_act", { silu: "silu", swish: "silu" } as const, "silu"),
    context,
    eps: fields.positive("rms_norm_eps", 1e-6),
    initialDeviation: fields.positive("initializer_range", 0.02),
    rotation: readRotation(fields, headSize),
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

/** Whether the config names a class of models with this ending, such as "ForMaskedLM". */
function isFor(fields: Fields, ending: string): boolean {
  const names = fields.raw("architectures");
  return Array.isArray(names) && names.some((name) => `${name}`.endsWith(ending));
}

function readBert(fields: Fields, modelType: string): MaskedConfig {
  const size = fields.size("hidden_size");
  const heads = fields.size("num_attention_heads");
  const isBert = modelType === "bert";
  fields.choice("position_embedding_type", { absolute: true }, "absolute");
  const positions = fields.size("max_position_embeddings", 512);
  const padding = fields.read("pad_token_id", isToken, isBert ? 0 : 1);
  if (!isBert && padding + 1 >= positions)
    throw fields.refuse("pad_token_id", `a token below ${positions - 1}`, padding);
  return {
    ...{ kind: "masked", modelType },
    vocabularySize: fields.size("vocab_size"),
    ...{ size, layers: fields.size("num_hidden_layers"), heads },
    headSize: headSizeOf(fields, size, heads, "num_attention_heads"),
    hiddenSize: fields.size("intermediate_size"),
    activation: fields.choice("hidden_act", activationNames, "gelu"),
    context: isBert ? positions : positions - padding - 1,
    eps: fields.positive("layer_norm_eps", 1e-12),
    initialDeviation: fields.positive("initializer_range", 0.02),
    types: fields.size("type_vocab_size", isBert ? 2 : 1),
    paddingToken: isBert ? undefined : padding,
    hasPooler: isFor(fields, "Model"),
    hasHead: isFor(fields, "ForMaskedLM"),
  };
}

function readDistilBert(fields: Fields): MaskedConfig {
  const size = fields.size("dim");
  const heads = fields.size("n_heads");
  return {
    ...{ kind: "masked", modelType: "distilbert" },
    vocabularySize: fields.size("vocab_size"),
    ...{ size, layers: fields.size("n_layers"), heads },
    headSize: headSizeOf(fields, size, heads, "n_heads"),
    hiddenSize: fields.size("hidden_dim"),
    activation: fields.choice("activation", activationNames, "gelu"),
    context: fields.size("max_position_embeddings", 512),
    eps: 1e-12,
    initialDeviation: fields.positive("initializer_range", 0.02),
    types: 0,
    paddingToken: undefined,
    hasPooler: false,
    hasHead: isFor(fields, "ForMaskedLM"),
  };
}

type Reader = (fields: Fields, modelType: string) => CausalConfig | MaskedConfig;

const readers: Readonly<Record<string, Reader>> = {
  gpt2: readGpt2,
  ...{ llama: readLlama, mistral: readLlama, qwen2: readLlama, qwen3: readLlama },
  ...{ bert: readBert, roberta: readBert, "xlm-roberta": readBert },
  distilbert: readDistilBert,
};

/**
 * Reads a config.json.
 *
 * @throws HeedError "option" that names the field, or the architecture if it is not known
 */
export function readConfig(config: HubConfig): CausalConfig | MaskedConfig {
  const fields = new Fields(config);
  const reader = fields.choice("model_type", readers);
  return reader(fields, fields.raw("model_type") as string);
}
