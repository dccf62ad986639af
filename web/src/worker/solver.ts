/** How the worker answers: a solver takes a request from the page and computes its answer with the engine. */
import type { Heed } from "heed";

/** What a solver gets in addition to its request. */
export interface SolverContext<Progress> {
  readonly heed: Heed;
  /** Sends news of the progress to the page. */
  progress(news: Progress): void;
  /** Aborted once the page no longer wants the answer. */
  readonly signal: AbortSignal;
  /**
   * Lets the worker handle other messages; throws once the page no longer wants the answer. A long computation calls it
   * every few dozen milliseconds.
   */
  pause(): Promise<void>;
}

/**
 * Computes one answer, synchronously or not. The buffers of typed arrays in an answer or in news are transferred to the
 * page: copy what lies in WebAssembly memory and what is needed again.
 */
export type Solver<Request, Answer, Progress = never> = (
  request: Request,
  context: SolverContext<Progress>,
) => Answer | Promise<Answer>;
