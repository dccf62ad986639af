// The config of a model.

import type { Example, Task } from "./examples.js";

/** The names of the architectures, also on the command line. */
export type Architecture = "transformer" | "decoder" | "encoder" | "rnn" | "bahdanau" | "dot";

/** The config of a model, as in config.json. All properties are required: files have no defaults. */
export interface ModelConfig {
  /** The name of the task. */
  readonly task: string;
  /** The values of the task's options. */
  readonly taskOptions: Readonly<Record<string, number | string | boolean>>;
  /** The kind of the task's examples. */
  readonly kind: Example["kind"];
  /** The form of the model. */
  readonly architecture: Architecture;
  /** The tokens of sources and of answers, without the special tokens, with which a Vocabulary begins. */
  readonly vocabulary: Task["vocabulary"];
  /** The maximum lengths of the task's inputs and answers. */
  readonly longest: Task["longest"];
  /** The size of embeddings; in recurrent models, the size of the decoder's state. */
  readonly size: number;
  /** The number of layers of the encoder, and of the decoder. */
  readonly layers: number;
  /** The number of heads; 1 in recurrent models. */
  readonly heads: number;
  /** The size of the hidden layer of the feed-forward networks. */
  readonly dimFeedforward: number;
  /** The dropout rate in training. */
  readonly dropout: number;
  /** The position encodings. */
  readonly positions: "sinusoidal" | "none";
  /** The seed of the initial values. */
  readonly seed: number;
}

/**
 * The side of a patch, in pixels.
 *
 * @example
 * ```ts
 * console.log(patchSize); // prints: 4
 * ```
 */
export const patchSize = 4;
