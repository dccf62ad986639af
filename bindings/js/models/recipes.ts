// Which models the repository ships, and how each is trained: found by trying, kept here so that a file
// can be made again.

import type { ConfigOptions } from "./createModel.js";
import type { Example, Task } from "./examples.js";
import type { Architecture } from "./model.js";

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
  goal: 0.995,
};

function plan(task: string, architecture: Architecture, changes: Partial<Plan> = {}): Plan {
  const name = `${task}-${architecture}`;
  return {
    ...{ name, task, taskOptions: {}, architecture, options: {}, recipe, seed: 1 },
    ...changes,
  };
}

/** The models that the repository has files of, in the order in which they are trained. */
export const shipped: readonly Plan[] = [
  plan("reverse", "transformer"),
  plan("sort", "transformer"),
  plan("copy", "transformer"),
  plan("dates", "transformer"),
  plan("dates", "bahdanau"),
  plan("dates", "dot"),
  plan("dates", "rnn"),
  plan("pronouns", "encoder"),
  plan("brackets", "decoder"),
  plan("series", "encoder"),
  plan("shapes", "encoder"),
];

const architectures: Readonly<Record<Example["kind"], Architecture>> = {
  translation: "transformer",
  tagging: "encoder",
  continuation: "decoder",
  series: "encoder",
  picture: "encoder",
};

/** The architecture that a task is first thought of with. */
export function architectureOf(task: Task): Architecture {
  return architectures[task.kind];
}

/** How a model is trained for a task: as the shipped one is, or else as one that is much like it. */
export function recipeOf(task: string, architecture: Architecture): Plan {
  const other = plan(task, architecture);
  return shipped.find(({ name }) => name === other.name) ?? other;
}
