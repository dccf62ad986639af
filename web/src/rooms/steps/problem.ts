/** The request to the room's solver and its answer. Numbers are transferred as typed arrays. */

import type { MatrixName } from "./matrices";

export type MaskRequest =
  | { readonly kind: "none" }
  | { readonly kind: "causal" }
  /** Keys from this one on are padding. */
  | { readonly kind: "padding"; readonly from: number }
  /** One byte per query and key, 1 where the key may be seen. */
  | { readonly kind: "table"; readonly visible: Uint8Array };

/** An entry of Q or K that replaces the computed one. */
export interface Edit {
  readonly matrix: "q" | "k";
  readonly head: number;
  readonly row: number;
  readonly col: number;
  readonly value: number;
}

export interface Problem {
  readonly queryTokens: readonly string[];
  /** The second sentence of cross-attention; null when a sentence attends to itself. */
  readonly keyTokens: readonly string[] | null;
  /** The original position of each query token, if the words are shuffled; else null. */
  readonly order: readonly number[] | null;
  readonly edits: readonly Edit[];
  /** Heads whose part of the joined output is zero. */
  readonly dropped: readonly number[];
  /** Null for the worked example, which has its own vectors. */
  readonly seed: string | null;
  readonly heads: number;
  readonly headSize: number;
  readonly position: boolean;
  /** The factor of q·k before the softmax: 1 / (sqrt(d) · temperature). */
  readonly scale: number;
  readonly mask: MaskRequest;
  /** The query and head to compute contributions for. */
  readonly row: number;
  readonly head: number;
}

/** L queries, S keys, embedding size E, H heads of size D: the names the engine uses. */
export interface Dims {
  readonly L: number;
  readonly S: number;
  readonly E: number;
  readonly H: number;
  readonly D: number;
}

/**
 * For the first cell of the selected row, the partial sum after each product; for the exponentials, after each of them.
 */
export type RunningSums = Partial<Record<MatrixName, Numbers>>;

/** A typed array that can be transferred. */
export type Numbers = Float32Array<ArrayBuffer>;

/**
 * Every matrix of one computation, row by row. `q`, `k`, `v`, `output` and `joined` hold their heads side by side; `scores` to
 * `weights` hold one matrix per head. Weights are [out, in].
 */
export interface Arrays {
  embedding: Numbers;
  position: Numbers;
  input: Numbers;
  /** Those of the keys; in self-attention the same arrays. */
  keyEmbedding: Numbers;
  keyPosition: Numbers;
  keyInput: Numbers;
  wq: Numbers;
  wk: Numbers;
  wv: Numbers;
  q: Numbers;
  k: Numbers;
  v: Numbers;
  scores: Numbers;
  scaled: Numbers;
  masked: Numbers;
  weights: Numbers;
  /** The outputs of all heads, those that are dropped too. */
  output: Numbers;
  joined: Numbers;
  /** Null in the worked example, which has one head and no output projection. */
  wo: Numbers | null;
  result: Numbers | null;
  /** [H, L]: what the weights of each row add up to, 1 or 0. */
  sums: Numbers;
  /** [H, L]: the entropy of each row of weights, in nats. */
  entropy: Numbers;
  /** [S]: e to the power of each masked score, less `Solution.taken`, for the row and head that the problem named. */
  exponentials: Numbers;
  /** [S, D]: weight times value, for that row and head. */
  contributions: Numbers;
}

export interface Solution {
  readonly problem: Problem;
  readonly dims: Dims;
  readonly arrays: Arrays;
  /** The same for small pictures, where all of it would be more than can be seen. */
  readonly small: Pick<Solution, "dims" | "arrays">;
  readonly running: RunningSums;
  /** What is taken off every score of the row before its exponentials, so that they stay finite. */
  readonly taken: number;
  /** By how much the results of shuffled words, put back in order, differ at most from those before. */
  readonly shift: number | null;
  readonly milliseconds: number;
}
