// The shipped models, loaded from their files: new examples confirm their reports.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  alignment,
  ByteTokenizer,
  CausalLanguageModel,
  evaluate,
  loadModel,
  type Plan,
  shipped,
  type Task,
  taskOf,
  textLoss,
} from "heed/models";
import { nn, safetensors } from "heed/nn";
import { describe, expect, test } from "vitest";
import { configOf, writePlan } from "../../../web/train/text/plan.mjs";
import { sources } from "../../../web/train/text/sources.mjs";
import { succeed } from "../child.js";
import { engine } from "../engine.js";

const heed = engine({ variant: "simd" });
const root = join(import.meta.dirname, "../../..");
const folder = join(root, "web/public/models");
const bytesOf = (name: string, file: string) => readFileSync(join(folder, name, file));
const reportOf = ({ name }: Plan) => JSON.parse(bytesOf(name, "report.json").toString());

const load = ({ name }: Plan) =>
  loadModel(heed(), {
    config: bytesOf(name, "config.json").toString(),
    weights: bytesOf(name, "model.safetensors"),
  });

/** Generates examples of the test split from a seed that neither training nor report used. */
function fresh(task: Task, count: number) {
  const random = new nn.Generator(20_261_121);
  return Array.from({ length: count }, () => task.generate(random, "test"));
}

/** The minimum proportion of exact answers of each model, with the options of the task. */
const targets: [model: string, what: Task["options"], least: number][] = [
  ["copy-transformer", {}, 0.99],
  ["reverse-transformer", { minLength: 16 }, 0.99],
  ["reverse-decoder", { minLength: 16 }, 0.99],
  ["sort-transformer", { minLength: 16 }, 0.99],
  ["dates-transformer", {}, 0.99],
  ["dates-transformer", { forms: "long" }, 0.99],
  ["dates-transformer-subword", {}, 0.99],
  ["dates-bahdanau", {}, 0.99],
  ["dates-dot", {}, 0.99],
  ["pronouns-encoder", {}, 0.99],
  ["brackets-decoder", {}, 0.99],
];

const planOf = (name: string) => shipped.find((plan) => plan.name === name) as Plan;

describe("the models of the repository", () => {
  test("are those of the recipes, complete, and small in total", () => {
    const found = readdirSync(folder).filter((name) => name !== writePlan.name);
    expect(found.sort()).toEqual(shipped.map(({ name }) => name).sort());
    const sizes = shipped.flatMap(({ name }) =>
      readdirSync(join(folder, name)).map((file) => statSync(join(folder, name, file)).size),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(5e6);
  });

  test.each(shipped)(
    "$name was made by its recipe, and reaches what its report says",
    async (plan) => {
      const report = reportOf(plan);
      const { task, architecture, recipe, seed } = plan;
      expect(report).toMatchObject({ name: plan.name, task, architecture, recipe, seed });
      const model = load(plan);
      const own = taskOf(task, model.config.taskOptions);
      expect(model.config).toMatchObject({ ...plan.options, vocabulary: own.vocabulary });
      const count = 100;
      const { exact } = await evaluate(model, fresh(own, count));
      // The tolerance: four standard deviations of the proportion, and one example.
      const share = report.heldOut.exact;
      const spread = 4 * Math.sqrt((share * (1 - share)) / count) + 1 / count;
      expect(Math.abs(exact - share)).toBeLessThanOrEqual(spread + 0.01);
      model.dispose();
    },
  );

  test("are reproduced by the command, with the same bytes", async () => {
    const name = "made-again";
    const words = ["copy-transformer", "--name", name, "--threads", "1", "--restart"];
    await succeed(process.execPath, [join(root, "web/train.mjs"), ...words]);
    for (const file of ["model.safetensors", "config.json"]) {
      const made = readFileSync(join(root, "build/train", name, file));
      expect(made.equals(bytesOf("copy-transformer", file))).toBe(true);
    }
  });

  test.each(targets)("%s reaches its target with %j", async (name, changes, least) => {
    const model = load(planOf(name));
    const task = taskOf(model.config.task, { ...model.config.taskOptions, ...changes });
    const { exact } = await evaluate(model, fresh(task, 300));
    expect(exact).toBeGreaterThanOrEqual(least);
    model.dispose();
  });

  test("one head attends from a pronoun to its meaning", () => {
    const model = load(planOf("pronouns-encoder"));
    const heads = alignment(model, fresh(taskOf("pronouns"), 300));
    expect(Math.max(...heads.map(({ largest }) => largest))).toBeGreaterThanOrEqual(0.9);
    model.dispose();
  });

  test("the heads of the date models attend to the characters that carry the answer", () => {
    for (const name of ["dates-transformer", "dates-bahdanau", "dates-dot"]) {
      const model = load(planOf(name));
      const heads = alignment(model, fresh(taskOf("dates"), 200));
      const best = heads.reduce((a, b) => (a.mass > b.mass ? a : b));
      expect(best.mass).toBeGreaterThan(4 * best.chance);
      model.dispose();
    }
  });
});

describe.skipIf(!existsSync(join(folder, writePlan.name, "model.safetensors")))(
  "the language model",
  () => {
    const file = (name: string) => bytesOf(writePlan.name, name);

    test("was made by its recipe, is small, and beats 5-grams on every kind of text", () => {
      const { recipe, seed, heldOut, bytes } = JSON.parse(file("report.json").toString());
      expect({ recipe, seed }).toEqual({ recipe: writePlan.recipe, seed: writePlan.seed });
      expect(bytes).toBe(file("model.safetensors").length);
      const names = ["model.safetensors", "config.json", "tokenizer.json", "report.json"];
      expect(names.reduce((sum, name) => sum + file(name).length, 0)).toBeLessThan(6.3e6);
      expect(bytes).toBeLessThan(6e6);
      expect(Object.keys(heldOut)).toEqual(["all", ...sources.map(({ name }) => name)]);
      for (const { model, kneserNey } of Object.values(heldOut) as Scores[])
        expect(model.bitsPerByte).toBeLessThan(0.95 * kneserNey.bitsPerByte);
      for (const { title } of sources) expect(file("README.md").toString()).toContain(title);
    });

    test("loads, and predicts what it has read", async () => {
      const tokenizer = ByteTokenizer.fromFile(file("tokenizer.json").toString());
      const config = JSON.parse(file("config.json").toString());
      expect(config).toEqual(configOf(writePlan, tokenizer.size));
      const model = new CausalLanguageModel(heed(), config);
      model.loadStateDict(safetensors.read(file("model.safetensors")).tensors);
      const perplexity = async (words: readonly string[]) => {
        const tokens = Int32Array.of(tokenizer.endId, ...tokenizer.encode(words.join(" ")).ids);
        const { loss } = await textLoss(model.eval(), tokens, { length: 64 });
        return Math.exp(loss);
      };
      const verse = "And God said, Let there be light: and there was light.".split(" ");
      const inOrder = await perplexity(verse);
      expect(inOrder).toBeLessThan(0.1 * (await perplexity([...verse].reverse())));
      model.dispose();
    });
  },
);

/** The scores of a kind of text in the report. */
type Scores = Record<"model" | "kneserNey", { bitsPerByte: number }>;
