// How good a model is on examples that it has not seen, and where its attention falls.

import type { Example } from "./examples.js";
import type { TaskModel } from "./model.js";

/** How a model answers. What does not apply to a kind of task is not there. */
export interface Scores {
  examples: number;
  /** The share that is answered without any fault. */
  exact?: number;
  /** The share of answers' tokens that are right; of series, none. */
  tokens?: number;
  /** Series: root mean square error of the hidden values, and that of a line drawn across each gap. */
  error?: number;
  lineError?: number;
}

/** One head, and how its weights fall on the places that answers come from. */
export interface HeadAlignment {
  /** Of the attention, as captureAttention names it. */
  path: string;
  head: number;
  /** The mean weight on those places together. */
  mass: number;
  /** The share of rows whose largest weight (among content words, in tagging) is on one of those places. */
  largest: number;
  /** The mean of what an even spread would put there: what `mass` is to be compared with. */
  chance: number;
}
