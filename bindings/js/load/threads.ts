// The threads of an engine: the workers that they run in are started, given the module and waited for.

import type { Failure, HeedModule, ThreadWorker } from "../core/module.js";
import { pause } from "../core/pause.js";
import { builtin, isNode } from "./features.js";

/** Milliseconds in which the workers must load, and then in which their threads must begin. */
const patience = 5000;

/** By this name the glue knows that it runs in a thread's worker. */
const name = "em-pthread";

interface Policy {
  createScriptURL(address: string): string;
}

let policy: Policy | undefined;

/** An address in the form in which a page with trusted types accepts it. */
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
  /** Threads that should compute, the caller's included. */
  readonly #wanted: number;
  /**
   * The workers that have not failed, until the module has them: they keep the module and its memory.
   */
  readonly #workers = new Set<ThreadWorker>();
  /** The threads that the engine can start, the caller's included: known once `load` has ended. */
  count = 1;
  /** What the workers are started from: the glue. */
  #address: URL | undefined;
  /** A script that imports a glue of a foreign origin: no worker can be started from that directly. */
  #blob: string | undefined;
  /** The first failure. */
  #obstacle: string | undefined;
  /** Whether the content security policy of the page has refused a worker. */
  #isRefused = false;
  readonly #onViolation = (event: Event) => {
    this.#isRefused ||= (event as SecurityPolicyViolationEvent).effectiveDirective === "worker-src";
  };

  /** @param address what the workers start from, if not from the glue that `load` imports */
  constructor(wanted: number, address: URL | undefined) {
    this.#wanted = wanted;
    this.#address = address;
  }

  /** Why fewer threads run than wanted; null if all do. */
  reason(running: number): string | null {
    if (running >= this.#wanted) return null;
    const obstacle = this.#obstacle ?? "the others have not begun yet";
    return `${running === 1 ? "1 thread" : `${running} threads`}, because ${obstacle}`;
  }

  /** Starts the workers. They load the glue while the caller goes on. */
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

  /** Gives the module to the workers, and waits until they have it if the caller wants to wait. */
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
      // In place of the glue's own, which throws.
      worker.onerror = onFailure;
    });
  }

  #onFailure(worker: ThreadWorker, failure: Failure): void {
    // Once it has loaded, only a defect can make it fail, and that has to be seen.
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

/** Waits for a promise, but not for longer than this. */
async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, end]);
  clearTimeout(timer);
}
