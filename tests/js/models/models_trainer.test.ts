// Training in steps: the same seeds give the same result, and so does a training that was resumed from a
// file.

import { load } from "heed";
import { type Architecture, evaluate, type Recipe, type Task, Trainer, taskOf } from "heed/models";
import { nn, safetensors } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, refusal, variants } from "../engine.js";
import { type Changes, tinyModel, tinyRecipe, tinyTask, tinyTraining } from "../tiny_training.js";
import { expectSameBits } from "../values.js";

const steps = (trainer: Trainer, count: number) =>
  Array.from({ length: count }, () => trainer.step());

describeEngines((heed) => {
  test("a model learns its task", async () => {
    const trainer = tinyTraining(heed(), {
      options: { size: 32, dropout: 0 },
      recipe: { batch: 32, steps: 80 },
    });
    const first = trainer.step();
    expect(first.step).toBe(1);
    expect(first.loss).toBeGreaterThan(1);
    expect(first.gradientNorm).toBeGreaterThan(0);
    expect(first.tokens).toBeGreaterThan(32);
    while (!trainer.finished) trainer.step();
    expect(trainer.stepCount).toBe(80);
    const random = new nn.Generator(7);
    const examples = Array.from({ length: 50 }, () => tinyTask.generate(random, "test"));
    const { exact } = await evaluate(trainer.model, examples);
    expect(exact).toBeGreaterThan(0.8);
    expect(refusal(() => trainer.step()).message).toBe(
      "step: expected at most 80 steps, got one more",
    );
    trainer.dispose();
  });

  test.each<[architecture: Architecture, task: Task]>([
    ["transformer", tinyTask],
    ["decoder", tinyTask],
    ["rnn", tinyTask],
    ["bahdanau", tinyTask],
    ["dot", tinyTask],
    ["encoder", taskOf("series")],
    ["encoder", taskOf("shapes")],
  ])("training of %s continues bit for bit after a stop", (architecture, task) => {
    const begin = () => tinyTraining(heed(), { architecture, task });
    const whole = begin();
    const losses = steps(whole, 4);
    const before = begin();
    steps(before, 2);
    const after = begin();
    steps(after, 1);
    after.resume(before.state());
    expect(steps(after, 2)).toEqual(losses.slice(2));
    expectSameBits(after.state(), whole.state());
  });

  test("a state restores everything, whatever the model computed in between", async () => {
    const whole = tinyTraining(heed());
    const expected = steps(whole, 12);
    const before = tinyTraining(heed());
    const losses = steps(before, 5);
    before.keepIfBest(0.5);
    losses.push(...steps(before, 2));
    const file = before.state("so far");
    const after = tinyTraining(heed());
    after.model.generator.next();
    steps(after, 3);
    expect(after.resume(file)).toBe("so far");
    expect(after.stepCount).toBe(7);
    expect(after.best).toEqual(before.best);
    expectSameBits(after.state("so far"), file);
    after.model.forward(after.examples(1));
    losses.push(...steps(after, 5));
    expect(losses).toEqual(expected);
  });
});

test.each(variants)("the %s binary trains the same with any number of threads", async (variant) => {
  const files = [];
  for (const threads of [1, 2, 3]) {
    const heed = await load({ variant, threads });
    const trainer = tinyTraining(heed);
    steps(trainer, 8);
    files.push(trainer.state());
    heed.dispose();
  }
  const [first, ...others] = files;
  for (const other of others) expectSameBits(other, first as Uint8Array);
});

