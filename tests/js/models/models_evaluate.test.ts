// Scores and alignments computed by hand, for a model with given answers and weights; and the effect of
// switching off a head of a model.

import {
  type Answer,
  alignment,
  type Continuation,
  configOf,
  createModel,
  type Example,
  type ExampleWeights,
  evaluate,
  type Picture,
  type Series,
  type Tagging,
  type TaskModel,
  type Translation,
  taskOf,
  withoutHeads,
} from "heed/models";
import { nn } from "heed/nn";
import { describe, expect, test } from "vitest";
import { engine, refusal } from "../engine.js";

/** Creates a model with these answers and weights, one per example. */
function told(answers: readonly Answer[], seen: readonly ExampleWeights[][] = []): TaskModel {
  const all: Example[] = [];
  const placeOf = (example: Example) => {
    if (!all.includes(example)) all.push(example);
    return all.indexOf(example);
  };
  return {
    ...{ training: false, eval() {}, train() {} },
    answer: async (examples: Example[]) => examples.map((each) => answers[placeOf(each)]),
    weights: (examples: Example[]) => examples.map((each) => seen[placeOf(each)]),
  } as unknown as TaskModel;
}

const translation = (target: string, alignment: Translation["alignment"] = []): Translation => ({
  ...{ kind: "translation", source: [..."abc"], target: [...target], alignment },
});
const tokens = (text: string): Answer => ({ kind: "tokens", tokens: [...text] });

describe("scores", () => {
  test("of translations count missing and additional tokens as wrong", async () => {
    const model = told([tokens("cba"), tokens("cb"), tokens("cbax"), tokens("abc")]);
    const examples = [0, 1, 2, 3].map(() => translation("cba"));
    expect(await evaluate(model, examples, { batch: 3 })).toEqual({
      ...{ examples: 4, exact: 0.25, tokens: (3 + 2 + 3 + 1) / 12 },
    });
  });

  test("of tagging and continuations count only the requested labels", async () => {
    const tagging: Tagging = {
      ...{ kind: "tagging", source: [..."abc"], alignment: [], content: [] },
      labels: ["x", undefined, "y"],
    };
    const labels = (...list: (string | undefined)[]): Answer => ({ kind: "labels", labels: list });
    const model = told([labels("x", undefined, "z")]);
    expect(await evaluate(model, [tagging])).toEqual({ examples: 1, exact: 0, tokens: 0.5 });
    const text: Continuation = {
      ...{ kind: "continuation", tokens: [..."(()"], alignment: [] },
      allowed: [undefined, undefined, [")", "]"]],
    };
    expect(await evaluate(told([labels("{", "{", "]")]), [text])).toEqual({
      ...{ examples: 1, exact: 1, tokens: 1 },
    });
  });

  test("of series measure the error of the hidden values, and that of a straight line", async () => {
    const series: Series = {
      ...{ kind: "series", alignment: [], isHidden: [false, true, true, false] },
      values: Float32Array.of(0, 2, 4, 3),
    };
    const numbers = (...values: number[]): Answer => ({
      ...{ kind: "numbers", values: Float32Array.from(values) },
    });
    // The squared deviations of the hidden values from their mean are 1 + 1.
    const found = await evaluate(told([numbers(9, 2.25, 4.25, 9)]), [series]);
    expect(found).toEqual({ examples: 1, exact: 1, error: 0.25, lineError: Math.sqrt(2.5) });
    const missed = await evaluate(told([numbers(0, 2.5, 4, 3)]), [series]);
    expect(missed.exact).toBe(0);
    const short: Series = { ...series, isHidden: [false, false, true, false] };
    const exact = await evaluate(told([numbers(9, 9, 4, 9)]), [short]);
    expect([exact.exact, exact.error]).toEqual([1, 0]);
  });

  test("can be stopped from outside between two batches", async () => {
    const controller = new AbortController();
    let done = 0;
    const scores = evaluate(
      told(Array(200).fill(tokens("cba"))),
      Array.from({ length: 200 }, () => translation("cba")),
      { batch: 1, signal: controller.signal, progress: (count) => (done = count) },
    );
    setTimeout(() => controller.abort(new Error("enough")), 0);
    await expect(scores).rejects.toThrow("enough");
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(200);
  });
});

