/** What a token computes on its way through the model: the requests to the solver, and its answers. */
import type { Shares } from "../../../shared/attended";
import type { HeadKey, HeadPlace } from "../../../shared/layerHeads";

export interface NetworkRequest {
  readonly kind: "network";
  readonly base: string;
  /** The tokens up to the one whose way is shown. */
  readonly ids: readonly number[];
  readonly dropped: readonly HeadKey[];
  /** The head that is shown in detail; null while no layer is open. */
  readonly head: HeadPlace | null;
}

/** Asks for the weights of a layer, which the formulas show. */
export interface WeightsRequest {
  readonly kind: "weights";
  readonly base: string;
  /** Counted from 0. */
  readonly layer: number;
}

/** What the model would say next if the stream ended here, the most likely first. */
export interface Reading {
  readonly ids: Int32Array;
  readonly shares: Float32Array;
  /** The probability of the token that is the most likely one in the end. */
  readonly winner: number;
}

/** The numbers of one token in one layer: E entries of the stream, H heads of size D, F units. */
export interface LayerNumbers {
  /** The stream before the layer, [E]. */
  readonly input: Float32Array;
  /** The weights of the first norm, and its result, [E]. */
  readonly firstGain: Float32Array;
  readonly firstNormed: Float32Array;
  /** The tokens that each head attends to most, and their weights, [H]. */
  readonly most: Int32Array;
  readonly mostWeights: Float32Array;
  /** The weighted sums of values, head after head, [H * D]. */
  readonly headOutputs: Float32Array;
  /** What each head adds to the stream, [H, E]. */
  readonly heads: Float32Array;
  /** The sum of these, [E]. */
  readonly attention: Float32Array;
  /** The stream between attention and feed-forward network, [E]. */
  readonly between: Float32Array;
  readonly secondGain: Float32Array;
  readonly secondNormed: Float32Array;
  /** The gate before its activation, what it multiplies, and the product, [F]. */
  readonly gate: Float32Array;
  readonly up: Float32Array;
  readonly units: Float32Array;
  /** The length of what each unit adds to the stream, [F]. */
  readonly unitLengths: Float32Array;
  /** What the feed-forward network adds, [E]. */
  readonly feedForward: Float32Array;
  /** The stream after the layer, [E]. */
  readonly output: Float32Array;
}

/** One head, seen from the token: one query, and the keys and values of all L tokens. */
export interface HeadNumbers {
  readonly place: HeadPlace;
  /** The query before its rotation, [D]. */
  readonly unrotated: Float32Array;
  /** Radians per position of each pair of entries, [D / 2]. */
  readonly frequencies: readonly number[];
  /** Weights and scores [L], the query [D], keys [L, D]. */
  readonly shares: Shares;
  /** [L, D] */
  readonly values: Float32Array;
}

/** The end of the way. */
export interface LastNumbers {
  readonly gain: Float32Array;
  readonly normed: Float32Array;
  /** The logits of the most likely tokens, and their rows of the table of tokens, [n, E]. */
  readonly logits: Float32Array;
  readonly rows: Float32Array;
  /** The logarithm of the sum of all exponentials of logits. */
  readonly logSum: number;
}

export interface NetworkAnswer {
  readonly kind: "network";
  readonly layers: readonly LayerNumbers[];
  /** Of the embedding, then after the attention and after the feed-forward network of each layer. */
  readonly readings: readonly Reading[];
  readonly head: HeadNumbers | null;
  readonly last: LastNumbers;
  /** What the norms add to the mean square. */
  readonly eps: number;
}

/** The matrices of a layer, row by row, [out, in]. */
export interface WeightsAnswer {
  readonly kind: "weights";
  readonly layer: number;
  readonly q: Float32Array;
  readonly o: Float32Array;
  readonly gate: Float32Array;
  readonly up: Float32Array;
  readonly down: Float32Array;
}
