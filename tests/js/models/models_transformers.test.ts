// Models for tasks: that they learn, and that no answer depends on the other examples of the call. Transformers: the
// positions of their weights, and their texts.

import type { Tensor } from "heed";
import {
  type AnswerOptions,
  type Continuation,
  configOf,
  createModel,
  DecoderModel,
  type Example,
  type ModelConfig,
  type Picture,
  RecurrentModel,
  type Series,
  type Tagging,
  type Task,
  type TaskModel,
  TransformerModel,
  type Translation,
} from "heed/models";
import { beamSearch, generate, nn, type Step } from "heed/nn";
import { describe, expect, test } from "vitest";
import { engine, refusal } from "../engine.js";
import { train, watched } from "../lessons.js";
import { expectSameBits, type Random } from "../values.js";

const letters = [..."abcdef"];

const translation = (source: string): Translation => ({
  ...{ kind: "translation", source: [...source], target: [...source].reverse(), alignment: [] },
});
const continuation = (text: string): Continuation => ({
  ...{ kind: "continuation", tokens: [...text], allowed: [], alignment: [] },
});
/** Every second letter has a label: whether the text has an "a". */
const tagging = (text: string): Tagging => ({
  ...{ kind: "tagging", source: [...text], alignment: [], content: [] },
  labels: [...text].map((_, i) =>
    i % 2 === 1 ? (text.includes("a") ? "with" : "without") : undefined,
  ),
});
const series = (length: number, phase: number): Series => ({
  ...{ kind: "series", alignment: [] },
  values: Float32Array.from({ length }, (_, i) => ((i + phase) % 4) / 2 - 0.75),
  isHidden: Array.from({ length }, (_, i) => i > 3 && i < 7),
});
/** A picture of a vertical or horizontal bar. */
const picture = (isUp: boolean, place: number, [width, height] = [8, 8]): Picture => {
  const covered = Array.from({ length: width * height }, (_, i) =>
    isUp ? i % width === place : Math.floor(i / width) === place,
  );
  const pixels = Float32Array.from(covered, Number);
  return { kind: "picture", pixels, width, height, label: isUp ? "up" : "across", covered };
};

interface Case {
  name: string;
  config: ModelConfig;
  draw(random: Random): Example;
  /** Examples of different sizes. */
  some: Example[];
  /** Changes of the model that learns. */
  learner?: Partial<ModelConfig>;
  /** The loss falls to less than this share of the first losses; 0.6 by default. */
  share?: number;
}

const common: Omit<ModelConfig, "task" | "kind" | "architecture" | "vocabulary"> = {
  ...{ taskOptions: {}, longest: { source: 5, target: 5 }, size: 16, layers: 2, heads: 2 },
  ...{ dimFeedforward: 32, dropout: 0, positions: "sinusoidal", seed: 7 },
};
const word = (random: Random, least = 1) =>
  Array.from({ length: random.whole(least, 5) }, () => random.pick(...letters)).join("");

const texts = ["ab", "edcba", "c", "bbad", "dace"];
const cases: Case[] = [
  {
    name: "a transformer",
    config: {
      ...{ ...common, task: "reverse", kind: "translation", architecture: "transformer" },
      vocabulary: { source: letters, target: letters },
    },
    draw: (random) => translation(word(random)),
    some: texts.map(translation),
  },
  {
    name: "a decoder that translates",
    config: {
      ...{ ...common, task: "reverse", kind: "translation", architecture: "decoder" },
      vocabulary: { source: letters, target: letters },
    },
    draw: (random) => translation(word(random)),
    some: texts.map(translation),
  },
  {
    name: "a decoder that goes on",
    config: {
      ...{ ...common, task: "again", kind: "continuation", architecture: "decoder" },
      vocabulary: { source: letters, target: letters },
    },
    draw: (random) => {
      const part = word(random).slice(0, 2);
      return continuation((part + part + part).slice(0, 5));
    },
    some: ["abab", "", "ccccc", "ded"].map(continuation),
  },
  {
    name: "an encoder of words",
    config: {
      ...{ ...common, task: "an a", kind: "tagging", architecture: "encoder" },
      vocabulary: { source: letters, target: ["with", "without"] },
    },
    draw: (random) => tagging(word(random, 2)),
    some: ["abab", "cd", "eebee"].map(tagging),
  },
  {
    name: "an encoder of numbers",
    config: {
      ...{ ...common, task: "gap", kind: "series", architecture: "encoder" },
      vocabulary: { source: [], target: [] },
    },
    draw: (random) => series(random.whole(8, 12), random.whole(0, 3)),
    some: [series(8, 0), series(12, 1), series(9, 3)],
  },
  {
    name: "an encoder of pictures",
    config: {
      ...{ ...common, task: "bars", kind: "picture", architecture: "encoder" },
      vocabulary: { source: [], target: ["across", "up"] },
    },
    draw: (random) => picture(random.next() < 0.5, random.whole(0, 7)),
    some: [picture(true, 3), picture(false, 2, [12, 4]), picture(false, 7)],
  },
];
const writing = cases.slice(0, 3);

