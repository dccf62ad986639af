/** What goes between the page and its worker. Typed arrays from the worker are transferred, not copied. */
import type { DeskName } from "./solvers";

export interface EngineInfo {
  readonly version: string;
  readonly variant: string;
  readonly threads: number;
  readonly reason: string | null;
}

export type ToWorker =
  | { readonly id: number; readonly desk: DeskName; readonly request: unknown }
  | { readonly id: number; readonly cancel: true };

/** The worker starts its engine by itself, says so or why not, and then answers what it is asked. */
export type FromWorker =
  | { readonly ready: EngineInfo }
  | { readonly failed: string }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly progress: unknown }
  | { readonly id: number; readonly refused: string };
