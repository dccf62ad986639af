/** The trace of a token through a stack of layers: the numbers that solvers send to the page. */

import type { Ablated } from "../shared/ablation";
import type { Shares } from "../shared/attended";
import type { HeadKey } from "../shared/layerHeads";

/** The parts of a layer in their order, between the two ends of a stack. */
export const partNames = ["start", "attention", "cross", "feed-forward", "next", "end"] as const;

/**
 * "attention" attends to tokens of the same stack, "cross" to the output of the encoder; "next" is the part that
 * follows the layer.
 */
export type PartName = (typeof partNames)[number];

/** The prediction that the model would make if the stream ended here, the most likely token first. */
export interface Reading {
  readonly ids: Int32Array;
  readonly words: readonly string[];
  readonly shares: Float32Array;
  /** The probability of the token that is the most likely one at the end. */
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
  /** Whether the result is the stream from then on (post-norm), and not a copy for the part that reads it. */
  readonly isPost?: boolean;
}

/** A part of a layer reads the stream through a norm, and adds to it. */
interface PartOfLayer {
  /** The stream before the part, and its normalised copy, which the part reads. With post-norm, see `isPost`. */
  readonly norm: NormNumbers;
  /** The vector that the part adds, [E]. */
  readonly added: Float32Array;
  /** The stream after the part, [E]. With post-norm, the sum before its norm. */
  readonly output: Float32Array;
}

/**
 * One head, seen from one token: one query of size D, and the keys and values of all S tokens that it is compared with.
 */
export interface HeadNumbers {
  /** Counted from 0. */
  readonly head: number;
  /** The head's group, which shares keys and values. */
  readonly group: number;
  /** The factor by which the scores are multiplied. */
  readonly scale: number;
  /** The query before its norm and rotary embedding, [D]. */
  readonly projected: Float32Array;
  /** Null if the model does not normalise queries. */
  readonly queryNorm: NormNumbers | null;
  /** Radians per position for each pair of the query's entries, [D / 2]; null without rotary embedding. */
  readonly frequencies: readonly number[] | null;
  /** Weights and scores [S], the query [D], keys [S, D]. */
  readonly shares: Shares;
  /** [S, D] */
  readonly values: Float32Array;
  /** The weighted sum of the values, [D]; an ablated head does not contribute it. */
  readonly sum: Float32Array;
  /** The inputs of the key and value projections, [S, E]; null if keys and values come from a cache. */
  readonly sources: Float32Array | null;
}

/** The weights of all heads for the rows up to the traced token. */
export interface MapNumbers {
  readonly rows: number;
  readonly columns: number;
  /** [H, rows, columns] */
  readonly weights: Float32Array;
}

/** The vectors that the heads of an attention add to the stream. */
export interface AddedByHeads extends PartOfLayer {
  readonly name: "attention" | "cross";
  /** The weighted sums of values of all heads, concatenated, [H * D]; zeros or a mean for an ablated head. */
  readonly headOutputs: Float32Array;
  /** The vector that each head adds to the stream, [H, E]. */
  readonly heads: Float32Array;
  /** The bias of the output projection, [E]; null without one. */
  readonly bias: Float32Array | null;
}

export interface AttentionNumbers extends AddedByHeads {
  /** For each head the token that it attends to most, and the weight, [H]. */
  readonly most: Int32Array;
  readonly mostWeights: Float32Array;
  /** The selected head. */
  readonly head: HeadNumbers;
  /** Null if the room shows the maps elsewhere. */
  readonly maps: MapNumbers | null;
}

export type Activation = "relu" | "gelu" | "geluTanh" | "silu" | "tanh" | "sigmoid";

export interface FeedForwardNumbers extends PartOfLayer {
  readonly name: "feed-forward";
  /** The activation of the gate or, without a gate, of the units. */
  readonly activation: Activation;
  /** The input of the activation, [F]. */
  readonly gate: Float32Array;
  /** The factor that the activated gate is multiplied by, [F]; null without a gate. */
  readonly up: Float32Array | null;
  /** The values of the units, [F]. */
  readonly units: Float32Array;
  /** The length of the vector that each unit adds to the stream, [F]; null for quantised weights. */
  readonly unitLengths: Float32Array | null;
}

