// Workers for the tests of heed/worker.

import {
  type LoadInWorkerOptions,
  loadInWorker,
  type RemoteHeed,
  type WorkerLike,
} from "heed/worker";
import { isNode } from "./engine.js";
import type { tasks } from "./worker_tasks.mjs";

export type TestTasks = typeof tasks;

/** The worker of worker_tasks.mjs. In a browser Vite serves it only by this literal address. */
export function newTestWorker(): WorkerLike {
  if (!isNode)
    return new Worker(new URL("./worker_tasks.mjs", import.meta.url), { type: "module" });
  return newNodeWorker(new URL("./worker_tasks.mjs", import.meta.url));
}

export function newNodeWorker(address: URL): WorkerLike {
  const { Worker: NodeWorker } = process.getBuiltinModule("node:worker_threads");
  return new NodeWorker(address, { execArgv: [] });
}

/** An engine in a worker with the tasks of worker_tasks.mjs. */
export const loadWithTasks = (options: LoadInWorkerOptions = {}): Promise<RemoteHeed<TestTasks>> =>
  loadInWorker<TestTasks>({ threads: 1, worker: newTestWorker, ...options });

export const numbers = (length: number, seed = 1): Float32Array<ArrayBuffer> =>
  Float32Array.from({ length }, (_, i) => Math.sin(seed + i));
