// The page's side: sends calls to one worker, cancels them, and ends them when the worker dies.

import { HeedError } from "../core/error.js";
import { cancelledWord } from "../core/running.js";
import { isNode } from "../load/features.js";
import { locateAll } from "../load/locate.js";
import { type Heard, Port, type WorkerSource } from "./ports.js";
import type {
  CallMessage,
  FromWorker,
  ObjectId,
  Ready,
  ReceivedReference,
  SentError,
  StartOptions,
  ToWorker,
} from "./protocol.js";
import type { Packed } from "./values.js";

/** After so many milliseconds a cancelled call ends for its caller, even if the worker has not answered. */
const patience = 40;
/** The worker may begin a part of a call just after it was looked for: so often is it looked for again. */
const interval = 4;

/** A call as its caller sees it; the connection gives it a number. */
export interface Asked extends Omit<CallMessage, "id"> {
  readonly transfer?: readonly object[];
  readonly signal?: AbortSignal | undefined;
  /** By the callbacks' numbers; each gets the list of its arguments. */
  readonly callbacks?: readonly ((args: Packed<ReceivedReference>) => void)[];
}

interface Pending {
  readonly asked: Asked;
  resolve(value: Packed<ReceivedReference>): void;
  reject(reason: unknown): void;
  /** Whether the caller has been told that the call is cancelled: what comes of it is freed. */
  isCancelled: boolean;
  /** Ends what waits for the signal. */
  forget(): void;
}

