// Configs of the decoders that predict the next token. One reader reads them all under Llama's names; a table
// says how each family differs.

import { isWholeNumber } from "../../core/validate.js";
import type { Activation } from "../../ops/activate.js";
import {
  activationNames,
  type Dialect,
  type Fields,
  headSizeOf,
  type LanguageConfig,
  localLayers,
  tokensIn,
} from "./fields.js";
import { checkRotated, type Rotation, readRotation, readRotations } from "./rotation.js";

/** A decoder that predicts the next token: GPT-2, the family of Llama with Phi-3, or Gemma 2 and 3. */
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
  /** The limit of the scores of attention (Gemma 2); undefined for none. */
  readonly scoresSoftcap: number | undefined;
  /** Whether the feed-forward network has a gate (Shazeer, 2020). */
  readonly isGated: boolean;
  /** Which linear layers have biases: queries, keys and values; the output of attention; the feed-forward network. */
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

/** A family of decoders: the form that its configs do not state, and how they state the rest. */
interface Family
  extends Dialect,
    Pick<CausalConfig, "norm" | "normOffset" | "hasOutputNorms" | "isGated" | "hasHeadNorms"> {
  /** The activations that a config may name. */
  readonly activations: Readonly<Record<string, Activation>>;
  /** Whether queries, keys and values have biases even if the config does not say so. */
  readonly hasQkvBiases: boolean;
  /** Whether the embedding is multiplied by the square root of its size. */
  readonly isScaled: boolean;
  /** Whether positions are rotations; in "two" kinds, for local and for global layers. */
  readonly rotations: "none" | "one" | "two";
  /**
   * The layers that have the window of the config: none, all, the later ones if the config enables it, or all
   * but every n-th one.
   */
  readonly windows: "none" | "all" | "later" | number;
}

const llama: Family = {
  norm: "rms",
  defaults: { max_position_embeddings: 2048, rms_norm_eps: 1e-6, hidden_act: "silu" },
  activations: { silu: "silu", swish: "silu" },
  ...{ normOffset: 0, hasOutputNorms: false, hasHeadNorms: false, isScaled: false },
  ...{ isGated: true, hasQkvBiases: false, rotations: "one", windows: "none" },
};

const gpt2: Family = {
  ...llama,
  norm: "layer",
  names: {
    ...{ hidden_size: "n_embd", num_hidden_layers: "n_layer", intermediate_size: "n_inner" },
    ...{ num_attention_heads: "n_head", num_key_value_heads: "n_head" },
    ...{ max_position_embeddings: "n_positions", rms_norm_eps: "layer_norm_epsilon" },
    hidden_act: "activation_function",
  },
  defaults: {
    ...{ rms_norm_eps: 1e-5, hidden_act: "gelu_new", tie_word_embeddings: true },
    ...{ attention_bias: true, mlp_bias: true },
  },
  activations: activationNames,
  ...{ isGated: false, rotations: "none" },
};

/**
 * Gemma 3 (Gemma Team, "Gemma 3 Technical Report", 2025): local layers with a window between global
 * layers, each kind with its own rotation. It has the defaults of transformers (Gemma3TextConfig, 2025).
 */
const gemma3: Family = {
  ...llama,
  names: { hidden_act: "hidden_activation" },
  defaults: {
    ...{ vocab_size: 262_208, hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 26 },
    ...{ num_attention_heads: 8, num_key_value_heads: 4, head_dim: 256, sliding_window: 4096 },
    ...{ max_position_embeddings: 131_072, query_pre_attn_scalar: 256, rope_theta: 1_000_000 },
    ...{ hidden_act: "gelu_pytorch_tanh", rms_norm_eps: 1e-6, tie_word_embeddings: true },
  },
  activations: activationNames,
  ...{ normOffset: 1, hasOutputNorms: true, hasHeadNorms: true, isScaled: true },
  ...{ rotations: "two", windows: 6 },
};

/** Gemma 2 (Gemma Team, 2024): every second layer is local, and the scores and logits are limited. */
const gemma2: Family = {
  ...gemma3,
  defaults: {
    ...{ ...gemma3.defaults, vocab_size: 256_000, max_position_embeddings: 8192 },
    ...{ rope_theta: 10_000, attn_logit_softcapping: 50, final_logit_softcapping: 30 },
  },
  ...{ hasHeadNorms: false, rotations: "one", windows: 2 },
};

/** Phi-3 (Abdin et al., "Phi-3 Technical Report", 2024). */
const phi3: Family = {
  ...llama,
  defaults: { ...llama.defaults, max_position_embeddings: 4096, rms_norm_eps: 1e-5 },
  windows: "all",
};

