/**
 * The entry of the page's worker. No other file may import it: WebKit evaluates an imported worker entry a second time,
 * and then each class exists twice.
 */
import("./worker")
  .then(({ start }) => start())
  .catch((error) => {
    // Thrown outside of a promise, it reaches the page as an error of the worker.
    setTimeout(() => {
      throw error;
    });
  });
