/**
 * The page's side of the protocol: sends requests to the engine in the worker, cancels those no longer needed, and
 * gives the answers to components.
 */
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { EngineInfo, FromWorker, ToWorker } from "./protocol";
import type { AnswerOf, ProgressOf, RequestOf, SolverName } from "./solvers";

/**
 * With a debugger attached to its workers, Firefox 153 sometimes hangs while a worker starts another worker, as the
 * engine's threads do. If a start takes longer than this many milliseconds, a second one begins, and the first that is
 * ready becomes the engine. A slow connection loses nothing, because the first start continues.
 */
const startTimeout = 5000;
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
  /**
   * Whether the engine may use several threads (true by default). A small model runs faster, and the page smoother,
   * with one.
   */
  readonly hasThreads?: boolean;
}

/** The name tells the worker which engine to start. The bundler needs the literal URL at each place. */
function newWorker(hasThreads: boolean): Worker {
  return hasThreads
    ? new Worker(new URL("./engine.worker.ts", import.meta.url), { type: "module", name: "heed" })
    : new Worker(new URL("./engine.worker.ts", import.meta.url), {
        type: "module",
        name: "heed alone",
      });
}

export class EngineClient {
  /** Resolves with facts about the engine once it runs; rejects with a message for the person if it cannot start. */
  readonly started: Promise<EngineInfo>;
  #announce!: (info: EngineInfo) => void;
  #giveUp!: (error: Error) => void;
  /** The workers that are starting; later only the one that started. */
  #workers = new Set<Worker>();
  #starts = 0;
  #worker: Worker | null = null;
  #pending = new Map<number, Pending>();
  #asked = 0;
  readonly #hasThreads: boolean;
  /** Why the engine has ended; null while it has not. */
  #ended: Error | null = null;

  constructor({ hasThreads = true }: EngineOptions = {}) {
    this.#hasThreads = hasThreads;
    this.started = new Promise((resolve, reject) => {
      this.#announce = resolve;
      this.#giveUp = reject;
    });
    // `ask` reports the failure; without a request it is not an unhandled rejection.
    this.started.catch(() => {});
    this.#start();
  }

  /** Asks a solver. Rejects with a message for the person, or with the signal's reason once that is aborted. */
  async ask<Name extends SolverName>(
    solver: Name,
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
    this.#send({ id, solver, request });
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
    }, startTimeout);
  }

  /** Reports a failed start only when no other start is in progress. */
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

/** The engine of all rooms; rooms that train or measure start another one. */
export const EngineContext = createContext<EngineClient | null>(null);

export function useEngine(): EngineClient {
  const engine = useContext(EngineContext);
  if (!engine) throw new Error("useEngine needs an EngineContext around it");
  return engine;
}

export interface Answered<Name extends SolverName> {
  /** The last answer; null before the first one, and while there is no request. */
  readonly answer: AnswerOf<Name> | null;
  /** The request that `answer` belongs to, the same object. */
  readonly request: RequestOf<Name> | null;
  /** An error message for the person. */
  readonly failure: string | null;
  /** Whether a request is running. */
  readonly isBusy: boolean;
}

const nothing = { answer: null, request: null, failure: null };

/**
 * A solver's answer to the latest request. One request runs at a time; of those that wait only the latest is kept.
 *
 * @param request must stay the same object (useMemo) until its contents change; null asks nothing
 * @param patience how long a newer request waits at most, in milliseconds; then the running one is cancelled
 */
export function useAnswer<Name extends SolverName>(
  solver: Name,
  request: RequestOf<Name> | null,
  patience?: number,
): Answered<Name> {
  const engine = useEngine();
  const [shown, setShown] = useState<Omit<Answered<Name>, "isBusy">>(nothing);
  const [isRunning, setIsRunning] = useState(false);
  const latest = useRef<RequestOf<Name> | null>(null);
  const loop = useRef<AbortController | null>(null);
  const running = useRef<{ begin: number; cancel: AbortController } | null>(null);

  /** Asks until the latest request is answered. */
  const askLatest = async (signal: AbortSignal) => {
    for (let done: RequestOf<Name> | null = null; latest.current && latest.current !== done; ) {
      const request: RequestOf<Name> = latest.current;
      const cancel = new AbortController();
      running.current = { begin: performance.now(), cancel };
      signal.onabort = () => cancel.abort();
      try {
        const answer = await engine.ask(solver, request, { signal: cancel.signal });
        setShown({ answer, request, failure: null });
      } catch (error) {
        if (signal.aborted) return;
        // The last answer stays in view beside the error message.
        if (!cancel.signal.aborted)
          setShown((now) => ({ ...now, failure: (error as Error).message }));
      }
      done = request;
    }
    // No await may come between the last check of `latest` and this line: a request made in between would never be
    // sent.
    loop.current = null;
    setIsRunning(false);
  };

  useEffect(() => {
    latest.current = request;
    if (!request) return;
    if (loop.current) {
      if (patience === undefined || !running.current) return;
      const { begin, cancel } = running.current;
      const timer = setTimeout(() => cancel.abort(), begin + patience - performance.now());
      return () => clearTimeout(timer);
    }
    loop.current = new AbortController();
    setIsRunning(true);
    void askLatest(loop.current.signal);
  }, [request]);
  useEffect(() => () => loop.current?.abort(), []);

  if (!request) return { ...nothing, isBusy: false };
  return { ...shown, isBusy: isRunning };
}
