// Training step by step, for any task. It can be stopped after any step, saved in a file and resumed.

import { refuse } from "../core/error.js";
import type { Bytes } from "../core/module.js";
import { disposeSymbol } from "../core/owned.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  isNumber,
  isPositive,
  isWholeNumber,
} from "../core/validate.js";
import { valueAndGrad } from "../nn/autograd.js";
import type { Module } from "../nn/module.js";
import { type AdamOptions, AdamW, clipGradNorm, type Schedule, warmupCosine } from "../nn/optim.js";
import { loadTensors } from "../nn/stateDict.js";
import { hashOf } from "./hash.js";
import {
  type Best,
  checkProgress,
  differences,
  parsed,
  prefixed,
  readState,
  split,
  writeState,
} from "./trainingState.js";

/** The settings of every training. */
export interface TrainingRecipe {
  /** The number of examples per step. */
  readonly batch: number;
  /** The maximum number of steps. The learning rate falls to zero over them. */
  readonly steps: number;
  /** The highest learning rate, after the warm-up. */
  readonly learningRate: number;
  /** The number of steps over which the learning rate rises from 0. */
  readonly warmupSteps: number;
  /** The weight decay of AdamW. */
  readonly weightDecay: number;
  /** The norm to which gradients are clipped. */
  readonly clipNorm: number;
  /** The number of steps between two checks on the validation split. */
  readonly checkEvery: number;
}

export const trainingRecipeChecks = {
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
} satisfies Record<keyof TrainingRecipe, Check>;

/** The result of a step. */
export interface TrainingStep {
  /** The number of the step; the first step is 1. */
  step: number;
  /** The mean loss of its examples, before the step. */
  loss: number;
  /** The proportion of the answers' tokens that were the most likely; undefined if they are not counted. */
  right: number | undefined;
  /** The number of tokens or numbers of the answers in the step. */
  tokens: number;
  /** The norm of the gradients before clipping. */
  gradientNorm: number;
}

/** The results of a model for the examples of a step. */
export interface StepLesson {
  /** [] */
  loss: Tensor;
  count: number;
  right?: number | undefined;
}

/**
 * AdamW with a warm-up, half a cosine and clipped gradients. All random choices of a step depend
 * only on the seed and the number of the step. So a resumed training gives bit for bit the same
 * result as a training that was never stopped.
 *
 * @example
 * ```ts
 * const task = tasks.copy({ maxLength: 4 });
 * const model = createModel(heed, configOf(task, "transformer", { size: 16, layers: 1, heads: 2 }));
 * const { recipe } = recipeOf("copy", "transformer");
 * const training: Training = new Trainer(model, task, { recipe: { ...recipe, steps: 2, warmupSteps: 1, batch: 8 } });
 * training.step();
 * training.keepIfBest(0.5);
 * console.log(training.best!.step, training.best!.score); // prints: 1 0.5
 * ```
 */
export abstract class Training<M extends Module = Module, R extends TrainingRecipe = TrainingRecipe>
  implements Disposable
{
  /** The model that is trained. */
  readonly model: M;
  /** The settings. */
  readonly recipe: R;
  /** The seed of all random choices. */
  readonly seed: number;
  readonly #optimizer: AdamW;
  readonly #schedule: Schedule;
  #best: Best | undefined;

  constructor(model: M, recipe: R, seed: number, options: Pick<AdamOptions, "betas"> = {}) {
    this.model = model;
    this.recipe = { ...recipe };
    this.seed = seed;
    const { learningRate, weightDecay, warmupSteps, steps } = recipe;
    checkArgument("steps", steps, isWholeNumber(warmupSteps + 1));
    this.#schedule = warmupCosine({ warmupSteps, totalSteps: steps });
    this.#optimizer = new AdamW(model, { ...options, learningRate, weightDecay });
  }

  /** Computes the loss of a step, in train mode. */
  protected abstract learn(step: number): StepLesson;

  /** The values that must be equal when a training is resumed. */
  protected abstract identity(): object;

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
    model.train();
    return model.heed.scope(() => {
      const { value, gradients, aux } = valueAndGrad(model, () => {
        const { loss, count, right } = this.learn(step);
        return [loss, { count, right }] as const;
      });
      const gradientNorm = clipGradNorm(gradients, this.recipe.clipNorm);
      if (!Number.isFinite(gradientNorm))
        throw refuse("nan", "gradients", "a finite norm", `${gradientNorm}`);
      // The cosine may differ between JavaScript engines in the last bit. Rounding it to float32
      // almost always removes the difference.
      this.#optimizer.learningRate = Math.fround(this.recipe.learningRate * this.#schedule(step));
      this.#optimizer.step(gradients);
      const right = aux.right === undefined ? undefined : aux.right / aux.count;
      return { step, loss: value, right, tokens: aux.count, gradientNorm };
    });
  }

  /** Returns the state of a generator for a seed, a step and a use. */
  protected stateFor(step: number, use: string): number {
    return hashOf(`${use} ${this.seed} ${step}`);
  }

  /**
   * Keeps a copy of the parameters if the score is at least as good as the best one so far.
   *
   * @returns whether it kept them
   */
  keepIfBest(score: number): boolean {
    checkArgument("score", score, isNumber);
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
    const { step, score, parameters = {} } = this.#best ?? {};
    const best = step === undefined || score === undefined ? undefined : { step, score };
    const { learningRate } = this.#optimizer;
    return writeState(
      { ...this.#tensors(), ...prefixed("best.", parameters) },
      this.#training(),
      { step: this.stepCount, learningRate, best },
      notes,
    );
  }

  /**
   * Continues from a state that `state` returned.
   *
   * @returns the notes
   * @throws HeedError "format" for bytes that are not a complete state, "option" for the state of
   *   another training, which lists every difference; in that case nothing changes
   */
  resume(bytes: Uint8Array): string {
    const { tensors, metadata } = readState(bytes);
    const found = differences(this.#training(), parsed(metadata, "training"));
    if (found.length > 0) {
      const got = `that of another: ${found.join("; ")}`;
      throw refuse("option", "state", "the state of this training", got);
    }
    const progress = checkProgress(parsed(metadata, "progress"), this.recipe.steps);
    const { step, learningRate, best } = progress;
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

  #training() {
    const { model, recipe, seed } = this;
    return { heed: model.heed.info.version, ...this.identity(), recipe, seed };
  }

  #tensors(): Record<string, Tensor> {
    return {
      ...prefixed("model.", this.model.stateDict()),
      ...prefixed("optimizer.", this.#optimizer.stateDict().tensors),
    };
  }

  get [Symbol.toStringTag](): string {
    return this.constructor.name;
  }
}
