// Encoders of the hub: ModernBERT and MPNet, classifiers, and vectors of texts, compared with references in double
// precision; and the names of tensors in published checkpoints.

import type { Heed, Tensor } from "heed";
import {
  answerQuestion,
  ByteTokenizer,
  classify,
  classifyTokens,
  embed,
  type HubConfig,
  loadModel,
  MaskedLanguageModel,
  similarity,
} from "heed/models";
import { nn, safetensors } from "heed/nn";
import { loadInWorker } from "heed/worker";
import { describe, expect, test } from "vitest";
import { bert, fileOf, jsonOf } from "../checkpoints.js";
import { describeEngines, engine } from "../engine.js";
import { encoder, maskedLogits } from "../language_oracle.js";
import { layerNorm, linear, map } from "../layer_oracle.js";
import { expectValues, randomise } from "../modules.js";
import { activations, type Values } from "../oracle.js";
import { Random } from "../values.js";

const [B, L, V] = [2, 9, 23];
const sizes = {
  ...{ vocab_size: V, hidden_size: 12, intermediate_size: 20, num_hidden_layers: 3 },
  ...{ num_attention_heads: 2, max_position_embeddings: 32 },
};
const modern = (architecture: string, more: HubConfig = {}): HubConfig => ({
  ...{ ...sizes, model_type: "modernbert", num_attention_heads: 3, architectures: [architecture] },
  ...{
    local_attention: 4,
    global_attn_every_n_layers: 2,
    global_rope_theta: 900,
    local_rope_theta: 80,
  },
  ...more,
});
const mpnet = (architecture: string): HubConfig => ({
  ...{ ...sizes, model_type: "mpnet", architectures: [architecture], layer_norm_eps: 1e-12 },
  relative_attention_num_buckets: 8,
});
const modernLayers = [{ base: 900 }, { base: 80, window: 2 }, { base: 900 }];

const random = new Random(61);
const ids: Values & { data: number[] } = {
  data: Array.from({ length: B * L }, (_, i) => (i % L > 6 && i > L ? 1 : random.whole(2, V - 1))),
  shape: [B, L],
};
const keys: Values & { data: number[] } = {
  data: ids.data.map((id) => (id === 1 ? 0 : 1)),
  shape: [B, L],
};
const isSeen = (at: number) => keys.data[at] === 1;

function runs(heed: Heed, model: MaskedLanguageModel) {
  const weights: Tensor[] = [];
  const result = nn.captureAttention(
    model,
    (_, each) => weights.push(heed.keep(heed.multiply(each, 1))),
    () =>
      model.forward(heed.tensor(Int32Array.from(ids.data), [B, L]), {
        keyMask: heed.tensor(Uint8Array.from(keys.data), [B, L], "bool"),
        ...{ needHiddenStates: true, needLogits: true },
      }),
  );
  return { ...result, weights };
}

/** Compares the rows of positions that have a token. */
function expectRows(got: Tensor, wanted: Values, at: (row: number) => number = (row) => row): void {
  const size = got.shape.at(-1) as number;
  const [found, expected] = [got.data as Float32Array, wanted.data];
  expect(got.shape).toEqual(wanted.shape);
  for (let row = 0; row * size < found.length; ++row) {
    if (!isSeen(at(row))) continue;
    for (let i = row * size; i < (row + 1) * size; ++i)
      expect(Math.abs((found[i] as number) - (expected[i] as number))).toBeLessThan(2e-5);
  }
}

describeEngines((heed) => {
  test.each([
    ["ModernBERT", modern("ModernBertForMaskedLM"), modernLayers],
    [
      "ModernBERT with biases and types of layers",
      modern("ModernBertForMaskedLM", {
        ...{ attention_bias: true, mlp_bias: true, norm_bias: true, classifier_bias: true },
        layer_types: ["sliding_attention", "full_attention", "sliding_attention"],
        rope_parameters: {
          full_attention: { rope_type: "default", rope_theta: 900 },
          sliding_attention: { rope_type: "default", rope_theta: 80 },
        },
      }),
      [modernLayers[1], modernLayers[0], modernLayers[1]],
    ],
    ["MPNet", mpnet("MPNetForMaskedLM"), [{}, {}, {}]],
  ] as const)("%s: states, weights and logits are those of the oracle", (_, config, layers) => {
    heed().scope(() => {
      const model = new MaskedLanguageModel(heed(), config);
      const p = randomise(model, 62);
      const wanted = encoder(p, config, { ids, keys }, layers as typeof modernLayers);
      const { logits, hiddenStates, weights } = runs(heed(), model);
      for (const [i, state] of hiddenStates.entries())
        expectRows(state, wanted.hidden[i] as Values);
      for (const [i, each] of weights.entries()) {
        const heads = each.shape[1] as number;
        const place = (row: number) => Math.floor(row / L / heads) * L + (row % L);
        expectRows(each, wanted.weights[i] as Values, place);
        each.dispose();
      }
      const head = {
        dense: p.of("lm_head.dense"),
        norm: p.of("lm_head.norm"),
        bias: p.get("lm_head.bias"),
      };
      const table = p.get("model.embed_tokens.weight");
      const eps = config.model_type === "modernbert" ? 1e-5 : 1e-12;
      expectRows(logits, maskedLogits({ ...head, table }, wanted.hidden.at(-1) as Values, eps));
    });
  });
});

