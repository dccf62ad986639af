// Recurrent encoder-decoders: their parts compared with double precision, and their answers.
// models_transformers.test.ts tests that they learn, and that no answer depends on the other examples of the call.

import type { Tensor } from "heed";
import {
  type Answer,
  type ExampleWeights,
  type LabelledWeights,
  type ModelConfig,
  RecurrentModel,
  type Translation,
} from "heed/models";
import { beamSearch, nn, type Step, valueAndGrad } from "heed/nn";
import { afterEach, describe, expect, test } from "vitest";
import { engine, refusal } from "../engine.js";
import { gruLayer, linear, type Parameters, scored } from "../layer_oracle.js";
import { train, watched } from "../lessons.js";
import { randomise } from "../modules.js";
import type { Values } from "../oracle.js";
import type { Random } from "../values.js";

const architectures = ["rnn", "bahdanau", "dot"] as const;
const letters = [..."abcde"];
const [start, end] = [1, 2];
/** The maximum length of an answer. */
const longest = 12;
const idOf = (letter: string) => 3 + letters.indexOf(letter);

function configOf(architecture: ModelConfig["architecture"], more: Partial<ModelConfig> = {}) {
  const config: ModelConfig = {
    ...{ task: "reverse", taskOptions: {}, kind: "translation", architecture, seed: 7 },
    longest: { source: 5, target: longest - 1 },
    ...{ vocabulary: { source: letters, target: letters }, positions: "none" },
    ...{ size: 16, layers: 1, heads: 1, dimFeedforward: 1, dropout: 0 },
  };
  return { ...config, ...more };
}

const translation = (source: string, target = [...source].reverse().join("")): Translation => ({
  ...{ kind: "translation", source: [...source], target: [...target], alignment: [] },
});

const some = ["ab", "edcba", "c", "bbad", "dace"].map((text) => translation(text));

const textsOf = (answers: readonly Answer[]) =>
  answers.map((answer) => (answer.kind === "tokens" ? answer.tokens.join("") : answer.kind));

const draw = (random: Random) =>
  translation(Array.from({ length: random.whole(1, 4) }, () => random.pick(...letters)).join(""));

