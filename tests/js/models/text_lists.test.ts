// fillMasks, answerQuestion and writeText on lists of different lengths: the same as for each text alone.

import {
  answerQuestion,
  CausalLanguageModel,
  fillMasks,
  type HubConfig,
  MaskedLanguageModel,
  Seq2SeqLanguageModel,
  type WriteTextOptions,
  writeText,
} from "heed/models";
import { describe, expect, test } from "vitest";
import { engine, refusal } from "../engine.js";
import { lettersOf } from "../letters.js";
import { randomise } from "../modules.js";

const sizes = {
  ...{ vocab_size: 30, hidden_size: 12, intermediate_size: 20, num_hidden_layers: 2 },
  ...{ num_attention_heads: 2, max_position_embeddings: 40 },
};

const letters = lettersOf(30);

/** One token for each letter, and nothing else. */
const plain = {
  encode: (text: string) => letters.encode(text).ids.slice(1, -1),
  decode: letters.decode,
};

/** Expects results whose numbers differ by 1e-5 at most. */
function expectNear(found: unknown, wanted: unknown): void {
  if (typeof wanted === "number") expect(found).toBeCloseTo(wanted, 5);
  else if (wanted !== null && typeof wanted === "object") {
    expect(Object.keys(found as object)).toEqual(Object.keys(wanted));
    for (const [name, each] of Object.entries(wanted))
      expectNear((found as Record<string, unknown>)[name], each);
  } else expect(found).toBe(wanted);
}

const heed = engine({ threads: 1 });
const nothingIsLeft = () =>
  expect([heed().memory().tensors.count, heed().memory().caches.count]).toEqual([0, 0]);

describe("Lists of texts", () => {
  const encoder = (type: string, head: string, seed: number) => {
    const given = { ...sizes, model_type: type, pad_token_id: 1, type_vocab_size: 2 };
    const model = new MaskedLanguageModel(heed(), { ...given, architectures: [head] });
    randomise(model, seed);
    return model;
  };
  const texts = ["a # b", "#", "two # in a long # text", "one #"];
  const questions = [
    { question: "who", context: "it was a cat" },
    { question: "where was it", context: "in the hat, not at home" },
    { question: "a", context: "b" },
  ];

  test("have words for the masks of each", async () => {
    for (const [type, head] of [
      ["bert", "BertForMaskedLM"],
      ["roberta", "RobertaForMaskedLM"],
    ] as const) {
      const model = encoder(type, head, 81);
      const wanted = texts.map((text) => fillMasks(model, letters, text, { count: 3 }));
      expect(wanted.map(({ length }) => length)).toEqual([1, 1, 2, 1]);
      for (const batchSize of [1, 2, 32]) {
        const seen: number[] = [];
        const onProgress = (done: number) => seen.push(done);
        const options = { count: 3, batchSize, onProgress };
        expectNear(await fillMasks(model, letters, texts, options), wanted);
        expect(seen).toEqual({ 1: [1, 2, 3, 4], 2: [2, 4], 32: [4] }[batchSize]);
      }
      expect(await fillMasks(model, letters, [])).toEqual([]);
      // In a batch with the long text, most tokens of the short texts would be padding.
      const seen: number[] = [];
      const onProgress = (done: number) => seen.push(done);
      await fillMasks(model, letters, ["#", `${"a".repeat(35)}#`, "b#"], { onProgress });
      expect(seen).toEqual([1, 3]);
      model.dispose();
    }
    nothingIsLeft();
  });

  test("have an answer to each question", async () => {
    for (const [type, head] of [
      ["bert", "BertForQuestionAnswering"],
      ["roberta", "RobertaForQuestionAnswering"],
    ] as const) {
      const model = encoder(type, head, 82);
      const wanted = await Promise.all(
        questions.map(({ question, context }) => answerQuestion(model, letters, question, context)),
      );
      for (const batchSize of [1, 2, 32])
        expectNear(await answerQuestion(model, letters, questions, { batchSize }), wanted);
      expect(await answerQuestion(model, letters, [])).toEqual([]);
      model.dispose();
    }
    nothingIsLeft();
  });

  test("are refused with the place of the wrong one, and stopped between two batches", async () => {
    const [filler, answerer] = [
      encoder("bert", "BertForMaskedLM", 83),
      encoder("bert", "BertForQuestionAnswering", 84),
    ];
    const fill = (given: unknown, options = {}) =>
      fillMasks(filler, letters, given as string[], options);
    const ask = (given: unknown, options = {}) =>
      answerQuestion(answerer, letters, given as typeof questions, options);
    const long = "#".repeat(39);
    const mistyped: typeof letters = {
      ...letters,
      encode: (...given) => ({ ...letters.encode(...given), token_type_ids: [0] }),
    };
    for (const [call, message] of [
      [() => fill(["#", 3]), "texts[1]: expected a text, got 3"],
      // biome-ignore lint/suspicious/noSparseArray: a hole is no text
      [() => fill(["#", , "#"]), "texts[1]: expected a text, got undefined"],
      [() => fill(["#", "a"]), 'texts[1]: expected a text with [MASK], got "a"'],
      [() => fill([long, "#"]), "texts[0]: expected at most 40 tokens, got 41"],
      [() => fill(["#"], { batchSize: 0 }), "batchSize: expected a whole number from 1 to 4096"],
      [() => ask(3), "question: expected a text or a list of questions, got 3"],
      [() => ask([questions[0], "a"]), 'questions[1]: expected { question, context }, got "a"'],
      [() => ask([{ question: "a" }]), "questions[0].context: expected a text, got undefined"],
      [
        () => ask([{ question: "a", context: long }]),
        "questions[0].context: expected at most 40 tokens with the question, got 43",
      ],
      [() => ask(questions, { count: 1 }), "count: expected an option of answerQuestion"],
      [
        () => answerQuestion(answerer, mistyped, "a", "b"),
        "tokenizer.encode: expected 5 token_type_ids, as many as ids, got 1",
      ],
    ] as const)
      await expect(call()).rejects.toThrow(message);
    expect(refusal(() => void fill(3)).message).toBe(
      "text: expected a text or a list of texts, got 3",
    );
    for (const run of [() => fill(texts, stopping()), () => ask(questions, stopping())])
      await expect(run()).rejects.toThrow("after 1");
    filler.dispose();
    answerer.dispose();
    nothingIsLeft();
  });
});

