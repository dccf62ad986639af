// Repeated actions after which no memory, threads or workers may remain: small calls, engines that
// come and go, a training, and workers that die in the middle of a call. `counts` is the number of
// repetitions in `./dev soak`; lifecycle.test.ts repeats less often.

import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { load } from "heed";
import { tinyTraining } from "../js/tiny_training.js";
import { expectSameBits, expectWorks } from "../js/values.js";

/** The memory of the process after the garbage collector ran, in bytes, and its threads. */
export interface Held {
  readonly heap: number;
  readonly rss: number;
  readonly threads: number;
}

/** The threads of this process; 0 where they cannot be counted. */
const countThreads = () =>
  existsSync("/proc/self/task") ? readdirSync("/proc/self/task").length : 0;

/** @param most the maximum number of threads; threads of ended workers take a moment to end */
export async function held(most = Infinity): Promise<Held> {
  const started = performance.now();
  do {
    for (let round = 0; round < 4; ++round) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } while (countThreads() > most && performance.now() - started < 20_000);
  const { heapUsed: heap, rss } = process.memoryUsage();
  return { heap, rss, threads: countThreads() };
}

/** Descriptions of the actions, for a table. */
export const labels = {
  smallCalls: "small calls",
  loads: "engines that came and went",
  trainingSteps: "steps of a training",
  deadWorkers: "workers that died in the middle of a call",
} as const;

/** How often each is done by `./dev soak`. */
export const counts = { smallCalls: 100_000, loads: 300, trainingSteps: 2000, deadWorkers: 20 };

/**
 * Does something a tenth of `count` times, then the rest, and returns the memory before and after
 * the rest.
 */
async function measured(
  count: number,
  run: (times: number) => void | Promise<void>,
): Promise<{ before: Held; after: Held }> {
  const first = Math.ceil(count / 10);
  await run(first);
  const before = await held();
  await run(count - first);
  return { before, after: await held(before.threads) };
}

export const endurance = {
  smallCalls: async (count: number) => {
    const heed = await load({ threads: 2 });
    const x = heed.tensor(new Float32Array(6).fill(0.5), [1, 1, 3, 2]);
    const call = () => heed.attention(x, x, x, { isCausal: true }).output;
    const wanted = heed.scope(() => call().data.slice());
    const { used } = heed.memory();
    const result = await measured(count, (times) => {
      for (let i = 0; i < times; ++i)
        heed.scope(() => {
          const { data } = call();
          if (i % 1000 === 0) expectSameBits(data, wanted);
        });
    });
    if (heed.memory().used !== used)
      throw new Error(`${heed.memory().used} bytes used, not ${used}`);
    heed.dispose();
    return result;
  },

  loads: (count: number) =>
    measured(count, async (times) => {
      for (let i = 0; i < times; ++i) {
        const heed = await load({ threads: 2 });
        expectWorks(heed);
        heed.dispose();
      }
    }),

  trainingSteps: async (count: number) => {
    const heed = await load({ threads: 2 });
    const trainer = tinyTraining(heed, { recipe: { steps: count } });
    let used = 0;
    const result = await measured(count, (times) => {
      for (let i = 0; i < times; ++i) trainer.step();
      used ||= heed.memory().used;
    });
    // Batches differ in their lengths, and scratch memory is kept for the longest.
    if (heed.memory().used > used + 2 ** 20)
      throw new Error(`${heed.memory().used} bytes used, not ${used}`);
    trainer.dispose();
    trainer.model.dispose();
    if (heed.memory().tensors.count !== 0) throw new Error("a training left tensors behind");
    heed.dispose();
    return result;
  },

  deadWorkers: async (count: number) => {
    const heed = await load({ threads: 2 });
    const program = `
      const { parentPort } = require("node:worker_threads");
      import("heed").then(async ({ load }) => {
        const heed = await load({ threads: 2 });
        const x = heed.ones([1, 4, 16384, 64]);
        parentPort.postMessage("begins");
        heed.attention(x, x, x);
        parentPort.postMessage("ended before it was stopped");
      });`;
    const result = await measured(count, async (times) => {
      for (let i = 0; i < times; ++i) {
        const worker = new Worker(program, { eval: true, execArgv: [] });
        const said: unknown[] = [];
        worker.on("message", (message) => said.push(message));
        await once(worker, "message");
        // The engine of this thread works while the other one exists, and after its end.
        expectWorks(heed);
        await worker.terminate();
        expectWorks(heed);
        if (said.length !== 1) throw new Error(`the worker ${said.at(-1)}`);
      }
    });
    heed.dispose();
    return result;
  },
} satisfies Record<keyof typeof counts, (count: number) => Promise<{ before: Held; after: Held }>>;
