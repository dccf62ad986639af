// GGUF files: every type of block, each architecture, the tokenizers in them, and files that are refused.

import { Tokenizer } from "@huggingface/tokenizers";
import * as fc from "fast-check";
import type { Heed } from "heed";
import { HeedError } from "heed";
import {
  CausalLanguageModel,
  embed,
  loadModel,
  loadTokenizer,
  MaskedLanguageModel,
  type ModelSource,
} from "heed/models";
import { loadInWorker, type RemoteOf } from "heed/worker";
import { afterEach, describe, expect, test } from "vitest";
import { bert, fileOf, filesOf, jsonOf, llama, type Tensors } from "../checkpoints.js";
import { engine } from "../engine.js";
import {
  ggufOf,
  llamaSizes,
  metadataOf,
  nameInFile,
  type Packed,
  type PackedType,
  pack,
  packedOf,
  packedTypes,
  plain,
  type Value,
} from "../gguf.js";
import { randomise } from "../modules.js";
import { Random } from "../values.js";

const ids = [[3, 1, 4, 1, 5, 9, 2, 6]];

/** Adding 1 to a weight and subtracting it again rounds it. */
function expectNear(found: number[], wanted: number[]): void {
  expect(found.length).toBe(wanted.length);
  for (const [i, value] of wanted.entries()) expect(found[i]).toBeCloseTo(value, 4);
}

const heed = engine({ threads: 1 });
afterEach(() => expect(heed().memory().tensors.count).toBe(0));

async function logitsOf(heed: Heed, source: ModelSource, options = {}) {
  const model = await loadModel(heed, source, options);
  if (!(model instanceof CausalLanguageModel)) throw new Error("expected a decoder");
  const logits = heed.scope(() =>
    Array.from(model.forward(heed.tensor(ids, undefined, "int32")).logits.data),
  );
  model.dispose();
  return logits;
}

