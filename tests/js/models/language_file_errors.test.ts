// Files of language models that are refused, with errors that name every fault.

import { type HeedError, load } from "heed";
import { loadModel } from "heed/models";
import { safetensors } from "heed/nn";
import { describe, expect, test } from "vitest";
import { fileOf, filesOf, jsonOf, llama, phi3, shardsOf, type Tensors } from "../checkpoints.js";
import { engine, refusalOf } from "../engine.js";

describe("files are refused", () => {
  const heed = engine({ threads: 1 });
  const { config, tensors } = llama();
  const good = filesOf(llama());

  async function refusal(source: unknown, options = {}): Promise<HeedError> {
    const error = await refusalOf(loadModel(heed(), source as string, options));
    expect(heed().memory().tensors.count).toBe(0);
    expect(heed().memory().packedWeights.count).toBe(0);
    return error;
  }
  const messageOf = async (source: unknown) => (await refusal(source)).message;

  test("that are no source", async () => {
    for (const source of [null, 3, [3], { "config.json": 3 }]) {
      const { code, message } = await refusal(source);
      expect(code).toBe("option");
      expect(message).toMatch(
        /^files: expected an address, a folder, a list of files, or files by name/,
      );
    }
    const file = good["model.safetensors"] as Uint8Array<ArrayBuffer>;
    for (const alone of [new Blob([file]), new File([file], "a.safetensors"), file, file.buffer]) {
      const { code, message } = await refusal(alone);
      expect(code).toBe("option");
      expect(message).toMatch(
        /^files: expected a GGUF file, or config.json and model.safetensors together, .*, got an? \w+ alone$/,
      );
    }
    const { message } = await refusal(good, { dtype: "int2" });
    expect(message).toBe('dtype: expected "float32" or "float16" or "int8" or "int4", got "int2"');
  });

  test("whose weights are in another format", async () => {
    const config = { ...llama().config, quantization_config: { quant_method: "gptq", bits: 4 } };
    expect(await messageOf({ ...good, "config.json": jsonOf(config) })).toBe(
      'config.json: config.quantization_config: expected none: weights are float32, float16 or bfloat16, or a GGUF file packs them, got "gptq"',
    );
    const pointer = new TextEncoder().encode("version https://git-lfs.github.com/spec/v1\noid a\n");
    expect(await messageOf({ ...good, "model.safetensors": pointer })).toBe(
      "model.safetensors: expected a file of safetensors, got its pointer in Git LFS",
    );
  });

  test("of which one is missing", async () => {
    const { "config.json": json, "model.safetensors": file } = good;
    expect(await messageOf({ "model.safetensors": file })).toBe(
      "files: expected config.json, got model.safetensors",
    );
    expect(await messageOf({ "config.json": json, "vocab.txt": file })).toBe(
      "files: expected model.safetensors or model.safetensors.index.json, got config.json, vocab.txt",
    );
    const shards = shardsOf(llama(), 2);
    const { "model-00002-of-00002.safetensors": _, ...without } = shards;
    expect(await messageOf(without)).toMatch(
      /^files: expected model-00002-of-00002.safetensors, got config/,
    );
    expect((await refusal(without)).code).toBe("load");
  });

  test("whose config is not JSON, or says what no model can be", async () => {
    const withConfig = (json: unknown) => ({ ...good, "config.json": json });
    expect(await messageOf(withConfig(new TextEncoder().encode("{")))).toMatch(
      /^config.json: expected JSON/,
    );
    expect(await messageOf(withConfig(jsonOf([])))).toBe("config.json: expected an object, got []");
    expect(await messageOf(withConfig(jsonOf({ ...config, model_type: "bloom" })))).toMatch(
      /^config.json: config.model_type: expected "gpt2" or .* got "bloom"$/,
    );
    const { code, message } = await refusal(withConfig(jsonOf({ ...config, hidden_size: "16" })));
    expect(code).toBe("format");
    expect(message).toBe(
      'config.json: config.hidden_size: expected a whole number from 1 to 2147483647, got "16"',
    );
  });

  test("whose tensors are missing or do not fit, all named in one error", async () => {
    const { "model.norm.weight": _, "lm_head.weight": __, ...rest } = tensors;
    const narrow = { data: new Float32Array(8), shape: [8] };
    const key = "model.layers.1.self_attn.k_proj.weight";
    const entries = { ...rest, "model.layers.0.input_layernorm.weight": narrow };
    const whole = Object.fromEntries(
      Object.entries(entries).map(([name, tensor]) => [name, { dtype: "float32", ...tensor }]),
    );
    const file = safetensors.write({
      ...whole,
      [key]: { dtype: "int8", shape: [8, 16], data: new Int8Array(128) },
    } as never);
    const { code, message } = await refusal({ ...good, "model.safetensors": file });
    expect(code).toBe("format");
    expect(message).toBe(
      "weights: expected the tensors of llama, got 2 missing: model.norm.weight, lm_head.weight; 2 not fitting: " +
        `model.layers.0.input_layernorm.weight (expected [16], got [8]), ${key} (expected float32, float16 or bfloat16, got int8)`,
    );
  });

  test("whose header or data is wrong", async () => {
    const file = good["model.safetensors"] as Uint8Array;
    const withFile = (bytes: Uint8Array) => ({ ...good, "model.safetensors": bytes });
    expect(await messageOf(withFile(file.slice(0, 5)))).toBe(
      "model.safetensors: file: expected a header's length in 8 bytes, got 5 bytes",
    );
    const absurd = file.slice();
    absurd.fill(255, 0, 8);
    expect(await messageOf(withFile(absurd))).toMatch(
      /^model.safetensors: header: expected at most \d+ bytes, got 18446744073709551615 bytes$/,
    );
    expect(await messageOf(withFile(file.slice(0, -4)))).toMatch(
      /^model.safetensors: .*data_offsets: expected \[begin, end\] within the \d+ bytes of data/,
    );
    const name = "model.layers.0.mlp.up_proj.weight";
    const data = (tensors[name] as Tensors[string]).data.slice();
    data[17] = Number.NaN;
    const odd = { ...tensors, [name]: { data, shape: [24, 16] } };
    expect(await messageOf(withFile(fileOf(odd)))).toBe(
      `model.safetensors: ${name}: expected finite numbers, got another at place 17`,
    );
    const { own } = phi3();
    const joined = "model.layers.1.self_attn.qkv_proj.weight";
    // In the values, which follow the queries and keys.
    (own.tensors[joined] as Tensors[string]).data[400] = Number.NaN;
    expect(await messageOf(filesOf(own))).toBe(
      `model.safetensors: ${joined}: expected finite numbers, got another at place 400`,
    );
  });

  test("whose index is wrong, or leads elsewhere", async () => {
    const shards = shardsOf(llama(), 2);
    const withIndex = (index: unknown) => ({
      ...shards,
      "model.safetensors.index.json": jsonOf(index),
    });
    expect(await messageOf(withIndex({}))).toMatch(
      /index.json: expected a weight_map with the file of each/,
    );
    expect(await messageOf(withIndex({ weight_map: { a: "../b.safetensors" } }))).toBe(
      'model.safetensors.index.json: a: expected the name of a safetensors file, got "../b.safetensors"',
    );
    const twice = { ...shards, "model-00002-of-00002.safetensors": good["model.safetensors"] };
    expect(await messageOf(twice)).toBe(
      "lm_head.weight: expected to be in one file, got model-00001-of-00002.safetensors and model-00002-of-00002.safetensors",
    );
  });

  test("whose reader gives other bytes than asked for", async () => {
    const file = good["model.safetensors"] as Uint8Array;
    const read = async (start: number, end: number) =>
      file.slice(start, end - start > 1000 && start > 8 ? end - 1 : end);
    const source = { ...good, "model.safetensors": { size: file.length, read } };
    expect(await messageOf(source)).toMatch(/expected \d+ bytes|expected an object in JSON/);
  });
});

