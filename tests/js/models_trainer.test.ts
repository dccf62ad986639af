// Training in steps: the same from the same seeds, and from a file as if it had never been stopped.

import { type Heed, load } from "heed";
import { evaluate, type ModelConfig, type Recipe, Trainer } from "heed/models";
import { nn, safetensors } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, refusal, variants } from "./engine.js";
import { TinyModel, tinyConfig, tinyRecipe, tinyTask } from "./tiny_model.js";

interface Changes {
  recipe?: Partial<Recipe>;
  seed?: number;
  config?: Partial<ModelConfig>;
}

function training(heed: Heed, { recipe, seed = 1, config }: Changes = {}) {
  const model = new TinyModel(heed, { ...tinyConfig, ...config });
  return new Trainer(model, tinyTask, { recipe: { ...tinyRecipe, ...recipe }, seed });
}

const steps = (trainer: ReturnType<typeof training>, count: number) =>
  Array.from({ length: count }, () => trainer.step());

describeEngines((heed) => {
  test("a model learns its task", async () => {
    const trainer = training(heed());
    const first = trainer.step();
    expect(first).toMatchObject({ step: 1, tokens: expect.any(Number) });
    expect(first.gradientNorm).toBeGreaterThan(0);
    while (!trainer.finished) trainer.step();
    expect(trainer.stepCount).toBe(tinyRecipe.steps);
    const random = new nn.Generator(7);
    const examples = Array.from({ length: 50 }, () => tinyTask.generate(random, "test"));
    expect(await evaluate(trainer.model, examples)).toEqual({ examples: 50, exact: 1, tokens: 1 });
    expect(refusal(() => trainer.step()).message).toBe("step: expected at most 40, got one more");
    trainer.dispose();
  });

  test("training that was stopped goes on bit for bit, whatever the model did meanwhile", async () => {
    const whole = training(heed());
    const expected = steps(whole, 12);
    const before = training(heed());
    const losses = steps(before, 5);
    before.keepIfBest(0.5);
    losses.push(...steps(before, 2));
    const file = before.state("so far");
    const after = training(heed());
    after.model.generator.next();
    steps(after, 3);
    expect(after.resume(file)).toBe("so far");
    expect(after.stepCount).toBe(7);
    expect(after.best).toEqual(before.best);
    expect(after.state("so far")).toEqual(file);
    after.model.forward(after.examples(1));
    losses.push(...steps(after, 5));
    expect(losses).toEqual(expected);
  });
});

test.each(variants)("the %s binary trains the same with any number of threads", async (variant) => {
  const files = [];
  for (const threads of [1, 2, 3]) {
    const heed = await load({ variant, threads });
    const trainer = training(heed);
    steps(trainer, 8);
    files.push(trainer.state());
    heed.dispose();
  }
  expect(files[1]).toEqual(files[0]);
  expect(files[2]).toEqual(files[0]);
});