describe("A GGUF file", () => {
  const config = { rms_norm_eps: Math.fround(1e-5), rope_theta: 10_000.5 };
  const file = (more: Record<string, Value> = {}, options = {}) =>
    ggufOf(
      { ...metadataOf("llama", llamaSizes), ...more },
      packedOf(llama(config).tensors, 4),
      options,
    );

  test.each([
    ["version 3", file()],
    ["version 2", file({}, { version: 2 })],
    ["another alignment", file({}, { alignment: 64 })],
  ])("of Llama gives the same bits as safetensors: %s", async (_, bytes) => {
    const expected = await logitsOf(heed(), filesOf(llama(config)));
    expect(await logitsOf(heed(), bytes)).toEqual(expected);
    expect(await logitsOf(heed(), new Blob([bytes]))).toEqual(expected);
    expect(await logitsOf(heed(), { "any.gguf": bytes })).toEqual(expected);
    expect(await logitsOf(heed(), [new File([bytes], "model-f32.gguf")])).toEqual(expected);
  });

  test("of Llama has biases in the order of its rows", async () => {
    const biased = llama({ ...config, attention_bias: true });
    const random = new Random(88);
    for (const i of [0, 1])
      for (const [part, size] of Object.entries({ q: 16, k: 8, v: 8, o: 16 }))
        biased.tensors[`model.layers.${i}.self_attn.${part}_proj.bias`] = random.array([size]);
    const bytes = ggufOf(metadataOf("llama", llamaSizes), packedOf(biased.tensors, 4));
    expect(await logitsOf(heed(), bytes)).toEqual(await logitsOf(heed(), filesOf(biased)));
  });

  test("is read in a worker", async () => {
    const remote = await loadInWorker({ threads: 1 });
    const loaded = await remote.models.loadModel(remote, new Blob([file()]));
    const model = loaded as RemoteOf<CausalLanguageModel>;
    const written = await model.generate(ids, { maxLength: 9 });
    const own = await loadModel(heed(), file());
    if (!(own instanceof CausalLanguageModel)) throw new Error("expected a decoder");
    expect(written).toEqual(await own.generate(ids, { maxLength: 9 }));
    own.dispose();
    remote.dispose();
  });

  test("has the divisors of the rotation of Llama 3.1", async () => {
    const divisors = [1.5, 4];
    const tensors = packedOf(llama(config).tensors, 4);
    const freqs = plain(Float32Array.from(divisors), [2]);
    const bytes = ggufOf(metadataOf("llama", llamaSizes), {
      ...tensors,
      "rope_freqs.weight": freqs,
    });
    const scaled = { ...config, rope_scaling: { rope_type: "divisors", divisors } };
    expect(await logitsOf(heed(), { "m.gguf": bytes })).toEqual(
      await logitsOf(heed(), filesOf(llama(scaled))),
    );
  });

  test.each(["qwen2", "qwen3"])("of %s keeps the order of rows", async (name) => {
    const more = { ...config, model_type: name, tie_word_embeddings: true, head_dim: 4 };
    const checkpoint = llama(more);
    const random = new Random(7);
    for (const i of [0, 1]) {
      const layer = `model.layers.${i}.self_attn`;
      if (name === "qwen2")
        for (const [part, size] of [
          ["q", 16],
          ["k", 8],
          ["v", 8],
        ] as const)
          checkpoint.tensors[`${layer}.${part}_proj.bias`] = random.array([size]);
      else
        for (const part of ["q", "k"])
          checkpoint.tensors[`${layer}.${part}_norm.weight`] = random.array([4]);
    }
    const metadata = metadataOf(name, { ...llamaSizes, "attention.key_length": 4 });
    const bytes = ggufOf(metadata, packedOf(checkpoint.tensors));
    expect(await logitsOf(heed(), { "m.gguf": bytes })).toEqual(
      await logitsOf(heed(), filesOf(checkpoint)),
    );
  });

  test.each([
    ["gemma2", { attn_logit_softcapping: 0.75, final_logit_softcapping: 1.5 }],
    ["gemma3", { final_logit_softcapping: 1.5 }],
  ] as const)("of %s has norms whose weights count from 0", async (name, limits) => {
    const fields = {
      model_type: name === "gemma3" ? "gemma3_text" : name,
      ...limits,
      vocab_size: 23,
      hidden_size: 16,
      intermediate_size: 24,
      ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 4 },
      ...{ max_position_embeddings: 32, rms_norm_eps: Math.fround(1e-5), rope_theta: 700.5 },
      ...{ query_pre_attn_scalar: 4, sliding_window: 3, tie_word_embeddings: true },
    };
    const model = new CausalLanguageModel(heed(), fields, { seed: 3 });
    randomise(model, 4);
    const logits = heed().scope(() =>
      Array.from(model.forward(heed().tensor(ids, undefined, "int32")).logits.data),
    );
    const tensors: Record<string, Packed> = {};
    for (const [name, { data, shape }] of model.namedParameters()) {
      const isNorm = /norm\.weight$/.test(name);
      const values = isNorm
        ? (data as Float32Array).map((value) => value + 1)
        : (data as Float32Array);
      const own = name
        .replace(/post_attention_layernorm/, "post_attention_norm")
        .replace(/pre_feedforward_layernorm/, "ffn_norm")
        .replace(/post_feedforward_layernorm/, "post_ffw_norm");
      tensors[nameInFile(own)] = plain(values, shape);
    }
    model.dispose();
    const sizes = { ...llamaSizes, ...limits, "rope.freq_base": 700.5 };
    const own = { "attention.sliding_window": 3, "attention.key_length": 4 };
    const metadata = metadataOf(name, { ...sizes, ...own });
    const found = await logitsOf(heed(), ggufOf(metadata, tensors));
    expectNear(found, logits);
  });

  test("of Gemma with norms of 16 bits is refused, because 1 was added to their weights", async () => {
    const norm = { type: 1, shape: [16], bytes: new Uint8Array(32), values: new Float32Array(16) };
    const table = plain(new Float32Array(23 * 16), [23, 16]);
    const sizes = { ...llamaSizes, "attention.key_length": 4, "attention.sliding_window": 3 };
    const tensors = { "token_embd.weight": table, "output_norm.weight": norm };
    const load = loadModel(heed(), ggufOf(metadataOf("gemma3", sizes), tensors));
    await expect(load).rejects.toMatchObject({ code: "format" });
    await expect(load).rejects.toThrow(
      "output_norm.weight: type: expected F32 for the weights of a norm, got F16",
    );
  });

  test("of BERT is an encoder", async () => {
    const { config, tensors } = bert("bert");
    const body = Object.entries(tensors).filter(([name]) =>
      /^bert\.(embeddings|encoder)/.test(name),
    );
    const own = Object.fromEntries(body);
    const metadata = metadataOf("bert", {
      ...{ embedding_length: 12, block_count: 2, feed_forward_length: 20, context_length: 14 },
      ...{ "attention.head_count": 2, "attention.layer_norm_epsilon": Math.fround(1e-5) },
    });
    const states = async (files: ModelSource) => {
      const model = await loadModel(heed(), files, {});
      if (!(model instanceof MaskedLanguageModel)) throw new Error("expected an encoder");
      const found = heed().scope(() =>
        Array.from(model.forward(heed().tensor(ids, undefined, "int32")).output.data),
      );
      model.dispose();
      return found;
    };
    const pooled = (pooling: number) =>
      ggufOf({ ...metadata, "bert.pooling_type": pooling }, packedOf(own));
    const bytes = pooled(2);
    const files = {
      "config.json": jsonOf({ ...config, layer_norm_eps: Math.fround(1e-5) }),
      "model.safetensors": fileOf(own),
    };
    const wanted = await states(files);
    expect(await states({ "m.gguf": bytes })).toEqual(wanted);
    // The vector of a text is the state of its first token, divided by its length.
    const encoder = (await loadModel(heed(), { "m.gguf": bytes })) as MaskedLanguageModel;
    const given = { encode: () => ids[0] as number[], decode: () => "" };
    const vectors = await embed(encoder, given, ["any"]);
    const first = wanted.slice(0, 12);
    const length = Math.hypot(...first);
    expectNear(
      Array.from(vectors.data),
      first.map((value) => value / length),
    );
    for (const each of [encoder, vectors]) each.dispose();
    await expect(loadModel(heed(), pooled(4))).rejects.toThrow(
      "bert.pooling_type: expected 0 (none), 1 (mean), 2 (cls) or 3 (last token), got 4",
    );
  });

  test.each(packedTypes)("in blocks of %s is read exactly", async (type) => {
    const [size, vocabulary] = [256, 12];
    const random = new Random(11);
    const shapes = {
      ...{ "model.embed_tokens.weight": [vocabulary, size], "lm_head.weight": [vocabulary, size] },
      ...{ "model.layers.0.self_attn.q_proj.weight": [size, size] },
      ...{ "model.layers.0.self_attn.k_proj.weight": [64, size] },
      ...{ "model.layers.0.self_attn.v_proj.weight": [64, size] },
      ...{ "model.layers.0.self_attn.o_proj.weight": [size, size] },
      ...{ "model.layers.0.mlp.gate_proj.weight": [256, size] },
      ...{ "model.layers.0.mlp.up_proj.weight": [256, size] },
      ...{ "model.layers.0.mlp.down_proj.weight": [size, 256] },
    };
    const packed: Record<string, Packed> = {};
    const tensors: Tensors = {};
    for (const [name, shape] of Object.entries(shapes)) {
      const tensor = pack(type as PackedType, shape, random);
      packed[nameInFile(name)] = tensor;
      tensors[name] = { data: tensor.values, shape };
    }
    for (const name of [
      "model.norm",
      "model.layers.0.input_layernorm",
      "model.layers.0.post_attention_layernorm",
    ]) {
      tensors[`${name}.weight`] = random.array([size]);
      packed[nameInFile(`${name}.weight`)] = plain(
        (tensors[`${name}.weight`] as { data: Float32Array }).data,
        [size],
      );
    }
    const sizes = {
      ...{ embedding_length: size, block_count: 1, feed_forward_length: 256, context_length: 32 },
      ...{ "attention.head_count": 4, "attention.head_count_kv": 1 },
      ...{ "attention.layer_norm_rms_epsilon": Math.fround(1e-5) },
    };
    const fields = {
      ...{ model_type: "qwen2", vocab_size: vocabulary, hidden_size: size, intermediate_size: 256 },
      ...{ num_hidden_layers: 1, num_attention_heads: 4, num_key_value_heads: 1 },
      ...{ max_position_embeddings: 32, rms_norm_eps: Math.fround(1e-5) },
    };
    for (const [part, length] of [
      ["q", size],
      ["k", 64],
      ["v", 64],
    ] as const) {
      const bias = random.array([length]);
      tensors[`model.layers.0.self_attn.${part}_proj.bias`] = bias;
      packed[`blk.0.attn_${part}.bias`] = plain(bias.data, [length]);
    }
    const files = { "config.json": jsonOf(fields), "model.safetensors": fileOf(tensors) };
    const bytes = ggufOf(metadataOf("qwen2", sizes), packed);
    expect(await logitsOf(heed(), { "m.gguf": bytes })).toEqual(await logitsOf(heed(), files));
  });
});

