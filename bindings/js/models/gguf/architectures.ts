// Translates the metadata of a GGUF file to a config.json and to the names of tensors on Hugging Face's
// hub. Keys and tensors have the names of llama.cpp (gguf-py, constants.py and tensor_mapping.py, 2025).

import { describe, refuse } from "../../core/error.js";
import {
  type Check,
  isBoolean,
  isPositiveFloat,
  isText,
  isWholeNumber,
} from "../../core/validate.js";
import type { GgufHeader, MetadataValue } from "./header.js";

type Config = Record<string, unknown>;

/** How a tensor of the file becomes one of the hub. */
export interface TensorRule {
  /** The name on the hub. */
  readonly name: string;
  /**
   * The size of the heads whose rows the file holds pair by pair, (0, D/2, 1, D/2 + 1, ...); undefined
   * if the rows are in the order of the hub.
   */
  readonly pairedHeads?: number;
  /** A number that was added to all elements. */
  readonly added?: number;
}

/** Fields of the config that are tensors in the file. */
export interface Extras {
  /** The numbers by which the frequencies of the rotation are divided: `rope_freqs.weight`. */
  readonly divisors?: readonly number[] | undefined;
}

interface Architecture {
  readonly config: (read: Metadata, header: GgufHeader, extras: Extras) => Config;
  readonly names: Readonly<Record<string, string>>;
  readonly rule?: (name: string, config: Config) => Omit<TensorRule, "name">;
}

/** The metadata of a file, checked. A key may begin with the architecture, as ".block_count". */
export class Metadata {
  readonly architecture: string;
  readonly #values: GgufHeader["metadata"];

  constructor(values: GgufHeader["metadata"]) {
    this.#values = values;
    this.architecture = this.read("general.architecture", isText) as string;
  }

  read(key: string, check: Check): MetadataValue | undefined {
    const name = key.startsWith(".") ? `${this.architecture}${key}` : key;
    const value = this.#values.get(name);
    if (value === undefined || check.accepts(value)) return value;
    throw refuse("format", name, check.expected, describe(value));
  }

  size(key: string): number | undefined;
  size(key: string, isNeeded: true): number;
  size(key: string, isNeeded = false): number | undefined {
    const value = this.read(key, isWholeNumber(0, 2 ** 31 - 1)) as number | undefined;
    if (value !== undefined || !isNeeded) return value;
    throw refuse("format", `${this.architecture}${key}`, "a whole number", "none");
  }

  /** The value of a name in a table of all names that are known. */
  choice<T>(key: string, choices: Readonly<Record<string, T>>, absent?: string): T {
    const name = this.text(key) ?? absent ?? "";
    if (Object.hasOwn(choices, name)) return choices[name] as T;
    throw refuse("format", key, Object.keys(choices).join(", "), describe(this.text(key)));
  }

  number = (key: string) => this.read(key, isPositiveFloat) as number | undefined;
  flag = (key: string) => this.read(key, isBoolean) as boolean | undefined;
  text = (key: string) => this.read(key, isText) as string | undefined;

  list<T extends "string" | "number">(key: string, type: T) {
    const check: Check = {
      expected: `a list of ${type}s`,
      accepts: (value) => Array.isArray(value) && value.every((each) => typeof each === type),
    };
    return this.read(key, check) as
      | (T extends "string" ? readonly string[] : readonly number[])
      | undefined;
  }
}

/** The fields that all architectures share. A field that the file does not have is absent. */
function shared(read: Metadata, { tensors }: GgufHeader): Config {
  const table = tensors.get("token_embd.weight");
  if (table === undefined) throw refuse("format", "tensors", "token_embd.weight", "none");
  return {
    vocab_size: table.shape[0],
    hidden_size: read.size(".embedding_length", true),
    num_hidden_layers: read.size(".block_count", true),
    num_attention_heads: read.size(".attention.head_count", true),
    intermediate_size: read.size(".feed_forward_length", true),
    max_position_embeddings: read.size(".context_length", true),
    pad_token_id: read.size("tokenizer.ggml.padding_token_id"),
    bos_token_id: read.size("tokenizer.ggml.bos_token_id"),
    eos_token_id: read.size("tokenizer.ggml.eos_token_id"),
  };
}

/** The scaling of the rotation: a divisor of each frequency, as in Llama 3.1, or one factor. */
function scalingOf(read: Metadata, { divisors }: Extras): Config | undefined {
  if (divisors !== undefined) return { rope_type: "divisors", divisors };
  const kind = read.text(".rope.scaling.type") ?? "none";
  if (kind === "none") return undefined;
  return { rope_type: kind, factor: read.number(".rope.scaling.factor") };
}

function decoder(modelType: string) {
  return (read: Metadata, header: GgufHeader, extras: Extras): Config => {
    const has = (name: string) => header.tensors.has(name);
    return {
      ...shared(read, header),
      model_type: modelType,
      num_key_value_heads: read.size(".attention.head_count_kv"),
      head_dim: read.size(".attention.key_length"),
      rms_norm_eps: read.number(".attention.layer_norm_rms_epsilon"),
      rope_theta: read.number(".rope.freq_base"),
      rope_scaling: scalingOf(read, extras),
      attention_bias: has("blk.0.attn_output.bias"),
      tie_word_embeddings: !has("output.weight"),
    };
  };
}

