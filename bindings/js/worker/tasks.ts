// Functions of the caller that run in the worker.

import type { Heed } from "../heed.js";

/** What a task gets beside its request. */
export interface TaskContext<Progress = never> {
  /** The worker's engine. */
  readonly heed: Heed;
  /** Sends news to the caller's `onProgress`. */
  progress(news: Progress): void;
  /** Aborted when the caller does not want the answer any more. */
  readonly signal: AbortSignal;
  /**
   * Lets the worker handle other messages: a long computation calls it every few dozen milliseconds.
   *
   * @throws HeedError "cancelled" when the caller does not want the answer any more
   */
  pause(): Promise<void>;
}

/** All functions that a worker offers beside the engine's own. */
export type Tasks = Readonly<
  Record<string, (request: never, context: TaskContext<never>) => unknown>
>;

/** The parts of the package that a worker offers beside the engine. */
export interface Libraries {
  /** All of heed/nn. */
  readonly nn?: typeof import("../nn.js");
  /** All of heed/models. */
  readonly models?: typeof import("../models.js");
}
