// The models that the repository ships and the recipes of their training. The values were found by
// experiment and are kept so that each file can be reproduced.

import { type Check, checkArgument, isObject, isText } from "../core/validate.js";
import type { ConfigOptions } from "./config.js";
import type { Example, Task } from "./examples.js";
import type { Architecture } from "./modelConfig.js";
import type { TrainingRecipe } from "./training.js";

const isTask: Check = {
  expected: "a task",
  accepts: (value) =>
    isObject(value) &&
    isObject((value as Partial<Task>).options) &&
    typeof (value as Partial<Task>).kind === "string",
};

/** The settings of a training. */
export interface Recipe extends TrainingRecipe {
  /** Training stops early if two checks in a row reach this proportion of exact answers; never if it is above 1. */
  readonly goal: number;
}

/** A model and its training. */
export interface Plan {
  /** The name of the folder of the model's files. */
  readonly name: string;
  /** The name of the task. */
  readonly task: string;
  /** The task's options that differ from the defaults. */
  readonly taskOptions: Task["options"];
  /** The form of the model. */
  readonly architecture: Architecture;
  /** The config options that differ from configOf's defaults, except the seed. */
  readonly options: Omit<ConfigOptions, "seed">;
  /** The settings of its training. */
  readonly recipe: Recipe;
  /** The seed of the initial values and of all random choices in training. */
  readonly seed: number;
}

const recipe: Recipe = {
  batch: 64,
  steps: 2000,
  learningRate: 2e-3,
  warmupSteps: 100,
  weightDecay: 0.01,
  clipNorm: 1,
  checkEvery: 100,
  goal: 1,
};

function plan(task: string, architecture: Architecture, changes: Partial<Plan> = {}): Plan {
  const name = `${task}-${architecture}`;
  return {
    ...{ name, task, taskOptions: {}, architecture, options: {}, recipe, seed: 1 },
    ...changes,
  };
}

const quick: Recipe = { ...recipe, steps: 1200, learningRate: 3e-3, warmupSteps: 50 };
/** The same number of steps for all recurrent models of dates, without early stopping. */
const recurrent: Recipe = { ...recipe, steps: 1000, learningRate: 4e-3, goal: 2 };
/**
 * The recipe for pronouns: accuracy hardly improves between steps 700 and 1800, then rises
 * suddenly. When all answers are right, the attention of the heads still becomes sharper.
 */
const patient: Recipe = { ...recipe, steps: 5000, goal: 2 };

const unordered: Plan["options"] = { positions: "none" };
const shallow: Plan["options"] = { layers: 1 };
const deep: Plan["options"] = { layers: 3 };

/**
 * The shipped models, in the order of their training.
 *
 * @example
 * ```ts
 * console.log(shipped.length > 10, shipped[0]!.name); // prints: true copy-transformer
 * ```
 */
export const shipped: readonly Plan[] = [
  plan("copy", "transformer", { options: { size: 32, layers: 1, heads: 2 }, recipe: quick }),
  plan("reverse", "transformer", { recipe: quick }),
  plan("reverse", "decoder", { recipe: { ...recipe, steps: 3000 } }),
  plan("sort", "transformer"),
  plan("dates", "transformer", { recipe: quick }),
  plan("dates", "bahdanau", { options: shallow, recipe: recurrent }),
  plan("dates", "dot", { options: shallow, recipe: recurrent }),
  plan("dates", "rnn", { options: shallow, recipe: recurrent }),
  plan("pronouns", "encoder", { options: deep, recipe: patient }),
  plan("brackets", "decoder", { recipe: { ...recipe, steps: 3000 } }),
  plan("series", "encoder", { options: deep, recipe: { ...recipe, steps: 4000 } }),
  plan("shapes", "encoder", { recipe: { ...recipe, steps: 3000 } }),
  // Variants of the models above, in which one setting differs.
  plan("dates", "transformer", {
    ...{ name: "dates-transformer-subword", taskOptions: { tokens: "subword" } },
    recipe: { ...quick, goal: 2 },
  }),
  plan("reverse", "transformer", {
    ...{ name: "reverse-transformer-unordered", options: unordered, recipe: quick },
  }),
  plan("sort", "transformer", { name: "sort-transformer-unordered", options: unordered }),
  plan("sort", "transformer", { name: "sort-transformer-one-head", options: { heads: 1 } }),
  plan("pronouns", "encoder", {
    ...{ name: "pronouns-encoder-one-head", options: { ...deep, heads: 1 }, recipe: patient },
  }),
];

/**
 * Returns further options of a task for evaluations, under names that describe them. Some lengths
 * are beyond the lengths of the training.
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * console.log(Object.keys(probesOf(tasks.copy()))); // prints: [ 'length 16', 'length 20', 'length 24' ]
 * ```
 */
export function probesOf(task: Task): Readonly<Record<string, Task["options"]>> {
  checkArgument("task", task, isTask);
  const { maxLength } = task.options as Record<string, number>;
  if (task.name === "dates")
    return Object.fromEntries(["short", "long"].map((forms) => [`${forms} forms`, { forms }]));
  if (task.kind !== "translation" || maxLength === undefined) return {};
  const longer = [Math.ceil(maxLength * 1.25), Math.ceil(maxLength * 1.5)] as const;
  return {
    [`length ${maxLength}`]: { minLength: maxLength },
    ...Object.fromEntries(
      longer.map((length) => [`length ${length}`, { minLength: length, maxLength: length }]),
    ),
  };
}

const architectures: Readonly<Record<Example["kind"], Architecture>> = {
  translation: "transformer",
  tagging: "encoder",
  continuation: "decoder",
  series: "encoder",
  picture: "encoder",
};

/**
 * Returns the default architecture for a task.
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * console.log(architectureOf(tasks.copy())); // prints: transformer
 * ```
 */
export function architectureOf(task: Task): Architecture {
  checkArgument("task", task, isTask);
  return architectures[task.kind];
}

/**
 * Returns the plan of the shipped model for a task and an architecture, or a default plan if none
 * is shipped.
 *
 * @throws HeedError "option"
 * @example
 * ```ts
 * console.log(recipeOf("reverse", "transformer").recipe.batch); // prints: 64
 * ```
 */
export function recipeOf(task: string, architecture: Architecture): Plan {
  checkArgument("task", task, isText);
  checkArgument("architecture", architecture, isText);
  const other = plan(task, architecture);
  return shipped.find(({ name }) => name === other.name) ?? other;
}