/** The error of the worker, with the stack that it has there. */
function errorOf({ code, name, message, stack }: SentError): Error {
  const error = code === undefined ? new Error(message) : new HeedError(code, message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}

export const workerEnded = (why: string): HeedError =>
  new HeedError("worker", `worker: expected a running worker, got one that has ended: ${why}`, {
    cause: new Error(why),
  });

export class Connection {
  readonly #port: Port<FromWorker>;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  #word: Int32Array | undefined;
  /** Why no more calls are possible. */
  #ended: HeedError | undefined;
  /** Ends the wait for the worker's lock. */
  readonly #watch = new AbortController();
  readonly #ready: Promise<Ready>;
  #isReady = false;
  #settle!: { resolve(ready: Ready): void; reject(error: Error): void };

  /** Whether the worker's script has begun. */
  #listens = false;
  /** Whether the worker has failed in a way that another one may not. */
  mayRetry = false;

  constructor(workers: WorkerSource, options: StartOptions) {
    this.#ready = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    const lock = lockName();
    const heard: Heard<FromWorker> = {
      onMessage: (message) => {
        if ("listens" in message) {
          this.#listens = true;
          workers.release?.();
          this.#start(options, lock);
        } else if ("ready" in message) this.#begin(message.ready, lock);
        else if ("failed" in message) this.end(errorOf(message.failed));
        else this.#receive(message);
      },
      onEnd: (why, failure) => {
        if (this.#ended) return;
        const hasBegun = this.#listens || failure === undefined;
        this.mayRetry = !hasBegun && workers.mayRetry?.(worker, failure) === true;
        if (!this.#listens) workers.release?.();
        this.end(workerEnded((!hasBegun && workers.explain?.(failure)) || why));
      },
    };
    const worker = workers.start();
    this.#port = new Port(worker, heard);
  }

  get ended(): HeedError | undefined {
    return this.#ended;
  }

  /** Whether a signal reaches an operation that runs, which takes memory that both sides see. */
  get isInterruptible(): boolean {
    return this.#word !== undefined;
  }

  /** The calls without an answer; those that were cancelled count until the worker has answered. */
  get pending(): number {
    return this.#pending.size;
  }

  call(asked: Asked): Promise<Packed<ReceivedReference>> {
    if (this.#ended) return Promise.reject(this.#ended);
    const { transfer, signal, callbacks: _, ...message } = asked;
    if (signal?.aborted) return Promise.reject(cancelledBy(signal, asked));
    // While `restart()` is under way there is no engine yet.
    if (!this.#isReady) return this.#ready.then(() => this.call(asked));
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      const cancel = () => this.#cancel(id);
      signal?.addEventListener("abort", cancel);
      this.#pending.set(id, {
        asked,
        resolve,
        reject,
        isCancelled: false,
        forget: () => signal?.removeEventListener("abort", cancel),
      });
      try {
        this.#post({ id, ...message }, transfer);
      } catch (cause) {
        this.#take(id);
        reject(unsendable(asked.path.join("."), cause));
        return;
      }
      if (this.#pending.size === 1) this.#port.holdProcess(true);
    });
  }

  dispose(objects: readonly ObjectId[], kept: readonly ObjectId[] = []): void {
    if (!this.#ended) this.#post({ dispose: objects, ...(kept.length > 0 && { kept }) });
  }

  forget(objects: readonly ObjectId[]): void {
    if (!this.#ended) this.#post({ forget: objects });
  }

  /** Waits until the engine runs; an abort ends the worker. */
  async start(signal?: AbortSignal): Promise<Ready> {
    const stop = () =>
      this.end(cancelledBy(signal as AbortSignal, { object: 0, path: ["loadInWorker"] }));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    try {
      return await this.#ready;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Ends the worker. What is pending is rejected. */
  end(reason: Error): void {
    if (this.#ended) return;
    const error =
      reason instanceof HeedError
        ? reason
        : new HeedError("worker", reason.message, { cause: reason });
    this.#ended = error;
    this.#watch.abort();
    this.#port.end();
    this.#settle.reject(error);
    this.#ready.catch(() => {});
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(error);
    this.#word = undefined;
  }

  #start(options: StartOptions, lock: string | undefined): void {
    try {
      this.#post({ start: options, files: locateAll(), ...(lock && { lock }) });
    } catch (cause) {
      this.end(unsendable("options", cause));
    }
  }

  #post(message: ToWorker, transfer?: readonly object[]): void {
    this.#port.post(message, transfer);
  }

  #begin(ready: Ready, lock: string | undefined): void {
    const { word, isLocked } = ready;
    if (word) this.#word = new Int32Array(word.memory.buffer, word.address, 1);
    // The worker holds the lock as long as it lives: no event tells that it was terminated.
    if (isLocked)
      navigator.locks
        .request(lock as string, { signal: this.#watch.signal }, () => {
          this.end(workerEnded("it was terminated, or closed itself"));
        })
        .catch(() => {});
    if (this.#pending.size === 0) this.#port.holdProcess(false);
    this.#isReady = true;
    this.#settle.resolve(ready);
  }

  /** Removes a call that has ended. */
  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    pending.forget();
    if (this.#pending.size === 0) this.#port.holdProcess(false);
    return pending;
  }

  #receive(
    message: Exclude<FromWorker, { listens: true } | { ready: Ready } | { failed: SentError }>,
  ) {
    if ("callback" in message) {
      const pending = this.#pending.get(message.id);
      const callback = pending?.asked.callbacks?.[message.callback];
      if (!pending || pending.isCancelled || pending.asked.signal?.aborted || !callback)
        this.#discard(message.args);
      else callback(message.args);
      return;
    }
    const pending = this.#take(message.id);
    if (pending === undefined) return;
    const { signal } = pending.asked;
    if (pending.isCancelled) {
      if ("value" in message) this.#discard(message.value);
    } else if ("value" in message) {
      // A call that finished before the signal reached it has done what it was to do, and its caller must know.
      pending.resolve(message.value);
    } else {
      pending.reject(signal?.aborted ? cancelledBy(signal, pending.asked) : errorOf(message.error));
    }
  }

  /** Frees what a value names that nobody gets. */
  #discard({ references }: Packed<ReceivedReference>): void {
    this.dispose(references.flatMap(([, { object, isNew }]) => (isNew ? object : [])));
    this.forget(references.map(([, { object }]) => object));
  }

  /** Tells the worker to stop, in the running operation or before the next part of the call. */
  #cancel(id: number): void {
    const pending = this.#pending.get(id);
    if (pending === undefined || this.#ended) return;
    this.#post({ cancel: id });
    const begin = performance.now();
    const knock = () => {
      if (!this.#pending.has(id)) return;
      if (this.#word) Atomics.compareExchange(this.#word, 0, id, cancelledWord);
      if (!pending.isCancelled && performance.now() - begin >= patience) {
        pending.isCancelled = true;
        pending.reject(cancelledBy(pending.asked.signal as AbortSignal, pending.asked));
      }
      timer = setTimeout(knock, interval);
    };
    let timer: unknown;
    const { forget } = pending;
    pending.forget = () => {
      forget();
      clearTimeout(timer as number);
    };
    knock();
  }
}

function unsendable(name: string, cause: unknown): HeedError {
  const got = cause instanceof Error ? cause.message : String(cause);
  const expected = "arguments that can be sent to a worker";
  return new HeedError("option", `${name}: expected ${expected}, got ${got}`, { cause });
}

function cancelledBy(signal: AbortSignal, { path }: Asked): HeedError {
  const message = `${path.join(".")}: expected to finish, got an aborted signal`;
  return new HeedError("cancelled", message, { cause: signal.reason });
}

/** A name for the lock of a worker; undefined in Node, which has an event instead, and without a secure context. */
function lockName(): string | undefined {
  const hasLocks = !isNode && globalThis.navigator?.locks !== undefined;
  return hasLocks ? `heed ${crypto.randomUUID()}` : undefined;
}