/** Their other tests are in models_recurrent.test.ts. */
const recurrent = (["rnn", "bahdanau", "dot"] as const).map(
  (architecture): Case => ({
    name: `a recurrent model, ${architecture}`,
    config: {
      ...{ ...common, task: "reverse", kind: "translation", architecture, heads: 1 },
      ...{ positions: "none", vocabulary: { source: letters, target: letters } },
    },
    draw: (random) => translation(word(random).slice(0, 4)),
    some: texts.map(translation),
    learner: { size: 32, layers: 1 },
    share: architecture === "rnn" ? 0.5 : 0.3,
  }),
);

const mean = (numbers: readonly number[]) =>
  numbers.reduce((sum, x) => sum + x, 0) / numbers.length;

describe.each([...cases, ...recurrent])("$name", (own) => {
  const heed = engine({ threads: 1 });
  const { config, some } = own;
  const make = (more: Partial<ModelConfig> = {}) => createModel(heed(), { ...config, ...more });
  const lessonOf = (model: TaskModel, examples: readonly Example[]) =>
    heed().scope(() => {
      const { loss, count, right } = model.forward(examples);
      expect([loss.shape, loss.dtype]).toEqual([[], "float32"]);
      return { loss: loss.data[0] as number, count, right };
    });

  test("learns", () => {
    using model = make(own.learner ?? { dropout: 0.05 });
    const losses = train(heed(), model, own.draw, 100);
    expect(mean(losses.slice(-10))).toBeLessThan((own.share ?? 0.6) * mean(losses.slice(0, 5)));
  });

  test("starts from its seed's numbers, and trains to the same bits", () => {
    const more = { dropout: 0.2 };
    using first = make(more);
    using same = make(more);
    using other = make({ ...more, seed: 8 });
    const numbers = (model: TaskModel) =>
      Float32Array.from(model.parameters().flatMap(({ data }) => Array.from(data)));
    expectSameBits(numbers(first), numbers(same));
    expect(numbers(other)).not.toEqual(numbers(first));
    expect(train(heed(), first, own.draw, 2)).toEqual(train(heed(), same, own.draw, 2));
    expectSameBits(numbers(first), numbers(same));
    expect(first.generator.state).toBe(same.generator.state);
  });

  test("gives an example the same loss and answer alone as beside longer ones", async () => {
    using model = make();
    train(heed(), model, own.draw, 5);
    const together = lessonOf(model, some);
    const alone = some.map((example) => lessonOf(model, [example]));
    const sum = (of: (lesson: (typeof alone)[number]) => number) =>
      alone.reduce((total, lesson) => total + of(lesson), 0);
    expect(together.loss * together.count).toBeCloseTo(
      sum(({ loss, count }) => loss * count),
      3,
    );
    expect([together.count, together.right]).toEqual([
      sum(({ count }) => count),
      sum(({ right }) => right),
    ]);
    const answers = await model.answer(some);
    for (const [i, example] of some.entries()) {
      const [answer] = await model.answer([example]);
      if (answer?.kind === "tokens" || answer?.kind === "labels") {
        expect(answer).toEqual(answers[i]);
      } else if (answer?.kind === "class" && answers[i]?.kind === "class") {
        expect(answer.label).toBe(answers[i].label);
        for (const [label, share] of Object.entries(answer.probabilities))
          expect(answers[i].probabilities[label]).toBeCloseTo(share, 5);
      } else if (answer?.kind === "numbers" && answers[i]?.kind === "numbers") {
        for (const [place, value] of answer.values.entries())
          expect(answers[i].values[place]).toBeCloseTo(value, 5);
      } else {
        expect.fail(`an answer of another kind: ${answer?.kind}`);
      }
    }
  });

  test("drops in train mode only, and stays in its mode", async () => {
    using model = make({ dropout: 0.3 });
    const { state } = model.generator;
    const dropped = lessonOf(model, some).loss;
    expect(lessonOf(model, some).loss).not.toBe(dropped);
    model.generator.state = state;
    expect(lessonOf(model, some).loss).toBe(dropped);
    const answers = await model.answer(some);
    const weights = model.weights(some);
    expect(model.training).toBe(true);
    model.eval();
    expect(await model.answer(some)).toEqual(answers);
    expect(model.weights(some)).toEqual(weights);
    expect(lessonOf(model, some).loss).toBe(lessonOf(model, some).loss);
  });
});

