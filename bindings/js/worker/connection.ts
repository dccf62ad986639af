// The page's connection to one worker: sends calls, cancels them, and rejects them when the worker ends.

import { HeedError, refuse } from "../core/error.js";
import { cancelledWord } from "../core/running.js";
import {
  canShareMemory,
  createMemory,
  isMemorySize,
  isNode,
  mostMemory,
  type Reserved,
} from "../load/features.js";
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
import { checkTransferable, type Packed, unsendable } from "./values.js";

/** A cancelled call is rejected after this number of milliseconds, even if the worker has not answered. */
const cancelTimeout = 40;
/** Check again every 4 ms, because the worker may start a part of the call just after a check. */
const cancelInterval = 4;

/** A call without its number, with everything that stays on the page. */
export interface Call extends Omit<CallMessage, "id"> {
  readonly transfer?: readonly object[];
  readonly signal?: AbortSignal | undefined;
  /** The callbacks, by their numbers. Each gets the list of its arguments. */
  readonly callbacks?: readonly ((args: Packed<ReceivedReference>) => void)[];
  /** The handles that the call needs. They stay in memory, and their objects live, until the worker has answered. */
  readonly handles: ReadonlySet<object>;
}

interface Pending {
  readonly call: Call;
  resolve(value: Packed<ReceivedReference>): void;
  reject(reason: unknown): void;
  /** Whether the call was rejected because it was cancelled, or a callback failed. Its result is then freed. */
  isCancelled: boolean;
  stopListening(): void;
}