describe("the models equal their papers' formulas", () => {
  const heed = engine({ threads: 1 });

  const valuesOf = (rows: number[][]): Values => ({
    data: rows.flat(),
    shape: [1, rows.length, rows[0]?.length ?? 0],
  });
  const rowsOf = ({ data, shape: [, count = 0, size = 0] }: Values) =>
    Array.from({ length: count }, (_, row) => Array.from(data).slice(row * size, (row + 1) * size));
  const embedded = (p: Parameters, ids: number[]) => {
    const { data, shape } = p.get("embedding.weight");
    const rows = rowsOf({ data, shape: [1, ...shape] });
    return ids.map((id) => rows[id] as number[]);
  };
  const dense = (p: Parameters, x: number[]) =>
    Array.from(linear(p, { data: x, shape: [1, x.length] }).data);
  const run = (p: Parameters, layer: number, x: number[][], before?: number[]) =>
    rowsOf(gruLayer(p, layer, valuesOf(x), before).output);
  const product = (a: number[], b: number[]) =>
    a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

  /** Decodes an answer token by token; returns the logits and the weights. */
  function decoded(
    architecture: string,
    layers: number,
    p: Parameters,
    source: number[],
    before: number[],
  ): { logits: number[][]; weights: number[][] } {
    let outputs = embedded(p.of("encoder"), source);
    const states = Array.from({ length: layers }, (_, i) => {
      const ahead = run(p.of(`encoder.onward.${i}`), 0, outputs);
      const back = run(p.of(`encoder.backward.${i}`), 0, [...outputs].reverse()).reverse();
      outputs = ahead.map((row, t) => [...row, ...(back[t] as number[])]);
      const ends = [...(ahead.at(-1) as number[]), ...(back[0] as number[])];
      return dense(p.of(`encoder.bridges.${i}`), ends).map(Math.tanh);
    });

    const decoder = p.of("decoder");
    const attention = decoder.of("attention");
    const memory = valuesOf(outputs);
    const weights: number[][] = [];
    const attend = (score: (query: number[], key: number[]) => number) => {
      const found = scored(score, [valuesOf([states.at(-1) as number[]]), memory, memory]);
      weights.push(Array.from(found.weights.data));
      return Array.from(found.output.data);
    };
    const step = (x: number[]) => {
      for (let i = 0; i < layers; ++i)
        states[i] = run(
          decoder.of("gru"),
          i,
          [i === 0 ? x : (states[i - 1] as number[])],
          states[i],
        )[0] as number[];
      return states.at(-1) as number[];
    };
    const logits = embedded(decoder, before).map((token) => {
      let hidden: number[];
      if (architecture === "bahdanau") {
        const context = attend((state, output) => {
          const q = dense(attention.of("query_layer"), state);
          const k = dense(attention.of("key_layer"), output);
          const tangents = q.map((value, a) => Math.tanh(value + (k[a] as number)));
          return dense(attention.of("energy_layer"), tangents)[0] as number;
        });
        const state = step([...token, ...context]);
        hidden = dense(decoder.of("combine"), [...state, ...context, ...token]).map(Math.tanh);
      } else {
        hidden = step(token);
        if (architecture === "dot")
          hidden = dense(decoder.of("combine"), [...attend(product), ...hidden]).map(Math.tanh);
      }
      return dense(decoder.of("read_out"), hidden);
    });
    return { logits, weights };
  }

  test.each(architectures.flatMap((name) => [1, 2].map((layers) => [name, layers] as const)))(
    "%s with %d layers has the loss and the weights of its equations, padded or not",
    (architecture, layers) => {
      using model = new RecurrentModel(heed(), configOf(architecture, { size: 6, layers }));
      const p = randomise(model, 811);
      const found = model.weights(some);
      let [loss, right, count] = [0, 0, 0];
      for (const [i, { source, target }] of some.entries()) {
        const answer = [...target.map(idOf), end];
        const before = [start, ...answer.slice(0, -1)];
        const { logits, weights } = decoded(architecture, layers, p, source.map(idOf), before);
        for (const [t, row] of logits.entries()) {
          const sum = row.reduce((total, logit) => total + Math.exp(logit), 0);
          const own = row[answer[t] as number] as number;
          loss += Math.log(sum) - own;
          right += Number(own === Math.max(...row));
          count += 1;
        }
        if (architecture === "rnn") {
          expect(found[i]).toEqual([]);
          continue;
        }
        const [seen] = found[i] as [ExampleWeights];
        expect(found[i]).toHaveLength(1);
        expect({ ...seen, weights: undefined }).toEqual({
          ...{ path: "decoder.attention", heads: 1, weights: undefined },
          ...{ rows: target.length, columns: source.length },
          choices: target.map(() => source.length),
        });
        const [all] = (model.attentions(some)[i] ?? []) as [LabelledWeights];
        expect(all.labels).toEqual({ rows: ["<start>", ...target], columns: source });
        expect(all.weights).toHaveLength((target.length + 1) * source.length);
        expect(all.weights.subarray(0, seen.weights.length)).toEqual(seen.weights);
        const expected = weights.slice(0, target.length).flat();
        expect(seen.weights).toHaveLength(expected.length);
        for (const [place, weight] of expected.entries())
          expect(seen.weights[place]).toBeCloseTo(weight, 5);
      }
      heed().scope(() => {
        const lesson = model.forward(some);
        expect(lesson.loss.shape).toEqual([]);
        expect(lesson.loss.data[0]).toBeCloseTo(loss / count, 4);
        expect([lesson.count, lesson.right]).toEqual([count, right]);
      });
    },
  );
});

