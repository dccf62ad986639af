/** The trial of the division by √d: the lengths of the vectors, the request and the answer; see trialSolve.ts. */
import type { Numbers } from "./problem";

export const mostTrialSize = 512;

export const trialSizes = [2, 4, 8, 16, 32, 64, 128, 256, mostTrialSize] as const;

/** The gradient w(1 − w) of a weight is largest at w = one half. */
export const mostGradient = 0.25;

/** The maximum number of keys that are shown. */
export const mostTrialKeys = 8;

export interface TrialRequest {
  /** The tokens whose keys one query is compared with. */
  readonly keys: readonly string[];
  readonly seed: string;
}

/** For each of `trialSizes`: the numbers of one query for each key, and a mean over many queries. */
export interface TrialSide {
  /** [sizes, keys]: the input of the softmax. */
  readonly scores: Numbers;
  /** [sizes, keys] */
  readonly weights: Numbers;
  /** [sizes, keys]: the derivative of each weight with respect to its own score. */
  readonly gradients: Numbers;
  /** [sizes]: the mean of the gradients over many queries. */
  readonly meanGradients: Numbers;
}

export interface TrialAnswer {
  readonly request: TrialRequest;
  /** [1 + keys, 512]: the query, and the keys. Shorter vectors are the first numbers of these. */
  readonly vectors: Numbers;
  readonly divided: TrialSide;
  readonly plain: TrialSide;
}
