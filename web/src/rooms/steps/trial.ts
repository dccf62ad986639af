/** The lengths of vectors with which the division by √d is tried, and what is asked and answered; see trialSolve.ts. */
import type { Numbers } from "./problem";

export const trialSizes = [2, 4, 8, 16, 32, 64, 128, 256, 512] as const;

/** More keys are not shown. */
export const mostTrialKeys = 8;

export interface TrialRequest {
  /** The tokens whose keys one query is compared with. */
  readonly keys: readonly string[];
  readonly seed: string;
}

/** For each of `trialSizes`: what one query gives to each key, and a mean over many queries. */
export interface TrialSide {
  /** [sizes, keys]: the scores as they enter the softmax. */
  readonly scores: Numbers;
  /** [sizes, keys] */
  readonly weights: Numbers;
  /** [sizes, keys]: the derivative of each weight by its own score. */
  readonly gradients: Numbers;
  /** [sizes]: the mean of the gradients of many queries. */
  readonly meanGradients: Numbers;
}

export interface TrialAnswer {
  readonly request: TrialRequest;
  readonly divided: TrialSide;
  readonly plain: TrialSide;
}
