/** The only task of the page's worker: it passes a request to its solver. */
import type { TaskContext } from "heed/worker/serve";
import type { Solver } from "./solver";

type Solvers = Readonly<Record<string, () => Promise<{ default: unknown }>>>;

export interface Asked {
  readonly solver: string;
  readonly request: unknown;
}

/** Loads a solver on its first request. */
export const askIn =
  (solvers: Solvers) =>
  async ({ solver, request }: Asked, context: TaskContext<unknown>): Promise<unknown> => {
    const found = (await solvers[solver]?.())?.default as Solver<unknown, unknown, unknown>;
    // Throws if the request was cancelled. From here on, cancelling also stops a running operation.
    await context.pause();
    return found(request, context);
  };
