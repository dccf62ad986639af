// Workers for the tests of heed/worker.

import { HeedError } from "heed";
import { loadInWorker, type RemoteHeed, type WorkerLike } from "heed/worker";
import { isNode } from "./engine.js";
import type { tasks } from "./worker_tasks.mjs";

export type TestTasks = typeof tasks;

/**
 * The worker of worker_tasks.mjs. In a browser Vite serves it only by this literal address.
 *
 * @param env variables of the worker's environment, in Node
 */
export function newTestWorker(env: Record<string, string> = {}): WorkerLike {
  if (!isNode)
    return new Worker(new URL("./worker_tasks.mjs", import.meta.url), { type: "module" });
  return newNodeWorker(new URL("./worker_tasks.mjs", import.meta.url), env);
}

export function newNodeWorker(address: URL, env: Record<string, string> = {}): WorkerLike {
  const { Worker: NodeWorker } = process.getBuiltinModule("node:worker_threads");
  return new NodeWorker(address, { execArgv: [], env: { ...process.env, ...env } });
}

/** An engine in a worker with the tasks of worker_tasks.mjs. */
export const loadWithTasks = (
  options: { threads?: number; env?: Record<string, string> } = {},
): Promise<RemoteHeed<TestTasks>> => {
  const { env, ...others } = { threads: 1, ...options };
  return loadInWorker<TestTasks>({ ...others, worker: () => newTestWorker(env) });
};

/** The HeedError of a call. */
export async function refusalOf(call: Promise<unknown>): Promise<HeedError> {
  const error = await call.then(
    () => new Error("expected a HeedError, but the call went through"),
    (error: unknown) => error,
  );
  if (error instanceof HeedError) return error;
  throw error;
}

export const numbers = (length: number, seed = 1): Float32Array<ArrayBuffer> =>
  Float32Array.from({ length }, (_, i) => Math.sin(seed + i));
