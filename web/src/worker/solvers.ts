/**
 * The solvers of all rooms, each loaded on its first request. The type of every request and answer follows from this
 * map; the page imports nothing but those types.
 */
import type { SolverContext } from "./solver";

export const solvers = {
  steps: () => import("../rooms/steps/solve"),
  walk: () => import("../rooms/steps/walk"),
  trial: () => import("../rooms/steps/trialSolve"),
  tasks: () => import("../rooms/models/tasks/solve"),
  recurrent: () => import("../rooms/recurrent/solve"),
  datesGradients: () => import("../rooms/recurrent/gradients"),
  datesNetwork: () => import("../rooms/recurrent/network/solve"),
  denoise: () => import("../rooms/beyond/picture/denoise"),
  pixel: () => import("../rooms/beyond/picture/pixel"),
  regression: () => import("../rooms/beyond/points/solve"),
  series: () => import("../rooms/beyond/series/solve"),
  melody: () => import("../rooms/beyond/melody/solve"),
  tune: () => import("../rooms/beyond/melody/tune"),
  learn: () => import("../rooms/learn/solve"),
  language: () => import("../rooms/models/language/solve"),
  speed: () => import("../rooms/speed/solve"),
};

export type SolverName = keyof typeof solvers;
type SolverOf<Name extends SolverName> = Awaited<ReturnType<(typeof solvers)[Name]>>["default"];

export type RequestOf<Name extends SolverName> = Parameters<SolverOf<Name>>[0];
export type AnswerOf<Name extends SolverName> = Awaited<ReturnType<SolverOf<Name>>>;
export type ProgressOf<Name extends SolverName> =
  SolverOf<Name> extends (request: never, context: SolverContext<infer News>) => unknown
    ? News
    : never;
