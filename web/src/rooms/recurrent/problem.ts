/** The request to this room's solver. */

/** The models' folders: without attention, with Bahdanau's attention, with Luong's, and with self-attention. */
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

export const startToken = "<start>";
export const endToken = "<end>";

/** A longer text is truncated, because no date has this length. */
export const maxCharacters = 48;

/** An answer without an end is cut off after this many tokens, two more than a date has. */
export const longestAnswer = 12;
