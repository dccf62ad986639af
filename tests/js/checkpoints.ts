// Checkpoints with random weights, in the layout of Hugging Face's hub, for tests.

import type { HubConfig } from "heed/models";
import { safetensors } from "heed/nn";
import { Parameters } from "./layer_oracle.js";
import type { Values } from "./oracle.js";
import { Random, sizeOf } from "./values.js";

export type Tensors = Record<string, Values & { data: Float32Array }>;

export interface Checkpoint {
  config: HubConfig;
  tensors: Tensors;
}

/** The shapes of a linear layer and of a norm, under the names of a checkpoint. */
const linear = (name: string, out: number, size: number) => ({
  [`${name}.weight`]: [out, size],
  [`${name}.bias`]: [out],
});
const norm = (name: string, size: number) => ({
  [`${name}.weight`]: [size],
  [`${name}.bias`]: [size],
});

function filled(shapes: Readonly<Record<string, number[]>>, seed: number): Tensors {
  const random = new Random(seed);
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const spread = shape.length > 1 ? 1.5 / Math.sqrt(shape.at(-1) as number) : 0.5;
    const values = random.array(shape, spread);
    const isNorm = /(norm|ln_.|layernorm_\w+)\.weight$/i.test(name);
    return [name, isNorm ? { ...values, data: values.data.map((x) => x + 1) } : values] as const;
  });
  return Object.fromEntries(entries);
}

/** The tensors follow `n_layer`, `n_embd` and `n_inner` of the config. */
export function gpt2(more: HubConfig = {}): Checkpoint {
  const config = {
    ...{ model_type: "gpt2", vocab_size: 19, n_embd: 12, n_head: 3, n_layer: 2, n_positions: 16 },
    ...more,
  };
  const sizes = config as unknown as Record<string, number>;
  const { n_embd: size = 12, n_layer: layers = 2, n_inner: inner = 4 * size } = sizes;
  const blocks = Array.from({ length: layers }, (_, i) => ({
    ...norm(`transformer.h.${i}.ln_1`, size),
    [`transformer.h.${i}.attn.c_attn.weight`]: [size, 3 * size],
    [`transformer.h.${i}.attn.c_attn.bias`]: [3 * size],
    ...linear(`transformer.h.${i}.attn.c_proj`, size, size),
    ...norm(`transformer.h.${i}.ln_2`, size),
    [`transformer.h.${i}.mlp.c_fc.weight`]: [size, inner],
    [`transformer.h.${i}.mlp.c_fc.bias`]: [inner],
    [`transformer.h.${i}.mlp.c_proj.weight`]: [inner, size],
    [`transformer.h.${i}.mlp.c_proj.bias`]: [size],
  }));
  const shapes = {
    "transformer.wte.weight": [19, size],
    "transformer.wpe.weight": [16, size],
    ...Object.assign({}, ...blocks),
    ...norm("transformer.ln_f", size),
  };
  return { config, tensors: filled(shapes, 301) };
}

/** BERT with a pooler and a head, or RoBERTa with a head. */
export function bert(modelType: "bert" | "roberta"): Checkpoint {
  const isBert = modelType === "bert";
  const config = {
    ...{ model_type: modelType, vocab_size: 21, hidden_size: 12, num_attention_heads: 2 },
    ...{ num_hidden_layers: 2, intermediate_size: 20, max_position_embeddings: 14 },
    ...{ type_vocab_size: isBert ? 2 : 1, layer_norm_eps: 1e-5, pad_token_id: isBert ? 0 : 1 },
  };
  const layers = [0, 1].map((i) => {
    const layer = `${modelType}.encoder.layer.${i}`;
    return {
      ...linear(`${layer}.attention.self.query`, 12, 12),
      ...linear(`${layer}.attention.self.key`, 12, 12),
      ...linear(`${layer}.attention.self.value`, 12, 12),
      ...linear(`${layer}.attention.output.dense`, 12, 12),
      ...norm(`${layer}.attention.output.LayerNorm`, 12),
      ...linear(`${layer}.intermediate.dense`, 20, 12),
      ...linear(`${layer}.output.dense`, 12, 20),
      ...norm(`${layer}.output.LayerNorm`, 12),
    };
  });
  const head = isBert
    ? {
        ...linear("bert.pooler.dense", 12, 12),
        ...linear("cls.predictions.transform.dense", 12, 12),
        ...norm("cls.predictions.transform.LayerNorm", 12),
        "cls.predictions.bias": [21],
      }
    : {
        ...linear("lm_head.dense", 12, 12),
        ...norm("lm_head.layer_norm", 12),
        "lm_head.bias": [21],
      };
  const shapes = {
    [`${modelType}.embeddings.word_embeddings.weight`]: [21, 12],
    [`${modelType}.embeddings.position_embeddings.weight`]: [14, 12],
    [`${modelType}.embeddings.token_type_embeddings.weight`]: [config.type_vocab_size, 12],
    ...norm(`${modelType}.embeddings.LayerNorm`, 12),
    ...Object.assign({}, ...layers),
    ...head,
  };
  return { config, tensors: filled(shapes, 302) };
}

