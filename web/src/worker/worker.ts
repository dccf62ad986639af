/** The page's worker: it owns the engine, so that no computation blocks the page. */
import { serve } from "heed/worker/serve";
import { askIn } from "./solver";
import { solvers } from "./solvers";

/** A function, because the bundler drops imported modules without used exports. */
export const start = (): void => serve({ ask: askIn(solvers) });
