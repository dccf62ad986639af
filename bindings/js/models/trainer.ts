// Training step by step. It can be stopped after any step, saved in a file and resumed.

import { describe, HeedError, refuse } from "../core/error.js";
import type { Bytes } from "../core/module.js";
import { disposeSymbol } from "../core/owned.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isNumber,
  isPositive,
  isWholeNumber,
} from "../core/validate.js";
import { valueAndGrad } from "../nn/autograd.js";
import { AdamW, clipGradNorm, type Schedule, warmupCosine } from "../nn/optim.js";
import { Generator } from "../nn/random.js";
import { read, type SafetensorsEntry, type SafetensorsFile, write } from "../nn/safetensors.js";
import { loadTensors } from "../nn/stateDict.js";
import type { Example, Task } from "./examples.js";
import { hashOf } from "./hash.js";
import { TaskModel } from "./model.js";
import type { Recipe } from "./recipes.js";

export interface TrainerOptions {
  recipe: Recipe;
  /**
   * The seed of the examples and of dropout; 0 by default. The model's config has another one for the
   * initial values.
   */
  seed?: number;
}

/** The result of a step. */
export interface TrainingStep {
  /** The number of the step; the first step is 1. */
  step: number;
  loss: number;
  /** The proportion of the answers' tokens that were the most likely; undefined for numbers. */
  right: number | undefined;
  /** The number of tokens or numbers of the answers in the step. */
  tokens: number;
  /** The norm of the gradients before clipping. */
  gradientNorm: number;
}

type Tensors = Readonly<Record<string, SafetensorsEntry>>;

/** The parameters with the best score so far. */
export interface Best {
  step: number;
  score: number;
  /** For `model.loadStateDict`. */
  parameters: Tensors;
}

const format = "heed-training";
const formatVersion = "1";

const recipeChecks = {
  batch: isWholeNumber(1, 2 ** 16),
  steps: isWholeNumber(1),
  learningRate: isPositive,
  warmupSteps: isWholeNumber(0),
  weightDecay: {
    expected: "a number of 0 or more",
    accepts: (value) => isNumber.accepts(value) && (value as number) >= 0,
  },
  clipNorm: isPositive,
  checkEvery: isWholeNumber(1),
  goal: isPositive,
} satisfies Record<keyof Recipe, Check>;

const isSeed = isWholeNumber(0, 2 ** 32 - 1);

const optionChecks = {
  recipe: {
    expected: `a recipe with ${Object.keys(recipeChecks).join(", ")}`,
    accepts: (value) =>
      value !== null &&
      typeof value === "object" &&
      Object.keys(recipeChecks).every((name) => Object.hasOwn(value, name)),
  },
  seed: isSeed,
} satisfies Record<keyof TrainerOptions, Check>;

/**
 * Trains a model for a task. All random choices of a step, its examples and its dropout, depend only on the
 * seed and the number of the step: a resumed training gives bit for bit the same result as one that was
 * never stopped.
 *
 *     const trainer = new Trainer(model, task, { recipe, seed: 1 });
 *     while (!trainer.finished) console.log(trainer.step().loss);
 */
export class Trainer<E extends Example = Example> implements Disposable {
  readonly model: TaskModel<E>;
  readonly task: Task<E>;
  readonly recipe: Recipe;
  readonly seed: number;
  readonly #optimizer: AdamW;
  readonly #schedule: Schedule;
  #best: Best | undefined;

  /** @throws HeedError "option" for an invalid recipe, or for a model of another task */
  constructor(model: TaskModel<E>, task: Task<E>, options: TrainerOptions) {
    checkArgument("model", model, {
      expected: "a model",
      accepts: (value) => value instanceof TaskModel,
    });
    checkArgument("task", task, {
      expected: "a task",
      accepts: (value) => value !== null && typeof value === "object",
    });
    checkOptions("Trainer", options, optionChecks);
    const { recipe, seed = 0 } = options;
    if (recipe === undefined)
      throw refuse("option", "recipe", optionChecks.recipe.expected, "none");
    checkOptions("a recipe", recipe, recipeChecks);
    checkTask(model, task);
    this.model = model;
    this.task = task;
    this.recipe = { ...recipe };
    this.seed = seed;
    const { learningRate, weightDecay, warmupSteps, steps } = recipe;
    this.#schedule = warmupCosine({ warmupSteps, totalSteps: steps });
    this.#optimizer = new AdamW(model, { learningRate, weightDecay });
  }

