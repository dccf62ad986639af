// The config of a model.

import type { Example, Task } from "./examples.js";

/** The names of the architectures, also on the command line. */
export type Architecture = "transformer" | "decoder" | "encoder" | "rnn" | "bahdanau" | "dot";

/** The config of a model, as in config.json. All properties are required: files have no defaults. */
export interface ModelConfig {
  readonly task: string;
  readonly taskOptions: Readonly<Record<string, number | string | boolean>>;
  /** The kind of the task's examples. */
  readonly kind: Example["kind"];
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
  readonly dimFeedforward: number;
  readonly dropout: number;
  readonly positions: "sinusoidal" | "none";
  /** The seed of the initial values. */
  readonly seed: number;
}

/** The side of a patch, in pixels. */
export const patchSize = 4;
