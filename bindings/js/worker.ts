// The entry heed/worker: an engine that runs in a worker.

import { refuse } from "./core/error.js";
import { checkArgument, isFunction, isRecord, isSignal } from "./core/validate.js";
import type { LoadOptions } from "./load/load.js";
import { isAddress, locate, resolve } from "./load/locate.js";
import { WorkerScript } from "./load/workerScript.js";
import type { WorkerLike, WorkerSource } from "./worker/ports.js";
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

/** Options of `load` that can be sent to a worker, and options of the worker. */
export interface LoadInWorkerOptions extends Omit<LoadOptions, "glue" | "wasm"> {
  /** As in `load`, except for a response, which cannot be sent. */
  wasm?: Exclude<LoadOptions["wasm"], Response | undefined>;
  /**
   * Creates a worker whose script calls `serve` of heed/worker/serve, with tasks of your own.
   * `restart` calls this function again. By default, the worker runs the package's own script with
   * heed/nn and heed/models: workerThread.js. If the script never calls `serve`, only `signal` ends
   * the wait for it.
   */
  worker?: () => WorkerLike;
  /** Ends a worker that is still starting. */
  signal?: AbortSignal;
}

/** The script of the package: one file, which bundlers copy like the engine's other files. */
function ownWorkers(wasmUrl: LoadInWorkerOptions["wasmUrl"]): WorkerSource {
  const file = "workerThread.js";
  const address = locate(file, () => new URL("./workerThread.js", import.meta.url), wasmUrl);
  const script = new WorkerScript(address, "heed");
  const advice =
    wasmUrl === undefined
      ? ""
      : `; the folder of wasmUrl must have ${file} of the package's dist folder, or pass the option worker`;
  return {
    start: () => script.start() as unknown as WorkerLike,
    mayRetry: (worker, failure) => script.mayRetry(worker, failure),
    explain: (failure) => script.explain(failure) + advice,
    release: () => script.release(),
  };
}

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
      wasm: isAddress.accepts(wasm) ? resolve("wasm", wasm as string | URL).href : (wasm as never),
    }),
    ...(wasmUrl !== undefined && { wasmUrl: resolve("wasmUrl", wasmUrl).href }),
    ...(workerUrl !== undefined && { workerUrl: resolve("workerUrl", workerUrl).href }),
  };
  return options;
}

/**
 * Loads an engine in a separate worker, so that no computation blocks this thread. The result has
 * the methods of the engine that `load` returns, but they return promises. It has heed/nn and
 * heed/models as `heed.nn`, `heed.optim` and `heed.models`.
 *
 * @throws HeedError "worker" if the worker cannot start, "cancelled", and the errors of `load`
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
  const { worker, signal } = options;
  if (worker !== undefined) checkArgument("worker", worker, isFunction);
  if (signal !== undefined) checkArgument("signal", signal, isSignal);
  if ("glue" in options) throw refuse("option", "glue", "an option of loadInWorker", "one of load");
  const workers = worker ? { start: worker } : ownWorkers(options.wasmUrl);
  const engine = new RemoteEngine(workers, startOptions(options));
  await engine.start(signal);
  return facade(engine, undefined) as RemoteHeed<Tasks>;
}
