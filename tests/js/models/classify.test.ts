// Classes of texts and tokens, and answers to questions, in padded batches: the same as for each text alone.

import { answerQuestion, classify, classifyTokens, embed, MaskedLanguageModel } from "heed/models";
import { describe, expect, test } from "vitest";
import { engine } from "../engine.js";
import { lettersOf } from "../letters.js";
import { randomise } from "../modules.js";

const sizes = {
  ...{ vocab_size: 23, hidden_size: 12, intermediate_size: 20, num_hidden_layers: 3 },
  ...{ num_attention_heads: 2, max_position_embeddings: 32 },
};

const letters = lettersOf(23);

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

  test("have an answer without types of tokens from the tokenizer", async () => {
    const own = { ...config, architectures: ["BertForQuestionAnswering"] };
    const model = new MaskedLanguageModel(heed(), own);
    randomise(model, 74);
    const plain = {
      ...letters,
      encode: (text: string, options?: object) => letters.encode(text, options).ids,
    };
    const [found, wanted] = [
      await answerQuestion(model, plain, "who", "a cat"),
      await answerQuestion(model, letters, "who", "a cat"),
    ];
    expect(found).toEqual(wanted);
    const length = letters.encode("who", { text_pair: "a cat" }).ids.length;
    expect([found.startLogits.length, found.endLogits.length]).toEqual([length, length]);
    const best = Math.max(...found.startLogits.slice(5, -1));
    expect(found.startLogits[found.first]).toBeLessThanOrEqual(best);
    await expect(answerQuestion(model, letters, "who", "")).rejects.toThrow(
      "context: expected one token or more, got none",
    );
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
      [() => classify(model, letters, ["a", 1] as never), "texts[1]: expected a text, got 1"],
      [() => classify(model, letters, "a" as never), 'texts: expected a list of texts, got "a"'],
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