describe("A classifier", () => {
  const heed = engine({ threads: 1 });
  const labels = { id2label: { 0: "bad", 1: "so so", 2: "good" } };
  const roberta = { ...sizes, model_type: "roberta", pad_token_id: 1 };
  const distil = {
    ...{
      model_type: "distilbert",
      vocab_size: V,
      dim: 12,
      n_heads: 2,
      n_layers: 2,
      hidden_dim: 20,
    },
    max_position_embeddings: 32,
  };

  /** The state that the classifier of a text reads. */
  const reads = {
    first: (x: number[][]) => x[0] as number[],
    mean: (x: number[][]) =>
      (x[0] as number[]).map(
        (_, c) => x.reduce((sum, row) => sum + (row[c] as number), 0) / x.length,
      ),
  };

  test.each([
    [
      "BERT's pooler",
      { ...sizes, model_type: "bert", architectures: ["BertForSequenceClassification"] },
      Math.tanh,
      "first",
    ],
    [
      "RoBERTa's hidden layer",
      { ...roberta, architectures: ["RobertaForSequenceClassification"] },
      Math.tanh,
      "first",
    ],
    [
      "DistilBERT's hidden layer",
      { ...distil, architectures: ["DistilBertForSequenceClassification"] },
      activations.relu,
      "first",
    ],
    [
      "ModernBERT's first state",
      modern("ModernBertForSequenceClassification"),
      activations.gelu,
      "first",
    ],
    [
      "ModernBERT's mean",
      modern("ModernBertForSequenceClassification", {
        classifier_pooling: "mean",
        classifier_bias: true,
      }),
      activations.gelu,
      "mean",
    ],
  ] as const)("reads %s", (_, config, activation, reading) => {
    heed().scope(() => {
      const model = new MaskedLanguageModel(heed(), { ...config, ...labels });
      const p = randomise(model, 63);
      const { output, logits } = runs(heed(), model);
      const states = [0, 1].map((b) =>
        Array.from({ length: L }, (_, i) =>
          Array.from(output.data.subarray((b * L + i) * 12, (b * L + i + 1) * 12)),
        ).filter((_, i) => isSeen(b * L + i)),
      );
      const data = states.flatMap((rows) => reads[reading](rows as number[][]));
      const dense = p.find("pooler.weight") ? p.of("pooler") : p.of("classifier.dense");
      const hidden = map(linear(dense, { data, shape: [2, 12] }), activation);
      const norm = p.of("classifier.norm");
      const read = norm.find("weight") ? layerNorm(norm, hidden, 1e-5) : hidden;
      expect(model.config.classifier?.labels).toEqual(["bad", "so so", "good"]);
      expectValues(logits, linear(p.of("classifier.out"), read));
    });
  });

  test.each([
    ["token", "ForTokenClassification", 3],
    ["question", "ForQuestionAnswering", 2],
  ] as const)("reads each state: %s", (task, ending, count) => {
    heed().scope(() => {
      for (const config of [
        { ...sizes, model_type: "bert", architectures: [`Bert${ending}`] },
        { ...roberta, architectures: [`Roberta${ending}`] },
        { ...distil, architectures: [`DistilBert${ending}`] },
        mpnet(`MPNet${ending}`),
      ]) {
        const model = new MaskedLanguageModel(heed(), { ...config, ...labels });
        const p = randomise(model, 64);
        const { output, logits } = runs(heed(), model);
        const states = { data: Array.from(output.data), shape: [...output.shape] };
        expect(model.config.classifier?.task).toBe(task);
        expect(logits.shape).toEqual([B, L, count]);
        expectValues(logits, linear(p.of("classifier.out"), states));
      }
    });
  });

  /** The tensors that a checkpoint of a model must have, in the order of the error that lists them. */
  async function needed(config: HubConfig): Promise<string[]> {
    const own = { ...config, num_hidden_layers: 1, n_layers: 1 };
    const files = { "config.json": jsonOf(own), "model.safetensors": safetensors.write({}) };
    const error = (await loadModel(heed(), files, {}).catch((error) => error)) as Error;
    return /missing: (.*)$/.exec(error.message)?.[1]?.split(", ") ?? [];
  }

  test.each([
    [
      "bert",
      { ...sizes, model_type: "bert", architectures: ["BertForSequenceClassification"] },
      ["pooler.dense.weight", "pooler.dense.bias", "classifier.weight", "classifier.bias"],
    ],
    [
      "bert",
      { ...sizes, model_type: "bert", architectures: ["BertForTokenClassification"] },
      ["classifier.weight", "classifier.bias"],
    ],
    [
      "bert",
      { ...sizes, model_type: "bert", architectures: ["BertForQuestionAnswering"] },
      ["qa_outputs.weight", "qa_outputs.bias"],
    ],
    [
      "roberta",
      { ...roberta, architectures: ["RobertaForSequenceClassification"] },
      [
        "classifier.dense.weight",
        "classifier.dense.bias",
        "classifier.out_proj.weight",
        "classifier.out_proj.bias",
      ],
    ],
    [
      "roberta",
      { ...roberta, architectures: ["RobertaForTokenClassification"] },
      ["classifier.weight", "classifier.bias"],
    ],
    [
      "distilbert",
      { ...distil, architectures: ["DistilBertForSequenceClassification"] },
      ["pre_classifier.weight", "pre_classifier.bias", "classifier.weight", "classifier.bias"],
    ],
    [
      "distilbert",
      { ...distil, architectures: ["DistilBertForQuestionAnswering"] },
      ["qa_outputs.weight", "qa_outputs.bias"],
    ],
    [
      "mpnet",
      mpnet("MPNetForSequenceClassification"),
      [
        "classifier.dense.weight",
        "classifier.dense.bias",
        "classifier.out_proj.weight",
        "classifier.out_proj.bias",
      ],
    ],
    [
      "modernbert",
      modern("ModernBertForSequenceClassification"),
      ["head.dense.weight", "head.norm.weight", "classifier.weight", "classifier.bias"],
    ],
    [
      "modernbert",
      modern("ModernBertForQuestionAnswering"),
      ["head.dense.weight", "head.norm.weight", "classifier.weight", "classifier.bias"],
    ],
  ] as const)("of %s has the names of published checkpoints", async (_, config, names) => {
    const all = await needed(config);
    expect(all.slice(-names.length)).toEqual(names);
  });

  test("of MPNet has the names of its layers", async () => {
    const all = await needed(mpnet("MPNetForTokenClassification"));
    const layer = "encoder.layer.0.attention";
    expect(all).toContain("encoder.relative_attention_bias.weight");
    for (const part of ["q", "k", "v", "o"]) expect(all).toContain(`${layer}.attn.${part}.weight`);
    expect(all).toContain(`${layer}.LayerNorm.weight`);
  });
});

