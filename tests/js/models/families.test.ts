// A model of each architecture of the hub in a worker: it gives the results of the same model in the page.

import {
  CausalLanguageModel,
  type HubConfig,
  MaskedLanguageModel,
  Seq2SeqLanguageModel,
  VisionTransformer,
} from "heed/models";
import { loadInWorker } from "heed/worker";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engine } from "../engine.js";
import { Random } from "../values.js";

const llama = {
  ...{ vocab_size: 40, hidden_size: 16, intermediate_size: 24, num_hidden_layers: 2 },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 32 },
};
const gemma = { ...llama, head_dim: 4, query_pre_attn_scalar: 4, sliding_window: 3 };
const bert = { ...llama, pad_token_id: 1, layer_norm_eps: 1e-5 };
const bart = {
  ...{ vocab_size: 40, d_model: 12, encoder_layers: 1, decoder_layers: 1, pad_token_id: 1 },
  ...{ encoder_attention_heads: 3, decoder_attention_heads: 3, max_position_embeddings: 32 },
  ...{ encoder_ffn_dim: 20, decoder_ffn_dim: 16, eos_token_id: 2 },
};
const t5 = { vocab_size: 40, d_model: 12, d_kv: 4, d_ff: 20, num_layers: 1, num_heads: 3 };

const families: Readonly<Record<string, HubConfig>> = {
  gpt2: { vocab_size: 40, n_embd: 12, n_head: 3, n_layer: 2, n_positions: 32 },
  ...{ llama, mistral: { ...llama, sliding_window: 3 }, qwen2: llama, qwen3: llama, phi3: llama },
  ...{ gemma2: gemma, gemma3: { text_config: gemma }, gemma3_text: gemma },
  ...{ bert, roberta: bert, "xlm-roberta": bert, mpnet: bert, modernbert: bert },
  distilbert: { ...bert, dim: 12, n_heads: 3, n_layers: 2, hidden_dim: 20 },
  ...{ t5, mt5: t5, bart, mbart: bart, marian: bart, m2m_100: bart },
  vit: {
    ...{ image_size: 8, patch_size: 4, hidden_size: 12, num_hidden_layers: 2 },
    num_attention_heads: 3,
    intermediate_size: 20,
    architectures: ["ViTForImageClassification"],
  },
};

const ids = [
  [5, 6, 7, 8, 9],
  [4, 3],
];
const image = new Random(3).array([1, 3, 8, 8]);

interface Result {
  data: ArrayLike<number> | PromiseLike<ArrayLike<number>>;
}

/** The members that are used here of a model in the page or in a worker. */
interface Model {
  generate(ids: number[][], options: object): Promise<number[][]>;
  forward(x: unknown): PromiseLike<Record<"output" | "logits", Result>>;
  dispose(): unknown;
}

const classes = {
  CausalLanguageModel,
  MaskedLanguageModel,
  Seq2SeqLanguageModel,
  VisionTransformer,
};

/** The name of a class of models, and a call. */
type Kind = readonly [
  keyof typeof classes,
  (model: Model, heed: { tensor(...given: unknown[]): unknown }) => Promise<unknown[]>,
];

const drawn = { maxLength: 6, temperature: 1, minP: 0.01, repetitionPenalty: 1.1 };
const searched = { maxLength: 6, beams: 2, frequencyPenalty: 0.2 };
const decoder: Kind = ["CausalLanguageModel", (model) => model.generate(ids, drawn)];
const both: Kind = ["Seq2SeqLanguageModel", (model) => model.generate(ids, searched)];
const encoder: Kind = [
  "MaskedLanguageModel",
  async (model, heed) => {
    const { output } = await model.forward(await heed.tensor([ids[0]], undefined, "int32"));
    return Array.from(await output.data);
  },
];
const ofImages: Kind = [
  "VisionTransformer",
  async (model, heed) => {
    const { logits } = await model.forward(await heed.tensor(image.data, image.shape));
    return Array.from(await logits.data);
  },
];

const kindOf = (name: string, sizes: HubConfig): Kind => {
  if (name === "vit") return ofImages;
  if ("d_model" in sizes) return both;
  return "layer_norm_eps" in sizes ? encoder : decoder;
};

describe("In a worker", () => {
  const heed = engine({ threads: 1 });
  let remote: Awaited<ReturnType<typeof loadInWorker>>;
  beforeAll(async () => {
    remote = await loadInWorker({ threads: 1 });
  });
  afterAll(() => remote.dispose());

  test.each(Object.entries(families))("%s gives the same results", async (name, sizes) => {
    const config = { model_type: name, initializer_range: 0.5, init_std: 0.5, ...sizes };
    const [className, call] = kindOf(name, sizes);
    const own = new classes[className](heed(), config, { seed: 2 }) as unknown as Model;
    const far = await Reflect.get(remote.models, className)(remote, config as never, { seed: 2 });
    const wanted = await call(own, heed() as never);
    expect(await call(far as never, remote as never)).toEqual(wanted);
    expect(wanted.flat().length).toBeGreaterThan(1);
    own.dispose();
    await far.dispose();
  });
});
