/** "Step by step" on a layer of a model of the person shows the model's own numbers, or says why it does not. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Heed, load, type Tensor } from "heed";
import { CausalLanguageModel, type HubConfig, loadModel, MaskedLanguageModel } from "heed/models";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { format } from "#parts";
import { read, write } from "../../web/src/rooms/steps/link";
import { initialState, type State } from "../../web/src/rooms/steps/settings";
import { stageWords } from "../../web/src/rooms/steps/stages";
import { withLearned, withOwnStage } from "../../web/src/rooms/steps/state";
import type { Walked } from "../../web/src/rooms/steps/walk";
import { ReadableTokenizer } from "../../web/src/shared/readableTokenizer";
import type { LanguageModel } from "../../web/src/worker/languageHeads";
import { setOpenModel, whyNotWalked } from "../../web/src/worker/openModel";
import { filesOf, llama } from "../js/checkpoints";
import { computed, computedBy, expectClose } from "./layers";
import { asked, json, modelOf, open, said, solved, valuesOf, vocabulary } from "./walked";
import { wordsOf, wordTokenizer } from "./yours";

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});
afterEach(() => setOpenModel(null));
afterAll(() => heed.dispose());

const ids = [3, 7, 11, 7, 2, 19, 5];
const text = wordsOf(ids);

const sizes: HubConfig = {
  ...{ vocab_size: vocabulary, hidden_size: 24, intermediate_size: 20, num_hidden_layers: 3 },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, head_dim: 8, max_position_embeddings: 32 },
};

/** The families whose layers are shown, with random weights. */
const families: Readonly<Record<string, HubConfig>> = {
  llama: { ...sizes, model_type: "llama", attention_bias: true, mlp_bias: true },
  mistral: { ...sizes, model_type: "mistral", sliding_window: 3 },
  qwen2: { ...sizes, model_type: "qwen2", rope_theta: 1e6 },
  qwen3: { ...sizes, model_type: "qwen3", num_key_value_heads: 1 },
  gpt2: {
    ...{ model_type: "gpt2", vocab_size: vocabulary, n_embd: 24, n_head: 3, n_layer: 3 },
    n_positions: 16,
  },
};

describe.each(Object.keys(families))("A layer of a %s that the person opened", (name) => {
  test.each([0, 2])("has the model's weights and outputs, layer %i", async (layer) => {
    const model = modelOf(heed, families[name] as HubConfig);
    open(model);
    const { solution, attention } = await solved(heed, { text, layer, row: 4 });
    const wanted = computedBy(model, ids, layer);
    expect(attention.queries.tokens).toEqual(ids.map((id) => `w${id}`));
    for (const name of computed)
      expectClose(solution.arrays[name] as Float32Array, wanted[name], name);
    expect(solution.block?.isLast).toBe(layer === 2);
    model.dispose();
  });

  test("explains a query, a value and a result with their biases and norms", async () => {
    const model = modelOf(heed, families[name] as HubConfig);
    open(model);
    const found = await solved(heed, { text, layer: 1, head: 1 });
    const { biases, rotations, hasHeadNorms } = model.config;
    const { arrays, dims, rotation } = found.solution;
    const value = said(found, "v", 3, 2);
    expect(value.includes("+ bias"), value).toBe(biases.qkv);
    expect(valuesOf(value).sum).toBeCloseTo(valuesOf(value).value, 1);
    const own = arrays.v[3 * dims.H * dims.D + dims.D + 2] as number;
    expect(value.endsWith(` ${format(own)}`), value).toBe(true);
    const result = said(found, "result", 3, 2);
    expect(result.includes("+ bias"), result).toBe(biases.output);
    expect(valuesOf(result).sum).toBeCloseTo(valuesOf(result).value, 1);
    const query = said(found, "q", 3, 5);
    if (rotations) {
      const [one, other] = [5, 1].map((col) => rotation?.q[(3 * dims.H + 1) * dims.D + col]);
      const angle = 3 * (rotations[1]?.frequencies[1] as number);
      const turned = (one as number) * Math.cos(angle) + (other as number) * Math.sin(angle);
      expect(arrays.q[(3 * dims.H + 1) * dims.D + 5]).toBeCloseTo(turned, 5);
      const wave = (value: number | undefined) =>
        `${format(value as number).replace(/^−.*/, "($&)")}\u00a0×\u00a0`;
      expect(query).toContain(`= ${wave(one)}cos((4 − 1)`);
      expect(query).toContain(`+ ${wave(other)}sin((4 − 1)`);
    } else expect(query).toContain("+ bias");
    const words = stageWords.qkv(found.state, found.attention);
    expect(words.includes("A learned bias"), words).toBe(biases.qkv);
    expect(words.includes("root mean square"), words).toBe(hasHeadNorms);
    expect(words.includes("RoPE"), words).toBe(rotations !== undefined);
    const norm = said(found, "input", 3, 2);
    expect(norm).toContain(rotations ? "÷ the root mean square" : "÷ the standard deviation");
    model.dispose();
  });
});