/** Options that stop the work after the first text. */
function stopping() {
  const controller = new AbortController();
  const onProgress = (done: number) => controller.abort(new Error(`after ${done}`));
  return { batchSize: 1, signal: controller.signal, onProgress };
}

describe("Lists of prompts", () => {
  const causal = { ...sizes, model_type: "llama", initializer_range: 0.6, eos_token_id: 7 };
  const t5 = {
    ...{ model_type: "t5", vocab_size: 30, d_model: 12, d_kv: 6, d_ff: 20, num_layers: 2 },
    ...{ num_heads: 2, eos_token_id: 1, pad_token_id: 0, decoder_start_token_id: 0 },
  };
  const prompts = ["abc", "q", "a longer prompt", "abc", "xyz w"];
  const models = () =>
    [
      new CausalLanguageModel(heed(), causal as HubConfig, { seed: 5 }),
      new Seq2SeqLanguageModel(heed(), t5 as HubConfig, { seed: 6 }),
    ].map((model) => {
      if (model instanceof Seq2SeqLanguageModel) randomise(model, 85);
      return model;
    });

  /** Compares a list with each of its prompts alone, whose seeds are 9, 10, .. if they draw. */
  async function compare(
    model: CausalLanguageModel | Seq2SeqLanguageModel,
    options: WriteTextOptions,
  ) {
    const wanted = [];
    for (const [i, prompt] of prompts.entries()) {
      const own = options.temperature ? { ...options, seed: 9 + i } : options;
      wanted.push(await writeText(model, plain, prompt, own));
    }
    for (const batchSize of [1, 2, 8]) {
      const pieces = prompts.map(() => "");
      const found = await writeText(model, plain, prompts, {
        ...{ ...options, batchSize, ...(options.temperature && { seed: 9 }) },
        onText: (piece, i) => {
          pieces[i] += piece;
        },
      });
      expect(found).toEqual(wanted);
      expect(pieces).toEqual(wanted.map(({ text }) => text));
    }
    return wanted;
  }

  test("are continued as each alone, greedily, at random and with beams", async () => {
    for (const model of models()) {
      const greedy = await compare(model, { maxLength: 12, endToken: [] });
      expect(new Set(greedy.map(({ text }) => text)).size).toBeGreaterThan(2);
      const drawn = await compare(model, { maxLength: 12, temperature: 1.2, topK: 9 });
      // The same prompt twice gives two texts.
      expect(drawn[0]?.text).not.toBe(drawn[3]?.text);
      await compare(model, { maxLength: 9, temperature: 1, minP: 0.02, repetitionPenalty: 1.3 });
      if (model instanceof Seq2SeqLanguageModel) await compare(model, { maxLength: 6, beams: 3 });
      expect(await writeText(model, plain, [], { maxLength: 3 })).toEqual([]);
      model.dispose();
    }
    nothingIsLeft();
  });

  test("end each by itself: by a stop, an end token or the length", async () => {
    for (const model of models()) {
      const options = { maxLength: 16, temperature: 1.4, seed: 9 };
      const free = await writeText(model, plain, prompts, { ...options, endToken: [] });
      const stop = [free[0]?.text[2] as string, free[2]?.text[9] as string];
      const endToken = free[4]?.tokens[5] as number;
      const ended = await compare(model, { ...options, stop, endToken });
      const lengths = new Set(ended.map(({ tokens }) => tokens.length));
      expect(lengths.size).toBeGreaterThan(2);
      for (const [i, { text, reason, tokens }] of ended.entries()) {
        expect(tokens).toEqual(free[i]?.tokens.slice(0, tokens.length));
        expect(stop.some((each) => text.includes(each))).toBe(false);
        const before = plain.decode(tokens.slice(0, -1));
        expect(stop.some((each) => before.includes(each))).toBe(false);
        expect(reason === "end").toBe(tokens.at(-1) === endToken && reason !== "stop");
      }
      model.dispose();
    }
    nothingIsLeft();
  });

  test("tell the tokens of all, and end with false", async () => {
    const [model, translator] = models();
    for (const [writer, options] of [
      [model, {}],
      [translator, { beams: 2 }],
    ] as const) {
      const steps: (number | undefined)[][] = [];
      const given = { maxLength: 4, endToken: [], batchSize: 2, ...options };
      const all = await writeText(writer as never, plain, prompts, {
        ...given,
        onTokens: (tokens) => void steps.push([...tokens]),
      });
      for (const [i, { tokens }] of all.entries())
        expect(steps.map((step) => step[i]).filter((token) => token !== undefined)).toEqual(tokens);
      const some = await writeText(writer as never, plain, prompts, {
        ...given,
        onTokens: (tokens) => prompts.map((_, i) => i !== 2 && tokens[i] !== undefined),
      });
      expect(some.map(({ tokens }) => tokens.length)).toEqual([4, 4, 1, 4, 4]);
      const one = await writeText(writer as never, plain, prompts, {
        ...given,
        onTokens: () => false,
      });
      // The longest prompts are first.
      const lengths = options.beams ? [0, 0, 1, 0, 0] : [0, 0, 1, 0, 1];
      expect(one.map(({ tokens }) => tokens.length)).toEqual(lengths);
      writer?.dispose();
    }
    nothingIsLeft();
  });

  test("are refused with the place of the wrong one, and stopped by a signal", async () => {
    const [model, translator] = models() as [CausalLanguageModel, Seq2SeqLanguageModel];
    const write = (given: unknown, options: object = {}) =>
      writeText(model, plain, given as string[], { maxLength: 3, ...options });
    for (const [call, message] of [
      [() => write(["a", 3]), "prompts[1]: expected a text, got 3"],
      [() => write(["a", ""]), "prompts[1]: expected a text of one token or more, got none"],
      [() => write(["a", "b".repeat(41)]), "prompts[1]: expected at most 40 tokens, got 41"],
      [() => write([], { maxLength: 0 }), "maxLength: expected a whole number from 1 to 1048576"],
      [() => write([], { seed: -1 }), "seed: expected a whole number from 0 to 4294967295"],
      [() => write(["a"], { batchSize: 1.5 }), "batchSize: expected a whole number from 1 to 4096"],
      [() => write(["a", "b"], { beams: 2 }), "beams: expected an option of generate"],
      [
        () => writeText(translator, plain, prompts, { maxLength: 3, beams: 2, seed: 1 }),
        "seed: expected none with beams, got 1",
      ],
    ] as const)
      await expect(call()).rejects.toThrow(message);
    const controller = new AbortController();
    const begun = new Set<number>();
    const stopped = write(prompts, {
      ...{ maxLength: 9, batchSize: 2, endToken: [], signal: controller.signal },
      onText: (_: string, i: number) => {
        begun.add(i);
        controller.abort(new Error("enough"));
      },
    });
    await expect(stopped).rejects.toThrow("enough");
    expect([...begun]).toEqual([2, 4]);
    for (const each of [model, translator]) each.dispose();
    nothingIsLeft();
  });
});