describe.each(architectures)("%s", (architecture) => {
  const heed = engine({ threads: 1 });
  const isAttentive = architecture !== "rnn";
  const made: RecurrentModel[] = [];
  const make = (more: Partial<ModelConfig> = {}) => {
    const model = new RecurrentModel(heed(), configOf(architecture, more));
    made.push(model);
    return model;
  };
  afterEach(() => {
    for (const model of made.splice(0)) model.dispose();
  });

  test("answers greedily with the most likely token after its own tokens", async () => {
    const model = make();
    train(heed(), model, draw, 12);
    const texts = textsOf(await model.eval().answer(some));
    for (const [i, text] of texts.entries()) {
      const { count, right } = heed().scope(() =>
        model.forward([{ ...(some[i] as Translation), target: [...text] }]),
      );
      // A truncated answer does not have the end token.
      const isCut = text.length === longest;
      expect(right).toBe(isCut ? count - 1 : count);
    }
    expect(textsOf(await model.answer(some, { beams: 1 }))).toEqual(texts);
    const begun = textsOf(await model.answer(some, { longest: 2 }));
    expect(begun).toEqual(texts.map((text) => text.slice(0, 2)));
  });

  test("returns the probability of each token, of which the loss consists", () => {
    const model = make();
    const { loss, count } = heed().scope(() => {
      const lesson = model.eval().forward(some);
      return { ...lesson, loss: lesson.loss.data[0] as number };
    });
    const surprises = model.probabilities(some).flatMap(({ tokens, rows, probabilities }, i) => {
      const said = [...(some[i] as Translation).target, "<end>"];
      expect(rows).toBe(said.length);
      return said.map((token, row) => {
        const chances = probabilities.subarray(row * tokens.length, (row + 1) * tokens.length);
        expect(chances.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 5);
        return -Math.log(chances[tokens.indexOf(token)] as number);
      });
    });
    expect(surprises.length).toBe(count);
    expect(surprises.reduce((sum, x) => sum + x, 0) / count).toBeCloseTo(loss, 4);
  });

  test("finds the same answer by beam search with and without carried states", async () => {
    const model = make({ layers: 2 });
    train(heed(), model, draw, 12);
    model.eval();
    for (const example of some) {
      const step: Step = (sequences) =>
        heed().scope(() => {
          const source = sequences.map(() => example.source.map(idOf));
          const { outputs, state } = model.encoder.forward(source);
          const ids = heed().tensor(Int32Array.from(sequences.flat()), [
            3,
            sequences[0]?.length ?? 0,
          ]);
          const memory = model.decoder.remember(outputs, undefined);
          const { logits } = model.decoder.forward(ids, state, memory);
          return heed()
            .split(logits, ids.shape[1] as number, { axis: 1 })
            .at(-1) as Tensor;
        });
      const flat: Step = async (...given) => {
        const logits = await step(...given);
        return heed().reshape(logits, [3, -1]);
      };
      const limit = { endToken: end, maxLength: longest };
      const [best] = await beamSearch(heed(), flat, { startTokens: [start], beams: 3, ...limit });
      const ids = best?.tokens.filter((id) => id !== end) ?? [];
      const [text] = textsOf(await model.answer([example], { beams: 3 }));
      expect(text).toBe(ids.map((id) => letters[id - 3] ?? `<${id}>`).join(""));
    }
  });

  test("draws the same answers for the same seed", async () => {
    const model = make();
    train(heed(), model, draw, 12);
    model.eval();
    const drawn = async (seed: number) =>
      textsOf(await model.answer(some, { temperature: 1, seed }));
    expect(await drawn(3)).toEqual(await drawn(3));
    expect(await drawn(4)).not.toEqual(await drawn(3));
  });

  test("hands out the weights of every step, in training and in answers", async () => {
    const model = make();
    const width = 5;
    const shapes: string[] = [];
    const receive: nn.ReceiveWeights = (path, { shape, data }) => {
      shapes.push(`${path} ${shape}`);
      for (let begin = 0; begin < data.length; begin += width) {
        const row = Array.from(data.subarray(begin, begin + width));
        expect(row.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 5);
      }
    };
    nn.captureAttention(model, receive, () => {
      for (const gradient of valueAndGrad(model, () => model.forward(some).loss).gradients)
        gradient.dispose();
    });
    const taught = { rnn: [], bahdanau: Array(6).fill("5,1,5"), dot: ["5,6,5"] };
    expect(shapes.splice(0)).toEqual(taught[architecture].map((s) => `decoder.attention ${s}`));
    await model.answer(some, { receive });
    expect(new Set(shapes)).toEqual(new Set(isAttentive ? ["decoder.attention 5,1,5"] : []));
    const rows = shapes.length;
    shapes.length = 0;
    await model.answer(some.slice(1, 2), { receive, beams: 2 });
    expect(new Set(shapes)).toEqual(new Set(isAttentive ? ["decoder.attention 2,1,5"] : []));
    expect(rows > 1).toBe(isAttentive);
  });

  test("leaks no tensor, however it ends", async () => {
    const model = make({ layers: 2 });
    using watch = await watched(heed());
    train(heed(), model, draw, 50);
    await watch.expectNothingLeft();
    model.weights(some);
    await model.answer(some);
    await model.answer(some, { beams: 3 });
    await watch.expectNothingLeft();
    const { forward } = model.decoder;
    for (const beams of [{}, { beams: 2 }]) {
      const controller = new AbortController();
      const { signal } = controller;
      let steps = 0;
      model.decoder.forward = (...given) => {
        if (++steps === 3) controller.abort(new Error("enough"));
        return forward(...given);
      };
      await expect(model.answer(some, { ...beams, signal })).rejects.toThrow("enough");
      expect(steps).toBe(3);
      model.decoder.forward = (...given) => {
        forward(...given);
        throw new Error("broken");
      };
      await expect(model.answer(some, { ...beams, signal })).rejects.toThrow("enough");
      await expect(model.answer(some, beams)).rejects.toThrow("broken");
      model.decoder.forward = forward;
      await watch.expectNothingLeft();
    }
    expect(() => model.forward([translation("ab", "ax")])).toThrow("tokens[1]");
    await expect(model.answer([translation("axb", "")])).rejects.toThrow("tokens[1]");
    await watch.expectNothingLeft();
  });
});

describe("refusals", () => {
  const heed = engine({ threads: 1 });

  test.each<[what: string, more: object, message: string]>([
    [
      "an odd size",
      { size: 7 },
      "size: expected an even number of 2 or more, half for each direction of the encoder, got 7",
    ],
    [
      "another architecture",
      { architecture: "transformer" },
      'architecture: expected "rnn" or "bahdanau" or "dot", got "transformer"',
    ],
  ])("%s", (_, more, message) => {
    const { code, message: got } = refusal(() => new RecurrentModel(heed(), configOf("dot", more)));
    expect([code, got]).toEqual(["option", message]);
  });
});
