/** What the room asks its worker for, and what it hears of it. */
import type { ConfigOptions, Recipe, Task } from "heed/models";

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
  | { readonly kind: "begin"; readonly setups: readonly Setup[] }
  /** At most so many steps; answered when they are done, or it was paused. */
  | { readonly kind: "train"; readonly steps: number }
  | { readonly kind: "pause" };

/** An attention of a model: its heads' weights lie one after another, each row by row. */
export interface Attention {
  readonly path: string;
  readonly heads: number;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** Where its weights begin among all of the model's. */
  readonly offset: number;
  /** The right places of each row, if the answer is to be seen in this attention. */
  readonly aligned: readonly (readonly number[])[] | null;
}

/** A model before its first step. */
export interface Course {
  readonly heads: number;
  readonly parameters: number;
  readonly attentions: readonly Attention[];
}

export interface Begun {
  readonly kind: "begun";
  readonly about: string;
  /** The example whose weights are shown: its input. */
  readonly source: readonly string[];
  readonly courses: readonly Course[];
  /** How many examples held out are answered at every look, and on how many of them weights are added up. */
  readonly held: number;
  readonly weighed: number;
  /** What the mass would be if all weights were even. */
  readonly chance: number;
  readonly first: Snapshot;
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
  readonly isRight: boolean;
}

/** What a model is like after some step. */
export interface Seen {
  /** Of the steps since the look before; none before the first. */
  readonly loss: number;
  readonly heldLoss: number;
  /** The share of examples held out that are answered without a fault. */
  readonly exact: number;
  /** Of each head of each attention, the mean weight on the right places; NaN where there are none. */
  readonly masses: readonly (readonly number[])[];
  readonly weights: Float32Array;
  readonly answer: readonly Said[];
}

export interface Snapshot {
  readonly step: number;
  readonly courses: readonly Seen[];
}

/** At most some ten times a second. */
export interface News {
  readonly step: number;
  readonly snapshots: readonly Snapshot[];
  readonly millisecondsPerStep: number;
}