describe("a trainer", () => {
  const heed = engine({ threads: 1 });

  test("has other examples at each step and for each seed, the same ones for the same", () => {
    const texts = [1, 2, 3].flatMap((seed) => {
      const trainer = training(heed(), { seed });
      return [1, 2, 3].map((step) => JSON.stringify(trainer.examples(step)));
    });
    expect(new Set(texts).size).toBe(9);
    expect(JSON.stringify(training(heed(), { seed: 2 }).examples(3))).toBe(texts[5]);
  });

  test("drops something else at each step and for each seed", () => {
    const states = [1, 2, 3].flatMap((seed) => {
      const trainer = training(heed(), { seed });
      return [1, 2, 3].map(() => {
        trainer.step();
        return trainer.model.generator.state;
      });
    });
    expect(new Set(states).size).toBe(9);
  });

  test("keeps the best parameters, of equally good ones the later", () => {
    const trainer = training(heed());
    const kept = [0.5, 0.25, 0.5, 0.75, 0.7].map((score) => {
      trainer.step();
      return trainer.keepIfBest(score);
    });
    expect(kept).toEqual([true, false, true, true, false]);
    const expected = training(heed());
    steps(expected, 4);
    const { step, score, parameters = {} } = trainer.best ?? {};
    expect({ step, score }).toEqual({ step: 4, score: 0.75 });
    expect(safetensors.write(parameters)).toEqual(safetensors.write(expected.model.stateDict()));
  });

  test("changes nothing in a step whose loss or gradients are not finite", () => {
    const trainer = training(heed());
    steps(trainer, 2);
    const weight = trainer.model.stateDict()["read_out.weight"]?.data as Float32Array;
    const first = weight[0] as number;
    const before = trainer.state();
    weight[0] = Number.NaN;
    expect(refusal(() => trainer.step()).code).toBe("nan");
    weight[0] = first;
    expect(trainer.state()).toEqual(before);
  });

  test.each<[what: string, changes: Changes, message: string]>([
    [
      "a batch of nothing",
      { recipe: { batch: 0 } },
      "batch: expected a whole number of 1 or more, got 0",
    ],
    [
      "a warm-up that is all there is",
      { recipe: { warmupSteps: 40 } },
      "totalSteps: expected a whole number of 41 or more, got 40",
    ],
    [
      "a learning rate of 0",
      { recipe: { learningRate: 0 } },
      "learningRate: expected a positive number, got 0",
    ],
    [
      "a seed that is none",
      { seed: -1 },
      "seed: expected a whole number from 0 to 4294967295, got -1",
    ],
    [
      "the model of another task",
      { config: { task: "reverse", taskOptions: { longest: 9 } } },
      'task: expected that of the model, got another: name is "copy", not "reverse"; options.longest is 6, not 9',
    ],
  ])("refuses %s", (_, changes, message) => {
    expect(refusal(() => training(heed(), changes)).message).toBe(message);
  });

  test("refuses a recipe that lacks something", () => {
    const options = { recipe: { steps: 3 } as Recipe };
    expect(refusal(() => new Trainer(new TinyModel(heed()), tinyTask, options)).message).toMatch(
      /^recipe: expected a recipe with batch, steps, .*, got a Object$/,
    );
  });
});

describe("a state is refused, and nothing is changed,", () => {
  const heed = engine({ threads: 1 });

  function refusedState(bytes: Uint8Array, changes?: Changes) {
    const trainer = training(heed(), changes);
    steps(trainer, 2);
    const before = trainer.state();
    const error = refusal(() => trainer.resume(bytes));
    expect(trainer.state()).toEqual(before);
    return error;
  }

  function written() {
    const trainer = training(heed());
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
      { config: { size: 8, positions: "sinusoidal" } },
      'config.size is 16, not 8; config.positions is "none", not "sinusoidal"',
    ],
  ])("that is %s", (_, changes, differences) => {
    const { code, message } = refusedState(written(), changes);
    expect(message).toBe(`state: expected one of this training, got another's: ${differences}`);
    expect(code).toBe("option");
  });

  const rewritten = (change: (metadata: Record<string, string>) => Record<string, string>) => {
    const { tensors, metadata } = safetensors.read(written());
    return safetensors.write(tensors, change(metadata));
  };

  test.each<[what: string, bytes: () => Uint8Array, message: RegExp]>([
    ["that is cut off", () => written().subarray(0, 3000), /^\S+: data_offsets: expected /],
    ["that is empty", () => new Uint8Array(0), /^file: expected a header's length/],
    [
      "with a number changed",
      () => written().map((byte, at, all) => (at === all.length - 7 ? byte ^ 1 : byte)),
      /^state: checksum: expected "\w{8}", got "\w{8}"$/,
    ],
    [
      "with a step changed",
      () => rewritten((all) => ({ ...all, progress: '{"step":4,"learningRate":0.1}' })),
      /^state: checksum: expected "\w{8}", got "\w{8}"$/,
    ],
    [
      "that is another kind of file",
      () => rewritten(() => ({ format: "pt" })),
      /^state: format: expected "heed-training", got "pt"$/,
    ],
    [
      "of another version of the format",
      () => rewritten((all) => ({ ...all, version: "2" })),
      /^state: version: expected "1", got "2"$/,
    ],
  ])("%s", (_, bytes, message) => {
    const error = refusedState(bytes());
    expect(error.message).toMatch(message);
    expect(error.code).toBe("format");
  });
});
