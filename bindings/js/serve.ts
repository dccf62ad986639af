// The entry heed/worker/serve, for the script of a worker.

import { running } from "./core/running.js";
import { type LoadOptions, loadFrom } from "./load/load.js";
import { Calls, sentError } from "./worker/calls.js";
import { ownPort } from "./worker/ports.js";
import type { FromWorker, ToWorker } from "./worker/protocol.js";
import type { Libraries, Tasks } from "./worker/tasks.js";

export type { Libraries, TaskContext, Tasks } from "./worker/tasks.js";

/**
 * Prepares this worker for the option `worker` of `loadInWorker`, and offers functions to the page
 * in addition to the engine's own. Use:
 *
 *     const tasks = {
 *       similar({ rows, shape }: Request, { heed }: TaskContext): Float32Array {
 *         return heed.scope(() => heed.selfSimilarity(heed.tensor(rows, shape)).weights.data.slice());
 *       },
 *     };
 *     export type SimilarTasks = typeof tasks;
 *     serve(tasks);
 *
 * A task is one message, independent of its amount of work: a loop of many small operations belongs
 * in one task. Requests and answers may contain objects of the engine; the page has remote objects
 * for them, such as `RemoteTensor`. The buffers of other typed arrays in answers and in progress
 * reports are transferred to the page. Arrays in the engine's memory are copied.
 *
 * @param libraries the libraries that the page calls as `heed.nn`, `heed.optim`, `heed.safetensors`
 *   and `heed.models`
 * @param engine the option `glue` of `load`, which a page cannot send: for a script that cannot use
 *   `import()`
 * @throws HeedError "unsupported" outside a worker
 *
 * @example
 * ```ts
 * // The worker's script is text here, and a module of its own in an app.
 * const script = `import("heed/worker/serve").then(({ serve }) =>
 *   serve({ twice: (numbers) => numbers.map((number) => 2 * number) }))`;
 * const { Worker } = await import("node:worker_threads");
 * type Doubling = { twice(numbers: Float32Array): Float32Array };
 * const remote = await loadInWorker<Doubling>({
 *   worker: () => new Worker(script, { eval: true }),
 *   threads: 1,
 * });
 * console.log(await remote.tasks.twice(Float32Array.of(1, 2))); // prints: Float32Array(2) [ 2, 4 ]
 * remote.dispose();
 * ```
 */
export function serve(
  tasks: Tasks = {},
  libraries: Libraries = {},
  engine: Pick<LoadOptions, "glue"> = {},
): void {
  let calls: Calls | undefined;
  const port = ownPort<ToWorker>((message) => {
    if ("start" in message) void start(message);
    else calls?.receive(message);
  });
  const post = (message: FromWorker, transfer: Iterable<object>) =>
    port.post(message, [...transfer]);

  async function start(message: Extract<ToWorker, { start: unknown }>) {
    const { start: options, files, lock, reserved } = message;
    try {
      const heed = await loadFrom({ ...options, ...engine }, files, reserved);
      calls = new Calls(heed, tasks, libraries, post);
      const isLocked = lock !== undefined && (await hold(lock));
      const word = heed.engine.border.callWord;
      const isShared = word !== undefined && word.memory === reserved?.memory;
      if (isShared) running.word = new Int32Array(word.memory.buffer, word.address, 1);
      post({ ready: { info: heed.info, isLocked, ...(isShared && { word: word.address }) } }, []);
    } catch (error) {
      post({ failed: sentError(error) }, []);
    }
  }

  post({ listens: true }, []);
}

/** Holds a lock until this worker ends. The page detects the end of the worker by this lock. */
function hold(lock: string): Promise<boolean> {
  return new Promise((resolve) => {
    const forever = new Promise(() => {});
    const held = navigator.locks.request(lock, () => {
      resolve(true);
      return forever;
    });
    held.catch(() => resolve(false));
  });
}