describe("The tokenizer of a GGUF file", () => {
  const withTokens = (more: Record<string, Value>) => ({
    "m.gguf": ggufOf({ ...metadataOf("llama", llamaSizes), ...more }, packedOf(llama().tensors, 4)),
  });
  const kindsOf = (tokens: readonly string[]) =>
    Int32Array.from(tokens, (token) => (/^<.*>$/.test(token) ? 3 : 1));

  test.each([
    ["gpt-2", "It's 2024", ["It", "'s", "Ġ", "2", "0", "2", "4"]],
    ["smollm", "It's 2024", ["It", "'s", "Ġ", "2", "0", "2", "4"]],
    ["llama-bpe", "It's 2024", ["It", "'s", "Ġ", "20", "2", "4"]],
    ["qwen2", "It's 2024", ["It", "'s", "Ġ", "2", "0", "2", "4"]],
  ])("merges bytes as %s divides a text", async (pre, text, pieces) => {
    const single = ["I", "t", "'", "s", "Ġ", "2", "0", "4", "h"];
    const tokens = ["<end>", ...single, "It", "'s", "20", "24", "th"];
    const files = withTokens({
      ...{ "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": pre },
      ...{ "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": kindsOf(tokens) },
      ...{ "tokenizer.ggml.merges": ["I t", "' s", "2 0", "2 4", "t h"] },
      ...{ "tokenizer.ggml.eos_token_id": 0 },
    });
    const tokenizer = await loadTokenizer(files, Tokenizer);
    // Llama 3 alone reads numbers in groups of three digits.
    const isGpt2 = pre === "gpt-2";
    const expected = isGpt2 ? ["It", "'s", "Ġ", "20", "24"] : pieces;
    const { ids: found } = tokenizer.encode(`${text}<end>`);
    expect(found.map((id) => tokens[id])).toEqual([...expected, "<end>"]);
    expect(tokenizer.decode(found, { skip_special_tokens: true })).toBe(text);
  });

  test("of Llama 3 begins each text with its first token, and takes whole words", async () => {
    const tokens = ["<start>", "t", "h", "e", "th", "the"];
    const files = withTokens({
      ...{ "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "llama-bpe" },
      ...{ "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": kindsOf(tokens) },
      ...{ "tokenizer.ggml.merges": ["t h"], "tokenizer.ggml.bos_token_id": 0 },
    });
    // No merge makes "the".
    expect((await loadTokenizer(files, Tokenizer)).encode("the").ids).toEqual([0, 5]);
  });

  test("merges by scores with SentencePiece, and falls back to bytes", async () => {
    const bytes = Array.from(
      { length: 256 },
      (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`,
    );
    const words = ["▁", "t", "h", "e", "a", "th", "▁t", "▁th", "▁the", "he", "▁a"];
    const tokens = ["<unk>", "<s>", "</s>", ...bytes, ...words];
    const scores = Float32Array.from(tokens, (token) => -words.indexOf(token));
    const kinds = Int32Array.from(tokens, (_, i) => (i === 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1));
    const files = withTokens({
      ...{ "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens },
      ...{ "tokenizer.ggml.scores": scores, "tokenizer.ggml.token_type": kinds },
      ...{ "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2 },
    });
    const tokenizer = await loadTokenizer(files, Tokenizer);
    const { ids: found } = tokenizer.encode("the a é");
    expect(found.map((id) => tokens[id])).toEqual(["<s>", "▁the", "▁a", "▁", "<0xC3>", "<0xA9>"]);
    expect(tokenizer.decode(found, { skip_special_tokens: true })).toBe("the a é");
  });

  test.each([
    [true, "", "  the   thea ﬁ", "the thea fi"],
    [false, "", "the  a", "the  a"],
    [true, "<s>", "a the", "a the"],
  ])("finds the most likely pieces with Unigram: %#", async (isTrimmed, start, text, normal) => {
    const scored = {
      ...{ "▁": -2, t: -4, h: -4, e: -4, a: -3.5, f: -6, i: -6, th: -5, he: -5.5, ea: -4.5 },
      ...{ "▁t": -5, "▁th": -6.5, "▁the": -7.25, "▁a": -3 },
    };
    const tokens = ["<unk>", "<s>", "</s>", ...Object.keys(scored)];
    const scores = Float32Array.of(0, 0, 0, ...Object.values(scored));
    const files = withTokens({
      ...{ "tokenizer.ggml.model": "t5", "tokenizer.ggml.tokens": tokens },
      ...{ "tokenizer.ggml.scores": scores, "tokenizer.ggml.add_space_prefix": true },
      "tokenizer.ggml.token_type": Int32Array.from(tokens, (_, i) => (i === 0 ? 2 : i < 3 ? 3 : 1)),
      "tokenizer.ggml.remove_extra_whitespaces": isTrimmed,
      ...(isTrimmed && { "tokenizer.ggml.precompiled_charsmap": Int32Array.of(1, 255) }),
      ...(start && { "tokenizer.ggml.add_bos_token": true }),
      ...{ "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2 },
    });
    /** The best of all divisions of a text. */
    const best = (rest: string): { score: number; pieces: string[] } => {
      if (rest === "") return { score: 0, pieces: [] };
      const all = Object.entries(scored).flatMap(([piece, score]) => {
        if (!rest.startsWith(piece)) return [];
        const after = best(rest.slice(piece.length));
        return [{ score: score + after.score, pieces: [piece, ...after.pieces] }];
      });
      return all.reduce((a, b) => (b.score > a.score ? b : a), { score: -Infinity, pieces: [] });
    };
    const tokenizer = await loadTokenizer(files, Tokenizer);
    const { ids: found } = tokenizer.encode(text);
    const { pieces } = best(`▁${normal.replaceAll(" ", "▁")}`);
    expect(found.map((id) => tokens[id])).toEqual([...(start ? [start] : []), ...pieces, "</s>"]);
    expect(tokenizer.decode(found, { skip_special_tokens: true })).toBe(normal);
    expect(tokenizer.encode("x").ids).toContain(0);
  });

  test("finds words and their continuations with WordPiece", async () => {
    const tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁un", "able", "▁the", "▁,"];
    const files = withTokens({
      ...{ "tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": tokens },
      ...{ "tokenizer.ggml.token_type": Int32Array.from(tokens, (_, i) => (i < 4 ? 3 : 1)) },
      ...{ "tokenizer.ggml.bos_token_id": 2, "tokenizer.ggml.seperator_token_id": 3 },
    });
    const tokenizer = await loadTokenizer(files, Tokenizer);
    expect(tokenizer.encode("The unable, x").ids).toEqual([2, 6, 4, 5, 7, 1, 3]);
  });

  test.each([
    [
      { "tokenizer.ggml.model": "rwkv" },
      /tokenizer\.ggml\.model: expected gpt2, llama, t5, bert, got "rwkv"/,
    ],
    [{ "tokenizer.ggml.model": "toString" }, /tokenizer\.ggml\.model: expected .*, got "toString"/],
    [{}, /tokenizer\.ggml\.model: expected gpt2, llama, t5, bert, got undefined/],
    [
      { "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "tekken" },
      /tokenizer\.ggml\.pre: expected default, .*, got "tekken"/,
    ],
  ])("is named if it is not known: %o", async (more, message) => {
    const load = loadTokenizer(withTokens(more as Record<string, Value>), Tokenizer);
    await expect(load).rejects.toThrow(message);
    await expect(load).rejects.toMatchObject({ code: "format" });
  });
});

describe("A GGUF file is refused", () => {
  const tensors = packedOf(llama().tensors, 4);
  const metadata = metadataOf("llama", llamaSizes);
  const valid = ggufOf(metadata, tensors);
  const changed = (change: (view: DataView, bytes: Uint8Array) => void) => {
    const bytes = valid.slice();
    change(new DataView(bytes.buffer), bytes);
    return bytes;
  };
  /** The position after a text in the file. */
  const after = (text: string) => {
    const at = new TextDecoder("latin1").decode(valid).indexOf(text);
    return at + text.length;
  };
  // The entry of a tensor: the number of axes, two sizes, the type, the offset.
  const table = after("token_embd.weight");

  test.each(
    Object.entries<[Uint8Array<ArrayBuffer>, RegExp]>({
      "version 1": [ggufOf(metadata, tensors, { version: 1 }), /version: expected 2 or 3, got 1/],
      "an unknown architecture": [
        ggufOf(metadataOf("rwkv6", llamaSizes), tensors),
        /general\.architecture: expected llama, qwen2, qwen3, gemma2, gemma3, bert, got "rwkv6"/,
      ],
      "an architecture that every object has": [
        ggufOf(metadataOf("constructor", llamaSizes), tensors),
        /general\.architecture: expected llama, .*, got "constructor"/,
      ],
      "no architecture": [ggufOf({}, tensors), /general\.architecture: expected .*, got undefined/],
      "a size that is missing": [
        ggufOf({ "general.architecture": "llama" }, tensors),
        /llama\.embedding_length: expected a whole number, got none/,
      ],
      "an unknown quantisation": [
        changed((view) => view.setUint32(table + 20, 10, true)),
        /token_embd\.weight: type: expected F32, .*, got Q2_K/,
      ],
      "rows that are not whole blocks": [
        changed((view) => view.setUint32(table + 20, 8, true)),
        /token_embd\.weight: expected rows of a multiple of 32 as Q8_0, got 16/,
      ],
      "two tensors in one place": [
        changed((view) => view.setBigUint64(after("blk.0.attn_norm.weight") + 16, 0n, true)),
        /an overlap/,
      ],
      "a tensor beyond the file": [
        changed((view) => view.setBigUint64(table + 4, 2n ** 40n, true)),
        /token_embd\.weight: expected to (begin|end) /,
      ],
      "too many entries": [
        changed((view) => view.setBigUint64(8, 2n ** 50n, true)),
        /tensors: expected at most \d+ entries, got 1125899906842624/,
      ],
      "a text longer than the file": [
        changed((view) => view.setBigUint64(24, 2n ** 40n, true)),
        /metadata: expected at most the \d+ bytes that follow, got 1099511627776/,
      ],
      "a file that was cut off": [valid.slice(0, -100), /expected to end within the \d+ bytes/],
      "a header that was cut off": [valid.slice(0, 300), /expected at most/],
    }),
  )("with %s", async (_, [bytes, message]) => {
    const load = loadModel(heed(), { "m.gguf": bytes });
    await expect(load).rejects.toThrow(message);
    await expect(load).rejects.toMatchObject({ code: "format" });
  });

  test("or read, whatever bytes are changed", async () => {
    const place = fc.integer({ min: 0, max: valid.length - 1 });
    const change = fc.tuple(place, fc.integer({ min: 0, max: 255 }));
    const changes = fc.array(change, { minLength: 1, maxLength: 3 });
    const check = async (list: [number, number][]) => {
      const bytes = valid.slice();
      for (const [at, byte] of list) bytes[at] = byte;
      try {
        (await loadModel(heed(), { "m.gguf": bytes })).dispose();
      } catch (error) {
        if (!(error instanceof HeedError)) throw error;
        expect(["format", "memory", "load"]).toContain(error.code);
      }
    };
    await fc.assert(fc.asyncProperty(changes, check), { numRuns: 400, seed: 29 });
  });
});
