/** The requests to this room's solver, and its answers. */
import type { Alignment } from "heed/models";
import type { SmallWeights } from "heed/view/parts";
import type { Attention, Shares } from "../../shared/attended";
import type { LikelyToken } from "../../shared/likelyToken";
import type { UnreadableText } from "../../shared/typed";
import type { ExhibitId } from "./catalogue";
import type { MeasureName } from "./measures";

/** A head by its attention, layer and number, the latter two counted from 1: "cross.2.3". */
export type HeadKey = string;

export interface HeadsRequest {
  readonly kind: "ask";
  /** The base address of the page's files. */
  readonly base: string;
  readonly exhibit: ExhibitId;
  /** What the person typed; null for an example drawn from the seed. */
  readonly text: string | null;
  readonly seed: number;
  /** Heads to drop. */
  readonly dropped: readonly HeadKey[];
}

/** Sent when the person leaves the room, to free its model. */
export interface LeaveRequest {
  readonly kind: "leave";
}

/** One attention of the model, and each of its heads. */
export interface MeasuredAttention extends Attention {
  /** The right places of each row; null if they are unknown or do not apply to this attention. */
  readonly places: Alignment | null;
  readonly shares: Shares;
  readonly measured: readonly MeasuredHead[];
}

export interface MeasuredHead {
  readonly key: HeadKey;
  readonly small: SmallWeights;
  readonly measures: Readonly<Record<MeasureName, number | null>>;
}

/** One question to the model, and its answer. */
export interface AnsweredQuestion {
  /** The row of the last layer's attention that gives the answer. */
  readonly row: number;
  /** The question: a pronoun, or the number of a position. */
  readonly name: string;
  /** The answers with all heads, the most likely first. */
  readonly says: readonly LikelyToken[];
  /** The answers without the dropped heads; null if none are dropped. */
  readonly instead: readonly LikelyToken[] | null;
  /** The probability, without the dropped heads, of the token that is most likely with all heads. */
  readonly kept: number | null;
  /** The right answer; null if unknown. */
  readonly right: string | null;
}

/** A head without which an answer changes. */
export interface NeededHead {
  readonly key: HeadKey;
  /** By how much the answer is less likely without it. */
  readonly lost: number;
}

export interface HeadsAnswer {
  readonly kind: "answer";
  readonly exhibit: ExhibitId;
  /** The input as a person writes it. */
  readonly text: string;
  /** A grey picture, side × side, 0 to 1; null if the input is none. */
  readonly picture: { readonly pixels: Float32Array; readonly side: number } | null;
  /** Every token that may stand in an input. */
  readonly known: readonly string[];
  /** Whether the right places are those of the task, those of the model's own answer, or unknown. */
  readonly places: "right" | "answered" | "unknown";
  readonly attentions: readonly MeasuredAttention[];
  /** The number of parameters, and the share of held-out examples that the model answers correctly. */
  readonly model: {
    readonly parameters: number;
    readonly examples: number;
    readonly exact: number;
  };
  /** The best head for this input, which is shown unless another one is selected. */
  readonly best: HeadKey;
  /** The heads without which `attentions`, and the answers `instead`, were computed. */
  readonly dropped: readonly HeadKey[];
  readonly asked: readonly AnsweredQuestion[];
  /** For each question the head that its answer needs; null if no single one changes it. */
  readonly needed: readonly (NeededHead | null)[];
  /** What the model generates; null if it does not generate text. */
  readonly written: { readonly whole: string; readonly without: string | null } | null;
  /** A warning about the person's input. */
  readonly note: string | null;
  readonly milliseconds: number;
}

export interface UnreadInput extends UnreadableText {
  readonly kind: "unread";
  readonly known: readonly string[];
}
