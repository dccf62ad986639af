// The training of language models, which predict the next token of a text at every position.

import { describe, refuse } from "../core/error.js";
import { pause } from "../core/pause.js";
import { noGrad } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  instanceOf,
  isObject,
  isSignal,
  isWholeNumber,
} from "../core/validate.js";
import { Module } from "../nn/module.js";
import { defaultGenerator, Generator, isSeed } from "../nn/random.js";
import { hashOf } from "./hash.js";
import {
  type StepLesson,
  Training,
  type TrainingRecipe,
  trainingRecipeChecks,
} from "./training.js";

/**
 * A module that computes logits [B, L, V] of the next tokens from ids [B, L], such as
 * CausalLanguageModel. If it has dropout, a resumed training is the same only with the default generator.
 */
export interface NextTokenModel extends Module {
  /** ids int32 [B, L] -> logits [B, L, V]. */
  forward(ids: Tensor): { readonly logits: Tensor };
}

export interface TextRecipe extends TrainingRecipe {
  /** The number of positions of an example. */
  readonly length: number;
}

/** Options of a new `TextTrainer`. */
export interface TextTrainerOptions {
  /** The settings of the training. */
  recipe: TextRecipe;
  /** The seed of the order of the examples; 0 by default. */
  seed?: number;
}

const recipeChecks = {
  ...trainingRecipeChecks,
  length: isWholeNumber(1, 2 ** 16),
} satisfies Record<keyof TextRecipe, Check>;

const optionChecks = {
  recipe: { expected: "a recipe", accepts: isObject },
  seed: isSeed,
} satisfies Record<keyof TextTrainerOptions, Check>;

const isModel = instanceOf("a module", Module);
const isTokens = (least: number): Check => ({
  expected: `an Int32Array of ${least} tokens or more`,
  accepts: (value) => value instanceof Int32Array && value.length >= least,
});

/** The usual decay rates of Adam for language models (Brown et al., 2020, appendix B). */
const betas = [0.9, 0.95] as const;

/**
 * Trains a model on a text. Every pass divides the text into examples of `length` positions, each
 * time from another offset, and visits each example once in random order. Use:
 *
 *     const trainer = new TextTrainer(model, tokens, { recipe, seed: 1 });
 *     while (!trainer.finished) console.log(trainer.step().loss);
 *
 * @throws HeedError "option", "memory"
 * @example
 * ```ts
 * const config = { model_type: "llama", vocab_size: 8, max_position_embeddings: 16, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const text = Int32Array.from({ length: 400 }, (_, i) => i % 8);
 * const recipe = { batch: 4, steps: 30, length: 15, learningRate: 0.02, warmupSteps: 5, weightDecay: 0, clipNorm: 1, checkEvery: 10 };
 * const trainer = new TextTrainer(new CausalLanguageModel(heed, config), text, { recipe });
 * const first = trainer.step().loss;
 * let last = first;
 * while (!trainer.finished) last = trainer.step().loss;
 * console.log(last < first / 2); // prints: true
 * ```
 */
export class TextTrainer<M extends NextTokenModel = NextTokenModel> extends Training<
  M,
  TextRecipe
> {
  /** The text, as ids. */
  readonly tokens: Int32Array;
  readonly #hash: number;
  #pass: { number: number; offset: number; order: Uint32Array } | undefined;

  /**
   * @param tokens the ids of the text, below the number of logits
   * @throws HeedError "option" for an invalid recipe or a text shorter than two examples
   */
  constructor(model: M, tokens: Int32Array, options: TextTrainerOptions) {
    checkArgument("model", model, isModel);
    checkOptions("TextTrainer", options, optionChecks);
    const { recipe, seed = 0 } = options;
    for (const [name, check] of Object.entries(recipeChecks))
      checkArgument(name, recipe?.[name as keyof TextRecipe], check);
    checkOptions("a recipe", recipe, recipeChecks);
    checkArgument("tokens", tokens, isTokens(2 * recipe.length));
    super(model, recipe, seed, { betas });
    this.tokens = tokens;
    this.#hash = hashOf(new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength));
  }

  protected override learn(step: number): StepLesson {
    const { heed } = this.model;
    const { length, batch } = this.recipe;
    const rows = this.examples(step);
    const ids = heed.tensor(joined(rows, length, 0), [batch, length]);
    const next = heed.tensor(joined(rows, length, 1), [batch, length]);
    const logits = this.#withDropout(step, () => this.model.forward(ids).logits);
    return { loss: heed.crossEntropy(logits, next), count: batch * length };
  }

  /** Runs a function in which the default generator, which modules with dropout use, depends on the step. */
  #withDropout<T>(step: number, run: () => T): T {
    const generator = defaultGenerator(this.model.heed);
    const { state } = generator;
    generator.state = this.stateFor(step, "dropout");
    try {
      return run();
    } finally {
      generator.state = state;
    }
  }

  protected override identity(): object {
    const shapes = Object.entries(this.model.stateDict()).map(([name, { shape }]) => [
      name,
      shape.join(" x "),
    ]);
    return {
      parameters: Object.fromEntries(shapes),
      text: { tokens: this.tokens.length, hash: this.#hash },
    };
  }

  /** Returns the examples of a step: `batch` lists of `length + 1` tokens. */
  examples(step: number): Int32Array[] {
    checkArgument("step", step, isWholeNumber(1));
    const { batch, length } = this.recipe;
    // For every offset, the text has room for `perPass` examples and the token after the last one.
    const perPass = Math.floor(this.tokens.length / length) - 1;
    return Array.from({ length: batch }, (_, i) => {
      const index = (step - 1) * batch + i;
      const { offset, order } = this.#passOf(Math.floor(index / perPass), perPass);
      const begin = offset + (order[index % perPass] as number) * length;
      return this.tokens.subarray(begin, begin + length + 1);
    });
  }

  #passOf(number: number, count: number) {
    if (this.#pass?.number === number) return this.#pass;
    const random = new Generator(this.stateFor(number, "pass"));
    const offset = random.next() % this.recipe.length;
    const order = Uint32Array.from({ length: count }, (_, i) => i);
    for (let i = count - 1; i > 0; i--) {
      const other = random.next() % (i + 1);
      [order[i], order[other]] = [order[other] as number, order[i] as number];
    }
    this.#pass = { number, offset, order };
    return this.#pass;
  }
}

