/** What a token computes on its way through a stack of layers: the numbers that solvers send to the page. */
import type { Shares } from "../shared/attended";
import type { HeadKey } from "../shared/layerHeads";

/** The parts of a layer in their order, and the two ends of a stack. */
export const partNames = ["start", "attention", "cross", "feed-forward", "end"] as const;

/** "attention" is that to tokens of the same stack, "cross" that to the end of another one. */
export type PartName = (typeof partNames)[number];

/** What the model would say if the stream ended here, the most likely first. */
export interface Reading {
  readonly ids: Int32Array;
  /** The tokens as text. */
  readonly words: readonly string[];
  readonly shares: Float32Array;
  /** The probability of the token that is the most likely one in the end. */
  readonly winner: number;
}

/** A norm of E entries, or of the D entries of a head's query. */
export interface NormNumbers {
  /** Layer norm subtracts the mean and divides by the standard deviation, RMS norm divides by the root mean square. */
  readonly kind: "layer" | "rms";
  readonly eps: number;
  readonly input: Float32Array;
  readonly gain: Float32Array | null;
  readonly bias: Float32Array | null;
  readonly result: Float32Array;
}

/** A part of a layer reads the stream through a norm, and adds to it. */
interface PartOfLayer {
  /** The stream before the part, and what the part reads of it. */
  readonly norm: NormNumbers;
  /** What the part adds, [E]. */
  readonly added: Float32Array;
  /** The stream after the part, [E]. */
  readonly output: Float32Array;
}

/** One head, seen from the token: one query of size D, and the keys and values of all S tokens that it is compared with. */
export interface HeadNumbers {
  /** Counted from 0. */
  readonly head: number;
  /** The head's group, which shares keys and values. */
  readonly group: number;
  /** The factor of the scores. */
  readonly scale: number;
  /** The query as its projection makes it, [D]. */
  readonly projected: Float32Array;
  /** Null if the model does not normalise queries. */
  readonly queryNorm: NormNumbers | null;
  /** Radians per position of each pair of the query's entries, [D / 2]; null if it is not rotated. */
  readonly frequencies: readonly number[] | null;
  /** Weights and scores [S], the query [D], keys [S, D]. */
  readonly shares: Shares;
  /** [S, D] */
  readonly values: Float32Array;
  /** The weighted sum of the values, [D]; a dropped head does not pass it on. */
  readonly sum: Float32Array;
  /** What keys and values are computed from, [S, E]; null where they come out of a cache. */
  readonly sources: Float32Array | null;
}

/** The weights of all heads up to the token. */
export interface MapNumbers {
  readonly rows: number;
  readonly columns: number;
  /** [H, rows, columns] */
  readonly weights: Float32Array;
}

export interface AttentionNumbers extends PartOfLayer {
  readonly name: "attention" | "cross";
  /** The tokens that each head attends to most, and their weights, [H]. */
  readonly most: Int32Array;
  readonly mostWeights: Float32Array;
  /** The weighted sums of values, head after head, [H * D]; zeros for a dropped head. */
  readonly headOutputs: Float32Array;
  /** What each head adds to the stream, [H, E]. */
  readonly heads: Float32Array;
  /** What the output projection adds beside, [E]; null without one. */
  readonly bias: Float32Array | null;
  /** The selected head. */
  readonly head: HeadNumbers;
  /** Null where the maps are elsewhere in the room. */
  readonly maps: MapNumbers | null;
}

export type Activation = "relu" | "gelu" | "geluTanh" | "silu" | "tanh" | "sigmoid";

export interface FeedForwardNumbers extends PartOfLayer {
  readonly name: "feed-forward";
  /** Of the gate, if there is one. */
  readonly activation: Activation;
  /** What the activation is applied to, [F]. */
  readonly gate: Float32Array;
  /** What the activated gate is multiplied with, [F]; null without a gate. */
  readonly up: Float32Array | null;
  /** The values of the units, [F]. */
  readonly units: Float32Array;
  /** The length of what each unit adds to the stream, [F]; null where packed weights do not tell it. */
  readonly unitLengths: Float32Array | null;
}

