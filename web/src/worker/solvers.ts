/**
 * Who answers what in the worker: each room brings a desk, loaded when it is first asked. This map is also the type of
 * every request and answer; the page imports nothing else of it.
 */
import type { Heed } from "heed";

/** What a solver is given beside its request. */
export interface Bench<Progress> {
  readonly heed: Heed;
  /** Tells the page how far it is. */
  progress(news: Progress): void;
  /** Aborted once the page no longer wants the answer. */
  readonly signal: AbortSignal;
  /** Lets other messages in; throws once the page no longer wants the answer. Long work calls it every few dozen ms. */
  pause(): Promise<void>;
}

/**
 * Computes one answer, at once or over a while. The buffers of typed arrays in an answer or in news are given away to
 * the page: what lies in WebAssembly memory, or is needed again, has to be copied.
 */
export type Solver<Request, Answer, Progress = never> = (
  request: Request,
  bench: Bench<Progress>,
) => Answer | Promise<Answer>;

export const desks = {
  steps: () => import("../rooms/steps/solve"),
  heads: () => import("../rooms/heads/solve"),
  recurrent: () => import("../rooms/recurrent/solve"),
  denoise: () => import("../rooms/beyond/picture/denoise"),
  pixel: () => import("../rooms/beyond/picture/pixel"),
  regression: () => import("../rooms/beyond/points/solve"),
  series: () => import("../rooms/beyond/series/solve"),
  melody: () => import("../rooms/beyond/melody/solve"),
  tune: () => import("../rooms/beyond/melody/tune"),
  learn: () => import("../rooms/learn/solve"),
  speed: () => import("../rooms/speed/solve"),
};

export type DeskName = keyof typeof desks;
type SolverOf<Name extends DeskName> = Awaited<ReturnType<(typeof desks)[Name]>>["default"];

export type RequestOf<Name extends DeskName> = Parameters<SolverOf<Name>>[0];
export type AnswerOf<Name extends DeskName> = Awaited<ReturnType<SolverOf<Name>>>;
export type ProgressOf<Name extends DeskName> =
  SolverOf<Name> extends (request: never, bench: Bench<infer News>) => unknown ? News : never;