const families: Readonly<Record<string, Family>> = {
  ...{ gpt2, gemma2, gemma3, gemma3_text: gemma3 },
  llama,
  mistral: { ...llama, windows: "all" },
  qwen2: { ...llama, hasQkvBiases: true, windows: "later" },
  qwen3: { ...llama, hasHeadNorms: true, windows: "later" },
  phi3,
};

/** The names of the families in a config. */
export const causalTypes: readonly string[] = Object.keys(families);

/** Returns the window of each layer. */
function windowsOf(
  fields: Fields,
  { windows }: Family,
  layers: number,
): readonly (number | undefined)[] {
  const none = Array.from({ length: layers }, () => undefined);
  const isLater = windows === "later";
  const isOff = windows === "none" || (isLater && !fields.flag("use_sliding_window", false));
  if (isOff || !fields.has("sliding_window")) return none;
  const window = fields.size("sliding_window");
  const first = isLater ? fields.read("max_window_layers", isWholeNumber(0), 28) : 0;
  const every =
    typeof windows === "number" ? fields.size("sliding_window_pattern", windows) : layers + 1;
  const isLocal =
    localLayers(fields, layers) ?? none.map((_, i) => i >= first && (i + 1) % every !== 0);
  return isLocal.map((each) => (each ? window : undefined));
}

/** Returns the rotation of each layer; undefined for learned positions. */
function rotationsOf(
  fields: Fields,
  { rotations }: Family,
  headSize: number,
  windows: CausalConfig["windows"],
): readonly Rotation[] | undefined {
  if (rotations === "none") return undefined;
  checkRotated(fields, headSize);
  if (rotations === "one") {
    const rotation = readRotation(fields, headSize);
    return windows.map(() => rotation);
  }
  const { global, local } = readRotations(fields, headSize, {
    global: ["rope_theta", 1_000_000],
    local: ["rope_local_base_freq", 10_000],
  });
  return windows.map((window) => (window === undefined ? global : local));
}

/** Reads the config of a decoder. A config with images has the model of texts in `text_config`. */
export function readCausal(given: Fields, modelType: string): CausalConfig {
  const family = families[modelType] as Family;
  const fields = (given.inner("text_config") ?? given).as(family);
  if (family.rotations === "two" && fields.has("attn_logit_softcapping"))
    throw fields.refuse("attn_logit_softcapping", "none", fields.raw("attn_logit_softcapping"));
  const size = fields.size("hidden_size");
  const heads = fields.size("num_attention_heads");
  const layers = fields.layers("num_hidden_layers");
  const kvHeads = fields.size("num_key_value_heads", heads);
  if (heads % kvHeads !== 0)
    throw fields.refuse("num_key_value_heads", `a divisor of the ${heads} heads`, kvHeads);
  const headSize = headSizeOf(fields, size, heads, "num_attention_heads");
  const windows = windowsOf(fields, family, layers);
  const hasBiases = fields.flag("attention_bias", false);
  const isByLayer = fields.flag("scale_attn_by_inverse_layer_idx", false);
  const isScaled = fields.flag("scale_attn_weights", true);
  const scale = isScaled ? 1 / Math.sqrt(fields.positive("query_pre_attn_scalar", headSize)) : 1;
  const { norm, normOffset, hasOutputNorms, isGated, hasHeadNorms } = family;
  return {
    ...{ kind: "causal", modelType: modelType.replace("_text", "") },
    ...{ norm, normOffset, hasOutputNorms, isGated, hasHeadNorms },
    vocabularySize: fields.size("vocab_size"),
    ...{ size, layers, heads, kvHeads, headSize },
    hiddenSize: fields.size("intermediate_size", isGated ? undefined : 4 * size),
    activation: fields.choice("hidden_act", family.activations),
    context: fields.size("max_position_embeddings", fields.size("n_ctx", 1024)),
    eps: fields.positive("rms_norm_eps"),
    initialDeviation: fields.positive("initializer_range", 0.02),
    rotations: rotationsOf(fields, family, headSize, windows),
    // The published models round the factor to their type, and float32 is the most precise.
    embeddingScale: family.isScaled ? Math.fround(Math.sqrt(size)) : 1,
    softcap: fields.limit("final_logit_softcapping"),
    scoresSoftcap: fields.limit("attn_logit_softcapping"),
    biases: {
      qkv: hasBiases || family.hasQkvBiases,
      output: hasBiases,
      hidden: fields.flag("mlp_bias", false),
    },
    isTied: fields.flag("tie_word_embeddings", false),
    windows,
    scales: windows.map((_, i) => (isByLayer ? scale / (i + 1) : scale)),
    endTokens: tokensIn(given.has("eos_token_id") ? given : fields, "eos_token_id"),
  };
}
