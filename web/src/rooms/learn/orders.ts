/** What the room asks its worker for, and what it hears of it. */
import type { ConfigOptions, Recipe, Task } from "heed/models";
import type { Attention as Between, Shares } from "../../shared/attended";

/** One training. */
export interface Setup {
  readonly task: string;
  readonly taskOptions: Task["options"];
  readonly options: ConfigOptions;
  readonly recipe: Recipe;
  readonly seed: number;
}

export type Order =
  /** Ends what there is and makes the models of these trainings, which then take turns, step by step. */
  | { readonly kind: "begin"; readonly setups: readonly Setup[]; readonly text: string | null }
  /** Shows what a person typed, or with null the example held out: from the next look on, and at once. */
  | { readonly kind: "show"; readonly text: string | null }
  /** At most so many steps; answered when they are done, or it was paused. */
  | { readonly kind: "train"; readonly steps: number }
  | { readonly kind: "pause" };

/** An attention of a model, between the tokens of the example that is shown. */
export interface Attention extends Between {
  /** The right places of each row, if the answer is to be seen in this attention. */
  readonly aligned: readonly (readonly number[])[] | null;
}

/** A model before its first step. */
export interface Course {
  readonly heads: number;
  readonly parameters: number;
}

/** An example that is shown for some time. */
export interface Showing {
  /** No two have the same, whichever the training. */
  readonly id: number;
  readonly source: readonly string[];
  /** Whether a person typed it. */
  readonly isOwn: boolean;
  /** Of each course. */
  readonly attentions: readonly (readonly Attention[])[];
}

export interface Begun {
  readonly kind: "begun";
  readonly about: string;
  readonly courses: readonly Course[];
  /** How many examples held out are answered at every look, and on how many of them weights are added up. */
  readonly held: number;
  readonly weighed: number;
  /** What the mass would be if all weights were even. */
  readonly chance: number;
  readonly showing: Showing;
  /** Why what was typed is not shown, in words. */
  readonly why: string | null;
  readonly first: Snapshot;
}

/** Another example is shown, or why it cannot be, in words. */
export interface Shown {
  readonly kind: "shown";
  readonly showing: Showing | null;
  readonly why: string | null;
  /** What it is like at the step where training is. */
  readonly step: number;
  readonly views: readonly ShownView[];
}

export interface Stopped {
  readonly kind: "stopped";
  readonly step: number;
  readonly why: "done" | "paused" | "finished" | "nan";
}

/** A part of an answer: what was asked about, if it is not the next token; what was said; whether that is right. */
export interface Said {
  readonly of: string | null;
  readonly token: string;
  /** Null where nobody knows. */
  readonly isRight: boolean | null;
}

/** What a model makes of the example that is shown. */
export interface ShownView {
  /** Of each attention. */
  readonly shares: readonly Shares[];
  readonly answer: readonly Said[];
}

/** What a model is like after some step. */
export interface Seen extends ShownView {
  /** Of the steps since the look before; none before the first. */
  readonly loss: number;
  readonly heldLoss: number;
  /** The share of examples held out that are answered without a fault. */
  readonly exact: number;
  /** Of each head of each attention, the mean weight on the right places; NaN where there are none. */
  readonly masses: readonly (readonly number[])[];
}

export interface Snapshot {
  readonly step: number;
  /** The id of the example that was shown then. */
  readonly showing: number;
  readonly courses: readonly Seen[];
}

/** At most some four times a second. */
export interface News {
  readonly step: number;
  /** The example that is shown now. */
  readonly showing: Showing;
  readonly snapshots: readonly Snapshot[];
  readonly millisecondsPerStep: number;
}