/** Concatenates the parts of `length` tokens that begin at `from` in each row. */
function joined(rows: readonly Int32Array[], length: number, from: number): Int32Array {
  const all = new Int32Array(rows.length * length);
  for (const [i, row] of rows.entries()) all.set(row.subarray(from, from + length), i * length);
  return all;
}

/** Options of `textLoss`. */
export interface TextLossOptions {
  /** The number of positions in one input of the model. */
  length: number;
  /**
   * The distance between the starts of two consecutive inputs; half the length by default. All
   * tokens of the first input count. In the other inputs, only the tokens after the first `length -
   * stride` positions count.
   */
  stride?: number;
  /** The number of inputs per batch; 8 by default. */
  batch?: number;
  /** Stops between two batches: the promise is then rejected with the signal's reason. */
  signal?: AbortSignal;
}

const lossChecks = {
  length: isWholeNumber(1, 2 ** 16),
  stride: isWholeNumber(1),
  batch: isWholeNumber(1, 2 ** 16),
  signal: isSignal,
} satisfies Record<keyof TextLossOptions, Check>;

/** The target of a position that does not count. */
const ignored = -1;

/**
 * Computes how well a model in eval mode predicts a text.
 *
 * @param tokens the ids of the text; each but the first is predicted once
 * @returns the mean of -ln p, in nats per token, and the number of tokens; exp(loss) is the
 *   perplexity
 * @throws HeedError "option", "shape", "nan"; or the signal's reason
 * @example
 * ```ts
 * const config = { model_type: "llama", vocab_size: 8, max_position_embeddings: 16, hidden_size: 16,
 *   intermediate_size: 32, num_hidden_layers: 1, num_attention_heads: 2 };
 * const text = Int32Array.from({ length: 100 }, (_, i) => i % 8);
 * const { count } = await textLoss(new CausalLanguageModel(heed, config).eval(), text, { length: 15 });
 * console.log(count); // prints: 99
 * ```
 */
export async function textLoss(
  model: NextTokenModel,
  tokens: Int32Array,
  options: TextLossOptions,
): Promise<{ loss: number; count: number }> {
  checkArgument("model", model, isModel);
  checkArgument("tokens", tokens, isTokens(2));
  checkOptions("textLoss", options, lossChecks);
  const { length, batch = 8, signal } = options;
  checkArgument("length", length, lossChecks.length);
  const { stride = Math.ceil(length / 2) } = options;
  if (stride > length) throw refuse("option", "stride", `at most ${length}`, describe(stride));
  const begins = [0];
  while ((begins.at(-1) as number) + length < tokens.length - 1)
    begins.push((begins.at(-1) as number) + stride);
  let [sum, count] = [0, 0];
  for (let i = 0; i < begins.length; i += batch) {
    const some = begins.slice(i, i + batch);
    const [ids, next] = [0, 1].map((fill) => new Int32Array(some.length * length).fill(-fill));
    let counted = 0;
    for (const [row, begin] of some.entries()) {
      ids?.set(tokens.subarray(begin, Math.min(begin + length, tokens.length - 1)), row * length);
      const from = begin === 0 ? 0 : length - stride;
      const targets = tokens.subarray(begin + 1 + from, begin + 1 + length);
      next?.set(targets, row * length + from);
      counted += targets.length;
    }
    sum += counted * meanLoss(model, ids as Int32Array, next as Int32Array, length);
    count += counted;
    await pause();
    signal?.throwIfAborted();
  }
  return { loss: sum / count, count };
}

function meanLoss(
  model: NextTokenModel,
  ids: Int32Array,
  next: Int32Array,
  length: number,
): number {
  const { heed } = model;
  const shape = [ids.length / length, length];
  return noGrad(() =>
    heed.scope(() => {
      const { logits } = model.forward(heed.tensor(ids, shape));
      const loss = heed.crossEntropy(logits, heed.tensor(next, shape), { ignoreIndex: ignored });
      return loss.item() as number;
    }),
  );
}
