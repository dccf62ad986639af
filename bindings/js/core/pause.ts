import { running } from "./running.js";

/** Lets the tasks run that are already waiting, such as messages. */
export function nextTurn(): Promise<void> {
  if (typeof MessageChannel === "undefined") return new Promise((resolve) => setTimeout(resolve));
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/**
 * Lets other tasks of this thread run, such as events and messages, between two steps of a long computation.
 * A timer may wait for a second in a hidden page, so it is used only where there is no MessageChannel, as in
 * Jest with jsdom.
 *
 * @throws HeedError "cancelled" in a call of heed/worker that was cancelled
 *
 * @example
 * ```ts
 * let handled = false;
 * setTimeout(() => (handled = true));
 * while (!handled) await pause(); // between two steps of a long loop
 * console.log(handled); // prints: true
 * ```
 */
export function pause(): Promise<void> {
  return pauseIn(running.call);
}

/** The same for a given call, which may not be the running one after an `await` of something else. */
export async function pauseIn(call: number): Promise<void> {
  await nextTurn();
  if (call === 0) return;
  running.enter(call);
  // An `await` of this promise continues in the microtask after the next one. Later microtasks may
  // belong to other calls.
  void (async () => {
    for (let microtask = 0; microtask < 2; ++microtask) await undefined;
    running.leave(call);
  })();
}
