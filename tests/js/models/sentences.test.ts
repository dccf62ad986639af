// Vectors of texts, from the files of sentence-transformers, compared with sums in double precision.

import {
  ByteTokenizer,
  classifyTokens,
  embed,
  loadModel,
  type MaskedLanguageModel,
  similarity,
} from "heed/models";
import { loadInWorker } from "heed/worker";
import { describe, expect, test } from "vitest";
import { bert, fileOf, jsonOf, roundedToBfloat16 } from "../checkpoints.js";
import { engine } from "../engine.js";
import type { Values } from "../oracle.js";
import { Random } from "../values.js";

describe("The vector of a text", () => {
  const heed = engine({ threads: 1 });
  const { config, tensors } = bert("bert");
  const body = Object.fromEntries(
    Object.entries(tensors).filter(([name]) => !/pooler|cls/.test(name)),
  );
  const modules = (...more: object[]) => [
    { idx: 0, name: "0", path: "", type: "sentence_transformers.models.Transformer" },
    { idx: 1, name: "1", path: "1_Pooling", type: "sentence_transformers.models.Pooling" },
    ...more,
  ];
  const normalize = {
    idx: 2,
    name: "2",
    path: "2_Normalize",
    type: "sentence_transformers.models.Normalize",
  };
  const filesWith = (
    pooling: object,
    list: object[] = modules(),
    more: Record<string, unknown> = {},
  ) => ({
    "config.json": jsonOf(config),
    "model.safetensors": fileOf(body),
    "modules.json": jsonOf(list),
    "1_Pooling/config.json": jsonOf(pooling),
    ...Object.fromEntries(
      Object.entries(more).map(([name, value]) => [
        name,
        value instanceof Uint8Array ? value : jsonOf(value),
      ]),
    ),
  });
  const ids = [2, 9, 4, 11, 3];
  const texts = ["e", "abcdefgh", "abc"];
  const tokens = {
    encode: (text: string) => [2, ...[...text].map((c) => c.charCodeAt(0) % 19), 3],
    decode: () => "",
  };

  async function encoderOf(files: object): Promise<MaskedLanguageModel> {
    return (await loadModel(
      heed(),
      files as Record<string, Uint8Array>,
      {},
    )) as MaskedLanguageModel;
  }
  const statesOf = (model: MaskedLanguageModel, own: readonly number[]) =>
    heed().scope(() => {
      const { output } = model.forward(heed().tensor([[...own]], undefined, "int32"));
      return own.map((_, i) => Array.from(output.data.subarray(12 * i, 12 * i + 12)));
    });
  type Rows = number[][];
  const weighted = (x: Rows, weight: (i: number) => number) =>
    (x[0] as number[]).map((_, c) =>
      x.reduce((sum, row, i) => sum + weight(i) * (row[c] as number), 0),
    );
  const poolings: Record<string, (x: Rows) => number[]> = {
    cls_token: (x) => x[0] as number[],
    max_tokens: (x) =>
      (x[0] as number[]).map((_, c) => Math.max(...x.map((row) => row[c] as number))),
    mean_tokens: (x) => weighted(x, () => 1 / x.length),
    mean_sqrt_len_tokens: (x) => weighted(x, () => 1 / Math.sqrt(x.length)),
    weightedmean_tokens: (x) => weighted(x, (i) => (2 * (i + 1)) / (x.length * (x.length + 1))),
    lasttoken: (x) => x.at(-1) as number[],
  };
  const only = (...names: string[]) =>
    Object.fromEntries(
      Object.keys(poolings).map((name) => [`pooling_mode_${name}`, names.includes(name)]),
    );
  const closeTo = (got: ArrayLike<number>, wanted: readonly number[]) => {
    expect(got.length).toBe(wanted.length);
    for (const [i, each] of wanted.entries()) expect(got[i]).toBeCloseTo(each, 4);
  };

  test.each(Object.keys(poolings))("is pooled by %s in padded batches", async (name) => {
    const model = await encoderOf(filesWith(only(name)));
    const vectors = await embed(model, tokens, texts, { batchSize: 3 });
    const wanted = texts.flatMap(
      (text) => poolings[name]?.(statesOf(model, tokens.encode(text))) ?? [],
    );
    expect(vectors.shape).toEqual([3, 12]);
    closeTo(vectors.data, wanted);
    vectors.dispose();
    model.dispose();
  });

  test("of no text has a size, too", async () => {
    const model = await encoderOf(filesWith(only("mean_tokens", "max_tokens")));
    using none = await embed(model, tokens, []);
    expect(none.shape).toEqual([0, 24]);
    model.dispose();
  });

  test("joins poolings, has linear layers, and length 1", async () => {
    const random = new Random(81);
    const dense = { "linear.weight": random.array([5, 24]), "linear.bias": random.array([5]) };
    const list = modules(
      { idx: 2, name: "2", path: "2_Dense", type: "sentence_transformers.models.Dense" },
      normalize,
    );
    const model = await encoderOf(
      filesWith(only("mean_tokens", "cls_token"), list, {
        "2_Dense/config.json": { activation_function: "torch.nn.modules.activation.Tanh" },
        "2_Dense/model.safetensors": fileOf(dense),
      }),
    );
    const vectors = await embed(model, { ...tokens, encode: () => ids }, ["any"]);
    const states = statesOf(model, ids);
    const joined = [...(states[0] as number[]), ...(poolings.mean_tokens?.(states) ?? [])];
    const rows = Array.from({ length: 5 }, (_, i) => {
      const sum = joined.reduce(
        (all, each, c) => all + each * (dense["linear.weight"].data[24 * i + c] as number),
        0,
      );
      return Math.tanh(sum + (dense["linear.bias"].data[i] as number));
    });
    closeTo(
      vectors.data,
      rows.map((each) => each / Math.hypot(...rows)),
    );
    vectors.dispose();
    model.dispose();
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("has the model's prompt, and is cut at its length", async () => {
    const settings = {
      "config_sentence_transformers.json": {
        prompts: { query: "q: ", text: "" },
        default_prompt_name: "query",
      },
      "sentence_bert_config.json": { max_seq_length: 6 },
    };
    const model = await encoderOf(
      filesWith({ ...only("mean_tokens"), include_prompt: false }, modules(), settings),
    );
    const states = statesOf(model, [...tokens.encode("q: abcdefgh").slice(0, 5), 3]);
    const own = await embed(model, tokens, ["abcdefgh"]);
    // The first token and the two letters of the prompt do not count.
    closeTo(own.data, poolings.mean_tokens?.(states.slice(3)) ?? []);
    const named = await embed(model, tokens, ["abc"], { prompt: "text" });
    closeTo(named.data, poolings.mean_tokens?.(statesOf(model, tokens.encode("abc"))) ?? []);
    const given = await embed(model, tokens, ["c"], { prompt: "ab" });
    closeTo(
      given.data,
      poolings.mean_tokens?.(statesOf(model, tokens.encode("abc")).slice(3)) ?? [],
    );
    for (const each of [own, named, given]) each.dispose();
    model.dispose();
  });

  test.each(["sentence_bert_config.json", "sentence_roberta_config.json"])(
    "is that of the text in lower case, without space around it, as %s says",
    async (name) => {
      const settings = { [name]: { max_seq_length: 8, do_lower_case: true } };
      const files = filesWith(only("mean_tokens"), modules(), settings);
      const roberta = { ...config, model_type: "roberta", pad_token_id: 1, type_vocab_size: 2 };
      const own = Object.entries(body).map(([name, tensor]) => [name.replace("bert.", ""), tensor]);
      const model = await encoderOf({
        ...files,
        "config.json": jsonOf(roberta),
        "model.safetensors": fileOf(Object.fromEntries(own)),
      });
      const vectors = await embed(model, tokens, [" ABCdefghijk\n"]);
      const cut = [...tokens.encode("abcdefghijk").slice(0, 7), 3];
      closeTo(vectors.data, poolings.mean_tokens?.(statesOf(model, cut)) ?? []);
      vectors.dispose();
      model.dispose();
    },
  );

  test("has a prompt that may be longer than the model reads", async () => {
    const settings = { "sentence_bert_config.json": { max_seq_length: 4 } };
    const model = await encoderOf(
      filesWith({ ...only("mean_tokens"), include_prompt: false }, modules(), settings),
    );
    const vectors = await embed(model, tokens, ["a", "b"], { prompt: "a long prompt " });
    expect(Array.from(vectors.data)).toEqual(new Array(24).fill(0));
    vectors.dispose();
    model.dispose();
  });

  test("is cut at its end where the tokenizer adds no last token", async () => {
    const settings = { "sentence_bert_config.json": { max_seq_length: 3 } };
    const model = await encoderOf(
      filesWith({ ...only("mean_tokens"), include_prompt: false }, modules(), settings),
    );
    const open = { ...tokens, encode: (text: string) => tokens.encode(text).slice(1, -1) };
    const vectors = await embed(model, open, ["abcd"], { prompt: "e" });
    const states = statesOf(model, open.encode("eabcd").slice(0, 3));
    closeTo(vectors.data, poolings.mean_tokens?.(states.slice(1)) ?? []);
    vectors.dispose();
    model.dispose();
  });

  test.each([
    ["mean_sqrt_len_tokens", ["mean_sqrt_len_tokens"]],
    [
      ["lasttoken", "cls"],
      ["lasttoken", "cls_token"],
    ],
  ])("has the poolings of newer files: %s", async (pooling_mode, names) => {
    const given = { embedding_dimension: 12, pooling_mode, include_prompt: true };
    const model = await encoderOf(filesWith(given));
    const vectors = await embed(model, { ...tokens, encode: () => ids }, ["any"]);
    const states = statesOf(model, ids);
    closeTo(
      vectors.data,
      names.flatMap((name) => poolings[name]?.(states) ?? []),
    );
    vectors.dispose();
    model.dispose();
  });

  test("has a linear layer in fewer bits", async () => {
    const weight = { "linear.weight": new Random(83).array([5, 12]) };
    const layer = {
      idx: 2,
      path: "2_Dense",
      type: "sentence_transformers.base.modules.dense.Dense",
    };
    const files = {
      "2_Dense/config.json": { activation_function: "torch.nn.modules.linear.Identity" },
      "2_Dense/model.safetensors": fileOf(weight, "bfloat16"),
    };
    const model = await encoderOf(filesWith(only("cls_token"), modules(layer), files));
    const vectors = await embed(model, { ...tokens, encode: () => ids }, ["any"]);
    const [state] = statesOf(model, ids) as [number[]];
    const { data } = roundedToBfloat16(weight)["linear.weight"] as Values;
    closeTo(
      vectors.data,
      Array.from({ length: 5 }, (_, i) =>
        state.reduce((sum, each, c) => sum + each * (data[12 * i + c] as number), 0),
      ),
    );
    vectors.dispose();
    model.dispose();
    expect(heed().memory().tensors.count).toBe(0);
  });

  test.each(["cosine", "dot"] as const)("is compared by %s", async (kind) => {
    const settings = { "config_sentence_transformers.json": { similarity_fn_name: kind } };
    const model = await encoderOf(filesWith(only("mean_tokens"), modules(), settings));
    const vectors = await embed(model, tokens, texts);
    const rows = [0, 1, 2].map((i) => Array.from(vectors.data.subarray(12 * i, 12 * i + 12)));
    const dot = (a: number[], b: number[]) =>
      a.reduce((sum, each, i) => sum + each * (b[i] as number), 0);
    const scale = (a: number[]) => (kind === "dot" ? 1 : Math.hypot(...a));
    const compared = similarity(model, vectors, vectors);
    closeTo(
      compared.data,
      rows.flatMap((a) => rows.map((b) => dot(a, b) / scale(a) / scale(b))),
    );
    for (const each of [vectors, compared]) each.dispose();
    model.dispose();
  });

  test.each([
    [
      filesWith(only()),
      /1_Pooling\/config\.json\.pooling_mode_\*: expected one of pooling_mode_cls_token/,
    ],
    [
      filesWith({}, modules({ type: "sentence_transformers.models.LSTM", path: "2_LSTM" })),
      /modules\.json: type: expected Transformer, Pooling, Dense or Normalize, got "sentence/,
    ],
    [
      filesWith({}, modules({ type: "x.Pooling", path: "../secret" })),
      /modules\.json: path: expected the name of a folder, got "\.\.\/secret"/,
    ],
    [
      filesWith({}, modules(), {
        "config_sentence_transformers.json": { similarity_fn_name: "euclidean" },
      }),
      /similarity_fn_name: expected "cosine" or "dot", got "euclidean"/,
    ],
    [filesWith({}, [1] as never), /modules\.json: expected a list of modules/],
    [
      { ...filesWith({}), "modules.json": new TextEncoder().encode("[") },
      /modules\.json: expected JSON/,
    ],
    [
      filesWith({}, [normalize, ...modules()]),
      /modules\.json: expected Transformer, Pooling, .*, got Normalize, Transformer, Pooling$/,
    ],
    [
      filesWith({ pooling_mode: ["mean", "median"] }),
      /pooling_mode: expected cls, max, mean, .*, got "median"$/,
    ],
    [
      filesWith({}, modules({ type: "x.Dense", path: "2_Dense" }), {
        "2_Dense/config.json": { activation_function: "torch.nn.modules.activation.Tanh" },
        "2_Dense/model.safetensors": fileOf({ "linear.weight": new Random(84).array([5, 11]) }),
      }),
      /2_Dense: linear\.weight: expected \[any, 12\], got /,
    ],
    [
      filesWith({}, modules({ type: "x.Dense", path: "2_Dense" }), {
        "2_Dense/config.json": { activation_function: "toString" },
      }),
      /activation_function: expected Identity or Tanh or .*, got "toString"$/,
    ],
  ])("is refused with the name of what is not known: %#", async (files, message) => {
    const load = loadModel(heed(), files as Record<string, Uint8Array>, {});
    await expect(load).rejects.toThrow(message);
    await expect(load).rejects.toMatchObject({ code: "format" });
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("is computed from files in a folder, and in a worker", async () => {
    const random = new Random(82);
    const table = { "bert.embeddings.word_embeddings.weight": random.array([300, 12]) };
    const files = {
      ...filesWith(only("mean_tokens"), modules(normalize)),
      "config.json": jsonOf({ ...config, vocab_size: 300 }),
      "model.safetensors": fileOf({ ...body, ...table }),
      "tokenizer.json": new TextEncoder().encode(ByteTokenizer.learn(["the cat"], 260).toFile()),
    };
    const listed = Object.entries(files).map(([path, bytes]) => {
      const file = new File([bytes as BlobPart], path.split("/").at(-1) as string);
      return Object.defineProperty(file, "webkitRelativePath", { value: `model/${path}` });
    });
    const { model, tokenizer } = await loadModel(heed(), listed, { tokenizer: true });
    const own = await embed(model, tokenizer, ["the cat", "a hat"]);
    const remote = await loadInWorker({ threads: 1 });
    const { models } = remote;
    const far = await models.loadModel(remote, files, { tokenizer: true });
    const vectors = await models.embed(far.model, far.tokenizer, ["the cat", "a hat"]);
    expect(Array.from(await vectors.data)).toEqual(Array.from(own.data));
    const compared = await models.similarity(far.model, vectors, vectors);
    closeTo(await compared.data, Array.from(similarity(model, own, own).data));
    const classes = { ...config, vocab_size: 300, architectures: ["BertForTokenClassification"] };
    const head = {
      "classifier.weight": random.array([2, 12]),
      "classifier.bias": random.array([2]),
    };
    const classifier = {
      ...files,
      "config.json": jsonOf(classes),
      "model.safetensors": fileOf({ ...body, ...table, ...head }),
    };
    const here = await loadModel(heed(), classifier, { tokenizer: true });
    const there = await models.loadModel(remote, classifier, { tokenizer: true });
    const labels = await models.classifyTokens(there.model, there.tokenizer, ["the cat"]);
    expect(labels).toEqual(await classifyTokens(here.model, here.tokenizer, ["the cat"]));
    here.model.dispose();
    remote.dispose();
    own.dispose();
    model.dispose();
  });
});