export function distilbert(): Checkpoint {
  const config = {
    ...{ model_type: "distilbert", vocab_size: 21, dim: 12, n_heads: 2, n_layers: 2 },
    ...{ hidden_dim: 20, max_position_embeddings: 14, activation: "gelu" },
  };
  const layers = [0, 1].map((i) => {
    const layer = `distilbert.transformer.layer.${i}`;
    return {
      ...linear(`${layer}.attention.q_lin`, 12, 12),
      ...linear(`${layer}.attention.k_lin`, 12, 12),
      ...linear(`${layer}.attention.v_lin`, 12, 12),
      ...linear(`${layer}.attention.out_lin`, 12, 12),
      ...norm(`${layer}.sa_layer_norm`, 12),
      ...linear(`${layer}.ffn.lin1`, 20, 12),
      ...linear(`${layer}.ffn.lin2`, 12, 20),
      ...norm(`${layer}.output_layer_norm`, 12),
    };
  });
  const shapes = {
    "distilbert.embeddings.word_embeddings.weight": [21, 12],
    "distilbert.embeddings.position_embeddings.weight": [14, 12],
    ...norm("distilbert.embeddings.LayerNorm", 12),
    ...Object.assign({}, ...layers),
    ...linear("vocab_transform", 12, 12),
    ...norm("vocab_layer_norm", 12),
    "vocab_projector.bias": [21],
  };
  return { config, tensors: filled(shapes, 303) };
}

/** Llama with grouped heads. `vocabulary` makes its table as large as a test needs. */
export function llama(more: HubConfig = {}, vocabulary = 23): Checkpoint {
  const config = {
    ...{ model_type: "llama", vocab_size: vocabulary, hidden_size: 16, intermediate_size: 24 },
    ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, rms_norm_eps: 1e-5 },
    ...{ max_position_embeddings: 32, ...more },
  };
  const layers = [0, 1].map((i) => ({
    [`model.layers.${i}.input_layernorm.weight`]: [16],
    [`model.layers.${i}.self_attn.q_proj.weight`]: [16, 16],
    [`model.layers.${i}.self_attn.k_proj.weight`]: [8, 16],
    [`model.layers.${i}.self_attn.v_proj.weight`]: [8, 16],
    [`model.layers.${i}.self_attn.o_proj.weight`]: [16, 16],
    [`model.layers.${i}.post_attention_layernorm.weight`]: [16],
    [`model.layers.${i}.mlp.gate_proj.weight`]: [24, 16],
    [`model.layers.${i}.mlp.up_proj.weight`]: [24, 16],
    [`model.layers.${i}.mlp.down_proj.weight`]: [16, 24],
  }));
  const shapes = {
    "model.embed_tokens.weight": [vocabulary, 16],
    ...Object.assign({}, ...layers),
    "model.norm.weight": [16],
    ...(more.tie_word_embeddings ? {} : { "lm_head.weight": [vocabulary, 16] }),
  };
  return { config, tensors: filled(shapes, 304) };
}

