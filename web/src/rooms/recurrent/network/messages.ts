/** The ways of a character of the date and of one of the answer through the Transformer: the request and its answer. */
import type { TransformerNumbers, TransformerQuestion } from "../../../network/transformer";

export interface NetworkQuestion extends TransformerQuestion {
  /** The base address of the models' folders. */
  readonly base: string;
}

export type NetworkAnswer = TransformerNumbers;
