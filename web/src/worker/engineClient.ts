/** The page's side of the worker: one engine in it, asked for answers and told when one is no longer wanted. */

import type { EngineInfo, FromWorker, ToWorker } from "./protocol";
import type { AnswerOf, DeskName, ProgressOf, RequestOf } from "./solvers";

/**
 * While a debugger listens to its workers, Firefox 153 now and then never returns from starting a worker inside a
 * worker, as the engine's threads are. A start that takes this long gets a rival, and the first of them that is ready
 * is the engine. On a slow line nothing is lost: the first start goes on.
 */
const patience = 5000;
const mostStarts = 3;

export interface AskOptions<Progress> {
  readonly signal?: AbortSignal;
  progress?(news: Progress): void;
}

interface Pending {
  resolve(answer: unknown): void;
  reject(reason: unknown): void;
  progress(news: unknown): void;
}

export interface EngineOptions {
  /** Whether it has threads beside the worker's own: true. Small models run faster, and the page smoother, without. */
  readonly hasThreads?: boolean;
}

/** The name tells the worker which engine to start; the bundler wants it to stand here as it is. */
function newWorker(hasThreads: boolean): Worker {
  return hasThreads
    ? new Worker(new URL("./engine.worker.ts", import.meta.url), { type: "module", name: "heed" })
    : new Worker(new URL("./engine.worker.ts", import.meta.url), {
        type: "module",
        name: "heed alone",
      });
}

export class Engine {
  /** What runs in the worker, once it runs; rejected when it cannot, with words for the person. */
  readonly started: Promise<EngineInfo>;
  #announce!: (info: EngineInfo) => void;
  #giveUp!: (error: Error) => void;
  /** Those that are starting, and later the one that started. */
  #workers = new Set<Worker>();
  #starts = 0;
  #worker: Worker | null = null;
  #pending = new Map<number, Pending>();
  #asked = 0;
  readonly #hasThreads: boolean;
  /** Why there is no engine any more. */
  #ended: Error | null = null;

  constructor({ hasThreads = true }: EngineOptions = {}) {
    this.#hasThreads = hasThreads;
    this.started = new Promise((resolve, reject) => {
      this.#announce = resolve;
      this.#giveUp = reject;
    });
    // Whoever asks is told; that no one has asked yet is no error of its own.
    this.started.catch(() => {});
    this.#start();
  }

  /** The answer of a desk. Rejects with words for the person, or with the signal's reason once that is aborted. */
  async ask<Name extends DeskName>(
    desk: Name,
    request: RequestOf<Name>,
    { signal, progress }: AskOptions<ProgressOf<Name>> = {},
  ): Promise<AnswerOf<Name>> {
    await this.started;
    signal?.throwIfAborted();
    if (this.#ended) throw this.#ended;
    const id = ++this.#asked;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, {
        resolve,
        reject,
        progress: (news) => progress?.(news as ProgressOf<Name>),
      });
    });
    const cancel = () => {
      this.#pending.get(id)?.reject(signal?.reason);
      this.#pending.delete(id);
      this.#send({ id, cancel: true });
    };
    signal?.addEventListener("abort", cancel);
    this.#send({ id, desk, request });
    try {
      return (await answer) as AnswerOf<Name>;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Ends the worker and everything in it. */
  dispose(): void {
    this.#end(new Error("The engine was ended."));
  }

  #send(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }

  #start(): void {
    const worker = newWorker(this.#hasThreads);
    this.#workers.add(worker);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(worker, data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(worker, event.message || "its worker did not load");
    };
    if (++this.#starts === mostStarts) return;
    setTimeout(() => {
      const isStarting = !this.#worker && this.#workers.size > 0;
      if (isStarting) this.#start();
    }, patience);
  }

  /** A start that failed is only told of when no other one is left to hope for. */
  #fail(worker: Worker, message: string): void {
    const what = this.#worker ? "has stopped" : "could not start";
    this.#workers.delete(worker);
    worker.terminate();
    if (this.#workers.size === 0) this.#end(new Error(`The engine ${what}: ${message}`));
  }

  #end(reason: Error): void {
    if (this.#ended) return;
    this.#ended = reason;
    for (const worker of this.#workers) worker.terminate();
    this.#workers.clear();
    this.#worker = null;
    this.#giveUp(reason);
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }

  #receive(worker: Worker, message: FromWorker): void {
    if ("ready" in message) {
      if (this.#worker) return;
      this.#worker = worker;
      this.#workers.delete(worker);
      for (const rival of this.#workers) rival.terminate();
      this.#workers = new Set([worker]);
      this.#announce(message.ready);
      return;
    }
    if ("failed" in message) {
      this.#fail(worker, message.failed);
      return;
    }
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    if ("progress" in message) {
      pending.progress(message.progress);
      return;
    }
    this.#pending.delete(message.id);
    if ("answer" in message) pending.resolve(message.answer);
    else pending.reject(new Error(`The engine could not compute this: ${message.refused}`));
  }
}
