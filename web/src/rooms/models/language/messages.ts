/** The requests to the solver of language models, its answers and its progress messages. */

import type { ClassifierConfig } from "heed/models";
import type { PatternName } from "#parts";
import type {
  MatricesAnswer,
  MatricesRequest,
  NetworkAnswer,
  NetworkRequest,
} from "../../../network/messages";
import type { Ablated } from "../../../shared/ablation";
import type { Candidates, Instead, Sampling } from "../../../shared/candidates";
import type { HeadKey, HeadPlace, MeasuredHead } from "../../../shared/layerHeads";
import type { ReadToken } from "../../../shared/readableTokenizer";
import type { HeadShares, Ids, ShownModel } from "../../../worker/languageHeads";
import type { Kinds } from "./kinds";
import type { Source } from "./source";
import type { WeightType } from "./state";

/** The page's own model and one of the person can be open at the same time. */
export type Whose = "ours" | "yours";

/** Loads a model. The former model of the person stays open until the new one is loaded. */
export interface LoadRequest {
  readonly kind: "load";
  readonly source: Source;
  readonly dtype: WeightType;
}

/** Continues a text if asked to, and reads all of it. */
export interface ReadRequest extends Sampling {
  readonly kind: "read";
  /** The number of the intended model, from its card. */
  readonly model: number;
  readonly text: string;
  /** The languages to translate from and to, as tokens; null for the ones that the model's files choose. */
  readonly from: string | null;
  readonly to: string | null;
  readonly seed: number;
  readonly length: number;
  readonly kept: readonly number[];
}

/** A request about a text that the model has read. */
interface TextRequest extends Ablated, Ids {
  readonly model: number;
}

/** Computes the candidates for the token after a token, for the token and each mask, or for the label. */
export interface NextRequest extends Sampling, TextRequest {
  readonly kind: "next";
  readonly place: number;
  /** The number of candidates; a few by default. */
  readonly most?: number;
}

/** Computes the attention of all heads, with the ablated heads left out of the computation. */
export interface HeadsRequest extends TextRequest {
  readonly kind: "heads";
}

/** Computes the attention of one head over a text. */
export interface HeadRequest extends TextRequest {
  readonly kind: "head";
  readonly head: HeadKey;
}

/** Computes the attention of one head over a text that is not read yet. */
export interface OtherRequest extends Ablated {
  readonly kind: "other";
  readonly model: number;
  readonly text: string;
  readonly head: HeadKey;
}

/** Computes how similar two texts are, as the model compares its vectors of them. */
export interface SimilarityRequest extends Ablated {
  readonly kind: "similarity";
  readonly model: number;
  readonly texts: readonly [string, string];
}

export type LanguageRequest =
  /** Lists the models whose files the browser keeps. If an address is given, its files are deleted first. */
  | { readonly kind: "kept"; readonly deleted: string | null }
  | LoadRequest
  /** Asks which model is open, or frees it. */
  | { readonly kind: "card" | "close"; readonly whose: Whose }
  | ReadRequest
  | NextRequest
  | HeadsRequest
  | HeadRequest
  /** Measures the kind of each head on random tokens that are repeated. */
  | { readonly kind: "kinds"; readonly model: number }
  /** Computes a token's way through a model that predicts the next one, or copies the matrices of a layer. */
  | ((NetworkRequest | MatricesRequest) & { readonly model: number })
  | OtherRequest
  | SimilarityRequest;

/** A model whose files the browser keeps. */
export interface KeptModel {
  readonly address: string;
  readonly bytes: number;
  /** The size of all files that the browser has begun to keep, in bytes. */
  readonly size: number;
}

/** How a model compares its vectors of texts, and the number of tokens that it reads of each; null for all. */
interface Comparing {
  readonly by: "cosine" | "dot";
  readonly tokens: number | null;
}

/** A kind of attention of a model, without a name if there is only one. */
interface Sizes extends Pick<HeadPlace, "name"> {
  readonly layers: number;
  readonly heads: number;
  readonly headSize: number;
  /** Groups of heads that share keys and values. */
  readonly groups: number;
}

