/** The request to trace a character of the date and one of the answer through the Transformer, and its answer. */
import type { TransformerNumbers, TransformerQuestion } from "../../../network/transformer";

export interface NetworkQuestion extends TransformerQuestion {
  /** The base address of the models' folders. */
  readonly base: string;
}

export type NetworkAnswer = TransformerNumbers;