/** @param largest the layers of the model of 27 billion weights, which scales by the size of the states per head */
function gemma(modelType: string, largest: number) {
  return (read: Metadata, header: GgufHeader, extras: Extras): Config => {
    const config = decoder(modelType)(read, header, extras);
    const heads = config.num_attention_heads as number;
    const isLargest = config.num_hidden_layers === largest;
    return {
      ...config,
      query_pre_attn_scalar: isLargest ? (config.hidden_size as number) / heads : config.head_dim,
      rope_local_base_freq: read.number(".rope.freq_base_swa"),
      sliding_window: read.size(".attention.sliding_window"),
      sliding_window_pattern: read.size(".attention.sliding_window_pattern"),
      attn_logit_softcapping: read.number(".attn_logit_softcapping"),
      final_logit_softcapping: read.number(".final_logit_softcapping"),
    };
  };
}

function bert(read: Metadata, header: GgufHeader): Config {
  return {
    ...shared(read, header),
    model_type: "bert",
    layer_norm_eps: read.number(".attention.layer_norm_epsilon"),
    type_vocab_size: header.tensors.get("token_types.weight")?.shape[0] ?? 0,
    architectures: ["BertModel"],
  };
}

const decoderNames = {
  token_embd: "model.embed_tokens",
  output_norm: "model.norm",
  output: "lm_head",
  attn_norm: "input_layernorm",
  attn_q: "self_attn.q_proj",
  attn_k: "self_attn.k_proj",
  attn_v: "self_attn.v_proj",
  attn_output: "self_attn.o_proj",
  attn_q_norm: "self_attn.q_norm",
  attn_k_norm: "self_attn.k_norm",
  ffn_norm: "post_attention_layernorm",
  ffn_gate: "mlp.gate_proj",
  ffn_up: "mlp.up_proj",
  ffn_down: "mlp.down_proj",
  layers: "model.layers",
};

const gemmaParts: Omit<Architecture, "config"> = {
  names: {
    ...decoderNames,
    post_attention_norm: "post_attention_layernorm",
    ffn_norm: "pre_feedforward_layernorm",
    post_ffw_norm: "post_feedforward_layernorm",
  },
  rule: (name) => (/norm\.weight$/.test(name) ? { added: 1 } : {}),
};

/** Llama's rows of queries and keys are stored pair by pair, as llama.cpp rotates them. */
function llamaRule(name: string, config: Config): Omit<TensorRule, "name"> {
  if (!/\.self_attn\.[qk]_proj\./.test(name)) return {};
  const { head_dim: size, hidden_size: width, num_attention_heads: heads } = config;
  return { pairedHeads: (size as number) ?? (width as number) / (heads as number) };
}

const architectures: Readonly<Record<string, Architecture>> = {
  llama: { config: decoder("llama"), names: decoderNames, rule: llamaRule },
  qwen2: { config: decoder("qwen2"), names: decoderNames },
  qwen3: { config: decoder("qwen3"), names: decoderNames },
  gemma2: { config: gemma("gemma2", 46), ...gemmaParts },
  gemma3: { config: gemma("gemma3_text", 62), ...gemmaParts },
  bert: {
    config: bert,
    names: {
      token_embd: "bert.embeddings.word_embeddings",
      position_embd: "bert.embeddings.position_embeddings",
      token_types: "bert.embeddings.token_type_embeddings",
      token_embd_norm: "bert.embeddings.LayerNorm",
      attn_q: "attention.self.query",
      attn_k: "attention.self.key",
      attn_v: "attention.self.value",
      attn_output: "attention.output.dense",
      attn_output_norm: "attention.output.LayerNorm",
      ffn_up: "intermediate.dense",
      ffn_down: "output.dense",
      layer_output_norm: "output.LayerNorm",
      layers: "bert.encoder.layer",
    },
  },
};

/** The poolings of llama.cpp by their numbers, under the names of sentence-transformers. */
const poolings = [undefined, "mean", "cls", "lasttoken"];

/**
 * Returns the files of the package sentence-transformers for an encoder whose file names a pooling. llama.cpp divides
 * the vectors by their lengths.
 */
export function describeSentences(read: Metadata): Readonly<Record<string, unknown>> {
  const isPooling: Check = {
    expected: "0 (none), 1 (mean), 2 (cls) or 3 (last token)",
    accepts: isWholeNumber(0, 3).accepts,
  };
  const pooling = poolings[read.read(".pooling_type", isPooling) as number];
  if (pooling === undefined) return {};
  const kinds = { Transformer: "", Pooling: "1_Pooling", Normalize: "2_Normalize" };
  return {
    "modules.json": Object.entries(kinds).map(([type, path]) => ({ type, path })),
    "1_Pooling/config.json": { pooling_mode: pooling },
  };
}

/** A model as the hub describes it. */
export interface Described {
  readonly config: Config;
  /** The tensors by their names in the file. */
  readonly rules: ReadonlyMap<string, TensorRule>;
}

/** @throws HeedError "format" that names the architecture, or a key that is missing or does not fit */
export function describeModel(read: Metadata, header: GgufHeader, extras: Extras): Described {
  const architecture = read.choice("general.architecture", architectures);
  const config = architecture.config(read, header, extras);
  const rules = new Map<string, TensorRule>();
  for (const file of header.tensors.keys()) {
    const [, layer, part = "", kind] = /^(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)$/.exec(file) ?? [];
    const own = architecture.names[part];
    if (own === undefined) continue;
    const prefix = layer === undefined ? "" : `${architecture.names.layers}.${layer}.`;
    const name = `${prefix}${own}.${kind}`;
    rules.set(file, { name, ...architecture.rule?.(name, config) });
  }
  return { config, rules };
}