describe.each(cases)("$name", (own) => {
  const heed = engine({ threads: 1 });
  const { config, some } = own;
  const make = () => createModel(heed(), config);

  test("returns the queries and keys of its weights", () => {
    using model = make();
    const plain = model.attentions(some);
    for (const [b, all] of model.attentions(some, { compared: true }).entries()) {
      for (const [a, { compared, ...one }] of all.entries()) {
        expect(plain[b]?.[a]).toEqual(one);
        if (compared === undefined) return expect.fail(one.path);
        const { heads, rows, columns, weights, choices, labels } = one;
        const D = config.size / config.heads;
        expect(compared.query).toHaveLength(heads * rows * D);
        expect(compared.key).toHaveLength(heads * columns * D);
        expect(labels.rows).toHaveLength(rows);
        for (let h = 0; h < heads; ++h) {
          for (let i = 0; i < rows; ++i) {
            const scores = Array.from({ length: choices[i] as number }, (_, j) => {
              const [q, k] = [(h * rows + i) * D, (h * columns + j) * D];
              const key = compared.key.subarray(k, k + D);
              return key.reduce((sum, x, d) => sum + x * (compared.query[q + d] as number), 0);
            }).map((dot) => Math.exp(dot / Math.sqrt(D)));
            const sum = scores.reduce((all, score) => all + score, 0);
            for (const [j, score] of scores.entries())
              expect(weights[(h * rows + i) * columns + j]).toBeCloseTo(score / sum, 5);
          }
        }
      }
    }
  });

  test("returns the weights that its parts computed, without padding", () => {
    using model = make();
    const isPicture = config.kind === "picture";
    const all = model.attentions(some);
    const asked = model.weights(some);
    for (const [b, example] of some.entries()) {
      const seen = new Map<string, { data: number[]; shape: readonly number[] }>();
      const keep: nn.ReceiveWeights = (path, { data, shape }) =>
        seen.set(path, { data: Array.from(data), shape });
      model.eval();
      nn.captureAttention(model, keep, () => heed().scope(() => void model.forward([example])));
      expect(all[b]?.map(({ path }) => path)).toEqual([...seen.keys()]);
      for (const { path, heads, rows, columns, weights, labels } of all[b] ?? []) {
        expect([1, heads, rows, columns]).toEqual(seen.get(path)?.shape);
        expect([labels.rows.length, labels.columns.length]).toEqual([rows, columns]);
        for (let i = 0; i < weights.length; i += columns)
          expect(weights.slice(i, i + columns).reduce((sum, x) => sum + x, 0)).toBeCloseTo(1, 5);
        for (const [i, weight] of weights.entries())
          expect(weight).toBeCloseTo(seen.get(path)?.data[i] as number, 5);
      }
      // The block of the weights in which the alignment of each answer is, determined by the labels.
      const rowsAsked =
        example.kind === "translation"
          ? ["<start>", ...example.target.slice(0, -1)]
          : example.kind === "continuation"
            ? ["<start>", ...example.tokens].slice(0, example.tokens.length)
            : undefined;
      for (const { path, heads, rows, columns, weights, choices } of asked[b] ?? []) {
        const whole = all[b]?.find((each) => each.path === path);
        if (whole === undefined) return expect.fail(path);
        const isDecoder = config.architecture === "decoder";
        const firstRow = isDecoder && example.kind === "translation" ? example.source.length : 0;
        const firstColumn = isPicture || example.kind === "continuation" ? 1 : 0;
        if (rowsAsked)
          expect(whole.labels.rows.slice(firstRow, firstRow + rows)).toEqual(rowsAsked);
        if (example.kind === "translation") expect(columns).toBe(example.source.length);
        if (example.kind === "continuation") expect(columns).toBe(example.tokens.length);
        if (isPicture) expect([rows, columns]).toEqual([1, whole.columns - 1]);
        // In an untrained model, every visible position has some weight.
        const seenFrom = (row: number) =>
          whole.weights.slice(row * whole.columns, (row + 1) * whole.columns).filter((x) => x > 0);
        expect(choices).toEqual(
          Array.from({ length: rows }, (_, i) => seenFrom(firstRow + i).length),
        );
        for (let h = 0; h < heads; ++h) {
          for (let i = 0; i < rows; ++i) {
            const from = (h * whole.rows + firstRow + i) * whole.columns + firstColumn;
            const to = (h * rows + i) * columns;
            expect(weights.slice(to, to + columns)).toEqual(
              whole.weights.slice(from, from + columns),
            );
          }
        }
      }
    }
    const paths = new Set(asked.flat().map(({ path }) => path));
    const name = {
      transformer: "decoder.layers.#.multihead_attn",
      decoder: "decoder.layers.#.self_attn",
      encoder: "encoder.layers.#.self_attn",
    }[config.architecture as "encoder"];
    expect([...paths]).toEqual([0, 1].map((layer) => name.replace("#", `${layer}`)));
  });

  test("leaks nothing, however it ends", async () => {
    using model = make();
    using watch = await watched(heed());
    train(heed(), model, own.draw, 50);
    await watch.expectNothingLeft();
    model.weights(some);
    await model.answer(some);
    const ways: AnswerOptions[] = [{}, { beams: 3 }, { temperature: 1 }];
    const writer = model instanceof DecoderModel ? model : undefined;
    for (const way of ways) {
      await model.answer(some, way);
      await writer?.write(some as Translation[], way);
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(model.answer(some, { ...way, signal })).rejects.toThrow("enough");
      const given = { ...way, receive: () => expect.fail("broken") };
      await expect(model.answer(some, given)).rejects.toThrow("broken");
      await expect(model.answer([...some, {} as Example], way)).rejects.toThrow("examples[");
      await watch.expectNothingLeft();
    }
  });
});