/** Converts the worker's error to an error of this page, with the stack of the worker. */
function errorOf({ code, name, message, stack }: SentError): Error {
  const error = code === undefined ? new Error(message) : new HeedError(code, message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}

export const workerEnded = (why: string): HeedError =>
  refuse("worker", "worker", "a running worker", `one that has ended: ${why}`, {
    cause: new Error(why),
  });

export class Connection {
  readonly #workers: WorkerSource;
  readonly #port: Port<FromWorker>;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;
  /** Handles that were disposed of while a call needed them. */
  readonly #deferred = new Map<object, ObjectId>();
  /** Objects to free, and objects without a handle: the next message tells the worker of both. */
  #released: { dispose: ObjectId[]; forget: ObjectId[] } | undefined;
  #reserved: Reserved | undefined;
  /** The number of the running call, in the engine's memory. */
  #word: Int32Array | undefined;
  /** The reason why no more calls are possible. */
  #ended: HeedError | undefined;
  /** Ends the wait for the worker's lock. */
  readonly #watch = new AbortController();
  readonly #ready: Promise<Ready>;
  #isReady = false;
  #settle!: { resolve(ready: Ready): void; reject(error: Error): void };

  /** Whether the worker's script has begun. */
  #listens = false;
  /** Whether the worker failed in a way that another worker may avoid. */
  mayRetry = false;

  constructor(workers: WorkerSource, options: StartOptions) {
    this.#workers = workers;
    this.#ready = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    const lock = lockName();
    const heard: Heard<FromWorker> = {
      onMessage: (message) => {
        if ("listens" in message) {
          this.#listens = true;
          workers.release?.();
          void this.#start(options, lock);
        } else if ("ready" in message) this.#begin(message.ready, lock);
        else if ("failed" in message) this.end(errorOf(message.failed));
        else this.#receive(message);
      },
      onEnd: (why, failure) => {
        if (this.#ended) return;
        const hasBegun = this.#listens || failure === undefined;
        this.mayRetry = !hasBegun && workers.mayRetry?.(worker, failure) === true;
        this.end(workerEnded((!hasBegun && workers.explain?.(failure)) || why));
      },
    };
    const worker = workers.start();
    this.#port = new Port(worker, heard);
  }

  get ended(): HeedError | undefined {
    return this.#ended;
  }

  /** Whether an abort stops an operation while it computes. This requires shared memory. */
  get isInterruptible(): boolean {
    return this.#word !== undefined;
  }

  /** The number of calls without an answer. A cancelled call counts until the worker has answered. */
  get pending(): number {
    return this.#pending.size;
  }

  call(call: Call): Promise<Packed<ReceivedReference>> {
    if (this.#ended) return Promise.reject(this.#ended);
    const { transfer = [], signal, callbacks: _, handles: __, ...message } = call;
    if (signal?.aborted) return Promise.reject(cancelledBy(signal, call));
    // During `restart()` there is no engine yet.
    if (!this.#isReady)
      return new Promise((resolve, reject) => {
        const stop = () => reject(cancelledBy(signal as AbortSignal, call));
        signal?.addEventListener("abort", stop);
        const stopListening = () => signal?.removeEventListener("abort", stop);
        this.#ready
          .finally(stopListening)
          .then(() => this.call(call))
          .then(resolve, reject);
      });
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      const cancel = () => this.#cancel(id);
      signal?.addEventListener("abort", cancel);
      this.#pending.set(id, {
        call,
        resolve,
        reject,
        isCancelled: false,
        stopListening: () => signal?.removeEventListener("abort", cancel),
      });
      try {
        checkTransferable("transfer", transfer);
        this.#post({ id, ...message }, transfer);
      } catch (cause) {
        this.#remove(id);
        reject(unsendable(call.path.join("."), "arguments that can be sent to a worker", cause));
        return;
      }
      if (this.#pending.size === 1) this.#port.holdProcess(true);
    });
  }

  /** Frees an object as soon as no call needs its handle. */
  dispose(handle: object, object: ObjectId): void {
    const isNeeded = [...this.#pending.values()].some(({ call }) => call.handles.has(handle));
    if (isNeeded) this.#deferred.set(handle, object);
    else this.#release("dispose", object);
  }

  /** Tells the worker that the page's garbage collector has freed the handle of an object. */
  forget(object: ObjectId): void {
    this.#release("forget", object);
  }

  /** Whether a handle was disposed of, and its object lives because a call needs it. */
  isDeferred(handle: object): boolean {
    return this.#deferred.has(handle);
  }

  /** Waits until the engine runs. An abort ends the worker. */
  async start(signal?: AbortSignal): Promise<Ready> {
    const stop = () => this.end(cancelledBy(signal as AbortSignal, { path: ["loadInWorker"] }));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    try {
      return await this.#ready;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Ends the worker, and rejects all pending calls. */
  end(reason: Error): void {
    if (this.#ended) return;
    const error =
      reason instanceof HeedError
        ? reason
        : new HeedError("worker", reason.message, { cause: reason });
    this.#ended = error;
    if (!this.#listens) this.#workers.release?.();
    this.#watch.abort();
    this.#port.end();
    this.#settle.reject(error);
    this.#ready.catch(() => {});
    for (const id of [...this.#pending.keys()]) this.#remove(id)?.reject(error);
    this.#word = undefined;
    this.#reserved = undefined;
  }

  /**
   * Sends the options, and memory for the engine. WebKit reserves the addresses of 16 engines at
   * most. The memory of an ended worker keeps its addresses until the page collects garbage, because
   * the page shared this memory. Only a reservation of the page itself makes WebKit collect it.
   */
  async #start(options: StartOptions, lock: string | undefined): Promise<void> {
    const { maxMemory = mostMemory } = options;
    try {
      const shares = isMemorySize.accepts(maxMemory) && canShareMemory();
      const reserved = shares ? await createMemory(maxMemory) : undefined;
      if (this.#ended) return;
      this.#reserved = reserved;
      this.#post({ start: options, files: locateAll(), lock, reserved });
    } catch (cause) {
      this.end(unsendable("options", "options that can be sent to a worker", cause));
    }
  }

  #post(message: ToWorker, transfer?: readonly object[]): void {
    this.#postReleased();
    this.#port.post(message, transfer);
  }

  #release(what: "dispose" | "forget", object: ObjectId): void {
    if (this.#ended) return;
    // The end of a scope and the garbage collector free many objects in a row: they share a message.
    if (this.#released === undefined) queueMicrotask(() => this.#postReleased());
    this.#released ??= { dispose: [], forget: [] };
    this.#released[what].push(object);
  }

  #postReleased(): void {
    const released = this.#released;
    this.#released = undefined;
    if (released && !this.#ended) this.#port.post(released);
  }

  #begin(ready: Ready, lock: string | undefined): void {
    const { word, isLocked } = ready;
    if (word && this.#reserved) this.#word = new Int32Array(this.#reserved.memory.buffer, word, 1);
    // The worker holds the lock as long as it lives. No event reports that it was terminated.
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

  /** Removes a call that has ended, and frees the objects that only this call still needed. */
  #remove(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    pending.stopListening();
    if (this.#pending.size === 0) this.#port.holdProcess(false);
    for (const handle of pending.call.handles) {
      const object = this.#deferred.get(handle);
      if (object === undefined) continue;
      this.#deferred.delete(handle);
      this.dispose(handle, object);
    }
    return pending;
  }

  #receive(
    message: Exclude<FromWorker, { listens: true } | { ready: Ready } | { failed: SentError }>,
  ) {
    if ("callback" in message) {
      const pending = this.#pending.get(message.id);
      const callback = pending?.call.callbacks?.[message.callback];
      if (!pending || pending.isCancelled || pending.call.signal?.aborted || !callback)
        return this.#discard(message.args);
      try {
        callback(message.args);
      } catch (error) {
        pending.isCancelled = true;
        pending.reject(error);
        this.#cancel(message.id);
      }
      return;
    }
    const pending = this.#remove(message.id);
    if (pending === undefined) return;
    const { signal } = pending.call;
    if (pending.isCancelled) {
      if ("value" in message) this.#discard(message.value);
    } else if ("value" in message) {
      // Resolve also if the signal is aborted by now: the caller must know that the call has changed its arguments.
      pending.resolve(message.value);
    } else {
      pending.reject(signal?.aborted ? cancelledBy(signal, pending.call) : errorOf(message.error));
    }
  }

  /** Frees the new objects in a value that the caller does not get. */
  #discard({ references }: Packed<ReceivedReference>): void {
    for (const [, { object }] of references) this.forget(object);
  }

  /** Tells the worker to stop a call, during an operation or before the next one. */
  #cancel(id: number): void {
    const pending = this.#pending.get(id);
    if (pending === undefined || this.#ended) return;
    this.#post({ cancel: id });
    const begin = performance.now();
    const check = () => {
      if (!this.#pending.has(id)) return;
      if (this.#word) Atomics.compareExchange(this.#word, 0, id, cancelledWord);
      if (!pending.isCancelled && performance.now() - begin >= cancelTimeout) {
        pending.isCancelled = true;
        pending.reject(cancelledBy(pending.call.signal as AbortSignal, pending.call));
      }
      timer = setTimeout(check, cancelInterval);
    };
    let timer: unknown;
    const { stopListening } = pending;
    pending.stopListening = () => {
      stopListening();
      clearTimeout(timer as number);
    };
    check();
  }
}

function cancelledBy(signal: AbortSignal, { path }: Pick<Call, "path">): HeedError {
  const { reason: cause } = signal;
  return refuse("cancelled", path.join("."), "to finish", "an aborted signal", { cause });
}

/** Returns a name for the lock of a worker; undefined in Node, which has an event instead, and in insecure contexts. */
function lockName(): string | undefined {
  const hasLocks = !isNode && globalThis.navigator?.locks !== undefined;
  return hasLocks ? `heed ${crypto.randomUUID()}` : undefined;
}
