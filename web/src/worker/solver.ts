/** How the worker answers: a solver takes a request from the page and computes its answer with the engine. */
import type { TaskContext } from "heed/worker/serve";

/** The context that a solver gets with its request. */
export type SolverContext<Progress> = TaskContext<Progress>;

/**
 * Computes one answer, synchronously or not. The buffers of typed arrays in an answer or a progress message are
 * transferred to the page: copy data that is needed again.
 */
export type Solver<Request, Answer, Progress = never> = (
  request: Request,
  context: SolverContext<Progress>,
) => Answer | Promise<Answer>;

type Solvers = Readonly<Record<string, () => Promise<{ default: unknown }>>>;

export interface Asked {
  readonly solver: string;
  readonly request: unknown;
}

/** The only task of the page's worker: it passes a request to its solver, which is loaded on its first request. */
export const askIn =
  (solvers: Solvers) =>
  async ({ solver, request }: Asked, context: TaskContext<unknown>): Promise<unknown> => {
    const found = (await solvers[solver]?.())?.default as Solver<unknown, unknown, unknown>;
    // Throws if the request was cancelled. From here on, cancelling also stops a running operation.
    await context.pause();
    return found(request, context);
  };
