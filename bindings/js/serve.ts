// The entry heed/worker/serve, for the script of a worker.

import { running } from "./core/running.js";
import type { Heed } from "./heed.js";
import { type LoadOptions, loadFrom } from "./load/load.js";
import { Calls, sentError } from "./worker/calls.js";
import { ownPort } from "./worker/ports.js";
import type { FromWorker, Ready, ToWorker } from "./worker/protocol.js";
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

  async function start({ start: options, files, lock }: Extract<ToWorker, { start: unknown }>) {
    try {
      const heed = await loadFrom({ ...options, ...engine }, files);
      calls = new Calls(heed, tasks, libraries, post);
      const isLocked = lock !== undefined && (await hold(lock));
      announce(heed, (ready) => post({ ready: { ...ready, isLocked } }, []));
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

/**
 * Tells the page that the engine runs. If memory can be shared, the message contains the word of
 * the running call.
 */
function announce(heed: Heed, post: (ready: Omit<Ready, "isLocked">) => void): void {
  const { info } = heed;
  const word = heed.engine.border.callWord;
  if (word) {
    try {
      post({ info, word });
      running.word = new Int32Array(word.memory.buffer, word.address, 1);
      return;
    } catch {
      // This page is not isolated, so a running operation cannot be interrupted.
    }
  }
  post({ info });
}