/** The rows of several tensors as one. */
const joined = (parts: Tensors[string][]): Tensors[string] => ({
  data: Float32Array.from(parts.flatMap(({ data }) => [...data])),
  shape: [parts.reduce((sum, { shape }) => sum + (shape[0] as number), 0), 16],
});

/** Phi-3, and Llama with the same weights: Phi-3 joins the tensors of queries, keys and values, and of gate and up. */
export function phi3(): { own: Checkpoint; apart: Checkpoint } {
  const apart = llama();
  const tensors = { ...apart.tensors };
  const join = (to: string, names: readonly string[]) => {
    tensors[to] = joined(names.map((name) => tensors[name] as Tensors[string]));
    for (const name of names) delete tensors[name];
  };
  for (const layer of ["model.layers.0", "model.layers.1"]) {
    const [own, mlp] = [`${layer}.self_attn`, `${layer}.mlp`];
    join(
      `${own}.qkv_proj.weight`,
      ["q", "k", "v"].map((part) => `${own}.${part}_proj.weight`),
    );
    join(
      `${mlp}.gate_up_proj.weight`,
      ["gate", "up"].map((part) => `${mlp}.${part}_proj.weight`),
    );
  }
  return { own: { config: { ...apart.config, model_type: "phi3" }, tensors }, apart };
}

/** A T5 whose layers have two heads on each side. */
export function t5(vocabulary: number, more: HubConfig = {}): Checkpoint {
  const config = {
    ...{ model_type: "t5", vocab_size: vocabulary, d_model: 12, d_kv: 6, d_ff: 20 },
    ...{ num_layers: 1, num_decoder_layers: 1, num_heads: 2, relative_attention_num_buckets: 8 },
    ...{ eos_token_id: 1, ...more },
  };
  const shapes: Record<string, number[]> = { "shared.weight": [vocabulary, 12] };
  const sides = { encoder: config.num_layers, decoder: config.num_decoder_layers };
  for (const [side, layers] of Object.entries(sides)) {
    shapes[`${side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`] = [8, 2];
    shapes[`${side}.final_layer_norm.weight`] = [12];
    const attentions =
      side === "encoder" ? ["SelfAttention"] : ["SelfAttention", "EncDecAttention"];
    for (let i = 0; i < layers; ++i) {
      const layer = `${side}.block.${i}.layer`;
      for (let at = 0; at <= attentions.length; ++at)
        shapes[`${layer}.${at}.layer_norm.weight`] = [12];
      for (const [at, name] of attentions.entries())
        for (const part of ["q", "k", "v", "o"])
          shapes[`${layer}.${at}.${name}.${part}.weight`] = [12, 12];
      const fed = `${layer}.${attentions.length}.DenseReluDense`;
      shapes[`${fed}.wi.weight`] = [20, 12];
      shapes[`${fed}.wo.weight`] = [12, 20];
    }
  }
  return { config, tensors: filled(shapes, 306) };
}

/** A Vision Transformer for images of 3 x 3 patches: the bare model with its pooler, or with the head for classes. */
export function vit(
  kind: "ViTModel" | "ViTForImageClassification",
  more: HubConfig = {},
): Checkpoint {
  const isBare = kind === "ViTModel";
  const labels = isBare ? {} : { id2label: { 0: "cat", 1: "dog", 2: "a pair of birds" } };
  const config = {
    ...{ model_type: "vit", architectures: [kind], image_size: 12, patch_size: 4 },
    ...{ num_channels: 3, hidden_size: 12, num_hidden_layers: 2, num_attention_heads: 3 },
    ...{ intermediate_size: 20, layer_norm_eps: 1e-5, hidden_act: "gelu", qkv_bias: true },
    ...{ ...labels, ...more },
  };
  const prefix = isBare ? "" : "vit.";
  const layers = [0, 1].map((i) => {
    const layer = `${prefix}encoder.layer.${i}`;
    const own = `${layer}.attention.attention`;
    const projections = ["query", "key", "value"].map((name) => {
      const { [`${own}.${name}.bias`]: bias, ...rest } = linear(`${own}.${name}`, 12, 12);
      return config.qkv_bias ? { ...rest, [`${own}.${name}.bias`]: bias as number[] } : rest;
    });
    return {
      ...Object.assign({}, ...projections),
      ...linear(`${layer}.attention.output.dense`, 12, 12),
      ...linear(`${layer}.intermediate.dense`, 20, 12),
      ...linear(`${layer}.output.dense`, 12, 20),
      ...norm(`${layer}.layernorm_before`, 12),
      ...norm(`${layer}.layernorm_after`, 12),
    };
  });
  const head = isBare ? linear("pooler.dense", 12, 12) : linear("classifier", 3, 12);
  const shapes = {
    [`${prefix}embeddings.cls_token`]: [1, 1, 12],
    [`${prefix}embeddings.position_embeddings`]: [1, 10, 12],
    [`${prefix}embeddings.patch_embeddings.projection.weight`]: [12, 3, 4, 4],
    [`${prefix}embeddings.patch_embeddings.projection.bias`]: [12],
    ...Object.assign({}, ...layers),
    ...norm(`${prefix}layernorm`, 12),
    ...head,
  };
  return { config, tensors: filled(shapes, 305) };
}