  /** The number of steps done. */
  get stepCount(): number {
    return this.#optimizer.stepCount;
  }

  /** Whether all steps of the recipe are done. */
  get finished(): boolean {
    return this.stepCount >= this.recipe.steps;
  }

  /** The parameters that keepIfBest kept. */
  get best(): Best | undefined {
    return this.#best;
  }

  /**
   * Runs one step, in train mode.
   *
   * @throws HeedError "nan" if the loss or a gradient is not finite; in that case nothing changes
   */
  step(): TrainingStep {
    if (this.finished)
      throw refuse("option", "step", `at most ${this.recipe.steps} steps`, "one more");
    const step = this.stepCount + 1;
    const { model } = this;
    const examples = this.examples(step);
    model.train();
    model.generator.state = stateFor(this.seed, step, "dropout");
    return model.heed.scope(() => {
      const { value, gradients, aux } = valueAndGrad(model, () => {
        const { loss, count, right } = model.forward(examples);
        return [loss, { count, right }] as const;
      });
      const gradientNorm = clipGradNorm(gradients, this.recipe.clipNorm);
      if (!Number.isFinite(gradientNorm))
        throw new HeedError("nan", `gradients: expected a finite norm, got ${gradientNorm}`);
      // The cosine may differ between JavaScript engines in the last bit. Rounding it to float32 almost
      // always removes the difference.
      this.#optimizer.learningRate = Math.fround(this.recipe.learningRate * this.#schedule(step));
      this.#optimizer.step(gradients);
      const right = this.task.kind === "series" ? undefined : aux.right / aux.count;
      return { step, loss: value, right, tokens: aux.count, gradientNorm };
    });
  }

  /** Returns the examples of a step. */
  examples(step: number): E[] {
    checkArgument("step", step, isWholeNumber(1));
    const random = new Generator(stateFor(this.seed, step, "examples"));
    return Array.from({ length: this.recipe.batch }, () => this.task.generate(random, "train"));
  }