test("a model too large for the memory is refused before it is read, with the types that fit", async () => {
  const heed = await load({ threads: 1 });
  const [vocabulary, size] = [100_000, 16_384];
  const config = {
    ...{ model_type: "llama", vocab_size: vocabulary, hidden_size: size, intermediate_size: 1 },
    ...{ num_hidden_layers: 1, num_attention_heads: 1, head_dim: 2, tie_word_embeddings: true },
  };
  const shapes: Record<string, number[]> = {
    ...{ "model.embed_tokens.weight": [vocabulary, size], "model.norm.weight": [size] },
    ...{ "model.layers.0.input_layernorm.weight": [size] },
    ...{ "model.layers.0.post_attention_layernorm.weight": [size] },
    ...{ "model.layers.0.self_attn.q_proj.weight": [2, size] },
    ...{ "model.layers.0.self_attn.k_proj.weight": [2, size] },
    ...{ "model.layers.0.self_attn.v_proj.weight": [2, size] },
    ...{ "model.layers.0.self_attn.o_proj.weight": [size, 2] },
    ...{ "model.layers.0.mlp.gate_proj.weight": [1, size] },
    ...{ "model.layers.0.mlp.up_proj.weight": [1, size] },
    ...{ "model.layers.0.mlp.down_proj.weight": [size, 1] },
  };
  let end = 0;
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const begin = end;
    end += 2 * shape.reduce((a, b) => a * b, 1);
    return [name, { dtype: "F16", shape, data_offsets: [begin, end] }];
  });
  const header = jsonOf(Object.fromEntries(entries));
  const first = new Uint8Array(8 + header.length);
  new DataView(first.buffer).setBigUint64(0, BigInt(header.length), true);
  first.set(header, 8);
  let most = 0;
  const weights = {
    size: first.length + end,
    async read(start: number, stop: number) {
      most = Math.max(most, stop);
      return first.subarray(start, stop);
    },
  };
  const loading = loadModel(heed, { "config.json": jsonOf(config), "model.safetensors": weights });
  const numbers = vocabulary * size;
  await expect(loading).rejects.toThrow(
    /^dtype: expected weights of at most 4294967296 bytes, got \d+ as float32; float16 takes \d+, int8 takes \d+, int4 takes \d+$/,
  );
  await expect(loading).rejects.toMatchObject({ code: "memory" });
  const said = await loading.catch((error: Error) => error.message.match(/\d{8,}/g)?.map(Number));
  for (const [i, each] of [4, 2, 1].entries())
    expect(Math.abs(((said as number[])[i + 1] as number) - each * numbers)).toBeLessThan(2 ** 21);
  expect(most).toBeLessThanOrEqual(first.length);
  heed.dispose();
});

test("weights larger than a lower limit of the engine's memory are refused before they are read", async () => {
  const heed = await load({ threads: 1, warmUp: false, maxMemory: 16 * 2 ** 20 });
  const files = filesOf(llama({}, 150_000));
  await expect(loadModel(heed, files, {})).rejects.toThrow(
    /^dtype: expected weights of at most 16777216 bytes, got 19\d+ as float32; float16 takes 96\d+, /,
  );
  heed.dispose();
});