/** One token for each letter, between a first and a last token. */
const letters = {
  encode(text: string, { text_pair: other }: { text_pair?: string } = {}) {
    const of = (each: string) => [...each].map((letter) => 4 + (letter.charCodeAt(0) % 19));
    const first = [2, ...of(text), 3];
    const second = other === undefined ? [] : [...of(other), 3];
    return {
      ids: [...first, ...second],
      token_type_ids: [...first.map(() => 0), ...second.map(() => 1)],
    };
  },
  decode: (ids: number[]) => ids.map((id) => String.fromCharCode(95 + id)).join(""),
};

describe("Texts", () => {
  const heed = engine({ threads: 1 });
  const config = { ...sizes, model_type: "bert", architectures: ["BertForSequenceClassification"] };
  const texts = ["abc", "a longer text", "x"];
  const alone = (model: MaskedLanguageModel, text: string) =>
    heed().scope(() => {
      const { ids } = letters.encode(text);
      const { logits } = model.forward(heed().tensor([ids], undefined, "int32"), {
        needLogits: true,
      });
      return Array.from(logits.data);
    });
  const softmaxOf = (row: number[]) => {
    const sum = row.reduce((total, each) => total + Math.exp(each), 0);
    return row.map((each) => Math.exp(each) / sum);
  };

  test("are classified in padded batches as each alone", async () => {
    const seen: string[] = [];
    for (const [problem, scoresOf] of [
      ["single_label_classification", softmaxOf],
      [
        "multi_label_classification",
        (row: number[]) => row.map((each) => 1 / (1 + Math.exp(-each))),
      ],
      ["regression", (row: number[]) => row],
    ] as const) {
      const model = new MaskedLanguageModel(heed(), {
        ...config,
        problem_type: problem,
        num_labels: 2,
      });
      randomise(model, 71);
      const onProgress = (done: number, total: number) => seen.push(`${done} of ${total}`);
      const found = await classify(model, letters, texts, { batchSize: 2, onProgress });
      for (const [i, text] of texts.entries()) {
        const wanted = scoresOf(alone(model, text));
        const { label, score, scores } = found[i] as (typeof found)[number];
        for (const [c, each] of wanted.entries()) expect(scores[c]).toBeCloseTo(each, 5);
        expect(score).toBe(Math.max(...scores));
        expect(label).toBe(`LABEL_${scores.indexOf(score)}`);
      }
      model.dispose();
    }
    expect(seen).toEqual(["2 of 3", "3 of 3", "2 of 3", "3 of 3", "2 of 3", "3 of 3"]);
    expect(heed().memory().tensors.count).toBe(0);
  });

  test("have a class for each token", async () => {
    const own = {
      ...config,
      architectures: ["BertForTokenClassification"],
      id2label: { 0: "O", 1: "NAME" },
    };
    const model = new MaskedLanguageModel(heed(), own);
    randomise(model, 72);
    const found = await classifyTokens(model, letters, texts);
    for (const [i, text] of texts.entries()) {
      const wanted = alone(model, text);
      expect(found[i]?.map(({ token }) => token)).toEqual(letters.encode(text).ids);
      for (const [at, { label, scores, text: piece, token }] of (found[i] ?? []).entries()) {
        expect(piece).toBe(letters.decode([token]));
        const own = softmaxOf(wanted.slice(2 * at, 2 * at + 2));
        for (const [c, each] of own.entries()) expect(scores[c]).toBeCloseTo(each, 5);
        expect(label).toBe((own[0] as number) >= (own[1] as number) ? "O" : "NAME");
      }
    }
    model.dispose();
  });

  test("have an answer to a question", async () => {
    const own = { ...config, architectures: ["BertForQuestionAnswering"] };
    const model = new MaskedLanguageModel(heed(), own);
    randomise(model, 73);
    const [question, text] = ["who", "it was a cat in the hat"];
    const { ids, token_type_ids: types } = letters.encode(question, { text_pair: text });
    const logits = heed().scope(() =>
      Array.from(
        model.forward(heed().tensor([ids], undefined, "int32"), {
          typeIds: heed().tensor([types], undefined, "int32"),
          needLogits: true,
        }).logits.data,
      ),
    );
    const begin = question.length + 2;
    const inText = Array.from(text, (_, i) => i + begin);
    const [starts, ends] = [0, 1].map((c) =>
      softmaxOf(inText.map((at) => logits[2 * at + c] as number)),
    );
    let best = { score: 0, first: 0, last: 0 };
    for (const [i, start] of (starts ?? []).entries())
      for (const [j, end] of (ends ?? []).entries())
        if (j >= i && j < i + 15 && start * end > best.score)
          best = { score: start * end, first: begin + i, last: begin + j };
    const found = await answerQuestion(model, letters, question, text);
    expect(found).toMatchObject({ first: best.first, last: best.last });
    expect(found.score).toBeCloseTo(best.score, 5);
    expect(found.text).toBe(letters.decode(ids.slice(best.first, best.last + 1)));
    model.dispose();
  });

  test("are refused by another kind of model, with what is expected", async () => {
    const model = new MaskedLanguageModel(heed(), config);
    const refused = [
      [
        () => classifyTokens(model, letters, texts),
        "model: expected a classifier of tokens, got one of texts",
      ],
      [
        () => answerQuestion(model, letters, "a", "b"),
        "model: expected a classifier of answers, got one of texts",
      ],
      [() => classify(model, letters, ["a", 1] as never), "texts: expected a list of texts, got "],
      [
        () => embed(model, letters, texts, { batchSize: 0 }),
        "batchSize: expected a whole number from 1 to 4096, got 0",
      ],
    ] as const;
    for (const [call, message] of refused) await expect(call()).rejects.toThrow(message);
    const controller = new AbortController();
    const stopped = classify(model, letters, texts, {
      ...{ batchSize: 1, signal: controller.signal },
      onProgress: () => controller.abort(new Error("enough")),
    });
    await expect(stopped).rejects.toThrow("enough");
    model.dispose();
  });
});

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
    // The first token and the three letters of the prompt do not count.
    closeTo(own.data, poolings.mean_tokens?.(states.slice(4)) ?? []);
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
    remote.dispose();
    own.dispose();
    model.dispose();
  });
});
