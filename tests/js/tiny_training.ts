// A very small training that still learns: a model with dropout learns to reverse letters.

import type { Heed } from "heed";
import {
  type Architecture,
  type ConfigOptions,
  configOf,
  createModel,
  type Recipe,
  type Task,
  Trainer,
  taskOf,
} from "heed/models";

export const tinyTask = taskOf("reverse", { letters: 4, maxLength: 4 });

export const tinyRecipe: Recipe = {
  batch: 8,
  steps: 40,
  learningRate: 0.01,
  warmupSteps: 4,
  weightDecay: 0.01,
  clipNorm: 1,
  checkEvery: 10,
  goal: 0.99,
};

export interface Changes {
  task?: Task;
  architecture?: Architecture;
  options?: ConfigOptions;
  recipe?: Partial<Recipe>;
  seed?: number;
}

export function tinyModel(heed: Heed, changes: Changes = {}) {
  const { task = tinyTask, architecture = "transformer", options } = changes;
  const small = { size: 16, layers: 1, dropout: 0.25, seed: 3 };
  return createModel(heed, configOf(task, architecture, { ...small, ...options }));
}

export function tinyTraining(heed: Heed, changes: Changes = {}): Trainer {
  const { task = tinyTask, recipe, seed = 1 } = changes;
  const model = tinyModel(heed, changes);
  return new Trainer(model, task, { recipe: { ...tinyRecipe, ...recipe }, seed });
}