describe("a trainer", () => {
  const heed = engine({ threads: 1 });

  test("has different examples for each step and seed, the same ones for the same seed", () => {
    const texts = [1, 2, 3].flatMap((seed) => {
      const trainer = tinyTraining(heed(), { seed });
      return [1, 2, 3].map((step) => JSON.stringify(trainer.examples(step)));
    });
    expect(new Set(texts).size).toBe(9);
    expect(JSON.stringify(tinyTraining(heed(), { seed: 2 }).examples(3))).toBe(texts[5]);
  });

  test("drops different elements in each step and for each seed", () => {
    const states = [1, 2, 3].flatMap((seed) => {
      const trainer = tinyTraining(heed(), { seed });
      return [1, 2, 3].map(() => {
        trainer.step();
        return trainer.model.generator.state;
      });
    });
    expect(new Set(states).size).toBe(9);
  });

  test("keeps the best parameters, the later of equally good ones", () => {
    const trainer = tinyTraining(heed());
    const kept = [0.5, 0.25, 0.5, 0.75, 0.7].map((score) => {
      trainer.step();
      return trainer.keepIfBest(score);
    });
    expect(kept).toEqual([true, false, true, true, false]);
    const expected = tinyTraining(heed());
    steps(expected, 4);
    const { step, score, parameters = {} } = trainer.best ?? {};
    expect({ step, score }).toEqual({ step: 4, score: 0.75 });
    expectSameBits(safetensors.write(parameters), safetensors.write(expected.model.stateDict()));
  });

  test("changes nothing in a step whose loss or gradients are not finite", () => {
    const trainer = tinyTraining(heed());
    steps(trainer, 2);
    const weight = trainer.model.stateDict()["read_out.weight"]?.data as Float32Array;
    const first = weight[0] as number;
    const before = trainer.state();
    weight[0] = Number.NaN;
    expect(refusal(() => trainer.step()).code).toBe("nan");
    weight[0] = first;
    expectSameBits(trainer.state(), before);
  });

  test.each(
    Object.entries<[changes: Changes, message: string]>({
      "a batch of nothing": [
        { recipe: { batch: 0 } },
        "batch: expected a whole number from 1 to 65536, got 0",
      ],
      "a batch that nobody waits for": [
        { recipe: { batch: 2 ** 40 } },
        "batch: expected a whole number from 1 to 65536, got 1099511627776",
      ],
      "a warm-up that is all there is": [
        { recipe: { warmupSteps: 40 } },
        "steps: expected a whole number of 41 or more, got 40",
      ],
      "a learning rate of 0": [
        { recipe: { learningRate: 0 } },
        "learningRate: expected a positive number, got 0",
      ],
      "a seed that is none": [
        { seed: -1 },
        "seed: expected a whole number from 0 to 4294967295, got -1",
      ],
    }),
  )("refuses %s", (_, [changes, message]) => {
    expect(refusal(() => tinyTraining(heed(), changes)).message).toBe(message);
  });

  test("refuses an incomplete recipe", () => {
    const options = { recipe: { steps: 3 } as Recipe };
    expect(refusal(() => new Trainer(tinyModel(heed()), tinyTask, options)).message).toMatch(
      /^recipe: expected a recipe with batch, steps, .*, got an Object$/,
    );
  });

  test("refuses the model of another task", () => {
    const other = taskOf("sort", { letters: 5, maxLength: 4 });
    expect(
      refusal(() => new Trainer(tinyModel(heed()), other, { recipe: tinyRecipe })).message,
    ).toBe(
      'task: expected the task of the model, got another: name is "sort", not "reverse"; options.letters is 5, not 4; vocabulary.source is another list; vocabulary.target is another list',
    );
  });
});

describe("a state is refused, and nothing is changed,", () => {
  const heed = engine({ threads: 1 });

  function refusedState(bytes: Uint8Array, changes?: Changes) {
    const trainer = tinyTraining(heed(), changes);
    steps(trainer, 2);
    const before = trainer.state();
    const error = refusal(() => trainer.resume(bytes));
    expectSameBits(trainer.state(), before);
    return error;
  }

  function written() {
    const trainer = tinyTraining(heed());
    steps(trainer, 3);
    return trainer.state();
  }

  test.each<[what: string, changes: Changes, differences: string]>([
    ["of another seed", { seed: 2 }, "seed is 1, not 2"],
    [
      "of another recipe",
      { recipe: { batch: 4, goal: 2 } },
      "recipe.batch is 8, not 4; recipe.goal is 0.99, not 2",
    ],
    [
      "of another model",
      { options: { size: 8, positions: "none" } },
      'config.size is 16, not 8; config.dimFeedforward is 32, not 16; config.positions is "sinusoidal", not "none"',
    ],
  ])("that is %s", (_, changes, differences) => {
    const { code, message } = refusedState(written(), changes);
    expect(message).toBe(
      `state: expected the state of this training, got that of another: ${differences}`,
    );
    expect(code).toBe("option");
  });

  const rewritten = (change: (metadata: Record<string, string>) => Record<string, string>) => {
    const { tensors, metadata } = safetensors.read(written());
    return safetensors.write(tensors, change(metadata));
  };

  test.each(
    Object.entries<[bytes: () => Uint8Array, message: RegExp]>({
      "that is cut off": [() => written().subarray(0, 30_000), /^\S+: data_offsets: expected /],
      "that is empty": [() => new Uint8Array(0), /^file: expected a header's length/],
      "with a number changed": [
        () => written().map((byte, at, all) => (at === all.length - 7 ? byte ^ 1 : byte)),
        /^state: checksum: expected "\w{8}", got "\w{8}"$/,
      ],
      "with a step changed": [
        () => rewritten((all) => ({ ...all, progress: '{"step":4,"learningRate":0.1}' })),
        /^state: checksum: expected "\w{8}", got "\w{8}"$/,
      ],
      "that is another kind of file": [
        () => rewritten(() => ({ format: "pt" })),
        /^state: format: expected "heed-training", got "pt"$/,
      ],
      "of another version of the format": [
        () => rewritten((all) => ({ ...all, version: "2" })),
        /^state: version: expected "1", got "2"$/,
      ],
    }),
  )("%s", (_, [bytes, message]) => {
    const error = refusedState(bytes());
    expect(error.message).toMatch(message);
    expect(error.code).toBe("format");
  });
});
