// The training of language models: examples cover the text, losses count each token once, and a stopped training
// continues with the same results.

import { type Heed, load, type Tensor } from "heed";
import { type TextRecipe, TextTrainer, textLoss } from "heed/models";
import { nn } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, refusal, variants } from "../engine.js";
import { expectSameBits } from "../values.js";

const vocabulary = 6;

/** Logits that depend on the last token alone: a table of bigrams. */
class Bigrams extends nn.Module {
  readonly table: nn.Embedding;
  constructor(heed: Heed, seed = 1) {
    super(heed);
    const generator = new nn.Generator(seed);
    this.table = new nn.Embedding(heed, vocabulary, vocabulary, { generator });
  }
  forward(ids: Tensor): { logits: Tensor } {
    return { logits: this.table.forward(ids) };
  }
}

const recipe: TextRecipe = {
  batch: 4,
  length: 8,
  steps: 30,
  learningRate: 0.1,
  warmupSteps: 3,
  weightDecay: 0.01,
  clipNorm: 1,
  checkEvery: 10,
};

/** 0 1 2 3 4 5 0 1 ..., with the token 3 at every 17th place. */
const text = Int32Array.from({ length: 203 }, (_, i) => (i % 17 === 0 ? 3 : i % vocabulary));

const training = (heed: Heed, changes: Partial<TextRecipe> = {}, seed = 1, tokens = text) =>
  new TextTrainer(new Bigrams(heed), tokens, { recipe: { ...recipe, ...changes }, seed });

const steps = (trainer: TextTrainer, count: number) =>
  Array.from({ length: count }, () => trainer.step());

describeEngines((heed) => {
  test("a model learns a text", async () => {
    const trainer = training(heed());
    const before = await textLoss(trainer.model.eval(), text, { length: 8 });
    const first = trainer.step();
    expect(first).toMatchObject({ step: 1, tokens: 32, right: undefined });
    while (!trainer.finished) trainer.step();
    const after = await textLoss(trainer.model.eval(), text, { length: 8 });
    expect(after.count).toBe(text.length - 1);
    expect(after.loss).toBeLessThan(0.6 * before.loss);
  });

  test("a training that was stopped continues bit for bit, in the middle of a pass too", () => {
    const whole = training(heed());
    const losses = steps(whole, 17);
    const before = training(heed());
    steps(before, 9);
    before.keepIfBest(-1);
    const after = training(heed());
    steps(after, 2);
    expect(after.resume(before.state("notes"))).toBe("notes");
    expect(steps(after, 8)).toEqual(losses.slice(9));
    expect(after.best).toEqual(before.best);
    expectSameBits(training(heed()).state(), training(heed()).state());
    whole.keepIfBest(0);
    after.keepIfBest(0);
    expectSameBits(after.state(), whole.state());
  });
});

test("a training with dropout that was stopped continues bit for bit", async () => {
  const heed = await load({ threads: 1 });
  class WithDropout extends Bigrams {
    readonly dropout = new nn.Dropout(heed, 0.3);
    override forward(ids: Tensor): { logits: Tensor } {
      return { logits: this.dropout.forward(super.forward(ids).logits) };
    }
  }
  const make = () => new TextTrainer(new WithDropout(heed), text, { recipe, seed: 1 });
  const losses = steps(make(), 7);
  const before = make();
  steps(before, 4);
  const after = make();
  after.resume(before.state());
  nn.manualSeed(heed, 5);
  const { state } = nn.defaultGenerator(heed);
  expect(steps(after, 3)).toEqual(losses.slice(4));
  expect(nn.defaultGenerator(heed).state).toBe(state);
  heed.dispose();
});

test("steps, losses and states leave nothing behind", async () => {
  const heed = await load({ threads: 1 });
  const trainer = training(heed);
  const held = async () => {
    steps(trainer, 3);
    await textLoss(trainer.model.eval(), text, { length: 8 });
    trainer.resume(trainer.state());
    trainer.keepIfBest(0);
    return heed.memory().tensors;
  };
  const first = await held();
  expect(first.count).toBe(3);
  expect(await held()).toEqual(first);
  trainer.dispose();
  trainer.model.dispose();
  expect(heed.memory().tensors.count).toBe(0);
  heed.dispose();
});

test.each(variants)("the %s binary trains the same with any number of threads", async (variant) => {
  const files = [];
  for (const threads of [1, 2]) {
    const heed = await load({ variant, threads });
    const trainer = training(heed);
    steps(trainer, 8);
    files.push(trainer.state());
    heed.dispose();
  }
  expectSameBits(files[1], files[0] as Uint8Array);
});