describe.each(writing)("$name writes", (own) => {
  const heed = engine({ threads: 1 });
  const { config, some } = own;
  const examples = some as Translation[];
  const trained = () => {
    // The methods that both text-generating models have.
    const model = createModel(heed(), config) as DecoderModel;
    train(heed(), model, own.draw, 12);
    return model;
  };
  /** Returns the example with the generated tokens as its answer. */
  const answered = (example: Example, tokens: string[]): Example =>
    example.kind === "continuation"
      ? { ...example, tokens: [...example.tokens, ...tokens] }
      : { ...(example as Translation), target: tokens };

  test("greedily the most likely token after its own tokens, as teacher forcing finds it", async () => {
    using model = trained();
    for (const [i, tokens] of (await model.write(examples)).entries()) {
      const example = some[i] as Example;
      const found = model.likeliest([answered(example, tokens) as Translation]);
      const said = found[0]?.slice(example.kind === "continuation" ? example.tokens.length : 0);
      expect(said?.slice(0, tokens.length)).toEqual(tokens);
      const most = example.kind === "continuation" ? 6 - example.tokens.length : 6;
      // A truncated answer does not have the end token.
      if (tokens.length < most) expect(said?.[tokens.length]).toBe("<end>");
      expect(tokens.length).toBeLessThanOrEqual(most);
    }
    const short = await model.write(examples, { longest: 1 });
    for (const tokens of short) expect(tokens.length).toBeLessThanOrEqual(1);
  });

  test("the most likely token by the probabilities that it returns", () => {
    using model = trained();
    const likeliest = model.likeliest(some as Translation[]);
    for (const [i, found] of model.probabilities(some as Translation[]).entries()) {
      const { tokens, rows, probabilities } = found;
      const said = Array.from({ length: rows }, (_, row) => {
        const chances = probabilities.subarray(row * tokens.length, (row + 1) * tokens.length);
        expect(chances.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
        return tokens[chances.indexOf(Math.max(...chances))];
      });
      expect(said).toEqual(likeliest[i]);
    }
  });

  /** The same without a cache: every step computes the whole sequence again. */
  const logitsOf =
    (model: DecoderModel, example: Example): Step =>
    (sequences) =>
      heed().scope(() => {
        const rows = sequences.map((ids) => {
          const words = ids.map((id) => model.targetVocabulary.tokens[id] as string);
          const text = words.slice(words.indexOf("<start>") + 1);
          return example.kind === "continuation"
            ? { ...example, tokens: text }
            : { ...(example as Translation), target: text };
        });
        let last = new Float32Array(0);
        const { forward } = model.readOut;
        model.readOut.forward = (...given) => {
          const all = forward(...given);
          const [, L, V] = all.shape as [number, number, number];
          last = Float32Array.from(all.data.filter((_, i) => Math.floor(i / V) % L === L - 1));
          return all;
        };
        model.eval().forward(rows);
        model.readOut.forward = forward;
        return heed().tensor(last, [rows.length, last.length / rows.length]);
      });
  const promptOf = (model: DecoderModel, example: Example) => {
    const encode = (words: readonly string[]) => model.targetVocabulary.encode(words);
    if (example.kind === "continuation") return [1, ...encode(example.tokens)];
    return config.architecture === "decoder"
      ? [...encode((example as Translation).source), 1]
      : [1];
  };

  test("with beams and at random the same as without a cache", async () => {
    using model = trained();
    const beamed = await model.write(examples, { beams: 3, longest: 6 });
    for (const [i, example] of some.entries()) {
      const startTokens = promptOf(model, example);
      const step = logitsOf(model, example);
      const limits = { endToken: 2, maxLength: 6 };
      const [best] = await beamSearch(heed(), step, { ...limits, startTokens, beams: 3 });
      const [greedy] = await beamSearch(heed(), step, { ...limits, startTokens, beams: 1 });
      expect(beamed[i]).toEqual(model.targetVocabulary.decode(best?.tokens ?? []));
      expect(best?.logProbability).toBeGreaterThanOrEqual((greedy?.logProbability ?? 0) - 1e-4);

      const chance = { temperature: 1, topK: 4, seed: 5 };
      const options = { ...chance, longest: 6 };
      const [drawn] = await model.write([example as Translation], options);
      const [expected] = await generate(heed(), step, {
        ...{ ...chance, ...limits, startTokens: [startTokens] },
      });
      expect(drawn).toEqual(model.targetVocabulary.decode(expected ?? []));
    }
  });

  test("no more than its own text allows, whatever the other texts are", async () => {
    using model = createModel(heed(), config) as DecoderModel;
    // The end token is never chosen.
    (model.readOut.bias as Tensor).data[2] = -100;
    const [first] = examples as [Translation];
    const last = [...letters, ...letters];
    const long = { ...first, ...(first.kind === "translation" ? { source: last } : {}) };
    const lengths = (await model.write([first, long])).map((tokens) => tokens.length);
    const [own, other] = config.kind === "continuation" ? [2, 2] : [6, 13];
    expect(lengths).toEqual([own, other]);
    expect((await model.write([first, long], { longest: 4 })).map(({ length }) => length)).toEqual([
      4, 4,
    ]);
  });

  test("the same at random for the same seed", async () => {
    using model = trained();
    const drawn = (seed: number) => model.write(examples, { temperature: 2, seed });
    expect(await drawn(3)).toEqual(await drawn(3));
    expect(await drawn(4)).not.toEqual(await drawn(3));
  });

  test("and hands out every weight at every step", async () => {
    using model = trained();
    const shapes: string[] = [];
    const receive: nn.ReceiveWeights = (path, { shape }) => shapes.push(`${path} ${shape}`);
    const [example] = examples;
    const [tokens = []] = await model.write([example as Translation], {
      receive,
    });
    const steps = Math.min(tokens.length + 1, 6);
    if (config.architecture === "transformer") {
      expect(shapes.splice(0, 2)).toEqual(
        [0, 1].map((i) => `encoder.layers.${i}.self_attn 1,2,2,2`),
      );
      expect(shapes).toHaveLength(4 * steps);
      expect(shapes.slice(4, 6)).toEqual([
        "decoder.layers.0.self_attn 1,2,1,2",
        "decoder.layers.0.multihead_attn 1,2,1,2",
      ]);
    } else {
      expect(shapes.slice(0, 2)).toEqual(
        [0, 1].map(
          (i) =>
            `decoder.layers.${i}.self_attn 1,2,${config.kind === "continuation" ? "5,5" : "3,3"}`,
        ),
      );
    }
  });

  test("until its signal is aborted", async () => {
    using model = trained();
    for (const beams of [1, 2]) {
      const controller = new AbortController();
      let steps = 0;
      const receive = (path: string) => {
        if (path === "decoder.layers.0.self_attn" && ++steps === 2) controller.abort("enough");
      };
      const { signal } = controller;
      // Some sequences end after one token; none may continue after the signal.
      await model.write(examples, { beams, signal, receive, temperature: 0 }).then(
        () => expect(steps).toBeLessThan(2),
        (reason) => expect([reason, steps]).toEqual(["enough", 2]),
      );
    }
  });
});

describe("refusals", () => {
  const heed = engine({ threads: 1 });
  const [transformer, decoder, , tagger, forecaster, classifier] = cases as [Case, ...Case[]];
  const modelOf = (one: Case | undefined) => createModel(heed(), (one as Case).config);
  const bad = (value: object) => value as never;
  const rows: Record<string, [one: Case | undefined, examples: unknown, message: string]> = {
    "no examples": [transformer, [], "examples: expected a list of one example or more, got []"],
    "another kind": [
      transformer,
      [translation("ab"), continuation("ab")],
      'examples[1]: expected an example of kind "translation", got "continuation"',
    ],
    "no example": [
      decoder,
      [null],
      'examples[0]: expected an example of kind "translation", got undefined',
    ],
    "no source": [
      tagger,
      [tagging("")],
      "examples[0].source: expected one token or more, got none",
    ],
    "no source of a recurrent model": [
      recurrent[2],
      [translation("")],
      "examples[0].source: expected one token or more, got none",
    ],
    "another kind for a recurrent model": [
      recurrent[2],
      [series(8, 0)],
      'examples[0]: expected an example of kind "translation", got "series"',
    ],
    "an unknown token": [
      transformer,
      [translation("abx")],
      'tokens[0]: expected a token that the model knows, got "x"',
    ],
    "labels that are too few": [
      tagger,
      [{ ...tagging("ab"), labels: ["with"] }],
      "examples[0].labels: expected 2 entries, got 1",
    ],
    "no numbers": [
      forecaster,
      [{ ...series(8, 0), values: new Float32Array(0), isHidden: [] }],
      "examples[0].values: expected one number or more, got none",
    ],
    "a series that is half told": [
      forecaster,
      [{ ...series(8, 0), isHidden: [true] }],
      "examples[0].isHidden: expected 8 entries, got 1",
    ],
    "a side of no whole patches": [
      classifier,
      [picture(true, 1), picture(true, 1, [6, 8])],
      "examples[1].width: expected a multiple of 4, got 6",
    ],
    "pixels that are missing": [
      classifier,
      [{ ...picture(true, 1), height: 12 }],
      "examples[0].pixels: expected 96 entries, got 64",
    ],
  };
  test.each(Object.entries(rows))("%s", async (_, [one, examples, message]) => {
    using model = modelOf(one);
    const given = bad(examples as object);
    expect(refusal(() => model.forward(given)).message).toBe(message);
    expect(refusal(() => model.weights(given)).message).toBe(message);
    // An answer reads the source alone: the place of an unknown token in it is another one.
    const reason = message.replace(/^tokens\[\d\]: /, "");
    await expect(model.answer(given)).rejects.toThrow(reason);
  });

  test("an unknown label is accepted if only the attention is wanted", () => {
    using model = modelOf(tagger);
    const examples = bad([{ ...tagging("ab"), labels: [undefined, "new"] }]);
    expect(refusal(() => model.forward(examples)).message).toBe(
      'tokens[0]: expected a token that the model knows, got "new"',
    );
    expect(model.weights(examples)).toHaveLength(1);
  });

  test.each<[what: string, options: object, message: string]>([
    ["no beams", { beams: 0 }, "beams: expected a whole number from 1 to 1024, got 0"],
    ["no length", { longest: 0 }, "longest: expected a whole number from 1 to 1048576, got 0"],
    [
      "beams by chance",
      { beams: 2, temperature: 1 },
      "temperature: expected 0 with 2 beams, got 1",
    ],
    ["a receiver that is none", { receive: 1 }, "receive: expected a function, got 1"],
    [
      "another library's option",
      { numBeams: 2 },
      "numBeams: expected an option of answer (longest, beams, temperature, topK, topP, seed, signal, receive), got an unknown one",
    ],
  ])("%s", async (_, options, message) => {
    for (const one of cases) {
      using model = createModel(heed(), one.config);
      await expect(model.answer(one.some, options)).rejects.toMatchObject({
        ...{ name: "HeedError", code: "option", message },
      });
    }
  });
});

describe("a config", () => {
  const heed = engine({ threads: 1 });
  const task: Task<Translation> = {
    ...{ name: "reverse", about: "", kind: "translation", options: { maxLength: 5 } },
    ...{ vocabulary: { source: letters, target: letters }, longest: { source: 5, target: 5 } },
    generate: (random) => translation(letters[random.next() % 6] as string),
  };

  test("is filled from a task", () => {
    expect(configOf(task, "transformer", { layers: 1, seed: 3 })).toEqual({
      ...{ task: "reverse", taskOptions: { maxLength: 5 }, kind: "translation" },
      ...{ architecture: "transformer", vocabulary: task.vocabulary, longest: task.longest },
      ...{ size: 64, layers: 1, heads: 4, dimFeedforward: 128, dropout: 0 },
      ...{ positions: "sinusoidal", seed: 3 },
    });
    expect(configOf(task, "bahdanau").heads).toBe(1);
  });

  test.each([
    ["transformer", TransformerModel],
    ["decoder", DecoderModel],
    ["rnn", RecurrentModel],
    ["bahdanau", RecurrentModel],
    ["dot", RecurrentModel],
  ] as const)("makes a model: %s", (architecture, Model) => {
    using model = createModel(heed(), configOf(task, architecture, { size: 8 }));
    expect(model).toBeInstanceOf(Model);
  });

  test("may have no positions", () => {
    const [one, other] = ["abc", "cba"].map(tagging) as [Tagging, Tagging];
    const { config } = cases[3] as Case;
    const logit = (positions: ModelConfig["positions"], example: Tagging) => {
      using model = createModel(heed(), { ...config, positions });
      const labels = [undefined, "with", undefined];
      return heed().scope(() => model.forward([{ ...example, labels }]).loss.data[0] as number);
    };
    expect(logit("none", one)).toBeCloseTo(logit("none", other), 5);
    expect(logit("sinusoidal", one)).not.toBeCloseTo(logit("sinusoidal", other), 3);
  });

  const good = configOf(task, "transformer");
  const bad: Record<string, [more: object, message: string]> = {
    "a size of nothing": [{ size: 0 }, "size: expected a whole number of 1 or more, got 0"],
    "what is left out": [
      { layers: undefined },
      "layers: expected a whole number from 1 to 4096, got undefined",
    ],
    "more layers than anybody waits for": [
      { layers: 2 ** 40 },
      "layers: expected a whole number from 1 to 4096, got 1099511627776",
    ],
    "longer texts than anybody waits for": [
      { longest: { source: 1, target: 2 ** 40 } },
      "longest: expected an object with source and target, whole numbers from 1 to 65536, got an Object",
    ],
    "heads that do not fit": [{ heads: 3 }, "heads: expected a divisor of size 64, got 3"],
    "heads without attention to share": [
      { architecture: "dot" },
      "heads: expected 1 in a recurrent model, got 4",
    ],
    "another architecture": [
      { architecture: "lstm" },
      'architecture: expected "transformer" or "decoder" or "encoder" or "rnn" or "bahdanau" or "dot", got "lstm"',
    ],
    "an architecture for something else": [
      { architecture: "encoder" },
      'architecture: expected "transformer" or "decoder" or "rnn" or "bahdanau" or "dot" for a translation, got "encoder"',
    ],
    "a kind for something else": [
      { kind: "series" },
      'architecture: expected "encoder" for a series, got "transformer"',
    ],
    "no tokens": [
      { vocabulary: { source: [], target: letters } },
      "vocabulary.source: expected one token or more, got none",
    ],
    "half a vocabulary": [
      { vocabulary: { source: letters } },
      "vocabulary: expected an object with source and target, lists of tokens, got an Object",
    ],
    "a token twice": [
      { vocabulary: { source: ["a", "a"], target: letters } },
      'vocabulary: expected each token once, got "a" twice',
    ],
    "that everything drops": [
      { dropout: 1 },
      "dropout: expected a number from 0 to below 1, got 1",
    ],
    "a seed that is none": [
      { seed: -1 },
      "seed: expected a whole number from 0 to 4294967295, got -1",
    ],
    "what no config has": [
      { width: 3 },
      "width: expected an option of a config (task, taskOptions, kind, architecture, vocabulary, longest, size, layers, heads, dimFeedforward, dropout, positions, seed), got an unknown one",
    ],
  };
  test.each(["transformer", "decoder", "rnn", "bahdanau", "dot"] as const)(
    "may not ask for more than any memory has: %s",
    (architecture) => {
      const small = configOf(task, architecture, { size: 8 });
      for (const more of [{ size: 2 ** 40 }, { size: 2 ** 13, layers: 4096, dimFeedforward: 1 }]) {
        const { code, message } = refusal(() => createModel(heed(), { ...small, ...more }));
        expect([code, message]).toEqual([
          "memory",
          expect.stringMatching(
            /^config: expected parameters of at most 4294967296 bytes, got \d\S* with size \d+, layers \d+ and dimFeedforward \d+$/,
          ),
        ]);
      }
    },
  );

  test.each(Object.entries(bad))("may not have %s", (_, [more, message]) => {
    const config = { ...good, ...more } as ModelConfig;
    const { code, message: got } = refusal(() => createModel(heed(), config));
    expect([code, got]).toEqual(["option", message]);
  });

  test("refuses options that contradict each other", () => {
    const make = (architecture: string, options: object) =>
      refusal(() => configOf(task, architecture as "dot", options)).message;
    expect(make("transformer", { heads: 5 })).toBe("heads: expected a divisor of size 64, got 5");
    expect(make("encoder", {})).toMatch(
      /^architecture: expected "transformer" or .* for a translation/,
    );
    expect(make("gpt", {})).toMatch(/^architecture: expected "transformer" or .*, got "gpt"$/);
    expect(make("dot", { width: 3 })).toMatch(/^width: expected an option of configOf/);
  });
});