export type PartNumbers = AttentionNumbers | FeedForwardNumbers;

export interface LayerNumbers {
  /** Counted from 0. */
  readonly layer: number;
  readonly parts: readonly PartNumbers[];
}

export interface StartNumbers {
  /** The token's row of the table of tokens, [E]. */
  readonly token: Float32Array;
  /** What its position adds, [E]; null if nothing. */
  readonly position: Float32Array | null;
  /** Where the numbers of a position come from. */
  readonly positions: "learned" | "sinusoidal" | "rotary" | "none";
  /** The stream before the first layer, [E]. */
  readonly stream: Float32Array;
}

/** The logits of the n most likely tokens. */
export interface SaidNumbers {
  /** [n] */
  readonly logits: Float32Array;
  /** What the normed stream is multiplied with for each, [n, E]; null if it is packed. */
  readonly rows: Float32Array | null;
  /** What is added to each product, [n]; null if nothing. */
  readonly bias: Float32Array | null;
  /** Whether the rows are those of the table of tokens. */
  readonly isTied: boolean;
  /** The logarithm of the sum of all exponentials of logits. */
  readonly logSum: number;
}

/** The end of the way. */
export interface EndNumbers {
  readonly norm: NormNumbers;
  /** Null for an encoder, which says nothing. */
  readonly said: SaidNumbers | null;
}

export interface StackNumbers {
  /** The parts of each layer. */
  readonly partNames: readonly PartNumbers["name"][];
  readonly start: StartNumbers;
  /** For each layer the lengths of what its parts add, and of the stream after it. */
  readonly lengths: readonly { readonly added: readonly number[]; readonly stream: number }[];
  /** Of the start, then after each part of each layer; null for an encoder. */
  readonly readings: readonly Reading[] | null;
  /** The layer that is open. */
  readonly open: LayerNumbers | null;
  readonly end: EndNumbers;
  /** The heads without which it was computed. */
  readonly dropped: readonly HeadKey[];
  /** The number of tokens of the table. */
  readonly vocabulary: number;
}

/** A matrix [out, in], row by row, and its bias [out]. */
export interface Matrix {
  readonly weight: Float32Array;
  readonly bias: Float32Array | null;
}

export type MatrixName = "q" | "k" | "v" | "o" | "gate" | "up" | "down";

/** The matrices of a layer, which the formulas show. */
export type LayerMatrices = Readonly<
  Partial<Record<PartName, Readonly<Partial<Record<MatrixName, Matrix>>>>>
>;

/** Asks for a token's way through a model that predicts the next token. */
export interface NetworkRequest {
  readonly kind: "network";
  /** The tokens up to the one whose way is shown. */
  readonly ids: readonly number[];
  /** The layer that is open, counted from 0; null for none. */
  readonly layer: number | null;
  /** The head of it that is shown, counted from 0. */
  readonly head: number;
  readonly dropped: readonly HeadKey[];
}

/** Asks for the matrices of a layer, counted from 0. */
export interface MatricesRequest {
  readonly kind: "matrices";
  readonly layer: number;
}

export interface NetworkAnswer {
  readonly kind: "network";
  readonly numbers: StackNumbers;
}

export interface MatricesAnswer {
  readonly kind: "matrices";
  /** Null if they are packed, or too large to be shown. */
  readonly matrices: LayerMatrices | null;
}

/** A number of the picture: an entry of a row of a part. All are counted from 0. */
export interface Spot {
  readonly part: PartName;
  readonly of: RowName;
  /** The token, head or rank of the row, where a part has several rows of the kind. */
  readonly row: number;
  readonly col: number;
}

/** The kinds of rows, in links as they stand here. */
export const rowNames = [
  ...(["token", "position", "stream", "gain", "shift", "norm"] as const),
  ...(["query", "key", "score", "weight", "value", "sum", "head", "bias", "map"] as const),
  ...(["gate", "up", "unit", "added", "output", "row", "logit", "share"] as const),
] as const;
export type RowName = (typeof rowNames)[number];

/** A row of a picture. */
export type Place = Omit<Spot, "col">;
