/** The context of a solver in tests without a page. */
import type { Heed } from "heed";
import type { SolverContext } from "../../web/src/worker/solver";

/** The context of a request that is never cancelled and reports no progress, with changes. */
export const contextOf = <News = unknown>(
  heed: Heed,
  changes: Partial<SolverContext<News>> = {},
): SolverContext<News> => ({
  ...{ heed, signal: new AbortController().signal },
  progress() {},
  async pause() {},
  ...changes,
});
