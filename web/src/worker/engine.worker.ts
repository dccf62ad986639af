/**
 * The entry of the page's worker. No other file may import it: WebKit evaluates an imported worker entry a second time,
 * and then each class exists twice.
 */
import type { FromWorker } from "./protocol";

import("./worker")
  .then(({ start }) => start())
  .catch((error) => self.postMessage({ failed: String(error) } satisfies FromWorker));