  /**
   * Keeps a copy of the parameters if the score is at least as good as the best one so far.
   *
   * @returns whether it kept them
   */
  keepIfBest(score: number): boolean {
    if (this.#best !== undefined && score < this.#best.score) return false;
    const parameters = Object.fromEntries(
      Object.entries(this.model.stateDict()).map(([name, { dtype, shape, data }]) => [
        name,
        { dtype, shape: [...shape], data: data.slice() },
      ]),
    );
    this.#best = { step: this.stepCount, score, parameters };
    return true;
  }

  /**
   * Returns the state of the training, as the bytes of a safetensors file.
   *
   * @param notes any text, which `resume` returns
   */
  state(notes = ""): Bytes {
    const tensors: Tensors = {
      ...this.#tensors(),
      ...prefixed("best.", this.#best?.parameters ?? {}),
    };
    const best = this.#best && { step: this.#best.step, score: this.#best.score };
    const metadata = {
      format,
      version: formatVersion,
      training: JSON.stringify(this.#training()),
      progress: JSON.stringify({
        step: this.stepCount,
        learningRate: this.#optimizer.learningRate,
        best,
      }),
      notes,
    };
    return write(tensors, { ...metadata, checksum: checksumOf(tensors, metadata) });
  }

  /**
   * Continues from a state that `state` returned.
   *
   * @returns the notes
   * @throws HeedError "format" for bytes that are not a complete state, "option" for the state of another
   *   training, which lists every difference; in that case nothing changes
   */
  resume(bytes: Uint8Array): string {
    const { tensors, metadata } = readState(bytes);
    const training = parsed(metadata, "training");
    const found = differences(this.#training(), training);
    if (found.length > 0)
      throw refuse(
        "option",
        "state",
        "the state of this training",
        `that of another: ${found.join("; ")}`,
      );
    const { step, learningRate, best } = checkProgress(parsed(metadata, "progress"), this.recipe);
    const [own, kept] = split(tensors, "best.");
    loadTensors("the training", this.#tensors(), own, true);
    const { tensors: averages } = this.#optimizer.stateDict();
    this.#optimizer.loadStateDict({ stepCount: step, learningRate, tensors: averages });
    this.#best = best && { ...best, parameters: kept };
    return metadata.notes ?? "";
  }

  /** Frees the tensors of the optimiser, not the model. */
  dispose(): void {
    this.#optimizer.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** The values that must be equal when a training is resumed. */
  #training() {
    const { model, recipe, seed } = this;
    return { heed: model.heed.info.version, config: model.config, recipe, seed };
  }

  #tensors(): Record<string, Tensor> {
    return {
      ...prefixed("model.", this.model.stateDict()),
      ...prefixed("optimizer.", this.#optimizer.stateDict().tensors),
    };
  }

  get [Symbol.toStringTag](): string {
    return "Trainer";
  }
}

function prefixed<T>(prefix: string, values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, x]) => [`${prefix}${name}`, x]));
}

/**
 * Separates tensors by a prefix: those whose names do not begin with it, and those that do, without the
 * prefix.
 */
function split(tensors: Tensors, prefix: string): [others: Tensors, those: Tensors] {
  const entries = Object.entries(tensors);
  const others = entries.filter(([name]) => !name.startsWith(prefix));
  const those = entries.filter(([name]) => name.startsWith(prefix));
  const short = those.map(([name, entry]) => [name.slice(prefix.length), entry]);
  return [Object.fromEntries(others), Object.fromEntries(short)];
}

function checkTask(model: TaskModel, task: Task): void {
  const { task: name, taskOptions: options, kind, vocabulary, longest } = model.config;
  const found = differences(
    { name, options, kind, vocabulary, longest },
    {
      ...{ name: task.name, options: task.options, kind: task.kind },
      ...{ vocabulary: task.vocabulary, longest: task.longest },
    },
  );
  if (found.length > 0)
    throw refuse("option", "task", "the task of the model", `another: ${found.join("; ")}`);
}

/** Returns the state of the generator for a seed, a step and a use. */
function stateFor(seed: number, step: number, use: "examples" | "dropout"): number {
  return hashOf(`${use} ${seed} ${step}`);
}

// ---- States

const wrong = (what: string, expected: string, got: string) =>
  new HeedError("format", `state: ${what}: expected ${expected}, got ${got}`);

/** A checksum, which detects changed elements; the safetensors format does not. */
function checksumOf(tensors: Tensors, metadata: Readonly<Record<string, string>>): string {
  return hashOf(write(tensors, metadata)).toString(16).padStart(8, "0");
}

function readState(bytes: Uint8Array): SafetensorsFile {
  const { tensors, metadata } = read(bytes);
  const { checksum, ...said } = metadata;
  if (said.format !== format) throw wrong("format", describe(format), describe(said.format));
  if (said.version !== formatVersion)
    throw wrong("version", describe(formatVersion), describe(said.version));
  const computed = checksumOf(tensors, said);
  if (checksum !== computed) throw wrong("checksum", describe(computed), describe(checksum));
  return { tensors, metadata: said };
}

function parsed(metadata: Readonly<Record<string, string>>, name: string): unknown {
  try {
    return JSON.parse(metadata[name] ?? "");
  } catch {
    throw wrong(name, "JSON", describe(metadata[name]));
  }
}

function checkProgress(progress: unknown, { steps }: Recipe) {
  const checks = {
    step: isWholeNumber(0, steps),
    learningRate: isNumber,
    best: { expected: "{ step, score }", accepts: isBest },
  };
  try {
    checkOptions("a training's progress", progress, checks);
  } catch (error) {
    throw new HeedError("format", `state: ${(error as Error).message}`, { cause: error });
  }
  const { step, learningRate } = progress as Record<string, unknown>;
  if (step === undefined || learningRate === undefined)
    throw wrong("progress", "step and learningRate", "no such");
  return progress as { step: number; learningRate: number; best?: Omit<Best, "parameters"> };
}

function isBest(value: unknown): boolean {
  const { step, score } = (value ?? {}) as Partial<Best>;
  return Number.isInteger(step) && Number.isFinite(score);
}

/** Lists all values that differ, with both values: "recipe.batch is 16, not 32". */
function differences(expected: unknown, got: unknown, path = ""): string[] {
  if (isPlain(expected) && isPlain(got)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(got)]);
    return [...names].flatMap((name) =>
      differences(expected[name], got[name], path === "" ? name : `${path}.${name}`),
    );
  }
  if (expected === got) return [];
  if (Array.isArray(expected) && Array.isArray(got)) {
    const isSame =
      expected.length === got.length &&
      expected.every((each, i) => differences(each, got[i]).length === 0);
    return isSame ? [] : [`${path} is another list`];
  }
  return [`${path} is ${describe(got)}, not ${describe(expected)}`];
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);