describe("alignment", () => {
  const weights = (columns: number, choices: number[], ...numbers: number[]): ExampleWeights => ({
    ...{ path: "there", heads: 1, rows: choices.length, columns, choices },
    weights: Float32Array.from(numbers),
  });
  const near = (expected: number) => expect.closeTo(expected, 6);

  test("measures the weight on the aligned positions, and that of uniform weights", () => {
    const examples = [translation("ca", [[2], []]), translation("xb", [[0, 2], [1]])];
    const seen = [
      weights(3, [3, 3], 0.1, 0.2, 0.7, 1, 0, 0),
      // The weights of a decoder that also sees its own text, which gets the rest of the weight.
      weights(3, [4, 5], 0.2, 0.3, 0.1, 0, 0.5, 0),
    ];
    const model = told(
      [],
      seen.map((each) => [each]),
    );
    expect(alignment(model, examples)).toEqual([
      {
        ...{ path: "there", head: 0, rows: 3 },
        ...{ mass: near((0.7 + 0.3 + 0.5) / 3), largest: near(2 / 3) },
        chance: near((1 / 3 + 2 / 4 + 1 / 5) / 3),
        byPosition: [near(0.5), near(0.5)],
      },
    ]);
  });

  test("compares content words in tagging, and patches that a shape covers in pictures", () => {
    const tagging: Tagging = {
      ...{ kind: "tagging", source: [..."ab"], labels: [undefined, "x"], content: [0] },
      alignment: [[], [0]],
    };
    const looked = weights(2, [2, 2], 1, 0, 0.4, 0.6);
    expect(alignment(told([], [[looked]]), [tagging])[0]).toMatchObject({
      ...{ mass: near(0.4), largest: 1, chance: 0.5, rows: 1 },
    });
    const covered = Array.from({ length: 32 }, (_, i) => i % 8 === 5);
    const picture: Picture = {
      ...{ kind: "picture", width: 8, height: 4, label: "up", covered },
      pixels: Float32Array.from(covered, Number),
    };
    const ofPicture = weights(2, [3], 0.3, 0.2);
    expect(alignment(told([], [[ofPicture]]), [picture])[0]).toMatchObject({
      ...{ mass: near(0.2), largest: 0, chance: near(1 / 3), rows: 1 },
    });
  });

  test("of examples without aligned positions is refused", () => {
    const model = told([], [[weights(3, [])]]);
    expect(refusal(() => alignment(model, [translation("")]))).toMatchObject({
      code: "option",
      message: expect.stringMatching(/^examples: expected an example with aligned positions/),
    });
  });
});

describe("text that a person types", () => {
  const heed = engine({ threads: 1 });

  test.each([
    ["pronouns", "encoder", "Alice wrote a note and gave it to Bob", 10],
    ["reverse", "transformer", "abc", 1],
    ["reverse", "decoder", "abc", 4],
    ["reverse", "dot", "abc", 1],
    ["brackets", "decoder", "([", 3],
  ] as const)(
    "into %s gives the attention of %s without an answer",
    (name, architecture, text, rows) => {
      const task = taskOf(name);
      using model = createModel(heed(), configOf(task, architecture, { size: 8, layers: 1 }));
      const [seen = []] = model.attentions([(task.read as NonNullable<typeof task.read>)(text)]);
      expect(seen.at(-1)?.labels.rows).toHaveLength(rows);
      expect(seen.at(-1)?.rows).toBe(rows);
    },
  );
});

