// The training of the models of tasks.

import { refuse } from "../core/error.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  instanceOf,
  isObject,
  isPositive,
  isWholeNumber,
} from "../core/validate.js";
import { Generator, isSeed } from "../nn/random.js";
import type { Example, Task } from "./examples.js";
import { TaskModel } from "./model.js";
import type { Recipe } from "./recipes.js";
import { type StepLesson, Training, trainingRecipeChecks } from "./training.js";
import { differences } from "./trainingState.js";

/** Options of a new `Trainer`. */
export interface TrainerOptions {
  /** The settings of the training. */
  recipe: Recipe;
  /**
   * The seed of the examples and of dropout; 0 by default. The model's config has another one for
   * the initial values.
   */
  seed?: number;
}

const recipeChecks = { ...trainingRecipeChecks, goal: isPositive } satisfies Record<
  keyof Recipe,
  Check
>;

const optionChecks = {
  recipe: {
    expected: `a recipe with ${Object.keys(recipeChecks).join(", ")}`,
    accepts: (value) =>
      isObject(value) && Object.keys(recipeChecks).every((name) => Object.hasOwn(value, name)),
  },
  seed: isSeed,
} satisfies Record<keyof TrainerOptions, Check>;

/**
 * Trains a model for a task. All random choices of a step, its examples and its dropout, depend
 * only on the seed and the number of the step. So a resumed training gives bit for bit the same
 * result as a training that was never stopped. Use:
 *
 *     const trainer = new Trainer(model, task, { recipe, seed: 1 });
 *     while (!trainer.finished) console.log(trainer.step().loss);
 *
 * @throws HeedError "option", "memory"
 * @example
 * ```ts
 * const task = tasks.copy({ maxLength: 4 });
 * const model = createModel(heed, configOf(task, "transformer", { size: 16, layers: 1, heads: 2 }));
 * const { recipe } = recipeOf("copy", "transformer");
 * using trainer = new Trainer(model, task, { recipe: { ...recipe, steps: 3, warmupSteps: 1, batch: 8 }, seed: 1 });
 * while (!trainer.finished) trainer.step();
 * const state = trainer.state(); // bytes from which `resume` continues
 * console.log(trainer.stepCount, state.length > 0); // prints: 3 true
 * ```
 */
export class Trainer<E extends Example = Example> extends Training<TaskModel<E>, Recipe> {
  /** The task that generates the examples. */
  readonly task: Task<E>;

  /** @throws HeedError "option" for an invalid recipe, or for a model of another task */
  constructor(model: TaskModel<E>, task: Task<E>, options: TrainerOptions) {
    checkArgument("model", model, instanceOf("a model", TaskModel));
    checkArgument("task", task, { expected: "a task", accepts: isObject });
    checkOptions("Trainer", options, optionChecks);
    const { recipe, seed = 0 } = options;
    if (recipe === undefined)
      throw refuse("option", "recipe", optionChecks.recipe.expected, "none");
    checkOptions("a recipe", recipe, recipeChecks);
    checkTask(model, task);
    super(model, recipe, seed);
    this.task = task;
  }

  protected override learn(step: number): StepLesson {
    const examples = this.examples(step);
    this.model.generator.state = this.stateFor(step, "dropout");
    const { loss, count, right } = this.model.forward(examples);
    return { loss, count, right: this.task.kind === "series" ? undefined : right };
  }

  protected override identity(): object {
    return { config: this.model.config };
  }

  /** Returns the examples of a step. */
  examples(step: number): E[] {
    checkArgument("step", step, isWholeNumber(1));
    const random = new Generator(this.stateFor(step, "examples"));
    return Array.from({ length: this.recipe.batch }, () => this.task.generate(random, "train"));
  }
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
