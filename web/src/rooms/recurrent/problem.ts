/** What the page asks of this room's desk, and what the desk has found. */

import type { Shares } from "../../shared/attended";

/** The models by the names of their folders: without attention, with Bahdanau's, with Luong's, of attention alone. */
export const modelNames = ["rnn", "bahdanau", "dot", "transformer"] as const;
export type ModelName = (typeof modelNames)[number];

/** The recurrent model with attention that stands between the other two. */
export type Between = "bahdanau" | "dot";

/** A token that the person puts in place of what was written at a place of the answer. */
export interface Slip {
  /** From 0. */
  readonly place: number;
  readonly token: string;
}

export interface Question {
  /** Where the models' folders are. */
  readonly base: string;
  readonly text: string;
  readonly between: Between;
  readonly slip: Slip | null;
}

export interface Said {
  readonly token: string;
  readonly probability: number;
}

/** One step of a decoder. */
export interface Step {
  /** The token that went in. */
  readonly given: string;
  /** The likeliest to come out, the likeliest first. */
  readonly top: readonly Said[];
}

/** The weights of one attention between the answer and the date. */
export interface Attention {
  /** From 0. */
  readonly layer: number;
  readonly heads: number;
  /** One for each step. */
  readonly rows: number;
  readonly columns: number;
  /** [heads + 1, rows, columns]: the mean of all heads first. */
  readonly weights: Float32Array;
  /** Of an attention that compares queries with keys: [heads, rows, D], [heads, columns, D] and what came of it. */
  readonly compared: Pick<Shares, "queries" | "keys" | "scores"> | null;
}

/** A decoder's way through one answer. The last step is the one that ends it. */
export interface Run {
  readonly steps: readonly Step[];
  readonly attentions: readonly Attention[];
}

export interface Found {
  readonly name: ModelName;
  readonly layers: number;
  readonly heads: number;
  /** Its answer, with no token put in. */
  readonly answer: Run;
  /** Each step goes on from its own words; with a slip, from that too. */
  readonly alone: Run;
  /** Teacher forcing: each step goes on from the right words; null where the right answer is not known. */
  readonly taught: Run | null;
  /** All that the decoder of the model without attention knows of the date; null in the others. */
  readonly vector: Float32Array | null;
}

/** How a model did on examples held out, as its report has it. */
export interface Report {
  readonly name: ModelName;
  readonly parameters: number;
  /** Examples that it was trained with. */
  readonly lessons: number;
  readonly examples: number;
  readonly exact: number;
  readonly short: number;
  readonly long: number;
  /** Of the head whose weights fall most on the characters that carry the answer; null without attention. */
  readonly mass: number | null;
}

export interface Solution {
  readonly kind: "solution";
  readonly source: readonly string[];
  /** The right answer and, for each of its characters, those of the date that carry it; null if not known. */
  readonly target: readonly string[] | null;
  readonly alignment: readonly (readonly number[])[] | null;
  readonly models: readonly Found[];
  readonly reports: readonly Report[];
  readonly milliseconds: number;
}

/** The text cannot be given to the models: why, in words. */
export interface Unread {
  readonly kind: "unread";
  readonly why: string;
}

/** What is given first, and what ends an answer. */
export const startToken = "<start>";
export const endToken = "<end>";

/** Longer texts than any date are cut. */
export const maxCharacters = 48;

/** An answer that does not end is cut off after so many tokens: two more than a date has. */
export const longest = 12;