/** A layer from the output of its attention on. */
export interface BlockNumbers {
  readonly attention: AddedByHeads;
  readonly feedForward: FeedForwardNumbers;
  /**
   * The norm that reads the layer's output: the norm of the next layer or, after the last layer, the final norm. With
   * post-norm, the last norm of the layer.
   */
  readonly next: NormNumbers;
  readonly isLast: boolean;
}

export type PartNumbers = AttentionNumbers | FeedForwardNumbers;

export interface LayerNumbers {
  /** Counted from 0. */
  readonly layer: number;
  readonly parts: readonly PartNumbers[];
  /** With post-norm, the norm of the last sum. */
  readonly next?: NormNumbers;
}

export interface StartNumbers {
  /** The token's row of the embedding table, [E]. */
  readonly token: Float32Array;
  /** The positional encoding that is added, [E]; null if there is none. */
  readonly position: Float32Array | null;
  readonly positions: "learned" | "sinusoidal" | "rotary" | "none";
  /** The row of the first segment, which is added, [E]; null if there is none. */
  readonly segment?: Float32Array | null;
  /** The norm of the sum, whose result is the stream; undefined if the sum is the stream. */
  readonly norm?: NormNumbers;
  /** The stream before the first layer, [E]. */
  readonly stream: Float32Array;
}

/** The logits of the n most likely tokens. */
export interface PredictionNumbers {
  /** [n] */
  readonly logits: Float32Array;
  /** The rows of the output projection for these tokens, [n, E]; null if it is quantised. */
  readonly rows: Float32Array | null;
  /** The bias of each logit, [n]; null if there is none. */
  readonly bias: Float32Array | null;
  /** Whether the output projection shares its weights with the embedding table. */
  readonly isTied: boolean;
  /** The logarithm of the sum of the exponentials of all logits. */
  readonly logSum: number;
}

export interface StackNumbers {
  /** The names of the parts of each layer. */
  readonly partNames: readonly PartNumbers["name"][];
  readonly start: StartNumbers;
  /** For each layer the lengths of the vectors that its parts add, and of the stream after it. */
  readonly lengths: readonly { readonly added: readonly number[]; readonly stream: number }[];
  /** The reading at the start, then after each part of each layer; null for an encoder. */
  readonly readings: readonly Reading[] | null;
  readonly open: LayerNumbers | null;
  /** The last norm, and the prediction, null for an encoder, which predicts no token; null without a last norm. */
  readonly end: {
    readonly norm: NormNumbers;
    readonly prediction: PredictionNumbers | null;
  } | null;
  /** The heads that were ablated in this computation. */
  readonly ablated: readonly HeadKey[];
  readonly vocabulary: number;
}

/** A matrix [out, in], row by row, and its bias [out]. */
export interface Matrix {
  readonly weight: Float32Array;
  readonly bias: Float32Array | null;
}

type MatrixName = "q" | "k" | "v" | "o" | "gate" | "up" | "down";

/** The matrices of a layer that the formulas show. */
export type LayerMatrices = Readonly<
  Partial<Record<PartName, Readonly<Partial<Record<MatrixName, Matrix>>>>>
>;

/** Asks for the trace of a token through a language model. */
export interface NetworkRequest extends Ablated {
  readonly kind: "network";
  /** The tokens up to and including the traced one, or all tokens that an encoder reads. */
  readonly ids: readonly number[];
  /** The index of the traced token; the last one by default. */
  readonly place?: number;
  /** The open layer, counted from 0; null for none. */
  readonly layer: number | null;
  /** The selected head of the open layer, counted from 0. */
  readonly head: number;
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
  /** Null if they are quantised, or too large to be shown. */
  readonly matrices: LayerMatrices | null;
}

/** Identifies a number of the picture: an entry of a row of a part. All indices are counted from 0. */
export interface Spot {
  readonly part: PartName;
  readonly of: RowName;
  /** The index of the token, head or rank, if a part has several rows of this kind. */
  readonly row: number;
  readonly col: number;
}

/** The kinds of rows. Links use these names. */
export const rowNames = [
  ...(["token", "position", "segment", "stream", "gain", "shift", "norm"] as const),
  ...(["query", "key", "score", "weight", "value", "sum", "head", "bias", "map"] as const),
  ...(["gate", "up", "unit", "added", "output", "row", "logit", "share"] as const),
] as const;
export type RowName = (typeof rowNames)[number];

/** A row of a picture. */
export type Place = Omit<Spot, "col">;
