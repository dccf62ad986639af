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
