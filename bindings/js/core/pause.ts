/**
 * Lets other tasks of this thread run, such as events and messages, between two steps of a long computation.
 * A timer may wait for a second in a hidden page, so it is used only where there is no MessageChannel, as in
 * Jest with jsdom.
 */
export function pause(): Promise<void> {
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
