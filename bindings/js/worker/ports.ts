// Workers of browsers and of Node, for the page's side and the worker's side.

import { refuse } from "../core/error.js";
import type { Failure } from "../core/module.js";
import { builtin, isNode } from "../load/features.js";

/** A worker of a browser, or of Node's worker_threads. */
export interface WorkerLike {
  /** Sends a message, with the objects to transfer. */
  // biome-ignore lint/suspicious/noExplicitAny: the methods of both kinds have more parameters, and other ones
  postMessage(message: any, transfer?: any): void;
  /** Ends the worker immediately. */
  terminate(): unknown;
}

/** Starts workers. Only the script of the package has the optional functions: see WorkerScript. */
export interface WorkerSource {
  start(): WorkerLike;
  /** Whether another worker may start after this one has failed. */
  mayRetry?(worker: WorkerLike, failure: Failure): boolean;
  explain?(failure: Failure): string;
  /** Called when the worker has started or failed. */
  release?(): void;
}

/** The methods that only one kind of worker has. */
interface AnyWorker extends WorkerLike {
  addEventListener?(event: string, handle: (event: never) => void): void;
  on?(event: string, handle: (value: never) => void): void;
  ref?(): void;
  unref?(): void;
}

export interface Heard<Message> {
  onMessage(message: Message): void;
  /** Called when the worker has failed, or has ended. */
  onEnd(why: string, failure?: Failure): void;
}

/** The page's end of the connection. */
export class Port<Message> {
  readonly #worker: AnyWorker;

  constructor(worker: WorkerLike, { onMessage, onEnd }: Heard<Message>) {
    const any = worker as AnyWorker;
    this.#worker = any;
    if (any.on) {
      any.on("message", (message: Message) => onMessage(message));
      any.on("error", (error: Error) => onEnd(error?.message || "its script failed", error));
      any.on("messageerror", () => onEnd("a message could not be read"));
      any.on("exit", (code: number) => onEnd(`it ended with the code ${code}`));
      return;
    }
    any.addEventListener?.("message", ({ data }: MessageEvent<Message>) => onMessage(data));
    any.addEventListener?.("error", (event: ErrorEvent) => {
      event.preventDefault();
      onEnd(event.message || "its script did not load or failed", event);
    });
    any.addEventListener?.("messageerror", () => onEnd("a message could not be read"));
  }

  post(message: unknown, transfer: readonly object[] = []): void {
    this.#worker.postMessage(message, [...transfer]);
  }

  /** In Node: whether the process waits for this worker before it ends. */
  holdProcess(holds: boolean): void {
    if (holds) this.#worker.ref?.();
    else this.#worker.unref?.();
  }

  end(): void {
    void this.#worker.terminate();
  }
}

/** The worker's end of the connection. */
export function ownPort<Message>(onMessage: (message: Message) => void): {
  post(message: unknown, transfer: readonly object[]): void;
} {
  if (isNode) {
    const { parentPort } = builtin("node:worker_threads");
    if (parentPort === null)
      throw refuse("unsupported", "serve", "to run in a worker", "a main thread");
    parentPort.on("message", onMessage);
    return { post: (message, transfer) => parentPort.postMessage(message, [...transfer]) };
  }
  const self = globalThis as unknown as {
    addEventListener(event: "message", handle: (event: MessageEvent<Message>) => void): void;
    postMessage(message: unknown, transfer: object[]): void;
  };
  self.addEventListener("message", ({ data }) => onMessage(data));
  return { post: (message, transfer) => self.postMessage(message, [...transfer]) };
}
