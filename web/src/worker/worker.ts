/**
 * The page's worker. It owns the engine, so that no computation blocks the page: it passes each request to its solver,
 * and sends the answer back.
 */
import { type Heed, load, pause } from "heed";
import type { FromWorker, ToWorker } from "./protocol";
import type { Solver } from "./solver";
import { solvers } from "./solvers";

type Solvers = Readonly<Record<string, () => Promise<{ default: unknown }>>>;

/** The buffers in a value, without duplicates: two arrays may share a buffer, which can be transferred only once. */
export function buffersIn(value: unknown, found = new Set<Transferable>()): Set<Transferable> {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer);
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) buffersIn(part, found);
  return found;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns a handler for messages from the page. */
export function dispatcher(
  heed: Heed,
  solvers: Solvers,
  send: (message: FromWorker) => void,
): (message: ToWorker) => void {
  const running = new Map<number, AbortController>();

  async function answer(id: number, name: string, request: unknown): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    running.set(id, controller);
    try {
      const solver = (await solvers[name]?.())?.default as Solver<unknown, unknown, unknown>;
      signal.throwIfAborted();
      const result = await solver(request, {
        heed,
        signal,
        progress: (progress) => send({ id, progress }),
        async pause() {
          await pause();
          signal.throwIfAborted();
        },
      });
      if (!signal.aborted) send({ id, answer: result });
    } catch (error) {
      if (!signal.aborted) send({ id, refused: messageOf(error) });
    } finally {
      running.delete(id);
    }
  }

  return (message) => {
    if ("cancel" in message) running.get(message.id)?.abort();
    else void answer(message.id, message.solver, message.request);
  };
}

function send(message: FromWorker): void {
  self.postMessage(message, { transfer: [...buffersIn(message)] });
}

export async function start(): Promise<void> {
  try {
    const heed = await load(self.name === "heed alone" ? { threads: 1 } : {});
    const dispatch = dispatcher(heed, solvers, send);
    self.onmessage = ({ data }: MessageEvent<ToWorker>) => dispatch(data);
    const { version, variant, threads, reason } = heed.info;
    send({ ready: { version, variant, threads, reason } });
  } catch (error) {
    send({ failed: messageOf(error) });
  }
}