test("A layer with a window hides the keys before it, as its words say", async () => {
  open(modelOf(heed, families.mistral as HubConfig));
  const { state, attention, solution } = await solved(heed, { text, layer: 1 });
  const hidden = ids.map(
    (_, col) => solution.arrays.masked[5 * ids.length + col] === Number.NEGATIVE_INFINITY,
  );
  expect(hidden).toEqual([true, true, true, false, false, false, true]);
  expect(stageWords.masked(state, attention)).toContain("those 3 or more places before it");
  expect(stageWords.tokens(state, attention)).toContain("to 2 at most before it");
});

test("Without a rotation, a normalised query is told in words", async () => {
  open(modelOf(heed, families.qwen3 as HubConfig));
  const found = await solved(heed, { text, position: false });
  expect(said(found, "q", 2, 3)).toContain("W_Q ÷ the root mean square of all 8 of its row");
  expect(found.solution.running.q).toBeUndefined();
  expect(stageWords.qkv(found.state, found.attention)).toContain("All heads share keys and values");
});

describe("The person's model", () => {
  const yours = { ...initialState, ...withLearned("yours"), text };

  test("is named by a link, with a layer that ours does not have", () => {
    const state: State = { ...yours, layer: 11, head: 13, mask: "causal" };
    expect(read(write(state))).toEqual({ state, notices: [] });
    expect(write(state).get("model")).toBe("yours");
    expect(read(new URLSearchParams("vectors=learned&layer=7")).notices).toHaveLength(1);
    expect(withOwnStage(state, 3).layer).toBe(2);
    expect(write({ ...state, vectors: "random" }).has("model")).toBe(false);
  });

  test("reads as many tokens as it can", async () => {
    open(modelOf(heed, families.gpt2 as HubConfig));
    const { walked } = await asked("yours", "w3 ".repeat(40));
    const { tokens, cut, most } = (walked as Walked).tokens;
    expect([tokens.length, cut, most]).toEqual([16, true, 16]);
    expect((await asked("yours", " ")).walked?.tokens.tokens).toEqual([]);
  });

  test("is asked for only if it is open, and named if it is", async () => {
    const { others, ...none } = await asked(null, "");
    expect(none).toEqual({ walked: null, why: null });
    expect(others.map(({ link }) => link)).not.toContain("yours");
    expect((await asked("yours", text)).why).toMatch(/^The model of the link is not open: /);
    open(modelOf(heed, families.llama as HubConfig));
    const own = { name: "tiny", link: "yours", mask: "causal", text: null };
    expect((await asked(null, "")).others).toEqual([...others, own]);
    const other = await asked("some/model", text);
    expect([other.walked, other.why]).toEqual([
      null,
      expect.stringContaining("of the link, some/model, is not open"),
    ]);
    open(modelOf(heed, families.llama as HubConfig), vocabulary + 5);
    const { why } = await asked("yours", "w3 w26");
    expect(why).toContain("more tokens than its vocabulary");
  });

  const gemma = { ...sizes, query_pre_attn_scalar: 8, sliding_window: 4 };
  test.each<[string, HubConfig]>([
    ["it normalises the outputs", { ...gemma, model_type: "gemma2" }],
    ["it normalises the outputs", { ...gemma, model_type: "gemma3_text" }],
    ["softcap", { ...sizes, model_type: "llama", attn_logit_softcapping: 30 }],
    ["rotates a part", { ...sizes, model_type: "llama", partial_rotary_factor: 0.5 }],
    ["by √d in each layer", { ...sizes, model_type: "llama", query_pre_attn_scalar: 9 }],
    [
      "by √d in each layer",
      { ...(families.gpt2 as HubConfig), scale_attn_by_inverse_layer_idx: true },
    ],
  ])("is not shown, with a reason: %s", async (reason, config) => {
    const model = new CausalLanguageModel(heed, config, { seed: 3 });
    open(model);
    expect(whyNotWalked(model)).toContain(reason);
    const { others, walked, why } = await asked("yours", text);
    expect(others.map(({ link }) => link)).not.toContain("yours");
    expect(walked).toBeNull();
    expect(why).toContain(`The layers of tiny are not shown: `);
    expect(why).toContain(reason);
    model.dispose();
  });

  test("is not shown if it has packed weights", async () => {
    const files = { ...filesOf(llama()), "tokenizer.json": wordTokenizer(vocabulary) };
    for (const dtype of ["int8", "int4", "float16"] as const) {
      const { model } = await loadModel(heed, files, { dtype, tokenizer: ReadableTokenizer });
      const why = whyNotWalked(model as CausalLanguageModel);
      if (dtype === "float16") expect(why).toBeNull();
      else expect(why).toContain("stored in fewer bits");
      model.dispose();
    }
  });
});

