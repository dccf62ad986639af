// The entry heed/worker: an engine that runs in a worker.

import { HeedError } from "./core/error.js";
import { checkArgument, isFunction, isRecord, isSignal } from "./core/validate.js";
import { builtin, isNode } from "./load/features.js";
import type { LoadOptions } from "./load/load.js";
import type { WorkerLike } from "./worker/ports.js";
import type { StartOptions } from "./worker/protocol.js";
import { facade, RemoteEngine } from "./worker/remoteHeed.js";
import type { RemoteHeed } from "./worker/types.js";

export { HeedError, type HeedErrorCode } from "./core/error.js";
export type { WorkerLike } from "./worker/ports.js";
export type { CallOptions } from "./worker/remote.js";
export type {
  Given,
  ModuleCallOptions,
  Remote,
  RemoteFunction,
  RemoteHeed,
  RemoteNamespace,
  RemoteOf,
  RemoteTasks,
  RemoteTensor,
} from "./worker/types.js";

/** Options of `load` that can be sent to a worker, and the worker. */
export interface LoadInWorkerOptions extends Omit<LoadOptions, "glue" | "wasm"> {
  /** As in `load`; a response cannot be sent. */
  wasm?: Exclude<LoadOptions["wasm"], Response | undefined>;
  /**
   * Creates a worker whose script calls `serve` of heed/worker/serve: one with tasks of your own, or where the bundler
   * or the policy of the page needs it. It is called again by `restart`. By default the package's own script, with
   * heed/nn and heed/models.
   */
  worker?: () => WorkerLike;
  /** Ends a worker that is still starting. */
  signal?: AbortSignal;
}

/**
 * The script of the package, in a form that bundlers understand: they look for these very words, webpack also in a
 * bundle for Node. There the class has this name only while it is called.
 */
function newWorker(): WorkerLike {
  const names = globalThis as { Worker?: unknown };
  const own = Object.getOwnPropertyDescriptor(names, "Worker");
  if (isNode) names.Worker = builtin("node:worker_threads").Worker;
  try {
    return new Worker(new URL("./workerThread.js", import.meta.url), {
      type: "module",
      name: "heed",
      // Of Node: by default a worker gets the flags of the process, of which it refuses some.
      execArgv: [],
    } as WorkerOptions);
  } finally {
    if (isNode && own) Object.defineProperty(names, "Worker", own);
    else if (isNode) delete names.Worker;
  }
}

/** An address as the worker understands it, which resolves relative ones by its own. */
const absolute = (address: string | URL) =>
  isNode ? String(address) : new URL(address, globalThis.location.href).href;

function startOptions({
  worker: _,
  signal: __,
  wasm,
  wasmUrl,
  workerUrl,
  ...others
}: LoadInWorkerOptions) {
  const options: StartOptions = {
    ...others,
    ...(wasm !== undefined && {
      wasm: typeof wasm === "string" || wasm instanceof URL ? absolute(wasm) : wasm,
    }),
    ...(wasmUrl !== undefined && { wasmUrl: absolute(wasmUrl) }),
    ...(workerUrl !== undefined && { workerUrl: absolute(workerUrl) }),
  };
  return options;
}

/**
 * Loads an engine in a worker of its own, so that no computation blocks this thread. The result has the methods of
 * `load()`'s, which return promises, and heed/nn and heed/models as `heed.nn`, `heed.optim` and `heed.models`.
 *
 * @throws HeedError "worker" if the worker cannot start, "cancelled", and those of `load`
 *
 * @example
 * ```ts
 * const remote = await loadInWorker({ threads: 1 });
 * const x = await remote.tensor(new Float32Array(8 * 64), [1, 1, 8, 64]);
 * const { signal } = new AbortController(); // its abort() would stop the call
 * const { output } = await remote.attention(x, x, x, { isCausal: true, signal });
 * console.log(output.shape, (await output.data).length); // prints: [ 1, 1, 8, 64 ] 512
 * remote.dispose();
 * ```
 */
export async function loadInWorker<Tasks = Record<never, never>>(
  options: LoadInWorkerOptions = {},
): Promise<RemoteHeed<Tasks>> {
  checkArgument("options", options, { expected: "an object", accepts: isRecord });
  const { worker = newWorker, signal } = options;
  checkArgument("worker", worker, isFunction);
  if (signal !== undefined) checkArgument("signal", signal, isSignal);
  if ("glue" in options)
    throw new HeedError("option", "glue: expected an option of loadInWorker, got one of load");
  const engine = new RemoteEngine(worker, startOptions(options));
  await engine.start(signal);
  return facade(engine, undefined) as RemoteHeed<Tasks>;
}
