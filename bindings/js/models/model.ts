// What every small model here can do, whatever it is made of: learn from examples, answer, show its weights.

import { describe, refuse } from "../core/error.js";
import { noGrad } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { checkArgument } from "../core/validate.js";
import type { Heed } from "../heed.js";
import { captureAttention, type ReceiveWeights } from "../nn/capture.js";
import { Module } from "../nn/module.js";
import { Generator } from "../nn/random.js";
import { checkConfig, checkMemory } from "./config.js";
import type { Example } from "./examples.js";
import type { ModelConfig } from "./modelConfig.js";

/** What a model says of an example. */
export type Answer =
  | { readonly kind: "tokens"; readonly tokens: readonly string[] }
  /** By position; undefined where nothing is asked. */
  | { readonly kind: "labels"; readonly labels: readonly (string | undefined)[] }
  | { readonly kind: "numbers"; readonly values: Float32Array }
  | {
      readonly kind: "class";
      readonly label: string;
      readonly probabilities: Readonly<Record<string, number>>;
    };

/** How answers of more than one token are found: greedily by default. */
export interface AnswerOptions {
  /**
   * The most tokens of an answer. By default one more than the task's longest has, or than the source if it
   * is longer.
   */
  longest?: number;
  beams?: number;
  /** 0, the default, takes the likeliest. */
  temperature?: number;
  topK?: number;
  topP?: number;
  /** Of chance, 0 by default. What it gives an example depends on the examples beside it. */
  seed?: number;
  signal?: AbortSignal;
  /** Receives the weights of every attention at every step, as captureAttention hands them out. */
  receive?: ReceiveWeights;
}

/** The loss of some examples and how well they were answered, each token from the right ones before it. */
export interface Lesson {
  /** [], the mean over all answers' tokens or numbers. */
  loss: Tensor;
  /** Answers' tokens (or numbers) in all, and how many were the likeliest; for numbers, 0. */
  count: number;
  right: number;
}

/** The weights by which one example was answered, of one attention. */
export interface ExampleWeights {
  /** "decoder.layers.1.multihead_attn", as captureAttention names it. */
  path: string;
  heads: number;
  rows: number;
  columns: number;
  /** [heads, rows, columns] without padding: rows are those of the example's alignment. */
  weights: Float32Array;
  /** For each row, how many places it chooses among: those that have no column here, too. */
  choices: readonly number[];
}

/** What the rows and columns of an attention stand for: all that the model takes in, special tokens too. */
export interface Labels {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
}

/** All weights of one attention for one example. */
export interface LabelledWeights extends ExampleWeights {
  labels: Labels;
  /** What the heads compared, if it was asked for; recurrent models have nothing to tell. */
  compared?: ComparedVectors;
}

/** Queries and keys as each head has them, projected and not yet scaled: D is size / heads. */
export interface ComparedVectors {
  /** [heads, rows, D] */
  readonly query: Float32Array;
  /** [heads, columns, D] */
  readonly key: Float32Array;
}

export interface AttentionsOptions {
  /** Tell the queries and keys, too: false by default. */
  compared?: boolean;
}

/** How likely a model takes each token to be, at each place of one answer and at its end. */
export interface TokenProbabilities {
  /** All that may be said, the special tokens first. */
  readonly tokens: readonly string[];
  /** Places, with the end. */
  readonly rows: number;
  /** [rows, tokens.length] */
  readonly probabilities: Float32Array;
}

/** A model of one task. */
export abstract class TaskModel<E extends Example = Example> extends Module {
  readonly config: ModelConfig;
  /**
   * Of the initial values, which depend on the config's seed alone, and of all dropout: whoever trains sets
   * its state at every step.
   */
  readonly generator: Generator;

  constructor(heed: Heed, config: ModelConfig) {
    super(heed);
    checkConfig(config);
    checkMemory(config);
    this.config = config;
    this.generator = new Generator(config.seed);
  }

  /** Teacher forcing: for valueAndGrad in train mode, and for a loss of examples held out in eval mode. */
  abstract override forward(examples: readonly E[]): Lesson;

  /** Answers found by the model alone: greedily, by beam search or by chance, step by step with a cache. */
  abstract answer(examples: readonly E[], options?: AnswerOptions): Promise<Answer[]>;

  /**
   * The weights of the attentions in which the task's alignment is to be seen (encoder-decoder attention; an
   * encoder's or decoder's self-attention), under teacher forcing, for each example: row t of the weights
   * belongs to row t of its alignment.
   */
  abstract weights(examples: readonly E[]): ExampleWeights[][];

  /**
   * All weights of all attentions, under teacher forcing, and what they stand between. Of a text without an
   * answer, as a task's `read` gives it, those of the first step; to see how it was answered, give it the
   * answer as its target.
   */
  abstract attentions(examples: readonly E[], options?: AttentionsOptions): LabelledWeights[][];

  /** Refuses what is no list of examples of the model's kind. */
  protected checkExamples(examples: readonly E[]): void {
    checkArgument("examples", examples, {
      expected: "a list of one example or more",
      accepts: (list) => Array.isArray(list) && list.length > 0,
    });
    for (const [i, example] of examples.entries()) {
      const name = `examples[${i}]`;
      const { kind } = this.config;
      if (example?.kind !== kind)
        throw refuse("option", name, `one of kind ${describe(kind)}`, describe(example?.kind));
      if ("source" in example && !Array.isArray(example.source))
        throw refuse("option", `${name}.source`, "a list of tokens", describe(example.source));
      if ("source" in example && example.source.length === 0)
        throw refuse("option", `${name}.source`, "one token or more", "none");
    }
  }

  /** Runs something out of train mode, unrecorded; what it makes is freed but for what it returns. */
  protected infer<T>(run: () => T, receive?: ReceiveWeights): T {
    const { heed, training } = this;
    const received = () => (receive ? captureAttention(this, receive, run) : run());
    if (training) this.eval();
    try {
      return noGrad(() => heed.scope(received));
    } finally {
      if (training) this.train();
    }
  }
}
