// Functions of the caller that run in the worker.

import type { Heed } from "../heed.js";

/** The second argument of a task, after its request. */
export interface TaskContext<Progress = never> {
  /** The worker's engine. */
  readonly heed: Heed;
  /** Sends a progress report to the caller's `onProgress`. */
  progress(news: Progress): void;
  /** Aborted when the caller no longer wants the answer. */
  readonly signal: AbortSignal;
  /**
   * Lets the worker handle other messages. A long computation should call it every few dozen
   * milliseconds.
   *
   * @throws HeedError "cancelled" when the caller no longer wants the answer
   */
  pause(): Promise<void>;
}

/** All functions that a worker offers in addition to the engine's own. */
export type Tasks = Readonly<
  Record<string, (request: never, context: TaskContext<never>) => unknown>
>;

/** The parts of the package that a worker offers in addition to the engine. */
export interface Libraries {
  /** All of heed/nn. */
  readonly nn?: typeof import("../nn.js");
  /** All of heed/models. */
  readonly models?: typeof import("../models.js");
}