/** Models with the results of another implementation. */
interface Values {
  readonly data: number[];
  readonly shape: number[];
}

interface Golden {
  readonly inputs: { readonly input_ids: Values; readonly token_type_ids?: Values };
  readonly outputs: Readonly<Record<string, Values>>;
}

/** Makes an encoder read tokens of these types; the page reads one sentence, whose types are 0. */
function withTypes(model: MaskedLanguageModel, types: readonly number[]): void {
  const forward = model.forward.bind(model) as (ids: Tensor, options: object) => object;
  const typed = (ids: Tensor, options: object) =>
    forward(ids, { ...options, typeIds: heed.tensor(Int32Array.from(types), ids.shape) });
  Object.assign(model, { forward: typed });
}

const shared = fileURLToPath(new URL("../../../shared", import.meta.url));

test
  .skipIf(!existsSync(shared))
  .each([
    ...["gpt2_tiny", "llama_tiny", "qwen3_tiny", "bert_tiny"].map(
      (name) => `golden/models/${name}`,
    ),
    ...["bert_classifier_tiny", "sentence_tiny"].map((name) => `hub-models/${name}`),
  ])("A layer of %s has the weights that another implementation computes", async (name) => {
  const file = (file: string) => new Uint8Array(readFileSync(`${shared}/${name}/${file}`));
  const { inputs, outputs } = json(file("expected.json")) as Golden;
  const [config, weights] = [file("config.json"), file("model.safetensors")];
  const size = (json(config) as HubConfig).vocab_size as number;
  const { model } = await loadModel(
    heed,
    {
      ...{ "config.json": config, "model.safetensors": weights },
      "tokenizer.json": wordTokenizer(size),
    },
    { tokenizer: ReadableTokenizer },
  );
  const { data: all, shape } = inputs.input_ids;
  const count = shape[1] as number;
  const read = all.slice(0, count);
  const isEncoder = model instanceof MaskedLanguageModel;
  if (isEncoder) withTypes(model, inputs.token_type_ids?.data.slice(0, count) ?? []);
  open(model as LanguageModel, size);
  const mask = isEncoder ? "none" : "causal";
  const { solution } = await solved(heed, { layer: 1, mask, text: wordsOf(read) });
  const heads = solution.dims.H * count * count;
  const wanted = Float32Array.from(outputs["attentions.1"]?.data.slice(0, heads) ?? []);
  expectClose(solution.arrays.weights, wanted);
  for (const [name, own] of [
    ["1", "embedding"],
    ["2", "after"],
  ] as const) {
    if (!isEncoder) continue;
    const found = solution.arrays[own] as Float32Array;
    const states = outputs[`hidden_states.${name}`]?.data.slice(0, found.length) ?? [];
    expectClose(found, states, own);
  }
  model.dispose();
});
