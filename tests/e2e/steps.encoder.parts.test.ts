/** "Step by step" on a layer of an encoder of the person shows the model's own numbers. */
import { type Heed, load } from "heed";
import { type HubConfig, MaskedLanguageModel } from "heed/models";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Explanation, explanationText, format } from "#parts";
import { explainBlock } from "../../web/src/network/explain";
import type { PartName, RowName } from "../../web/src/network/messages";
import { sourcesOf } from "../../web/src/rooms/steps/explain";
import type { Block } from "../../web/src/rooms/steps/problem";
import type { State } from "../../web/src/rooms/steps/settings";
import { stageWords } from "../../web/src/rooms/steps/stages";
import { isVisible, withLearned } from "../../web/src/rooms/steps/state";
import type { Walked } from "../../web/src/rooms/steps/walk";
import { setOpenModel, whyNotWalked } from "../../web/src/worker/openModel";
import { computed, computedBy, expectClose, farthest } from "./layers";
import { asked, modelOf, open, said, solved, valuesOf, vocabulary } from "./walked";

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});
afterEach(() => setOpenModel(null));
afterAll(() => heed.dispose());

const encoderSizes: HubConfig = {
  ...{ vocab_size: vocabulary, hidden_size: 24, intermediate_size: 20, num_hidden_layers: 3 },
  ...{ num_attention_heads: 3, max_position_embeddings: 20 },
};

/** The encoders whose layers are shown, with random weights. */
const encoders: Readonly<Record<string, HubConfig>> = {
  bert: { ...encoderSizes, model_type: "bert", architectures: ["BertForMaskedLM"] },
  distilbert: {
    ...{ model_type: "distilbert", vocab_size: vocabulary, dim: 24, n_heads: 3, n_layers: 3 },
    ...{ hidden_dim: 20, max_position_embeddings: 20 },
  },
  roberta: {
    ...{ ...encoderSizes, model_type: "roberta", hidden_act: "relu" },
    architectures: ["RobertaForSequenceClassification"],
  },
  "xlm-roberta": { ...encoderSizes, model_type: "xlm-roberta" },
};

/** The special tokens of an encoder, of which [CLS] and [SEP] are put around a text. */
const specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const [start, end] = [2, 3] as const;

