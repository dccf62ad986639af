/** Threads that run the same loop at the same time: this one, and workers of its own. */
import { readStep } from "./loops";

/** What every thread has: the loops by number, and the memory that they read. */
export interface Loops {
  readonly modules: readonly WebAssembly.Module[];
  readonly memory: WebAssembly.Memory;
  readonly bytes: number;
}

export interface Recruit extends Loops {
  readonly control: Int32Array;
  readonly index: number;
}

/** One turn; in one number, so that all of it is seen at once. */
interface Turn {
  readonly loop: number;
  readonly threads: number;
}
const [turn, working, repeats] = [0, 1, 2]; // places in `control`
const most = 32;
const nextTurn = (last: number, { loop, threads }: Turn) =>
  (((last >>> 10) + 1) << 10) | (loop << 5) | (threads - 1);
const turnFrom = (word: number): Turn => ({
  loop: (word >>> 5) & (most - 1),
  threads: (word & (most - 1)) + 1,
});

type Run = (a: number, b: number) => number;

/** The loops of one thread, by number. */
function runner({ modules, memory, bytes }: Loops, index: number) {
  const runs = modules.map((module) => {
    const { exports } = new WebAssembly.Instance(module, { m: { m: memory } });
    const readsMemory = WebAssembly.Module.imports(module).length > 0;
    return { run: exports.r as Run, readsMemory };
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

/** What a recruit does until its worker is ended: its share, whenever it takes part in a turn. */
export function serve({ control, index, ...loops }: Recruit, ready: () => void): void {
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

export interface Crew {
  /** Runs a loop so often, or reads the memory so often, in each thread; comes back after the last. */
  run(loop: number, threads: number, count: number): void;
}

function recruit(message: Recruit): Promise<void> {
  const worker = new Worker(new URL("./crew.worker.ts", import.meta.url), {
    type: "module",
    name: "loop",
  });
  return new Promise((resolve, reject) => {
    worker.onmessage = () => resolve();
    worker.onerror = ({ message }) => reject(new Error(message || "a thread did not start"));
    worker.postMessage(message);
  });
}

/** Those of this thread's children end with it. */
export async function startCrew(loops: Loops, threads: number): Promise<Crew> {
  const own = runner(loops, 0);
  if (threads === 1) return { run: (loop, _, count) => own({ loop, threads: 1 }, count) };
  const control = new Int32Array(new SharedArrayBuffer(12));
  await Promise.all(
    Array.from({ length: threads - 1 }, (_, i) => recruit({ ...loops, control, index: i + 1 })),
  );
  return {
    run(loop, threads, count) {
      const now = { loop, threads };
      Atomics.store(control, repeats, count);
      Atomics.store(control, working, threads - 1);
      Atomics.store(control, turn, nextTurn(Atomics.load(control, turn), now));
      Atomics.notify(control, turn);
      own(now, count);
      for (let left = Atomics.load(control, working); left > 0; ) {
        Atomics.wait(control, working, left);
        left = Atomics.load(control, working);
      }
    },
  };
}
