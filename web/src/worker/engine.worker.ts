/**
 * The entry of the page's worker. It holds nothing that another file imports: WebKit evaluates an imported worker entry
 * a second time, and then each class exists twice.
 */
import type { FromWorker } from "./protocol";

import("./worker")
  .then(({ start }) => start())
  .catch((error) => self.postMessage({ failed: String(error) } satisfies FromWorker));
