// The threads of an engine: starts their workers, gives them the module and waits for them.

import type { Failure, HeedModule, ThreadWorker } from "../core/module.js";
import { pause } from "../core/pause.js";
import { builtin, isNode } from "./features.js";

/** Time limit in milliseconds, first for the workers to load, then for their threads to start. */
const patience = 5000;

/** The worker name by which the glue knows that it runs in a thread's worker. */
const name = "em-pthread";

interface Policy {
  createScriptURL(address: string): string;
}

let policy: Policy | undefined;

/** An address in the form that a page with trusted types accepts. */
function trusted(address: string): string {
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
  };
  try {
    policy ??= trustedTypes?.createPolicy("heed", { createScriptURL: (address) => address });
  } catch {
    // The page does not allow a policy of this name. It may still accept the address itself.
  }
  return policy?.createScriptURL(address) ?? address;
}

export class Threads {
  /** The requested number of threads, including the caller's. */
  readonly #wanted: number;
  /**
   * The workers that have not failed. Cleared once the module has them, because they keep the module and its
   * memory alive.
   */
  readonly #workers = new Set<ThreadWorker>();
  /** The number of threads that the engine can start, including the caller's; set by `load`. */
  count = 1;
  /** The address of the workers' script: the glue. */
  #address: URL | undefined;
  /** A script that imports a glue of another origin: a worker cannot start from that directly. */
  #blob: string | undefined;
  /** The first failure. */
  #obstacle: string | undefined;
  /** Whether the content security policy of the page has refused a worker. */
  #isRefused = false;
  readonly #onViolation = (event: Event) => {
    this.#isRefused ||= (event as SecurityPolicyViolationEvent).effectiveDirective === "worker-src";
  };

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
    this.#address ??= glue;
    globalThis.addEventListener?.("securitypolicyviolation", this.#onViolation);
    const address = this.#address as URL;
    try {
      const newWorker = isNode ? this.#inNode(address) : this.#inBrowser(address);
      while (this.#workers.size + 1 < this.#wanted) {
        const worker = newWorker();
        this.#workers.add(worker);
        worker.onerror = (failure) => this.#onFailure(worker, failure);
        worker.on?.("error", worker.onerror);
      }
    } catch (error) {
      this.#obstacle ??= this.#explain(error as Error);
      this.stop();
    }
  }

  /** Gives the module to the workers, and with `waits` waits until they have loaded it. */
  async load(module: HeedModule, waits: boolean): Promise<void> {
    const { PThread } = module;
    const loads = [...this.#workers].map((worker) =>
      this.#settle(worker, PThread.loadWasmModuleToWorker(worker)),
    );
    const settled = Promise.all(loads).then(() => this.#release());
    if (waits) await within(patience, settled);
    for (const worker of this.#workers) {
      if (!waits || worker.loaded) PThread.unusedWorkers.push(worker);
      else this.#drop(worker, `their workers did not load within ${patience / 1000} s`);
    }
    this.count = PThread.unusedWorkers.length + 1;
    this.#workers.clear();
    if (waits) this.#release();
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
    this.#release();
  }

  #inNode(address: URL): () => ThreadWorker {
    const { Worker } = builtin("node:worker_threads");
    // By default a worker gets the flags of the process, and it refuses --input-type, which a program
    // given on the command line has.
    return () => new Worker(address, { workerData: name, name, execArgv: [] });
  }

  #inBrowser({ href, origin }: URL): () => ThreadWorker {
    if (origin !== globalThis.origin) {
      const script = new Blob([`import ${JSON.stringify(href)};`], { type: "text/javascript" });
      this.#blob = URL.createObjectURL(script);
    }
    const address = trusted(this.#blob ?? href);
    return () => new Worker(address, { type: "module", name }) as unknown as ThreadWorker;
  }

  /** Resolves when the worker has the module, or has failed. */
  #settle(worker: ThreadWorker, loading: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const onFailure = (failure: Failure) => {
        this.#onFailure(worker, failure);
        resolve();
      };
      loading.then(() => resolve(), onFailure);
      // Replaces the glue's handler, which throws.
      worker.onerror = onFailure;
    });
  }

  #onFailure(worker: ThreadWorker, failure: Failure): void {
    // A failure after loading is a defect, which must not be hidden.
    if (worker.loaded) throw failure;
    failure.preventDefault?.();
    this.#drop(worker, this.#explain(failure));
  }

  #drop(worker: ThreadWorker, obstacle: string): void {
    this.#obstacle ??= obstacle;
    this.#workers.delete(worker);
    worker.terminate();
  }

  #explain({ name, message }: Failure): string {
    const { href, origin } = this.#address as URL;
    if (this.#isRefused) {
      const source = this.#blob === undefined ? "'self'" : `blob: ${origin}`;
      return `the content security policy of the page refuses their workers: it needs worker-src ${source}`;
    }
    if (name === "TypeError" && "trustedTypes" in globalThis && policy === undefined) {
      return "the page requires trusted types: its content security policy needs trusted-types heed";
    }
    return `a worker could not be started from ${href}${message ? `: ${message}` : ""}`;
  }

  #release(): void {
    globalThis.removeEventListener?.("securitypolicyviolation", this.#onViolation);
    if (this.#blob !== undefined) URL.revokeObjectURL(this.#blob);
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
