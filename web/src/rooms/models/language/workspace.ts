/** The state that the parts of the view share after a model has read a text. */

import type { Cell, Explanation } from "#parts";
import type { Ablated } from "../../../shared/ablation";
import type { Attention } from "../../../shared/attended";
import type { HeadKey } from "../../../shared/layerHeads";
import type { Setter } from "../../../shared/room";
import type { Live } from "../../../shared/Transport";
import { workspaceIn } from "../../../shared/workspaceIn";
import type { HeadShares } from "../../../worker/languageHeads";
import type { Kinds } from "./kinds";
import type {
  Card,
  NextAnswer,
  OtherAnswer,
  ReadAnswer,
  ReadHead,
  SimilarityAnswer,
} from "./messages";
import type { State } from "./state";

/** Some of the tokens of a text, in a row. */
export interface Span {
  readonly start: number;
  readonly count: number;
}

/** One head on a text. */
export interface ShownHead {
  readonly attention: Attention;
  /** The tokens of its rows and of its columns. */
  readonly spans: Readonly<Record<"rows" | "columns", Span>>;
  /** Of this head alone. */
  readonly shares: HeadShares;
  /** A query sees the keys fewer than this many places away; null for all. */
  readonly window: number | null;
}

/** A former continuation. */
export interface Branch {
  readonly kept: readonly number[];
  /** The text from the place on. */
  readonly pieces: readonly string[];
  /** The token before the one that was replaced. */
  readonly place: number;
}

export interface LanguageWorkspace {
  readonly state: State;
  readonly card: Card;
  /** As it was typed. */
  readonly text: string;
  readonly answer: ReadAnswer;
  /** Layer by layer, computed without the ablated ones. */
  readonly heads: readonly ReadHead[];
  /** The ablated heads of the state that this model has. */
  readonly ablating: Ablated;
  /** Null until they are measured, and for models that they do not apply to. */
  readonly kinds: Kinds | null;
  /** Null until it is computed. */
  readonly next: NextAnswer | null;
  /** The tokens that are rows of the selected head. */
  readonly rows: Span;
  /** The selected token, one of the rows. */
  readonly place: number;
  readonly head: HeadKey;
  /** Null until it is computed. */
  readonly shown: ShownHead | null;
  /** The same head on the text to compare with. */
  readonly other: OtherAnswer | null;
  readonly whyNotOther: string | null;
  /** Of the text and the text to compare with; null until it is computed, and for models that compare no texts. */
  readonly similarity: SimilarityAnswer | null;
  readonly clock: Live;
  /** The cell that is pointed at or locked. */
  readonly active: Cell | null;
  readonly explanation: Explanation | null;
  readonly byKeyboard: boolean;
  /** Former continuations, the latest first. */
  readonly branches: readonly Branch[];
  /** Whether the text is being read. */
  readonly isBusy: boolean;
  set: Setter<State>;
  /** Goes to a token and stays there. */
  go(place: number): void;
  /** Writes more at the end, and plays it or takes one step. */
  writeOn(how: "play" | "step"): void;
  point(cell: Cell | null, by: "pointer" | "keyboard"): void;
  /** Locks a cell, or releases it. */
  press(cell: Cell): void;
  /** Takes a token after the current place; the model continues from there. */
  take(id: number): void;
  /** Takes a former continuation again. */
  takeAgain(branch: Branch): void;
}

export const [LanguageWorkspaceContext, useLanguageWorkspace] = workspaceIn<LanguageWorkspace>();
