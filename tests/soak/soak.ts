// The work of `./dev soak`, in one thread: random calls, caches, training steps and reloads, in turns, until it is told
// to stop. run.mjs runs it in two threads of one process.

import { isMainThread, parentPort, workerData } from "node:worker_threads";
import * as fc from "fast-check";
import { type Heed, load } from "heed";
import type { Trainer } from "heed/models";
import { rightCalls } from "../js/calls/index.js";
import { callStrangely, strangeCall } from "../js/calls/refused.js";
import { tinyTraining } from "../js/tiny_training.js";
import { expectWorks } from "../js/values.js";

const MiB = 2 ** 20;

/** The work that one thread has done so far. */
export interface Tally {
  /** Calls that were compared with the reference, or made with arguments that do not fit. */
  calls: number;
  refused: number;
  trainingSteps: number;
  reloads: number;
  /** The size of the memories of the engines, and the used part of it, in bytes. */
  engineSize: number;
  engineUsed: number;
  /** Descriptions of the failures, with the values that repeat them. */
  wrong: string[];
}

const none: Tally = {
  ...{ calls: 0, refused: 0, trainingSteps: 0, reloads: 0, engineSize: 0, engineUsed: 0 },
  wrong: [],
};

/** The same training on two engines, with one thread and with two: their losses must have the same bits. */
class Twins {
  readonly #trainers: readonly Trainer[];

  constructor(engines: readonly Heed[], seed: number) {
    const recipe = { steps: 20 };
    this.#trainers = engines.map((heed) => tinyTraining(heed, { recipe, seed }));
  }

  get finished(): boolean {
    return this.#trainers.every(({ finished }) => finished);
  }

  step(): void {
    const losses = this.#trainers.map((trainer) => trainer.step().loss);
    if (!losses.every((loss) => Object.is(loss, losses[0])))
      throw new Error(`losses of one training: ${losses.join(" and ")}`);
  }

  dispose(): void {
    for (const trainer of this.#trainers) {
      trainer.dispose();
      trainer.model.dispose();
    }
  }
}

export class Soak {
  readonly tally: Tally = structuredClone(none);
  isStopped = false;
  readonly #seeds: () => number;
  #engines: Heed[] = [];
  #twins: Twins | undefined;

  constructor(seed: number) {
    let state = seed;
    this.#seeds = () => {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      return state >>> 1;
    };
  }

  /** Works until `isStopped`, and lets other tasks of the thread run between two pieces of work. */
  async run(): Promise<void> {
    const works = [
      ...Object.entries(rightCalls).map(
        ([name, family]) =>
          () =>
            this.#property(name, family.given, (drawn) => family.run(this.#main, drawn)),
      ),
      ...Array.from(
        { length: 12 },
        () => () =>
          this.#property("what does not fit", strangeCall, (call) =>
            callStrangely(this.#main, this.#other, call),
          ),
      ),
      ...Array.from({ length: 6 }, () => () => this.#train()),
    ];
    await this.#reload();
    while (!this.isStopped) {
      const chosen = this.#seeds() % (works.length + 1);
      try {
        if (chosen === works.length) await this.#reload();
        else works[chosen]?.();
        expectWorks(this.#main);
      } catch (error) {
        this.tally.wrong.push(error instanceof Error ? (error.stack ?? error.message) : `${error}`);
        await this.#reload();
      }
      this.#measure();
      await new Promise((resolve) => setTimeout(resolve));
    }
    this.#end();
  }

  get #main(): Heed {
    return this.#engines[0] as Heed;
  }

  get #other(): Heed {
    return this.#engines[1] as Heed;
  }

  /** Makes some calls of one kind; a wrong one is made smaller and recorded. */
  #property<T>(name: string, given: fc.Arbitrary<T>, run: (drawn: T) => boolean): void {
    const seed = this.#seeds();
    const property = fc.property(given, (drawn) => {
      ++this.tally.calls;
      if (run(drawn)) ++this.tally.refused;
    });
    const found = fc.check(property, { seed, numRuns: 20 });
    if (found.failed) {
      const why = found.errorInstance instanceof Error ? found.errorInstance.message : "";
      this.tally.wrong.push(
        `${name} ${JSON.stringify(found.counterexample)} (seed ${seed}): ${why}`,
      );
    }
  }

  #train(): void {
    this.#twins ??= new Twins(this.#engines, this.#seeds());
    this.#twins.step();
    ++this.tally.trainingSteps;
    if (!this.#twins.finished) return;
    this.#twins.dispose();
    this.#twins = undefined;
  }

  /** Ends the engines, and starts new ones. */
  async #reload(): Promise<void> {
    this.#end();
    this.#engines = [
      await load({ threads: 2, maxMemory: 64 * MiB }),
      await load({ threads: 1, maxMemory: 64 * MiB, warmUp: false }),
    ];
    ++this.tally.reloads;
  }

  #end(): void {
    this.#twins?.dispose();
    this.#twins = undefined;
    for (const heed of this.#engines) {
      const { tensors, caches, packedWeights, blockMasks } = heed.memory();
      for (const [name, { count }] of Object.entries({
        tensors,
        caches,
        packedWeights,
        blockMasks,
      }))
        if (count !== 0) this.tally.wrong.push(`${count} ${name} were left behind`);
      heed.dispose();
    }
    this.#engines = [];
  }

  #measure(): void {
    const memories = this.#engines.map((heed) => heed.memory());
    this.tally.engineSize = memories.reduce((sum, { size }) => sum + size, 0);
    this.tally.engineUsed = memories.reduce((sum, { used }) => sum + used, 0);
  }
}

// In the second thread: answers each message with the tally, and ends after "stop".
if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const soak = new Soak(workerData as number);
  port.on("message", (message) => {
    if (message === "stop") soak.isStopped = true;
    else port.postMessage(soak.tally);
  });
  await soak.run();
  port.postMessage(soak.tally);
  port.close();
}
