// Encoders of the hub: ModernBERT and MPNet, heads and classifiers, compared with references in double precision; and
// the names of tensors in published checkpoints.

import type { Heed, Tensor } from "heed";
import { type HubConfig, loadModel, MaskedLanguageModel } from "heed/models";
import { nn, safetensors } from "heed/nn";
import { describe, expect, test } from "vitest";
import { jsonOf } from "../checkpoints.js";
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
  local_attention: 4,
  global_attn_every_n_layers: 2,
  global_rope_theta: 900,
  local_rope_theta: 80,
  ...more,
});
const mpnet = (architecture: string): HubConfig => ({
  ...{ ...sizes, model_type: "mpnet", architectures: [architecture], layer_norm_eps: 1e-12 },
  relative_attention_num_buckets: 32,
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

describe("A model of masked words", () => {
  const heed = engine({ threads: 1 });

  test("of MPNet has a bias for each class of distances", () => {
    heed().scope(() => {
      const config = { ...mpnet("MPNetModel"), num_hidden_layers: 1, num_attention_heads: 1 };
      const long = { ...config, max_position_embeddings: 204 };
      const model = new MaskedLanguageModel(heed(), long);
      const state = model.stateDict();
      // Without queries, the scores are the biases: a tenth of the row's number.
      state["model.layers.0.self_attn.q_proj.weight"]?.data.fill(0);
      const table = state["model.distances.weight"] as Tensor;
      table.data.set(Float32Array.from({ length: 32 }, (_, row) => row / 10));
      const classes: number[] = [];
      nn.captureAttention(
        model,
        (_, weights, compared) => {
          const of = (key: number) => Math.log(weights.data[200 * 130 + key] as number);
          // The captured scores have the biases, too.
          const scores = compared?.().scores().data ?? expect.fail("nothing to compare");
          expect(scores[200 * 130 + 130]).toBe(0);
          expect(scores[200 * 130 + 199]).toBeCloseTo(3, 5);
          for (const key of [130, 129, 123, 122, 115, 114, 98, 66, 3, 0, 131, 138, 162, 199])
            classes.push(Math.round(10 * (of(key) - of(130))));
        },
        () => model.forward(heed().tensor(new Int32Array(200).fill(2), [1, 200])),
      );
      expect(classes).toEqual([0, 1, 7, 8, 9, 10, 12, 14, 15, 15, 17, 24, 28, 30]);
    });
  });

  test.each(["bert", "roberta", "mpnet", "modernbert"])(
    "of %s has its own weights of words where they are not tied",
    async (type) => {
      const config = {
        ...{ ...sizes, num_hidden_layers: 1, model_type: type, tie_word_embeddings: false },
        architectures: ["AnyForMaskedLM"],
      };
      const names: Readonly<Record<string, string>> = {
        bert: "cls.predictions.decoder.weight",
        modernbert: "decoder.weight",
      };
      const made = new MaskedLanguageModel(heed(), config);
      const own = made.stateDict()["lm_head.weight"]?.data.slice() as Float32Array;
      expect(own.length).toBe(V * 12);
      const files = { "config.json": jsonOf(config), "model.safetensors": safetensors.write({}) };
      const table = names[type] ?? "lm_head.decoder.weight";
      const weights = { [table]: { dtype: "float32", shape: [V, 12], data: own } } as const;
      const partly = { ...files, "model.safetensors": safetensors.write(weights) };
      const error = (await loadModel(heed(), partly, {}).catch((error) => error)) as Error;
      expect(error.message).toMatch(/^weights: expected .* missing: /);
      expect(error.message).not.toContain(table);
      const { logits } = heed().scope(() => {
        const { output, logits, weights } = runs(heed(), made);
        for (const each of weights) each.dispose();
        const wanted = made.lmHead?.norm.forward(
          made.lmHead.dense.forward(output, "gelu"),
        ) as Tensor;
        const bias = made.lmHead?.bias as Tensor;
        const weight = made.lmHead?.weight as Tensor;
        return {
          logits: [logits, heed().linear(wanted, weight, { bias })].map((x) => [...x.data]),
        };
      });
      expect(logits[0]).toEqual(logits[1]);
      made.dispose();
    },
  );

  test.each([
    [
      { ...mpnet("MPNetModel"), relative_attention_num_buckets: 8 },
      "relative_attention_num_buckets",
    ],
    [modern("ModernBertModel", { hidden_size: 9 }), "head_dim"],
    [{ ...sizes, model_type: "bert", is_decoder: true }, "is_decoder"],
    [
      modern("ModernBertModel", {
        classifier_pooling: 1,
        architectures: ["AForTokenClassification"],
      }),
      "classifier_pooling",
    ],
    [{ ...modern("AForSequenceClassification"), id2label: {} }, "id2label"],
  ])("is refused with the name of the field: %#", (config, field) => {
    const make = () => new MaskedLanguageModel(heed(), config as HubConfig);
    expect(make).toThrow(`config.${field}: expected`);
    expect(heed().memory().tensors.count).toBe(0);
  });
});

describe("A classifier", () => {
  const heed = engine({ threads: 1 });
  const labels = { id2label: { 0: "bad", 1: "so so", 2: "good" } };
  const bert = (task: string) => ({
    ...{ ...sizes, model_type: "bert", architectures: [`BertFor${task}`] },
  });
  const roberta = (task: string) => ({
    ...{ ...sizes, model_type: "roberta", pad_token_id: 1, architectures: [`RobertaFor${task}`] },
  });
  const distil = (task: string) => ({
    model_type: "distilbert",
    vocab_size: V,
    dim: 12,
    n_heads: 2,
    n_layers: 2,
    hidden_dim: 20,
    max_position_embeddings: 32,
    architectures: [`DistilBertFor${task}`],
  });

  /** The state that the classifier of a text reads. */
  const reads = {
    first: (x: number[][]) => x[0] as number[],
    mean: (x: number[][]) =>
      (x[0] as number[]).map(
        (_, c) => x.reduce((sum, row) => sum + (row[c] as number), 0) / x.length,
      ),
  };

  test.each([
    ["BERT's pooler", bert("SequenceClassification"), Math.tanh, "first"],
    ["RoBERTa's hidden layer", roberta("SequenceClassification"), Math.tanh, "first"],
    ["DistilBERT's hidden layer", distil("SequenceClassification"), activations.relu, "first"],
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
    ["token", "TokenClassification", 3],
    ["question", "QuestionAnswering", 2],
  ] as const)("reads each state: %s", (task, kind, count) => {
    heed().scope(() => {
      for (const config of [bert(kind), roberta(kind), distil(kind), mpnet(`MPNetFor${kind}`)]) {
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

  const named = (...layers: string[]) =>
    layers.flatMap((layer) => [`${layer}.weight`, `${layer}.bias`]);

  test.each([
    ["bert", bert("SequenceClassification"), named("pooler.dense", "classifier")],
    ["bert", bert("TokenClassification"), named("classifier")],
    ["bert", bert("QuestionAnswering"), named("qa_outputs")],
    [
      "roberta",
      roberta("SequenceClassification"),
      named("classifier.dense", "classifier.out_proj"),
    ],
    ["roberta", roberta("TokenClassification"), named("classifier")],
    ["distilbert", distil("SequenceClassification"), named("pre_classifier", "classifier")],
    ["distilbert", distil("QuestionAnswering"), named("qa_outputs")],
    [
      "mpnet",
      mpnet("MPNetForSequenceClassification"),
      named("classifier.dense", "classifier.out_proj"),
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
