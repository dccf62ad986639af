// Language models in double precision, written directly from their papers and from the meaning of the fields
// of a config.json. Parameters have the names of the checkpoints of Hugging Face's hub.

import {
  add,
  layerNorm,
  linear,
  map,
  mapRows,
  multiply,
  Parameters,
  rmsNorm,
} from "./layer_oracle.js";
import * as oracle from "./oracle.js";
import { activations, joinHeads, splitHeads, type Values } from "./oracle.js";

/** The parts that a layer of `llama` computes, under the names of heed/models. */
export type Parts = Readonly<
  Record<
    | "input"
    | "attentionInput"
    | "headOutputs"
    | "attention"
    | "between"
    | "feedForwardInput"
    | "gate"
    | "up"
    | "units"
    | "feedForward"
    | "output",
    Values
  >
>;

export interface Answer {
  /** The embedding, then the output of each layer. */
  hidden: Values[];
  /** [B, H, L, L] for each layer. */
  weights: Values[];
  /** [B, L, V] */
  logits: Values | undefined;
  /** [B, E] */
  pooled: Values | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a config has fields of many types
type Config = Readonly<Record<string, any>>;

/** Attention of heads, joined: [B, L, H * Dv]. Its weights are added to a list. */
export function attend(question: oracle.Question, weights: Values[]): Values {
  const [B, H, L] = question.q.shape as [number, number, number];
  const [, , S, Dv] = question.v.shape as [number, number, number, number];
  const answer = oracle.attention(question);
  weights.push({ data: answer.weights, shape: [B, H, L, S] });
  return joinHeads({ data: answer.output, shape: [B, H, L, Dv] });
}

/** Rows of a table for ids [B, L]. */
function rows(table: Values, ids: Values): Values {
  const size = table.shape[1] as number;
  const data = Array.from(ids.data).flatMap((id) =>
    Array.from({ length: size }, (_, c) => table.data[id * size + c] as number),
  );
  return { data, shape: [...ids.shape, size] };
}

const transposed = ({ data, shape }: Values): Values => {
  const [m, n] = shape as [number, number];
  return {
    data: Array.from({ length: m * n }, (_, i) => data[(i % m) * n + Math.floor(i / m)] as number),
    shape: [n, m],
  };
};

/** Columns [begin, end) of the last axis. */
const columns = (x: Values, begin: number, end: number): Values => {
  const size = x.shape.at(-1) as number;
  const data = Array.from(x.data).filter((_, i) => i % size >= begin && i % size < end);
  return { data, shape: [...x.shape.slice(0, -1), end - begin] };
};

/** x table^T: logits with the table of the tokens. */
const against = (x: Values, table: Values, bias?: Values): Values => {
  const parts: Record<string, Values> = bias ? { weight: table, bias } : { weight: table };
  const found = (name: string) => parts[name];
  return linear({ find: found, get: (name: string) => found(name) } as Parameters, x);
};

/** Rotates the first R entries of the heads of x [B, H, L, D] by halves; frequencies [R / 2]. */
function rotate(x: Values, frequencies: readonly number[], factor = 1): Values {
  const [, , L, D] = x.shape as [number, number, number, number];
  const half = frequencies.length;
  const data = Array.from(x.data, (value, at) => {
    const [i, c] = [Math.floor(at / D) % L, at % D];
    if (c >= 2 * half) return value;
    const angle = i * (frequencies[c % half] as number);
    const other = x.data[c < half ? at + half : at - half] as number;
    return factor * (value * Math.cos(angle) + (c < half ? -other : other) * Math.sin(angle));
  });
  return { data, shape: x.shape };
}

/** The frequencies of rotary positions, with the scaling of the config, from its rules for wave lengths. */
function frequenciesOf(config: Config, headSize: number, length = 0): number[] {
  const scaling = config.rope_scaling ?? {};
  const rotated = headSize * (config.partial_rotary_factor ?? 1);
  return Array.from({ length: rotated / 2 }, (_, pair) => {
    const frequency = 1 / (config.rope_theta ?? 10000) ** ((2 * pair) / rotated);
    const kind = scaling.rope_type ?? scaling.type;
    if (kind === "linear") return frequency / scaling.factor;
    const isLong = length > config.original_max_position_embeddings;
    if (kind === "longrope")
      return frequency / (isLong ? scaling.long_factor : scaling.short_factor)[pair];
    if (kind !== "llama3") return frequency;
    const wave = (2 * Math.PI) / frequency;
    const context = scaling.original_max_position_embeddings;
    if (wave < context / scaling.high_freq_factor) return frequency;
    if (wave > context / scaling.low_freq_factor) return frequency / scaling.factor;
    const smooth =
      (context / wave - scaling.low_freq_factor) /
      (scaling.high_freq_factor - scaling.low_freq_factor);
    return ((1 - smooth) * frequency) / scaling.factor + smooth * frequency;
  });
}

/** How much longer texts are made by a rule that also makes the rotated entries longer. */
function rotatedFactor({ rope_scaling: scaling, ...config }: Config): number {
  if (scaling?.type !== "longrope") return 1;
  const context = config.original_max_position_embeddings;
  return Math.sqrt(1 + Math.log(config.max_position_embeddings / context) / Math.log(context));
}

/** Llama, Mistral, Qwen2, Qwen3, Phi-3, Gemma 2 and Gemma 3. `windows` has the number of visible keys of each layer, if limited. */
export function llama(
  p: Parameters,
  config: Config,
  ids: Values,
  windows: readonly (number | undefined)[] = [],
  ablate = (headOutputs: Values, _layer: number): Values => headOutputs,
): Answer & { parts: Parts[] } {
  const heads = config.num_attention_heads;
  const kvHeads = config.num_key_value_heads ?? heads;
  const headSize = config.head_dim ?? config.hidden_size / heads;
  const isGemma = /^gemma/.test(config.model_type);
  const frequencies = frequenciesOf(config, headSize, ids.shape[1]);
  const local = config.rope_local_base_freq
    ? frequenciesOf({ rope_theta: config.rope_local_base_freq }, headSize)
    : frequencies;
  const eps = config.rms_norm_eps ?? 1e-6;
  const norm = (own: Parameters, values: Values) => {
    const plain = rmsNorm(own, values, eps);
    // Gemma's weights are the distance from 1.
    return isGemma ? add(plain, rmsNorm(new Parameters({}), values, eps)) : plain;
  };
  const table = p.get("model.embed_tokens.weight");
  const embedding = isGemma ? Math.fround(Math.sqrt(config.hidden_size)) : 1;
  let x = map(rows(table, ids), (value) => embedding * value);
  const answer: Answer = { hidden: [x], weights: [], logits: undefined, pooled: undefined };
  const parts: Parts[] = [];
  for (let i = 0; i < config.num_hidden_layers; ++i) {
    const input = x;
    const layer = p.of(`model.layers.${i}`);
    const own = layer.of("self_attn");
    const normed = norm(layer.of("input_layernorm"), x);
    const window = windows[i];
    const project = (name: string, count: number) => {
      const split = splitHeads(linear(own.of(`${name}_proj`), normed), count);
      if (name === "v") return split;
      const its = own.of(`${name}_norm`);
      const angles = window === undefined ? frequencies : local;
      const placed = its.find("weight") ? norm(its, split) : split;
      return rotate(placed, angles, rotatedFactor(config));
    };
    const question: oracle.Question = {
      ...(isGemma && { scale: 1 / Math.sqrt(config.query_pre_attn_scalar) }),
      softcap: config.attn_logit_softcapping,
      ...{ q: project("q", heads), k: project("k", kvHeads), v: project("v", kvHeads) },
      maySee: ({ q, k }) => k <= q && (window === undefined || k > q - window),
    };
    const headOutputs = ablate(attend(question, answer.weights), i);
    const afterwards = (name: string, values: Values) =>
      isGemma ? norm(layer.of(name), values) : values;
    const attention = afterwards("post_attention_layernorm", linear(own.of("o_proj"), headOutputs));
    const between = add(input, attention);
    const mlp = layer.of("mlp");
    const before = isGemma ? "pre_feedforward_layernorm" : "post_attention_layernorm";
    const second = norm(layer.of(before), between);
    const up = linear(mlp.of("up_proj"), second);
    const gate = linear(mlp.of("gate_proj"), second);
    const activate = isGemma ? activations.geluTanh : activations.silu;
    const units = multiply(up, map(gate, activate));
    const feedForward = afterwards(
      "post_feedforward_layernorm",
      linear(mlp.of("down_proj"), units),
    );
    x = add(between, feedForward);
    answer.hidden.push(x);
    parts.push({
      ...{ input, attentionInput: normed, headOutputs, attention, between },
      ...{ feedForwardInput: second, gate, up, units, feedForward, output: x },
    });
  }
  const last = norm(p.of("model.norm"), x);
  answer.hidden[answer.hidden.length - 1] = last;
  const logits = against(last, config.tie_word_embeddings ? table : p.get("lm_head.weight"));
  const cap = config.final_logit_softcapping;
  answer.logits = cap ? map(logits, (value) => cap * Math.tanh(value / cap)) : logits;
  return { ...answer, parts };
}

/** GPT-2, whose weights are [in, out]. */
export function gpt2(all: Parameters, config: Config, ids: Values): Answer {
  const p = all.of("transformer");
  const { n_embd: size, n_head: heads, n_layer: layers } = config;
  const eps = config.layer_norm_epsilon ?? 1e-5;
  const L = ids.shape[1] as number;
  const places = { data: Array.from(ids.data, (_, i) => i % L), shape: ids.shape };
  const dense = (name: Parameters, x: Values) =>
    against(x, transposed(name.get("weight")), name.get("bias"));
  let x = add(rows(p.get("wte.weight"), ids), rows(p.get("wpe.weight"), places));
  const answer: Answer = { hidden: [x], weights: [], logits: undefined, pooled: undefined };
  for (let i = 0; i < layers; ++i) {
    const layer = p.of(`h.${i}`);
    const joint = dense(layer.of("attn.c_attn"), layerNorm(layer.of("ln_1"), x, eps));
    const part = (n: number) => splitHeads(columns(joint, n * size, (n + 1) * size), heads);
    const scale =
      (config.scale_attn_weights === false ? 1 : 1 / Math.sqrt(size / heads)) /
      (config.scale_attn_by_inverse_layer_idx ? i + 1 : 1);
    const question = { q: part(0), k: part(1), v: part(2), scale, isCausal: true };
    x = add(x, dense(layer.of("attn.c_proj"), attend(question, answer.weights)));
    const hidden = dense(layer.of("mlp.c_fc"), layerNorm(layer.of("ln_2"), x, eps));
    x = add(x, dense(layer.of("mlp.c_proj"), map(hidden, activations.geluTanh)));
    answer.hidden.push(x);
  }
  const last = layerNorm(p.of("ln_f"), x, eps);
  answer.hidden[layers] = last;
  answer.logits = against(last, p.get("wte.weight"));
  return answer;
}

/** The names of the parts of BERT and RoBERTa, and of DistilBERT. */
const parts = {
  bert: {
    layer: "encoder.layer",
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    output: "attention.output.dense",
    firstNorm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    secondNorm: "output.LayerNorm",
  },
  distilbert: {
    layer: "transformer.layer",
    query: "attention.q_lin",
    key: "attention.k_lin",
    value: "attention.v_lin",
    output: "attention.out_lin",
    firstNorm: "sa_layer_norm",
    up: "ffn.lin1",
    down: "ffn.lin2",
    secondNorm: "output_layer_norm",
  },
};

export interface Bert {
  layers: number;
  heads: number;
  eps: number;
  /** The number of the padding token in RoBERTa. */
  padding?: number;
}

/** BERT, DistilBERT and RoBERTa. `p` has the parameters without the prefix of the checkpoint. */
export function bert(
  p: Parameters,
  kind: keyof typeof parts,
  { layers, heads, eps, padding }: Bert,
  { ids, types, keys }: { ids: Values; types?: Values; keys?: Values },
): Answer {
  const names = parts[kind];
  const embeddings = p.of("embeddings");
  const [B, L] = ids.shape as [number, number];
  const places = Array.from(ids.data, (id, at) => {
    if (padding === undefined) return at % L;
    const row = Array.from(ids.data).slice(at - (at % L), at + 1);
    return id === padding ? padding : padding + row.filter((each) => each !== padding).length;
  });
  const table = embeddings.get("word_embeddings.weight");
  let x = rows(table, ids);
  x = add(x, rows(embeddings.get("position_embeddings.weight"), { data: places, shape: [B, L] }));
  const typeTable = embeddings.find("token_type_embeddings.weight");
  const zeros = { data: Array.from(ids.data, () => 0), shape: [B, L] };
  if (typeTable) x = add(x, rows(typeTable, types ?? zeros));
  x = layerNorm(embeddings.of("LayerNorm"), x, eps);
  const answer: Answer = { hidden: [x], weights: [], logits: undefined, pooled: undefined };
  for (let i = 0; i < layers; ++i) {
    const layer = p.of(`${names.layer}.${i}`);
    const project = (name: string) => splitHeads(linear(layer.of(name), x), heads);
    const question: oracle.Question = {
      ...{ q: project(names.query), k: project(names.key), v: project(names.value) },
      maySee: ({ b, k }) => keys === undefined || keys.data[b * L + k] === 1,
    };
    const mixed = linear(layer.of(names.output), attend(question, answer.weights));
    x = layerNorm(layer.of(names.firstNorm), add(x, mixed), eps);
    const hidden = map(linear(layer.of(names.up), x), activations.gelu);
    x = layerNorm(layer.of(names.secondNorm), add(x, linear(layer.of(names.down), hidden)), eps);
    answer.hidden.push(x);
  }
  const pooler = p.of("pooler.dense");
  if (pooler.find("weight")) {
    const size = x.shape[2] as number;
    const first = mapRows(x, (row) => row).data as number[];
    const data = first.filter((_, at) => Math.floor(at / size) % L === 0);
    answer.pooled = map(linear(pooler, { data, shape: [B, size] }), Math.tanh);
  }
  return answer;
}

/** The head for masked words, from the state of the last layer. */
export function maskedLogits(
  head: { dense: Parameters; norm: Parameters; bias: Values; table: Values },
  x: Values,
  eps: number,
): Values {
  const hidden = layerNorm(head.norm, map(linear(head.dense, x), activations.gelu), eps);
  return against(hidden, head.table, head.bias);
}

/** The row of MPNet's and T5's table for a key at a distance after the query, both sides counted. */
export function bucket(distance: number, buckets: number, isBidirectional = true): number {
  const own = isBidirectional ? buckets / 2 : buckets;
  const far = isBidirectional ? Math.abs(distance) : Math.max(0, -distance);
  const near = own / 2;
  const log = (Math.log(far / near) / Math.log(128 / near)) * (own - near);
  const row = far < near ? far : Math.min(own - 1, near + Math.floor(log));
  return row + (isBidirectional && distance > 0 ? own : 0);
}

/** The biases [1, H, L, S] of a table of distances. */
export function distanceBiases(
  table: Values,
  L: number,
  S: number,
  isBidirectional = true,
): Values {
  const [count, heads] = table.shape as [number, number];
  const data = Array.from({ length: heads * L * S }, (_, at) => {
    const [head, i, j] = [Math.floor(at / (L * S)), Math.floor(at / S) % L, at % S];
    return table.data[bucket(j - i, count, isBidirectional) * heads + head] as number;
  });
  return { data, shape: [1, heads, L, S] };
}

/** MPNet and ModernBERT, under the names of heed/models, with a window on both sides of each position. */
export function encoder(
  p: Parameters,
  config: Config,
  { ids, keys }: { ids: Values; keys?: Values },
  layers: readonly { window?: number | undefined; base?: number | undefined }[],
): Answer {
  const isModern = config.model_type === "modernbert";
  const heads = config.num_attention_heads;
  const [B, L] = ids.shape as [number, number];
  const norm = (name: string, x: Values, own = p) =>
    layerNorm(own.of(name), x, isModern ? 1e-5 : 1e-12);
  let x = rows(p.get("model.embed_tokens.weight"), ids);
  if (!isModern) {
    const places = Array.from(ids.data, (id, at) => {
      const before = Array.from(ids.data).slice(at - (at % L), at + 1);
      return id === 1 ? 1 : 1 + before.filter((each) => each !== 1).length;
    });
    x = add(x, rows(p.get("model.embed_positions.weight"), { data: places, shape: [B, L] }));
  }
  x = norm("model.embed_norm", x);
  const answer: Answer = { hidden: [x], weights: [], logits: undefined, pooled: undefined };
  const table = p.find("model.distances.weight");
  const bias = table && distanceBiases(table, L, L);
  for (const [i, { window, base }] of layers.entries()) {
    const layer = p.of(`model.layers.${i}`);
    const own = layer.of("self_attn");
    const size = x.shape[2] as number;
    const frequencies = Array.from(
      { length: size / heads / 2 },
      (_, pair) => (base ?? 1) ** ((-2 * pair) / (size / heads)),
    );
    const read = isModern && i > 0 ? norm("input_layernorm", x, layer) : x;
    const project = (name: string) => {
      const split = splitHeads(linear(own.of(`${name}_proj`), read), heads);
      return base && name !== "v" ? rotate(split, frequencies) : split;
    };
    const question: oracle.Question = {
      ...{ q: project("q"), k: project("k"), v: project("v"), ...(bias && { bias }) },
      maySee: ({ b, q, k }) =>
        (keys === undefined || keys.data[b * L + k] === 1) &&
        (window === undefined || Math.abs(q - k) <= window),
    };
    const mixed = add(x, linear(own.of("o_proj"), attend(question, answer.weights)));
    const mlp = layer.of("mlp");
    const second = norm("post_attention_layernorm", mixed, layer);
    const up = linear(mlp.of("up_proj"), second);
    if (isModern) {
      const gate = map(linear(mlp.of("gate_proj"), second), activations.gelu);
      x = add(mixed, linear(mlp.of("down_proj"), multiply(up, gate)));
    } else {
      const hidden = linear(mlp.of("down_proj"), map(up, activations.gelu));
      x = norm("output_layernorm", add(second, hidden), layer);
    }
    answer.hidden.push(x);
  }
  if (isModern) answer.hidden[layers.length] = norm("model.norm", x);
  return answer;
}

/** The answers of the two sides of a model with an encoder, and the weights of cross attention. */
export interface Seq2SeqAnswer {
  encoder: Answer;
  decoder: Answer;
  cross: Values[];
}

/** T5 and the family of BART, under the names of heed/models. */
export function seq2seq(
  p: Parameters,
  config: Config,
  { ids, keys, targets }: { ids: Values; keys: Values; targets: Values },
): Seq2SeqAnswer {
  const isT5 = config.model_type === "t5";
  const isManyToMany = config.model_type === "m2m_100";
  const isPreNorm = isT5 || isManyToMany || config.model_type === "mbart";
  const size = config.d_model;
  const norm = (own: Parameters, x: Values) =>
    isT5 ? rmsNorm(own, x, 1e-6) : layerNorm(own, x, 1e-5);
  const table = p.get("model.embed_tokens.weight");
  const S = ids.shape[1] as number;
  const isSeen = ({ b, k }: { b: number; k: number }) => keys.data[b * S + k] === 1;
  const activate = {
    relu: activations.relu,
    "gated-gelu": activations.geluTanh,
    swish: activations.silu,
    gelu: activations.gelu,
  }[(isT5 ? config.feed_forward_proj : config.activation_function) as "relu"];

  const run = (name: "encoder" | "decoder", text: Values, memory?: Values) => {
    const side = p.of(`model.${name}`);
    const L = text.shape[1] as number;
    const heads = isT5 ? config.num_heads : config[`${name}_attention_heads`];
    const embedding = config.scale_embedding ? Math.sqrt(size) : 1;
    let x = map(rows(table, text), (value) => value * embedding);
    const positions = side.find("embed_positions.weight");
    if (positions) {
      const places = { data: Array.from(text.data, (_, at) => (at % L) + 2), shape: text.shape };
      x = norm(side.of("embed_norm"), add(x, rows(positions, places)));
    } else if (!isT5) {
      const waves = Array.from({ length: x.data.length }, (_, at) => {
        const [i, c] = [Math.floor(at / size) % L, at % size];
        const pair = c % (size / 2);
        // M2M-100 counts positions from 2, and divides by the number of pairs without the first.
        const angle = isManyToMany
          ? (i + 2) * Math.exp((-pair * Math.log(10_000)) / (size / 2 - 1))
          : i / 10_000 ** ((2 * pair) / size);
        return c < size / 2 ? Math.sin(angle) : Math.cos(angle);
      });
      x = add(x, { data: waves, shape: x.shape });
    }
    const distances = side.find("distances.weight");
    const bias = distances && distanceBiases(distances, L, L, name === "encoder");
    const answer: Answer = { hidden: [x], weights: [], logits: undefined, pooled: undefined };
    const cross: Values[] = [];
    const attention = (
      own: Parameters,
      read: Values,
      source: Values,
      seen: Values[],
      isCross: boolean,
    ) => {
      const project = (part: string, from: Values) =>
        splitHeads(linear(own.of(`${part}_proj`), from), heads);
      const question: oracle.Question = {
        ...{ q: project("q", read), k: project("k", source), v: project("v", source) },
        ...{ ...(isT5 && { scale: 1 }), ...(bias && !isCross && { bias }) },
        maySee: (at) => (isCross || name === "encoder" ? isSeen(at) : at.k <= at.q),
      };
      return linear(own.of("o_proj"), attend(question, seen));
    };
    const part = (own: Parameters, name: string, f: (read: Values) => Values) => {
      const its = own.of(`${name}_norm`);
      x = isPreNorm ? add(x, f(norm(its, x))) : norm(its, add(x, f(x)));
    };
    for (let i = 0; side.find(`layers.${i}.mlp_norm.weight`); ++i) {
      const layer = side.of(`layers.${i}`);
      part(layer, "self_attn", (read) =>
        attention(layer.of("self_attn"), read, read, answer.weights, false),
      );
      if (memory)
        part(layer, "cross_attn", (read) =>
          attention(layer.of("cross_attn"), read, memory, cross, true),
        );
      part(layer, "mlp", (read) => {
        const mlp = layer.of("mlp");
        const up = linear(mlp.of("up_proj"), read);
        if (!mlp.find("gate_proj.weight")) return linear(mlp.of("down_proj"), map(up, activate));
        const gate = map(linear(mlp.of("gate_proj"), read), activate);
        return linear(mlp.of("down_proj"), multiply(up, gate));
      });
      answer.hidden.push(x);
    }
    if (isPreNorm) {
      x = norm(side.of("norm"), x);
      answer.hidden[answer.hidden.length - 1] = x;
    }
    return { answer, cross, output: x };
  };

  const encoded = run("encoder", ids);
  const decoded = run("decoder", targets, encoded.output);
  const isTied = config.tie_word_embeddings ?? true;
  const read =
    isT5 && isTied ? map(decoded.output, (value) => value / Math.sqrt(size)) : decoded.output;
  const head = isTied ? table : p.get("lm_head.weight");
  decoded.answer.logits = against(read, head, p.find("logits_bias"));
  return { encoder: encoded.answer, decoder: decoded.answer, cross: decoded.cross };
}
