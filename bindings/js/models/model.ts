// The base class of the models, which learn from examples, answer, and return their attention weights.

import { describe, refuse } from "../core/error.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument } from "../core/validate.js";
import type { Heed } from "../heed.js";
import { inferring, type ReceiveWeights } from "../nn/capture.js";
import { Module } from "../nn/module.js";
import { Generator } from "../nn/random.js";
import { checkConfig, checkMemory } from "./config.js";
import type { Example } from "./examples.js";
import type { ModelConfig } from "./modelConfig.js";

/** A model's answer to an example. */
export type Answer =
  | { readonly kind: "tokens"; readonly tokens: readonly string[] }
  /** One per position; undefined where nothing is asked. */
  | { readonly kind: "labels"; readonly labels: readonly (string | undefined)[] }
  | { readonly kind: "numbers"; readonly values: Float32Array }
  | {
      readonly kind: "class";
      readonly label: string;
      readonly probabilities: Readonly<Record<string, number>>;
    };

/** How answers of several tokens are decoded; greedily by default. */
export interface AnswerOptions {
  /**
   * The maximum number of tokens of an answer. By default one more than the longest answer of the
   * task, or than the source if it is longer.
   */
  longest?: number;
  /** The number of beams; 1, without beam search, by default. */
  beams?: number;
  /** Divides the logits; 0, the default, takes the most likely token. */
  temperature?: number;
  /** Only the k most likely tokens; all by default. */
  topK?: number;
  /** Only the most likely tokens whose probabilities sum to p; 1 by default. */
  topP?: number;
  /** The seed of sampling; 0 by default. The sample for an example depends on the other examples of the call. */
  seed?: number;
  /** Stops between two tokens: the promise is then rejected with the signal's reason. */
  signal?: AbortSignal;
  /** Called with the weights of every attention at every step: see captureAttention. */
  receive?: ReceiveWeights;
}

/** The loss and the accuracy on some examples, with teacher forcing. */
export interface Lesson {
  /** [] the mean over all tokens or numbers of the answers. */
  loss: Tensor;
  /** The number of tokens or numbers of the answers. */
  count: number;
  /** The number of the answers' tokens that had the largest logit; 0 for numbers. */
  right: number;
}

/** The weights of one attention for one example. */
export interface ExampleWeights {
  /** The path of the attention, as captureAttention passes it, such as "decoder.layers.1.multihead_attn". */
  path: string;
  /** The number of heads. */
  heads: number;
  /** The number of queries. */
  rows: number;
  /** The number of keys. */
  columns: number;
  /** [heads, rows, columns] without padding. Row t belongs to row t of the example's alignment. */
  weights: Float32Array;
  /** For each row, the number of positions that it can see, including those without a column here. */
  choices: readonly number[];
}

/** The tokens of the rows and columns of an attention: the whole input of the model, including special tokens. */
export interface Labels {
  /** The tokens of the queries. */
  readonly rows: readonly string[];
  /** The tokens of the keys. */
  readonly columns: readonly string[];
}

/** All weights of one attention for one example, with labels. */
export interface LabelledWeights extends ExampleWeights {
  /** The tokens of the rows and columns. */
  labels: Labels;
  /** The queries and keys, if the options ask for them; absent in recurrent models. */
  compared?: ComparedVectors;
}

/** The queries and keys of each head, after the projection and before the scale. D is size / heads. */
export interface ComparedVectors {
  /** [heads, rows, D] */
  readonly query: Float32Array;
  /** [heads, columns, D] */
  readonly key: Float32Array;
}

/** Options of `attentions`. */
export interface AttentionsOptions {
  /** Whether the result has the queries and keys; false by default. */
  compared?: boolean;
}

/** The probabilities that a model gives each token, at each position of one answer and at its end. */
export interface TokenProbabilities {
  /** All tokens of the vocabulary, the special tokens first. */
  readonly tokens: readonly string[];
  /** The number of positions, including the end. */
  readonly rows: number;
  /** [rows, tokens.length] */
  readonly probabilities: Float32Array;
}

/**
 * A model of one task.
 *
 * @example
 * ```ts
 * const task = tasks.copy({ maxLength: 4 });
 * const model: TaskModel = createModel(heed, configOf(task, "transformer", { size: 16, layers: 1, heads: 2 })).eval();
 * const example = task.read!("ab");
 * console.log(model.attentions([example])[0]!.map(({ path }) => path).join(" ")); // prints: encoder.layers.0.self_attn decoder.layers.0.self_attn decoder.layers.0.multihead_attn
 * ```
 */
export abstract class TaskModel<E extends Example = Example> extends Module {
  /** The config that it was created from. */
  readonly config: ModelConfig;
  /**
   * The generator of the initial values and of dropout. The initial values depend only on the
   * config's seed; Trainer sets the state at every step.
   */
  readonly generator: Generator;

  constructor(heed: Heed, config: ModelConfig) {
    super(heed);
    checkConfig(config);
    checkMemory(config);
    this.config = config;
    this.generator = new Generator(config.seed);
  }

  /**
   * Computes the loss with teacher forcing: in train mode for valueAndGrad, in eval mode for
   * examples of other splits.
   */
  abstract override forward(examples: readonly E[]): Lesson;

  /** Answers without teacher forcing: greedily, by beam search or by sampling. */
  abstract answer(examples: readonly E[], options?: AnswerOptions): Promise<Answer[]>;

  /**
   * Returns, for each example, the weights of the attentions that are compared with the task's
   * alignment, with teacher forcing. These are the encoder-decoder attention, or the self-attention
   * of a model that has only an encoder or only a decoder. Row t of the weights belongs to row t of
   * the alignment.
   */
  abstract weights(examples: readonly E[]): ExampleWeights[][];

  /**
   * Returns all weights of all attentions with their labels, with teacher forcing. An example
   * without an answer, as from a task's `read`, gives the weights of the first step. To see the
   * weights of an answer, set it as the example's target.
   */
  abstract attentions(examples: readonly E[], options?: AttentionsOptions): LabelledWeights[][];

  /** Throws unless the value is a list of examples of the model's kind. */
  protected checkExamples(examples: readonly E[]): void {
    checkArgument("examples", examples, {
      expected: "a list of one example or more",
      accepts: (list) => Array.isArray(list) && list.length > 0,
    });
    for (const [i, example] of examples.entries()) {
      const name = `examples[${i}]`;
      const { kind } = this.config;
      if (example?.kind !== kind) {
        const expected = `an example of kind ${describe(kind)}`;
        throw refuse("option", name, expected, describe(example?.kind));
      }
      if ("source" in example && !Array.isArray(example.source))
        throw refuse("option", `${name}.source`, "a list of tokens", describe(example.source));
      if ("source" in example && example.source.length === 0)
        throw refuse("option", `${name}.source`, "one token or more", "none");
    }
  }

  /**
   * Runs a function in eval mode, without recording for gradients. Tensors that it creates are
   * freed unless it returns them.
   */
  protected infer<T>(run: () => T, receive?: ReceiveWeights): T {
    const { training } = this;
    if (training) this.eval();
    try {
      return inferring(this, receive, run);
    } finally {
      if (training) this.train();
    }
  }
}
