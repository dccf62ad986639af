// What a model is made from.

import type { Example, Task } from "./examples.js";

/** The architectures, by the names of the command line. */
export type Architecture = "transformer" | "decoder" | "encoder" | "rnn" | "bahdanau" | "dot";

/** What a model is made from, as config.json has it. Everything is given: a file has no defaults. */
export interface ModelConfig {
  readonly task: string;
  readonly taskOptions: Readonly<Record<string, number | string | boolean>>;
  /** Of the task's examples. */
  readonly kind: Example["kind"];
  readonly architecture: Architecture;
  /** Sources' tokens and answers' tokens, without the special ones that a Vocabulary begins with. */
  readonly vocabulary: Task["vocabulary"];
  /** The most tokens of the task's inputs and answers. */
  readonly longest: Task["longest"];
  /** Size of embeddings; of a recurrent model, of its decoder's state. */
  readonly size: number;
  /** Layers of the encoder, and of the decoder. */
  readonly layers: number;
  /** Heads; 1 in recurrent models. */
  readonly heads: number;
  readonly dimFeedforward: number;
  readonly dropout: number;
  readonly positions: "sinusoidal" | "none";
  /** Of the initial values. */
  readonly seed: number;
}

/** Pixels of a patch along each side. */
export const patchSize = 4;
