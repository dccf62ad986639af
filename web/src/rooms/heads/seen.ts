/** What the page asks of this room's desk, and what the desk has seen. */
import type { Alignment } from "heed/models";
import type { Attention, Shares } from "../../shared/attended";
import type { ExhibitId } from "./catalogue";
import type { MeasureName } from "./measures";

/** A head by its attention, layer and number, the latter two counted from 1: "cross.2.3". */
export type HeadKey = string;

export interface Look {
  readonly kind: "look";
  /** Where the page's files are. */
  readonly base: string;
  readonly exhibit: ExhibitId;
  /** What the person typed; null for an example drawn from the seed. */
  readonly text: string | null;
  readonly seed: number;
  /** Heads that are to say nothing. */
  readonly dropped: readonly HeadKey[];
}

/** The person has left the room: its model is freed. */
export interface Leave {
  readonly kind: "leave";
}

/** One attention of the model, and each of its heads. */
export interface SeenAttention extends Attention {
  /** The right places of each row, where the answer is to be seen in this attention and they are known. */
  readonly places: Alignment | null;
  readonly shares: Shares;
  readonly seen: readonly SeenHead[];
}

export interface SeenHead {
  readonly key: HeadKey;
  /** The largest weight of each of `rows` × `cols` parts: for a small picture. */
  readonly small: { readonly data: Float32Array; readonly rows: number; readonly cols: number };
  readonly measures: Readonly<Record<MeasureName, number | null>>;
}

/** A token and the probability that the model gives it. */
export interface Said {
  readonly token: string;
  readonly probability: number;
}

/** One thing that the model is asked, and what it says. */
export interface Asked {
  /** The row of the last layer's attention that says it. */
  readonly row: number;
  /** What is asked: a pronoun, or the number of a place. */
  readonly name: string;
  /** With all heads, the likeliest first. */
  readonly says: readonly Said[];
  /** Without the dropped heads; null while none are dropped. */
  readonly instead: readonly Said[] | null;
  /** Without them, of the token that is likeliest with all of them. */
  readonly kept: number | null;
  /** The right answer, where that is known. */
  readonly right: string | null;
}

export interface Seen {
  readonly kind: "seen";
  readonly exhibit: ExhibitId;
  /** The input as a person writes it. */
  readonly text: string;
  /** A grey picture, side × side, 0 to 1, where the input is one. */
  readonly picture: { readonly pixels: Float32Array; readonly side: number } | null;
  /** Every token that may stand in an input. */
  readonly known: readonly string[];
  /** Whether "the right places" are those of the task, those that the model's own answer stands at, or not known. */
  readonly places: "right" | "answered" | "unknown";
  readonly attentions: readonly SeenAttention[];
  /** The model's parameters, and the share of so many examples held out that it answers without a fault. */
  readonly model: {
    readonly parameters: number;
    readonly examples: number;
    readonly exact: number;
  };
  /** The best head for this input: the one that is shown unless another is chosen. */
  readonly best: HeadKey;
  readonly asked: readonly Asked[];
  /** What the model writes by itself; null where it writes nothing. */
  readonly written: { readonly whole: string; readonly without: string | null } | null;
  /** What the person should know about their input, in words. */
  readonly notices: readonly string[];
  readonly milliseconds: number;
}

/** The input cannot be read: why, in words. */
export interface Unread {
  readonly kind: "unread";
  readonly why: string;
  readonly known: readonly string[];
}
