/** The requests to this room's solver, its answers and its progress messages. */

import type { SmallWeights } from "heed/view/parts";
import type { MatricesRequest, NetworkRequest } from "../../../network/messages";
import type { Shares } from "../../../shared/attended";
import type { Candidates, Instead, Sampling } from "../../../shared/candidates";
import type { HeadKey } from "../../../shared/layerHeads";

/** Loads the model, unless it is loaded already; reports the bytes that have arrived. */
export interface OpenRequest {
  readonly kind: "open";
  /** The base address of the page's files. */
  readonly base: string;
}

/** Continues a text, and reads all of it. */
export interface WriteRequest extends Sampling {
  readonly kind: "write";
  readonly base: string;
  readonly text: string;
  readonly seed: number;
  readonly length: number;
  readonly kept: readonly number[];
  readonly dropped: readonly HeadKey[];
}

/** Computes the attention of one head over a text. */
export interface HeadRequest {
  readonly kind: "head";
  readonly base: string;
  readonly ids: readonly number[];
  readonly head: HeadKey;
  readonly dropped: readonly HeadKey[];
}

/** Computes a token's way through the model, or copies the matrices of a layer. */
export type WayRequest = (NetworkRequest | MatricesRequest) & {
  readonly base: string;
};

/** Sent when the person leaves the room, to free its model. */
export interface LeaveRequest {
  readonly kind: "leave";
}

export type LanguageRequest = OpenRequest | WriteRequest | HeadRequest | WayRequest | LeaveRequest;

export interface LoadingNews {
  readonly loaded: number;
  readonly total: number;
}

/** Measures of a head's attention to certain tokens, in repeated random tokens. */
export interface HeadMeasures {
  readonly key: HeadKey;
  /** The mean weight on the token before. */
  readonly previous: number;
  /** The mean weight on the first token. */
  readonly first: number;
  /** The mean weight of a repeated token on the token after its former occurrence. */
  readonly induction: number;
}

export interface OpenAnswer {
  readonly kind: "opened";
  readonly parameters: number;
  readonly bytes: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headSize: number;
  /** The largest number of tokens. */
  readonly context: number;
  readonly perplexity: number;
  /** Every token as the page shows it. */
  readonly vocabulary: readonly string[];
  readonly measures: readonly HeadMeasures[];
  /** The mean weight of the same places if every visible token had the same weight. */
  readonly uniform: Readonly<Record<"previous" | "first" | "induction", number>>;
}

export interface WriteAnswer {
  readonly kind: "written";
  /** The token that starts every text, the typed ones, and those written. */
  readonly ids: readonly number[];
  /** How many of them are not written by the model. */
  readonly given: number;
  /** The text of each token, as the page shows it. */
  readonly pieces: readonly string[];
  /** The whole text. */
  readonly text: string;
  /** The candidates for the token after each token. */
  readonly candidates: readonly Candidates[];
  /** The heads that are dropped in `instead` and `small`. */
  readonly dropped: readonly HeadKey[];
  /** Null if no head is dropped. */
  readonly instead: readonly Instead[] | null;
  /** The pooled weights of each head, layer by layer. */
  readonly small: readonly { readonly key: HeadKey; readonly weights: SmallWeights }[];
  readonly notices: readonly string[];
  readonly milliseconds: number;
}

export interface HeadAnswer {
  readonly kind: "head";
  readonly key: HeadKey;
  /** The numbers of this head alone. */
  readonly shares: Shares;
}
