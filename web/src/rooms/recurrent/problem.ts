/** The request to this room's solver, and its answer. */

import type { Shares } from "../../shared/attended";
import type { Untaught } from "./untaught";

/**
 * The names of the models' folders: without attention, with Bahdanau's attention, with Luong's, and with
 * self-attention.
 */
export const modelNames = ["rnn", "bahdanau", "dot", "transformer"] as const;
export type ModelName = (typeof modelNames)[number];

/** The recurrent model with attention, which is shown between the other two. */
export type MiddleModel = "bahdanau" | "dot";

/** A token of the answer that the person replaced, to see how the models continue from it. */
export interface Slip {
  readonly place: number;
  readonly token: string;
}

export interface DateQuestion {
  readonly base: string;
  readonly text: string;
  readonly between: MiddleModel;
  readonly slip: Slip | null;
}

/** A token and the probability that the model gives it. */
interface LikelyToken {
  readonly token: string;
  readonly probability: number;
}

export interface DecoderStep {
  readonly given: string;
  /** The most likely output tokens, the most likely first. */
  readonly top: readonly LikelyToken[];
}

export interface RecordedAttention {
  readonly layer: number;
  readonly heads: number;
  readonly rows: number;
  readonly columns: number;
  /** [heads + 1, rows, columns]: the mean of all heads first. */
  readonly weights: Float32Array;
  /** The queries [heads, rows, D], keys [heads, columns, D] and scores, for an attention that compares them. */
  readonly compared: Pick<Shares, "queries" | "keys" | "scores"> | null;
}

/** The steps of a decoder for one answer. The last one predicts the end token. */
export interface DecoderRun {
  readonly steps: readonly DecoderStep[];
  /**
   * The place in the right answer that the output of each step corresponds to, counted from 0; null for an extra
   * output. Empty if the right answer is unknown.
   */
  readonly places: readonly (number | null)[];
  readonly attentions: readonly RecordedAttention[];
}

export interface ModelAnswers {
  readonly name: ModelName;
  readonly layers: number;
  readonly heads: number;
  readonly answer: DecoderRun;
  /** Autoregressive decoding: each step continues from the model's own tokens, except for a replaced one. */
  readonly alone: DecoderRun;
  /** Teacher forcing: each step continues from the right tokens; null if the right answer is unknown. */
  readonly taught: DecoderRun | null;
  /** The vector from which the decoder without attention starts; null for other models. */
  readonly vector: Float32Array | null;
}

/** The results of a model on held-out examples, from its report. */
export interface ModelReport {
  readonly name: ModelName;
  readonly parameters: number;
  readonly lessons: number;
  readonly examples: number;
  readonly exact: number;
  readonly short: number;
  readonly long: number;
  /** The attention on the right places of the head with the most of it; null without attention. */
  readonly mass: number | null;
}

export interface DateSolution {
  readonly kind: "solution";
  readonly source: readonly string[];
  /** The right answer, and for each of its characters the right places of the date; null if unknown. */
  readonly target: readonly string[] | null;
  readonly alignment: readonly (readonly number[])[] | null;
  /** Why the text is not like the training data; null if it is. */
  readonly untaught: Untaught | null;
  readonly models: readonly ModelAnswers[];
  readonly reports: readonly ModelReport[];
  readonly milliseconds: number;
}

/** A text that is empty or contains characters without a token in any model. */
export interface UnreadDate extends Untaught {
  readonly kind: "unread";
}

export const startToken = "<start>";
export const endToken = "<end>";

/** A longer text is truncated, because no date has this length. */
export const maxCharacters = 48;

/** An answer without an end is cut off after this many tokens, two more than a date has. */
export const longestAnswer = 12;