describe.each(Object.keys(encoders))("A layer of a %s that the person opened", (name) => {
  /** The tokens of a text with the words of `ids`. */
  const words = [7, 11, 7, 5, 19].map((id) => `w${id}`).join(" ");
  const read = [start, 7, 11, 7, 5, 19, end];
  const walked = async (change: Partial<State>) => {
    const model = modelOf(heed, encoders[name] as HubConfig, MaskedLanguageModel);
    open(model, vocabulary, specials, true);
    const found = await solved(heed, { ...withLearned("yours", "none"), text: words, ...change });
    return { model, ...found };
  };

  test.each([0, 2])("has the model's weights and outputs, layer %i", async (layer) => {
    const { model, solution, attention } = await walked({ layer, row: 4 });
    const { tokens } = attention.queries;
    expect(tokens).toEqual(["[CLS]", "w7", "w11", "w7", "w5", "w19", "[SEP]"]);
    const wanted = computedBy(model, read, layer);
    for (const name of computed)
      expectClose(solution.arrays[name] as Float32Array, wanted[name], name);
    heed.scope(() => {
      const ids = heed.tensor(Int32Array.from(read), [1, read.length]);
      const { hiddenStates } = model.forward(ids, { needHiddenStates: true });
      const [stream, after] = [layer, layer + 1].map((i) => hiddenStates[i]?.data as Float32Array);
      expectClose(solution.arrays.input, stream as Float32Array);
      expectClose(solution.arrays.after as Float32Array, after as Float32Array);
    });
    expect(solution.block?.isLast).toBe(layer === 2);
    model.dispose();
  });

  test("shows both sums and their norms, which are the stream", async () => {
    const { model, solution } = await walked({ layer: 1, row: 4 });
    const { block, arrays } = solution;
    const { attention, feedForward, next, matrices } = block as Block;
    const wanted = computedBy(model, read, 1);
    const row = (data: Float32Array, size = 24) => data.slice(4 * size, 5 * size);
    const sum = (a: Float32Array, b: Float32Array) => a.map((each, i) => each + (b[i] as number));
    const [stream, between] = [row(wanted.embedding), row(wanted.between)];
    expectClose(attention.norm.result, stream, "the stream");
    expectClose(attention.output, sum(stream, row(wanted.result)), "the first sum");
    expectClose(feedForward.norm.input, attention.output, "what the first norm reads");
    expectClose(feedForward.norm.result, between, "the stream after attention");
    expectClose(feedForward.units, row(wanted.units, 20), "the units");
    expectClose(feedForward.output, sum(between, row(wanted.added)), "the second sum");
    expectClose(next.input, feedForward.output, "what the second norm reads");
    expectClose(next.result, row(wanted.after), "the stream after the layer");
    const facts = { numbers: { open: { layer: 1 }, ablated: [] }, matrices };
    const said = (part: PartName, of: RowName, col: number, head = 0) => {
      const found = explainBlock({ part, of, col, row: head }, block as Block, facts);
      return explanationText(found as Explanation);
    };
    const shown = (data: Float32Array, col: number) => format(data[col] as number);
    expect(said("attention", "norm", 3)).toBe(
      `The stream before layer 2, entry 4: from layer 1: ${shown(stream, 3)}`,
    );
    expect(said("attention", "output", 3)).toMatch(/^The sum after attention, entry 4.*stream \+/s);
    expect(said("attention", "head", 3, 2)).toContain("W_O row 4 · its sum = ");
    expect(said("feed-forward", "stream", 3)).toContain("The sum after attention, entry 4");
    expect(said("feed-forward", "norm", 3)).toMatch(
      /^The stream after attention, entry 4.*\(sum − mean\) ÷ deviation × gain \+ bias/s,
    );
    expect(said("feed-forward", "gate", 3)).toContain("W_1 row 4 · input = ");
    const after = said("feed-forward", "output", 3);
    expect(after).toContain("The sum after the feed-forward network, entry 4");
    expect(after).toContain(format(feedForward.norm.result[3] as number).replace(/^−.*/, "($&)"));
    expect(after).toContain(`= ${shown(feedForward.output, 3)}`);
    expect(said("next", "norm", 3)).toMatch(/^The stream after the feed-forward network, entry 4/);
    expect(said("next", "norm", 3)).toContain(`= ${shown(row(arrays.after as Float32Array), 3)}`);
    expect(said("next", "gain", 3)).toContain("learned");
    model.dispose();
  });

  test("says what it reads, and that no norm precedes attention", async () => {
    const { model, ...found } = await walked({ layer: 0, head: 1 });
    const { state, attention, solution } = found;
    const { tokens, embedding, qkv, masked } = stageWords;
    expect(tokens(state, attention)).toContain("puts “[CLS]” before them and “[SEP]” after them");
    expect(tokens(state, attention)).toContain("Each attends to all, itself too.");
    expect(masked(state, attention)).toContain("every query may see every key");
    const hasTypes = model.config.types > 0;
    const read = embedding(state, attention);
    expect(read.includes("of its type"), read).toBe(hasTypes);
    expect(read).toContain("as it is: its norms follow its two sums");
    expect(qkv(state, attention)).toContain("A learned bias is added to each.");
    expect(farthest(solution.arrays.input, solution.arrays.embedding)).toBe(0);
    const entry = said(found, "input", 3, 2);
    expect(entry).toContain(`${format(solution.arrays.embedding[3 * 24 + 2] as number)} as it is`);
    expect(sourcesOf({ matrix: "input", row: 3, col: 2 }, attention, state)).toEqual([
      { matrix: "embedding", row: 3, col: 2 },
    ]);
    for (const matrix of ["q", "k", "v", "result"] as const) {
      const { sum, value } = valuesOf(said(found, matrix, 3, 2));
      expect(sum, matrix).toBeCloseTo(value, 1);
    }
    model.dispose();
  });

  test.each<[State["mask"], Partial<State>, string]>([
    ["causal", {}, "hides the keys after the query"],
    ["padding", { padFrom: 5 }, "Keys that only pad the sentence are hidden"],
    ["window", { window: 1 }, "hides keys far from the query"],
  ])("can be masked by the person: %s", async (mask, change, words) => {
    const { model, state, attention, solution } = await walked({ layer: 1, mask, ...change });
    const { masked, weights } = solution.arrays;
    const count = read.length;
    for (let i = 0; i < count * count; ++i) {
      const sees = isVisible(state, attention, Math.floor(i / count), i % count);
      expect(masked[i] === Number.NEGATIVE_INFINITY).toBe(!sees);
      expect((weights[i] as number) > 0).toBe(sees);
    }
    expect(stageWords.masked(state, attention)).toContain(words);
    model.dispose();
  });
});

test("An encoder reads as many tokens as it can, with its end, and hides none", async () => {
  open(modelOf(heed, encoders.bert as HubConfig, MaskedLanguageModel), vocabulary, specials, true);
  const { walked, others } = await asked("yours", "w7 ".repeat(40));
  const { ids, cut, most } = (walked as Walked).tokens;
  expect([ids?.length, ids?.[0], ids?.at(-2), ids?.at(-1), cut]).toEqual([20, start, 7, end, true]);
  expect(most).toBe(19);
  expect(others.at(-1)).toEqual({ name: "tiny", link: "yours", mask: "none", text: null });
});

test.each(["mpnet", "modernbert"])("A %s is not shown, with its name", (model_type) => {
  const encoder = new MaskedLanguageModel(heed, { ...encoderSizes, model_type }, { seed: 3 });
  const named = { mpnet: "for each distance to its scores (MPNet)", modernbert: "(ModernBERT)" };
  expect(whyNotWalked(encoder)).toContain(named[model_type as keyof typeof named]);
  encoder.dispose();
});
