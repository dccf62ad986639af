/**
 * The page's engine in its worker: sends requests to the solvers, cancels requests that are no longer needed, and
 * passes the answers to components.
 */
import { HeedError, loadInWorker, type RemoteHeed } from "heed/worker";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { workspaceIn } from "../shared/workspaceIn";
import type { Asked, SolverContext } from "./solver";
import type { AnswerOf, ProgressOf, RequestOf, SolverName } from "./solvers";

/**
 * With a debugger attached to its workers, Firefox 153 sometimes hangs while a worker starts another worker, as the
 * engine's threads do. If a start takes longer than this many milliseconds, a second one begins, and the first that is
 * ready becomes the engine. A slow connection loses nothing, because the first start continues.
 */
const startTimeout = 5000;
const mostStarts = 3;

interface Tasks {
  ask(asked: Asked, context: SolverContext<unknown>): Promise<unknown>;
}

/** An engine in a worker that has the page's task. */
export type PageEngine = Pick<RemoteHeed<Tasks>, "info" | "tasks" | "dispose">;
export type EngineInfo = PageEngine["info"];

interface AskOptions<Progress> {
  readonly signal?: AbortSignal;
  progress?(news: Progress): void;
}

interface EngineOptions {
  /**
   * Whether the engine may use several threads (true by default). A small model runs faster, and the page smoother,
   * with one.
   */
  readonly hasThreads?: boolean;
  /** Starts a worker; an abort ends it. */
  readonly start?: (hasThreads: boolean, signal: AbortSignal) => Promise<PageEngine>;
}

const startWorker: NonNullable<EngineOptions["start"]> = (hasThreads, signal) =>
  loadInWorker<Tasks>({
    ...(hasThreads ? {} : { threads: 1 }),
    signal,
    worker: () =>
      new Worker(new URL("./engine.worker.ts", import.meta.url), { type: "module", name: "heed" }),
  });

/** Why a worker has ended, or the message of another error. */
const whyOf = (error: unknown) => {
  const { cause } = error as Error;
  const isEnd = error instanceof HeedError && error.code === "worker" && cause instanceof Error;
  return isEnd ? cause.message : (error as Error).message;
};

/** Whether WebAssembly stopped in the middle of a call: the engine has ended, and its worker has not. */
const hasTrapped = (error: unknown) =>
  error instanceof HeedError &&
  (error.code === "internal" || error.code === "disposed") &&
  error.message.startsWith("engine:");

export class EngineClient {
  /** Resolves with facts about the engine once it runs; rejects with a message for the person if it cannot start. */
  readonly started: Promise<EngineInfo>;
  readonly #engine: Promise<PageEngine>;
  readonly #controller = new AbortController();
  readonly #ended = new Error("The engine was ended.");

  constructor({ hasThreads = true, start = startWorker }: EngineOptions = {}) {
    this.#engine = this.#start((signal) => start(hasThreads, signal));
    this.started = this.#engine.then(({ info }) => info);
    // `ask` reports the failure; without a request it is not an unhandled rejection.
    this.started.catch(() => {});
  }

  /** Asks a solver. Rejects with a message for the person, or with the signal's reason once that is aborted. */
  async ask<Name extends SolverName>(
    solver: Name,
    request: RequestOf<Name>,
    { signal, progress }: AskOptions<ProgressOf<Name>> = {},
  ): Promise<AnswerOf<Name>> {
    const { tasks } = await this.#engine;
    signal?.throwIfAborted();
    if (this.#controller.signal.aborted) throw this.#ended;
    try {
      const answer = await tasks.ask(
        { solver, request },
        {
          onProgress: (news) => progress?.(news as ProgressOf<Name>),
          ...(signal && { signal }),
        },
      );
      signal?.throwIfAborted();
      return answer as AnswerOf<Name>;
    } catch (error) {
      signal?.throwIfAborted();
      if (this.#controller.signal.aborted) throw this.#ended;
      if (hasTrapped(error))
        throw new Error("The engine has stopped. Reload the page to start another.");
      const hasStopped = error instanceof HeedError && error.code === "worker";
      const what = hasStopped ? "has stopped" : "could not compute this";
      throw new Error(`The engine ${what}: ${whyOf(error)}`);
    }
  }

  /** Ends the worker and everything in it. */
  dispose(): void {
    this.#controller.abort(this.#ended);
    this.#engine.then(
      (engine) => engine.dispose(),
      () => {},
    );
  }

  /** Starts up to three workers, one after the other; the first that is ready stays. */
  #start(start: (signal: AbortSignal) => Promise<PageEngine>): Promise<PageEngine> {
    const { signal } = this.#controller;
    return new Promise((resolve, reject) => {
      const starting = new Set<AbortController>();
      let starts = 0;
      let isSettled = false;
      const end = () => {
        isSettled = true;
        for (const other of starting) other.abort();
        reject(this.#ended);
      };
      signal.addEventListener("abort", end);
      const begin = () => {
        const own = new AbortController();
        starting.add(own);
        start(own.signal).then(
          (engine) => {
            starting.delete(own);
            if (isSettled) return engine.dispose();
            resolve(engine);
            end();
          },
          (error) => {
            starting.delete(own);
            // A failed start is reported only when no other start is in progress.
            if (starting.size > 0 || isSettled) return;
            isSettled = true;
            reject(new Error(`The engine could not start: ${whyOf(error)}`));
          },
        );
        if (++starts === mostStarts) return;
        setTimeout(() => {
          if (!isSettled) begin();
        }, startTimeout);
      };
      begin();
    });
  }
}

/** The engine of all rooms; rooms that train or measure start another one. */
export const [EngineContext, useEngine] = workspaceIn<EngineClient>();

export interface Answered<Name extends SolverName> {
  /** The last answer; null before the first one, and while there is no request. */
  readonly answer: AnswerOf<Name> | null;
  /** The request that `answer` belongs to, the same object. */
  readonly request: RequestOf<Name> | null;
  /** An error message for the person. */
  readonly failure: string | null;
  /** Whether a request is running. */
  readonly isBusy: boolean;
  /** Cancels the running request. */
  cancel(): void;
}

const nothing = { answer: null, request: null, failure: null };

/**
 * A solver's answer to the latest request. One request runs at a time. Only the latest waiting request is kept.
 *
 * @param request must stay the same object (useMemo) until its contents change; null asks nothing
 * @param patience how long a newer request waits at most, in milliseconds; then the running one is cancelled
 * @param progress receives the news that the solver sends while it computes
 */
export function useAnswer<Name extends SolverName>(
  solver: Name,
  request: RequestOf<Name> | null,
  patience?: number,
  progress?: (news: ProgressOf<Name>) => void,
): Answered<Name> {
  const engine = useEngine();
  const [shown, setShown] = useState<Omit<Answered<Name>, "isBusy" | "cancel">>(nothing);
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
        const answer = await engine.ask(solver, request, {
          signal: cancel.signal,
          ...(progress && { progress }),
        });
        setShown({ answer, request, failure: null });
      } catch (error) {
        if (signal.aborted) return;
        // The last answer stays in view next to the error message.
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

  const cancel = useCallback(() => running.current?.cancel.abort(), []);
  if (!request) return { ...nothing, isBusy: false, cancel };
  return { ...shown, isBusy: isRunning, cancel };
}