/** The parameters of a checkpoint, without the prefix of their names if one is given. */
export function parametersOf({ tensors }: { tensors: Tensors }, prefix = ""): Parameters {
  const entries = Object.entries(tensors).map(([name, { data, shape }]) => [
    name.startsWith(prefix) ? name.slice(prefix.length) : name,
    { data: Array.from(data), shape },
  ]);
  return new Parameters(Object.fromEntries(entries));
}

const bits = {
  /** The upper half of each float32, rounded to nearest, ties to even. */
  bfloat16: (data: Float32Array) => {
    const words = new Uint32Array(data.slice().buffer);
    return Uint16Array.from(words, (word) => (word + 0x7fff + ((word >> 16) & 1)) >>> 16);
  },
};

/** Writes tensors to a safetensors file, as float32 or bfloat16. */
export function fileOf(tensors: Tensors, dtype: "float32" | "bfloat16" = "float32"): Uint8Array {
  const entries = Object.entries(tensors).map(([name, { data, shape }]) => {
    const stored = dtype === "float32" ? data : bits.bfloat16(data);
    return [name, { dtype, shape, data: stored }] as const;
  });
  return safetensors.write(Object.fromEntries(entries) as never, { format: "pt" });
}

/** The tensors as bfloat16 stores them. */
export function roundedToBfloat16(tensors: Tensors): Tensors {
  const entries = Object.entries(tensors).map(([name, { data, shape }]) => {
    const words = Uint32Array.from(bits.bfloat16(data), (half) => half << 16);
    return [name, { data: new Float32Array(words.buffer), shape }] as const;
  });
  return Object.fromEntries(entries);
}

const encoder = new TextEncoder();
export const jsonOf = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));

/** The files of a checkpoint by name. */
export function filesOf({ config, tensors }: Checkpoint): Record<string, Uint8Array> {
  return { "config.json": jsonOf(config), "model.safetensors": fileOf(tensors) };
}

/** The same in several files with an index, each tensor in the next file in turn. */
export function shardsOf(
  { config, tensors }: Checkpoint,
  count: number,
): Record<string, Uint8Array> {
  const nameOf = (i: number) => `model-0000${i + 1}-of-0000${count}.safetensors`;
  const parts = Array.from({ length: count }, (): Tensors => ({}));
  const map: Record<string, string> = {};
  for (const [i, [name, tensor]] of Object.entries(tensors).entries()) {
    (parts[i % count] as Tensors)[name] = tensor;
    map[name] = nameOf(i % count);
  }
  const total = Object.values(tensors).reduce((sum, { shape }) => sum + 4 * sizeOf(shape), 0);
  const index = { metadata: { total_size: total }, weight_map: map };
  const files = parts.map((part, i) => [nameOf(i), fileOf(part)] as const);
  return {
    "config.json": jsonOf(config),
    "model.safetensors.index.json": jsonOf(index),
    ...Object.fromEntries(files),
  };
}
