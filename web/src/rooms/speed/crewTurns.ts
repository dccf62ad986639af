/** How the threads of a crew hear of a turn from the thread that started them, and how they run a loop. */
import { readStep } from "./loops";

/** The data that every thread receives: the loops by number, and the memory that they read. */
export interface Loops {
  readonly modules: readonly WebAssembly.Module[];
  readonly memory: WebAssembly.Memory;
  readonly bytes: number;
}

export interface CrewMember extends Loops {
  readonly control: Int32Array;
  readonly index: number;
}

/** One run of a loop, packed into one number so that a single atomic store publishes all of it. */
export interface Turn {
  readonly loop: number;
  readonly threads: number;
}
/** Indices into `control`. */
export const [turn, working, repeats] = [0, 1, 2];
const most = 32;
export const nextTurn = (last: number, { loop, threads }: Turn) =>
  (((last >>> 10) + 1) << 10) | (loop << 5) | (threads - 1);
const turnFrom = (word: number): Turn => ({
  loop: (word >>> 5) & (most - 1),
  threads: (word & (most - 1)) + 1,
});

type LoopFunction = (a: number, b: number) => number;

/** The loops of one thread, by number. */
export function runner({ modules, memory, bytes }: Loops, index: number) {
  const runs = modules.map((module) => {
    const { exports } = new WebAssembly.Instance(module, { m: { m: memory } });
    const readsMemory = WebAssembly.Module.imports(module).length > 0;
    return { run: exports.r as LoopFunction, readsMemory };
  });
  return ({ loop, threads }: Turn, count: number): void => {
    const one = runs[loop];
    if (!one) throw new RangeError(`there is no loop ${loop}`);
    if (!one.readsMemory) {
      one.run(count, 0);
      return;
    }
    const share = Math.floor(bytes / threads / readStep) * readStep;
    for (let pass = 0; pass < count; ++pass) {
      const sum = one.run(index * share, (index + 1) * share);
      // Every number in the memory is 1.
      if (sum !== share / 4) throw new Error(`reading memory: expected ${share / 4}, got ${sum}`);
    }
  };
}

/** Runs in each worker until the worker is terminated: computes its share of every turn that it takes part in. */
export function serve({ control, index, ...loops }: CrewMember, ready: () => void): void {
  const run = runner(loops, index);
  ready();
  for (let seen = 0; ; ) {
    Atomics.wait(control, turn, seen);
    seen = Atomics.load(control, turn);
    const now = turnFrom(seen);
    if (index >= now.threads) continue;
    run(now, Atomics.load(control, repeats));
    Atomics.sub(control, working, 1);
    Atomics.notify(control, working);
  }
}
