// Which models the repository ships, and how each is trained: found by trying, kept here so that a file
// can be made again.

import { type Check, checkArgument } from "../core/validate.js";
import type { ConfigOptions } from "./config.js";
import type { Example, Task } from "./examples.js";
import type { Architecture } from "./modelConfig.js";

const isText: Check = { expected: "a text", accepts: (value) => typeof value === "string" };
const isObject = (value: unknown): value is object => value !== null && typeof value === "object";
const isTask: Check = {
  expected: "a task",
  accepts: (value) =>
    isObject(value) &&
    isObject((value as Partial<Task>).options) &&
    typeof (value as Partial<Task>).kind === "string",
};

/** What a training is made of. */
export interface Recipe {
  /** Examples of a step. */
  readonly batch: number;
  /** The most steps; the learning rate falls to zero over them. */
  readonly steps: number;
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly weightDecay: number;
  /** Gradients are clipped to this norm. */
  readonly clipNorm: number;
  /** Steps between two looks at examples of the validation split. */
  readonly checkEvery: number;
  /** Training ends early when two looks in a row reach this share of exact answers; above 1: never. */
  readonly goal: number;
}

/** A model, and how it is trained. */
export interface Plan {
  /** Of the folder of its files. */
  readonly name: string;
  readonly task: string;
  /** Those that are not the task's own defaults. */
  readonly taskOptions: Task["options"];
  readonly architecture: Architecture;
  /** Those that are not configOf's own defaults; the seed stands beside. */
  readonly options: Omit<ConfigOptions, "seed">;
  readonly recipe: Recipe;
  /** Of the initial values, and of what chance decides in training. */
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
/** The same budget for all that learn dates by recurrence: none of them stops early. */
const recurrent: Recipe = { ...recipe, steps: 1000, learningRate: 4e-3, goal: 2 };
/**
 * What a pronoun means is found late and at once: nearly nothing is gained between steps 700 and 1800. After
 * all is right the heads go on sharpening.
 */
const patient: Recipe = { ...recipe, steps: 5000, goal: 2 };

const unordered: Plan["options"] = { positions: "none" };
const shallow: Plan["options"] = { layers: 1 };
const deep: Plan["options"] = { layers: 3 };

/** The models that the repository has files of, in the order in which they are trained. */
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
  // What becomes of them with something changed, all else being equal.
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
 * What a model is examined on beside its task's own examples: other options of the task, by words that say
 * what they make of it. Lengths beyond those of the training are among them.
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

/** The architecture that a task is first thought of with. */
export function architectureOf(task: Task): Architecture {
  checkArgument("task", task, isTask);
  return architectures[task.kind];
}

/** How a model is trained for a task: as the shipped one is, or else as one that is much like it. */
export function recipeOf(task: string, architecture: Architecture): Plan {
  checkArgument("task", task, isText);
  checkArgument("architecture", architecture, isText);
  const other = plan(task, architecture);
  return shipped.find(({ name }) => name === other.name) ?? other;
}
