/** Brings each request to its desk, and what the desk says back: the worker's part of the protocol. */
import type { Heed } from "heed";
import type { FromWorker, ToWorker } from "./protocol";
import type { Solver } from "./solvers";

type Desks = Readonly<Record<string, () => Promise<{ default: unknown }>>>;

/** The buffers in a value, each once: a buffer may be transferred only once, and two names may share one. */
export function buffersIn(value: unknown, found = new Set<Transferable>()): Set<Transferable> {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) buffersIn(part, found);
  return found;
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Resolves once the messages that have come before have been heard. */
function afterMessages(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** What to do with each message from the page. */
export function dispatcher(
  heed: Heed,
  desks: Desks,
  send: (message: FromWorker) => void,
): (message: ToWorker) => void {
  const underWay = new Map<number, AbortController>();

  async function answer(id: number, desk: string, request: unknown): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    underWay.set(id, controller);
    try {
      const solver = (await desks[desk]?.())?.default as Solver<unknown, unknown, unknown>;
      signal.throwIfAborted();
      const solved = await solver(request, {
        heed,
        signal,
        progress: (progress) => send({ id, progress }),
        async pause() {
          await afterMessages();
          signal.throwIfAborted();
        },
      });
      if (!signal.aborted) send({ id, answer: solved });
    } catch (error) {
      if (!signal.aborted) send({ id, refused: wordsOf(error) });
    } finally {
      underWay.delete(id);
    }
  }

  return (message) => {
    if ("cancel" in message) underWay.get(message.id)?.abort();
    else void answer(message.id, message.desk, message.request);
  };
}
