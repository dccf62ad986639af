// The threads of an engine: starts their workers, gives them the module and waits for them.

import type { Failure, HeedModule, ThreadWorker } from "../core/module.js";
import { pause } from "../core/pause.js";
import { WorkerScript } from "./workerScript.js";

/** Time limit in milliseconds, first for the workers to load, then for their threads to start. */
const patience = 5000;

/** The name of a worker, from which the glue detects that it runs in a thread's worker. */
const name = "em-pthread";

export class Threads {
  /** The requested number of threads, including the caller's. */
  readonly #wanted: number;
  /**
   * The workers that have not failed. Cleared once the module has them, because they keep the
   * module and its memory alive.
   */
  readonly #workers = new Set<ThreadWorker>();
  /** The number of threads that the engine can start, including the caller's; set by `load`. */
  count = 1;
  /** The address of the workers' script, if it is not the glue. */
  readonly #address: URL | undefined;
  #script: WorkerScript | undefined;
  /** The first failure. */
  #obstacle: string | undefined;

  /** @param address of the workers' script, if it is not the glue that `load` imports */
  constructor(wanted: number, address: URL | undefined) {
    this.#wanted = wanted;
    this.#address = address;
  }

  /** The reason why fewer threads run than requested; null if all run. */
  reason(running: number): string | null {
    if (running >= this.#wanted) return null;
    const obstacle = this.#obstacle ?? "the others have not begun yet";
    return `${running === 1 ? "1 thread" : `${running} threads`}, because ${obstacle}`;
  }

  /** Starts the workers, which load the glue in the background. */
  start(glue: URL | undefined): void {
    if (this.#wanted === 1) return;
    const script = new WorkerScript((this.#address ?? glue) as URL, name);
    this.#script = script;
    try {
      while (this.#workers.size + 1 < this.#wanted) this.#add(script);
    } catch (error) {
      this.#obstacle ??= script.explain(error as Error);
      this.stop();
    }
  }

  /** Gives the module to the workers. With `waits`, it waits until they have loaded it. */
  async load(module: HeedModule, waits: boolean): Promise<void> {
    const { PThread } = module;
    const loads = [...this.#workers].map((worker) => this.#load(worker, module));
    const settled = Promise.all(loads).then(() => this.#script?.release());
    if (waits) await within(patience, settled);
    for (const worker of this.#workers) {
      if (waits && !worker.loaded) {
        this.#drop(worker, `their workers did not load within ${patience / 1000} s`);
        continue;
      }
      worker.unref?.(); // an idle thread does not keep a program of Node running
      PThread.unusedWorkers.push(worker);
    }
    this.count = PThread.unusedWorkers.length + 1;
    this.#workers.clear();
    if (waits) this.#script?.release();
  }

  /** Waits until the threads run. */
  async begin(running: () => number): Promise<void> {
    const start = performance.now();
    const time = () => performance.now() - start;
    const soon = 20; // milliseconds; most threads need one or two
    while (running() < this.count && time() < patience)
      await (time() < soon ? pause() : new Promise((resolve) => setTimeout(resolve, 5)));
    if (running() < this.count) this.#obstacle ??= `they did not begin within ${patience / 1000} s`;
  }

  /** Ends the workers. */
  stop(): void {
    for (const worker of this.#workers) worker.terminate();
    this.#workers.clear();
    this.#script?.release();
  }

  #add(script: WorkerScript): ThreadWorker {
    const worker = script.start();
    this.#workers.add(worker);
    worker.onerror = (failure) => void this.#onFailure(worker, failure);
    // The glue sets the handlers of a browser's worker.
    worker.on?.("error", (failure) => worker.onerror?.(failure));
    worker.on?.("message", (data) => worker.onmessage?.({ data }));
    return worker;
  }

  /** Resolves when the worker or its replacement has the module, or has failed. */
  #load(worker: ThreadWorker, module: HeedModule): Promise<void> {
    return new Promise((resolve) => {
      const onFailure = (failure: Failure) => {
        const next = this.#onFailure(worker, failure);
        resolve(next && this.#load(next, module));
      };
      module.PThread.loadWasmModuleToWorker(worker).then(() => resolve(), onFailure);
      // Replaces the glue's handler, which throws.
      worker.onerror = onFailure;
    });
  }

  /** Replaces a failed worker by another one, if a second attempt may succeed. */
  #onFailure(worker: ThreadWorker, failure: Failure): ThreadWorker | undefined {
    // A failure after loading is a defect, which must not be hidden.
    if (worker.loaded) throw failure;
    failure.preventDefault?.();
    const script = this.#script as WorkerScript;
    // Once the module has the workers, none can be replaced.
    const mayReplace = this.#workers.has(worker) && script.mayRetry(worker, failure);
    let reason = failure;
    this.#discard(worker);
    try {
      if (mayReplace) return this.#add(script);
    } catch (error) {
      reason = error as Error;
    }
    this.#obstacle ??= script.explain(reason);
    return undefined;
  }

  #drop(worker: ThreadWorker, obstacle: string): void {
    this.#obstacle ??= obstacle;
    this.#discard(worker);
  }

  #discard(worker: ThreadWorker): void {
    this.#workers.delete(worker);
    worker.terminate();
  }
}

/** Waits for a promise, but not longer than a time limit. */
async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, end]);
  clearTimeout(timer);
}
