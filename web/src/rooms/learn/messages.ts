/** The requests to this room's solver, and what its answers and its news consist of. */
import type { ConfigOptions, Recipe, Task } from "heed/models";
import type { Attention, Shares } from "../../shared/attended";

/** The number of held-out examples answered for every snapshot, and the number of them used to measure the heads. */
export const held = 64;
export const weighed = 16;

export interface TrainingSetup {
  readonly task: string;
  readonly taskOptions: Task["options"];
  readonly options: ConfigOptions;
  readonly recipe: Recipe;
  readonly seed: number;
}

export type LessonRequest =
  /** Ends the current lesson and creates the models of these trainings, which then alternate step by step. */
  | {
      readonly kind: "begin";
      readonly setups: readonly TrainingSetup[];
      readonly text: string | null;
    }
  /** Shows typed text or, for null, the held-out example, immediately and in later snapshots. */
  | { readonly kind: "show"; readonly text: string | null }
  /** Shows the same example with the parameters of an earlier step. */
  | { readonly kind: "look"; readonly step: number }
  /** Trains for at most this many steps, the first of all slowly if wanted. The answer comes when training stops. */
  | { readonly kind: "train"; readonly steps: number; readonly slow: boolean }
  | { readonly kind: "pause" };

/** An attention of a model, with the tokens of the example that is shown. */
export interface CourseAttention extends Attention {
  /** The answer positions of each row, if they apply to this attention. */
  readonly aligned: readonly (readonly number[])[] | null;
}

export interface Course {
  readonly heads: number;
  readonly parameters: number;
}

/** An example that is shown during a part of the training. */
export interface ShownExample {
  /** Unique among all trainings. */
  readonly id: number;
  /** The input as a person would write it. */
  readonly text: string;
  /** The attentions of each course. */
  readonly attentions: readonly (readonly CourseAttention[])[];
}

export interface TrainAnswer {
  readonly kind: "stopped";
  readonly step: number;
  readonly why: "done" | "paused" | "finished" | "nan";
}

/** A part of an answer: the question, unless it is the next token; the answer; and whether it is right. */
export interface AnswerPart {
  readonly of: string | null;
  readonly token: string;
  /** Null if unknown. */
  readonly isRight: boolean | null;
}

/** A model's output for the example that is shown. */
export interface ExampleOutput {
  /** The weights and vectors of each attention. */
  readonly shares: readonly Shares[];
  readonly answer: readonly AnswerPart[];
}

/** The state of a model after a step. */
export interface CourseSnapshot extends ExampleOutput {
  /** The mean over the steps since the previous snapshot; NaN before the first step. */
  readonly loss: number;
  readonly heldLoss: number;
  /** The share of held-out examples that are answered correctly. */
  readonly exact: number;
  /** The mean attention on the answer positions, for each head of each attention; NaN if there are none. */
  readonly masses: readonly (readonly number[])[];
}

export interface Snapshot {
  readonly step: number;
  /** The id of the example that is shown. */
  readonly showing: number;
  readonly courses: readonly CourseSnapshot[];
}

/** Sent at most about four times a second. */
export interface TrainingNews {
  readonly step: number;
  /** The example that is shown now. */
  readonly showing: ShownExample;
  readonly snapshots: readonly Snapshot[];
  readonly millisecondsPerStep: number;
}