describe("the examples of a text", () => {
  const heed = engine({ threads: 1 });
  /** A text whose tokens tell their places. */
  const places = Int32Array.from({ length: 203 }, (_, i) => i);

  test("cover each pass once, from another offset and in another order", () => {
    const trainer = training(heed(), {}, 1, places);
    // 203 tokens contain 24 examples of 8 at every offset below 8: six steps.
    const passes = [0, 1, 2].map((pass) =>
      Array.from({ length: 6 }, (_, i) => trainer.examples(pass * 6 + i + 1)).flat(),
    );
    const offsets = passes.map((examples) => {
      const begins = examples.map(([begin]) => begin as number);
      for (const [i, example] of examples.entries())
        expect([...example]).toEqual(Array.from({ length: 9 }, (_, j) => (begins[i] ?? 0) + j));
      const sorted = [...begins].sort((a, b) => a - b);
      expect(begins).not.toEqual(sorted);
      const [first = 0] = sorted;
      expect(sorted).toEqual(Array.from({ length: 24 }, (_, i) => first + 8 * i));
      return first;
    });
    expect(new Set(offsets).size).toBeGreaterThan(1);
    for (const offset of offsets) expect(offset).toBeLessThan(8);
  });

  test("depend on the seed and the step alone", () => {
    const [one, same, other] = [1, 1, 2].map((seed) => training(heed(), {}, seed, places));
    one?.examples(20);
    expect(same?.examples(3)).toEqual(one?.examples(3));
    expect(other?.examples(3)).not.toEqual(one?.examples(3));
  });
});

describe("the loss of a text", () => {
  const heed = engine({ threads: 1 });

  test.each([
    [8, 8, 1],
    [8, 4, 3],
    [8, 1, 7],
    [50, 13, 2],
    [300, 150, 8],
  ])("counts each token once, with length %s, stride %s and batch %s", async (...sizes) => {
    const [length, stride, batch] = sizes;
    const model = new Bigrams(heed()).eval();
    const logits = [...(model.table.weight.data as Float32Array)];
    let expected = 0;
    for (let i = 1; i < text.length; i++) {
      const row = logits.slice((text[i - 1] as number) * vocabulary).slice(0, vocabulary);
      const sum = row.reduce((all, logit) => all + Math.exp(logit), 0);
      expected -= (row[text[i] as number] as number) - Math.log(sum);
    }
    const { loss, count } = await textLoss(model, text, { length, stride, batch });
    expect(count).toBe(text.length - 1);
    expect(loss).toBeCloseTo(expected / count, 5);
  });

  test("counts only tokens with enough tokens before them", async () => {
    const [length, stride] = [8, 2];
    const seen: number[][] = [];
    class Watching extends Bigrams {
      override forward(ids: Tensor) {
        seen.push([...(ids.data as Int32Array)]);
        return super.forward(ids);
      }
    }
    const places = text.subarray(0, 15);
    await textLoss(new Watching(heed()).eval(), places, { length, stride, batch: 1 });
    expect(seen.map((ids) => ids.slice(0, 6))).toEqual(
      [0, 2, 4, 6].map((begin) => [...places.subarray(begin, begin + 6)]),
    );
  });

  test("can be stopped", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    const model = new Bigrams(heed()).eval();
    await expect(textLoss(model, text, { length: 8, signal })).rejects.toThrow("enough");
  });
});

describe("is refused, with a message that names it:", () => {
  const heed = engine({ threads: 1 });

  test.each(
    Object.entries<[run: () => unknown, message: RegExp]>({
      "a text of one example": [() => training(heed(), { length: 102 }), /^tokens: .* 204 tokens/],
      "an incomplete recipe": [
        () => new TextTrainer(new Bigrams(heed()), text, { recipe: {} as TextRecipe }),
        /^batch: expected a whole number/,
      ],
      "an unknown setting": [() => training(heed(), { goal: 1 } as object), /^goal: /],
      "a list of numbers": [() => training(heed(), {}, 1, [1] as never), /^tokens: .*Int32Array/],
      "what is no module": [() => new TextTrainer({} as never, text, { recipe }), /^model: /],
      "a seed that is none": [() => training(heed(), {}, 0.5), /^seed: /],
      "the state of another text": [
        () => training(heed()).resume(training(heed(), {}, 1, text.subarray(1)).state()),
        /^state: .* text.tokens is 202, not 203; text.hash is /,
      ],
      "the state of another recipe": [
        () => training(heed(), { length: 4 }).resume(training(heed()).state()),
        /^state: .* recipe.length is 8, not 4$/,
      ],
    }),
  )("%s", (_, [run, message]) => {
    const error = refusal(run as () => void);
    expect(error.message).toMatch(message);
    expect(error.code).toBe("option");
  });

  test("a stride beyond the length", async () => {
    const loss = textLoss(new Bigrams(heed()), text, { length: 4, stride: 5 });
    await expect(loss).rejects.toThrow("stride: expected at most 4, got 5");
  });
});