describe("without some heads", () => {
  const heed = engine({ threads: 1 });
  const task = taskOf("reverse");
  const random = new nn.Generator(3);
  const some = Array.from({ length: 8 }, () => task.generate(random, "test")) as Translation[];
  const path = "decoder.layers.0.multihead_attn";
  const make = () =>
    createModel(heed(), configOf(task, "transformer", { size: 8, layers: 1, heads: 4 }));
  const lossOf = (model: TaskModel) =>
    heed().scope(() => model.forward(some).loss.data[0] as number);

  test("a model computes as if their values were zero, and afterwards as before", async () => {
    using model = make();
    const whole = lossOf(model);
    const [before] = model.weights(some.slice(0, 1));
    const one = await withoutHeads(model, [{ path, head: 2 }], () => lossOf(model));
    expect(one).not.toBe(whole);
    expect(model.weights(some.slice(0, 1))[0]).toEqual(before);
    expect(lossOf(model)).toBe(whole);
    // Setting the values of the head to zero has the same effect. Their rows are after the rows of queries and keys.
    using other = make();
    const { data } = other.stateDict()[`${path}.in_proj_weight`] as { data: Float32Array };
    data.fill(0, (2 * 8 + 2 * 2) * 8, (2 * 8 + 3 * 2) * 8);
    expect(lossOf(other)).toBeCloseTo(one, 5);
  });

  test("a given output in place of a head's has the effect of values that are all equal to it", async () => {
    using model = make();
    const whole = lossOf(model);
    const output = Float32Array.of(0.7, -1.3);
    const one = await withoutHeads(model, [{ path, head: 2, output }], () => lossOf(model));
    expect(lossOf(model)).toBe(whole);
    using other = make();
    const dataOf = (name: string) => other.stateDict()[`${path}.in_proj_${name}`]?.data;
    (dataOf("weight") as Float32Array).fill(0, (2 * 8 + 2 * 2) * 8, (2 * 8 + 3 * 2) * 8);
    (dataOf("bias") as Float32Array).set(output, 2 * 8 + 2 * 2);
    expect(lossOf(other)).toBeCloseTo(one, 5);
    expect(one).not.toBeCloseTo(whole, 4);
  });

  test("calls at the same time or within each other switch off the heads of all, and leave none", async () => {
    using model = make();
    const whole = lossOf(model);
    const heads = [0, 1].map((head) => ({ path, head, output: Float32Array.of(head, 0.5) }));
    const both = await withoutHeads(model, heads, () => lossOf(model));
    const within = await withoutHeads(model, heads.slice(0, 1), async () => {
      await null;
      return withoutHeads(model, heads.slice(1), () => lossOf(model));
    });
    expect(within).toBeCloseTo(both, 6);
    expect(lossOf(model)).toBe(whole);
    let endFirst = () => {};
    const first = withoutHeads(model, heads.slice(0, 1), () => {
      return new Promise<void>((resolve) => {
        endFirst = resolve;
      });
    });
    const last = withoutHeads(model, heads.slice(1), async () => {
      const before = lossOf(model);
      endFirst();
      await first;
      return [before, lossOf(model)];
    });
    const [during, after] = await last;
    const one = await withoutHeads(model, heads.slice(1), () => lossOf(model));
    expect(during).toBeCloseTo(both, 6);
    expect(after).toBe(one);
    expect(lossOf(model)).toBe(whole);
  });

  test("promises are awaited, and the heads are restored after errors", async () => {
    using model = make();
    const whole = lossOf(model);
    const heads = [0, 1, 2, 3].map((head) => ({ path, head }));
    const [answers, loss] = await withoutHeads(model, heads, async () => {
      const found = await model.answer(some);
      return [found, lossOf(model)] as const;
    });
    expect(answers).toHaveLength(some.length);
    expect(loss).not.toBe(whole);
    const failing = withoutHeads(model, heads, async () => {
      throw new Error("no more");
    });
    await expect(failing).rejects.toThrow("no more");
    expect(lossOf(model)).toBe(whole);
  });

  test.each<[architecture: "transformer" | "dot", head: unknown, message: RegExp]>([
    ["transformer", { path: "decoder", head: 0 }, /heads\[0\]\.path: expected one of encoder\./],
    ["transformer", { path, head: 4 }, /heads\[0\]\.head: expected a whole number from 0 to 3/],
    ["transformer", undefined, /heads\[0\]\.path/],
    ["dot", { path: "decoder.attention", head: 0 }, /expected none in this model/],
  ])("%s has no %j", async (architecture, head, message) => {
    using model = createModel(heed(), configOf(task, architecture, { size: 8, layers: 1 }));
    await expect(withoutHeads(model, [head as never], () => 0)).rejects.toMatchObject({
      ...{ code: "option", message: expect.stringMatching(message) },
    });
  });
});
