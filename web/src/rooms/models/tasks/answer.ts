/** The requests to the solver of task models, and its answers. */
import type { Alignment } from "heed/models";
import type { Ablated } from "../../../shared/ablation";
import type { Attention, Shares } from "../../../shared/attended";
import type { ExhibitId } from "../../../shared/catalogue";
import type { HeadKey, MeasuredHead } from "../../../shared/layerHeads";
import type { UnreadableText } from "../../../shared/typed";
import type { MeasureName } from "./measures";

export interface HeadsRequest extends Ablated {
  readonly kind: "ask";
  /** The base address of the page's files. */
  readonly base: string;
  readonly exhibit: ExhibitId;
  /** The typed text; null for an example drawn from the seed. */
  readonly text: string | null;
  readonly seed: number;
}

/** Sent when the person leaves the view, to free its model. */
export interface LeaveRequest {
  readonly kind: "leave";
}

/** One attention of the model, and each of its heads. */
export interface MeasuredAttention extends Attention {
  /** The answer positions of each row; null if they are unknown or do not apply to this attention. */
  readonly places: Alignment | null;
  readonly shares: Shares;
  readonly measured: readonly TaskHead[];
}

export type TaskHead = MeasuredHead<MeasureName>;

/** A possible answer. */
export interface Candidate {
  readonly token: string;
  /** Its probability with all heads. */
  readonly probability: number;
  /** The same without the ablated heads; null if none are ablated. */
  readonly without: number | null;
}

/** One question to the model, and its answer. */
export interface AnsweredQuestion {
  /** The row of the last layer's attention that gives the answer. */
  readonly row: number;
  /** The question: a pronoun, or the number of a position. */
  readonly name: string;
  /** The most likely answers with all heads, and without the ablated ones, in the order of the former. */
  readonly candidates: readonly Candidate[];
  /** The right answer; null if unknown. Of brackets the one that may close, but another may open. */
  readonly right: string | null;
}

/** A head whose ablation changes an answer. */
export interface NeededHead {
  readonly key: HeadKey;
  /** The decrease of the answer's probability. */
  readonly lost: number;
}

/** `ablated`: the heads that were ablated to compute `attentions` and the answers without them. */
export interface HeadsAnswer extends Ablated {
  readonly kind: "answer";
  readonly exhibit: ExhibitId;
  /** The input as a person would write it. */
  readonly text: string;
  /** A grey picture, side × side, 0 to 1; null if the input is not a picture. */
  readonly picture: { readonly pixels: Float32Array; readonly side: number } | null;
  /** Every token that an input may contain. */
  readonly known: readonly string[];
  /** Whether the answer positions belong to the task's answer or to the model's own answer, or are unknown. */
  readonly places: "right" | "answered" | "unknown";
  readonly attentions: readonly MeasuredAttention[];
  /** The number of parameters, and the share of held-out examples that the model answers correctly. */
  readonly model: Readonly<Record<"parameters" | "examples" | "exact", number>>;
  /** The best head for this input, which is shown unless another one is selected. */
  readonly best: HeadKey;
  readonly asked: readonly AnsweredQuestion[];
  /** For each question the head whose ablation changes the answer; null if no single head does. */
  readonly needed: readonly (NeededHead | null)[];
  /** The text that the model generates; null if it does not generate text. */
  readonly written: { readonly whole: string; readonly without: string | null } | null;
  /** A warning about the person's input. */
  readonly note: string | null;
  readonly milliseconds: number;
}

export interface UnreadInput extends UnreadableText {
  readonly kind: "unread";
  readonly known: readonly string[];
}