/** The description of the open model. */
export interface Card {
  readonly kind: "card";
  /** Counts the models that were opened. */
  readonly model: number;
  readonly name: string;
  readonly whose: Whose;
  /** How a link names the model: by its address, but not by the names of files. */
  readonly link: string;
  readonly dtype: WeightType;
  /** As config.json says it. */
  readonly architecture: string;
  readonly predicts: ShownModel["config"]["kind"];
  /** Whether it predicts the next token. */
  readonly writes: boolean;
  /** Why the page does not show the whole network; null if it does. */
  readonly whyNoNetwork: string | null;
  /** Why “Step by step” cannot show its layers; null if it can. */
  readonly whyNotWalked: string | null;
  /** Encoder, decoder and cross-attention, or the only one. */
  readonly attentions: readonly [Sizes, ...Sizes[]];
  readonly parameters: number;
  /** The perplexity on unseen texts; null if it was not measured. */
  readonly perplexity: number | null;
  /** The memory that the weights take. */
  readonly bytes: number;
  /** The largest number of tokens. */
  readonly context: number;
  readonly vocabulary: number;
  /** The factor of the scores, for each layer; 1 ÷ √D for a layer that has none. */
  readonly scales: readonly number[];
  /** Whether a learned number for each distance between tokens of the same text is added to the scores. */
  readonly hasDistances: boolean;
  /** The limit of the scores; null for none. */
  readonly softcap: number | null;
  /** For each layer: a query sees the keys fewer than this many places away; null for all. */
  readonly windows: readonly (number | null)[];
  /** The languages that the model can write, as tokens; empty if its files name none. */
  readonly languages: readonly string[];
  /** Whether the tokenizer marks the language of the text that the model reads. */
  readonly marksLanguage: boolean;
  /** The token of a masked word; null if the model has none, or no prediction head that can fill it. */
  readonly mask: { readonly id: number; readonly text: string } | null;
  /** The head that gives each label of a text or of a token a probability; null if the model has none. */
  readonly classifier: ClassifierConfig | null;
  /** How the model compares its vectors of two texts; null if it has a head for another task. */
  readonly compares: Comparing | null;
  /** Why the model predicts nothing that the room shows; null if it does. */
  readonly whyNoPredictions: string | null;
}

/** Why something was not done, for the person. The former state is unchanged. */
export interface Refused {
  readonly kind: "refused";
  readonly why: string;
}

export type ReadHead = MeasuredHead<PatternName>;

export interface ReadAnswer extends Required<Ids> {
  readonly kind: "read";
  readonly model: number;
  readonly tokens: readonly ReadToken[];
  /** How many tokens are not written by the model. */
  readonly given: number;
  /** The whole text, and the part of it that the model wrote. */
  readonly text: string;
  readonly written: string;
  /** Whether the model has ended its text. */
  readonly hasEnded: boolean;
  /** Layer by layer. */
  readonly heads: readonly ReadHead[];
  readonly milliseconds: number;
}

/** The candidates at one place. */
export interface CandidatesAt {
  readonly place: number;
  readonly isMask: boolean;
  readonly candidates: Candidates;
  readonly pieces: readonly string[];
  /** The same without the ablated heads; null if none is ablated. */
  readonly instead: (Instead & { readonly bestPiece: string }) | null;
}

export interface NextAnswer extends Ablated {
  readonly kind: "next";
  /** The candidates after the place; or for each mask, then for the requested place if it is not a mask; or labels. */
  readonly tables: readonly CandidatesAt[];
}

export interface HeadsAnswer {
  readonly kind: "heads";
  readonly heads: readonly ReadHead[];
}

export interface HeadAnswer {
  readonly kind: "head";
  /** The numbers of this head alone. */
  readonly shares: HeadShares;
}

export interface OtherAnswer {
  readonly kind: "other";
  readonly head: HeadKey;
  readonly text: string;
  readonly tokens: readonly ReadToken[];
  readonly shares: HeadShares;
}

export interface SimilarityAnswer extends Ablated {
  readonly kind: "similarity";
  /** With all heads. */
  readonly all: number;
  /** Without the ablated heads; null if none is ablated. */
  readonly without: number | null;
}

export type LanguageAnswer =
  | Card
  | { readonly kind: "kept"; readonly models: readonly KeptModel[] }
  | Refused
  | ReadAnswer
  | NextAnswer
  | HeadsAnswer
  | HeadAnswer
  | ({ readonly kind: "kinds" } & Kinds)
  | NetworkAnswer
  | MatricesAnswer
  | OtherAnswer
  | SimilarityAnswer
  | null;
