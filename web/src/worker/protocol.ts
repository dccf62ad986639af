/** The messages between the page and its worker. Typed arrays from the worker are transferred, not copied. */
import type { SolverName } from "./solvers";

export interface EngineInfo {
  readonly version: string;
  readonly variant: string;
  readonly threads: number;
  readonly reason: string | null;
}

export type ToWorker =
  | { readonly id: number; readonly solver: SolverName; readonly request: unknown }
  | { readonly id: number; readonly cancel: true };

/**
 * The worker starts its engine without being asked, reports that it is ready or why it failed, and then answers
 * requests.
 */
export type FromWorker =
  | { readonly ready: EngineInfo }
  | { readonly failed: string }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly progress: unknown }
  | { readonly id: number; readonly refused: string };
