/** The request to the room's solver and its answer. Numbers are transferred as typed arrays. */

import type { AttentionOptions } from "heed";
import type { BlockNumbers, LayerMatrices } from "../../network/messages";
import type { MatrixName } from "./matrices";

/**
 * The engine's own options of a causal mask and of padding, or a table with one byte for each query and key: 1 if the
 * query may attend to the key.
 */
export interface MaskRequest extends Pick<AttentionOptions, "isCausal" | "window" | "kvLengths"> {
  readonly visible?: Uint8Array;
}

/** An entry of Q or K that replaces the computed one. */
export interface Edit {
  readonly matrix: "q" | "k";
  readonly head: number;
  readonly row: number;
  readonly col: number;
  readonly value: number;
}

/** The origin of the vectors and the projections. */
export type Source =
  | { readonly kind: "example" }
  | { readonly kind: "random"; readonly seed: string }
  | LearnedSource;

/** A layer, counted from 0, of a trained model that reads tokens. */
export interface LearnedSource {
  readonly kind: "learned";
  /** The folder of a model of the page; null for the person's model that is open. */
  readonly folder: string | null;
  /** Whether the model of the folder solves a task, and is not our language model. */
  readonly isTask: boolean;
  readonly layer: number;
  readonly ids: readonly number[];
}

export interface Problem {
  readonly queryTokens: readonly string[];
  /** The second sentence of cross-attention; null for self-attention. */
  readonly keyTokens: readonly string[] | null;
  /** The original position of each query token if the words are shuffled, otherwise null. */
  readonly order: readonly number[] | null;
  readonly edits: readonly Edit[];
  /** The ablated heads, whose part of the joined output is zero. */
  readonly ablated: readonly number[];
  readonly source: Source;
  readonly heads: number;
  readonly headSize: number;
  /** Whether positions are added to vectors or, in the language model, rotate queries and keys. */
  readonly position: boolean;
  /** The factor of q·k before the softmax: 1 / (sqrt(d) · temperature). */
  readonly scale: number;
  /** Empty without a mask. */
  readonly mask: MaskRequest;
  /** The query and head whose contributions are computed. */
  readonly row: number;
  readonly head: number;
}

/** L queries, S keys, embedding size E, H heads of size D. The engine uses the same names. */
export type Dims = Readonly<Record<"L" | "S" | "E" | "H" | "D", number>>;

/**
 * For each matrix, the partial sums of the first cell of the selected row, one after each product. For the
 * exponentials, the partial sums of their total.
 */
export type RunningSums = Partial<Record<MatrixName, Numbers>>;

/** A typed array that can be transferred. */
export type Numbers = Float32Array<ArrayBuffer>;

/** Biases of the matrices that they are added to. The biases of Q, K and V are [H * D], head after head. */
export type Biases = Partial<Record<"q" | "k" | "v" | "result", Numbers>>;

/** The worked example has one head and no output projection. Only a trained layer has a feed-forward network. */
type NotOfAll = "wo" | "result" | "between" | "units" | "after";

/** The rest of a trained layer for the problem's row, and the matrices that its formulas show. */
export interface Block extends BlockNumbers {
  readonly matrices: LayerMatrices | null;
}

/**
 * Every matrix of one computation, row by row. In `q`, `k`, `v`, `output` and `joined` the heads are side by side;
 * `scores` to `weights` have one matrix per head. Weights are [out, in]. In self-attention, keys have the vectors
 * of the queries. `exponentials` [S] belong to the problem's row and head; `Solution.taken` was subtracted from their
 * scores.
 */
export type Arrays = Record<Exclude<MatrixName, NotOfAll>, Numbers> &
  Record<NotOfAll, Numbers | null> & {
    /** [H, L]: the sum of each row of weights, which is 1 or 0. */
    sums: Numbers;
    /** [H, L]: the entropy of each row of weights, in nats. */
    entropy: Numbers;
    /** [S, D]: weight times value, for the problem's row and head. */
    contributions: Numbers;
  };

export interface Solution {
  readonly problem: Problem;
  readonly dims: Dims;
  readonly arrays: Arrays;
  /** Pooled matrices for the small pictures, which cannot show every number of a long sentence. */
  readonly small: Pick<Solution, "dims" | "arrays">;
  readonly running: RunningSums;
  /** Null without a trained model. */
  readonly block: Block | null;
  /** The biases of projections, which are added to their products. */
  readonly biases: Biases;
  /** The angle of each pair of a head's entries, per position, and Q and K before the rotation; null without one. */
  readonly rotation:
    | ({ readonly frequencies: readonly number[] } & Readonly<Record<"q" | "k", Numbers>>)
    | null;
  /** The number that is subtracted from every score of the row before the exponentials, so that they stay finite. */
  readonly taken: number;
  /** The largest difference between the results of shuffled words, put back in order, and the results before. */
  readonly shift: number | null;
  readonly milliseconds: number;
}
