/** Work in slices of time, so that the page can draw and answer between them. */
import type { Job } from "../picture/job.js";

/** In milliseconds: two slices and the page's own work fit into 50, from which on a task is a long one. */
const slice = 10;

/**
 * Calls `run` once for each time that it is asked, after other work of the page. A message comes sooner than a timer,
 * which browsers delay by 4 ms, and lets the page draw in between; Jest's jsdom has no messages.
 */
function turnsOf(run: () => void) {
  if (globalThis.MessageChannel === undefined) {
    let timer: ReturnType<typeof setTimeout>;
    return {
      ask: () => {
        timer = setTimeout(run);
      },
      end: () => clearTimeout(timer),
    };
  }
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = run;
  return {
    ask: () => port2.postMessage(null),
    end: () => {
      port1.onmessage = null;
      port1.close();
    },
  };
}

/**
 * Takes one job after the other from `pick` and runs them for some milliseconds at a time, until there is none.
 *
 * @param pick the next job, the most urgent one first; null if there is none
 */
export class Slices {
  readonly #pick: () => Job | null;
  #job: Job | null = null;
  #turns: ReturnType<typeof turnsOf> | null = null;
  #idle: Promise<void> = Promise.resolve();
  #rest: () => void = () => {};

  constructor(pick: () => Job | null) {
    this.#pick = pick;
  }

  /** Resolves when there is no job left, or all are given up. */
  get idle(): Promise<void> {
    return this.#idle;
  }

  /** Goes on, or begins, as there may be jobs. */
  wake(): void {
    if (this.#turns) return;
    this.#idle = new Promise((resolve) => {
      this.#rest = resolve;
    });
    const turns = turnsOf(() => {
      if (this.#run()) turns.ask();
      else if (this.#turns === turns) this.#close();
    });
    turns.ask();
    this.#turns = turns;
  }

  /** Gives up the job that runs, and takes no other until it is woken. */
  stop(): void {
    this.#job = null;
    this.#close();
  }

  #close(): void {
    this.#turns?.end();
    this.#turns = null;
    this.#rest();
  }

  /** Whether there is more to do. */
  #run(): boolean {
    const turns = this.#turns;
    const end = performance.now() + slice;
    while (performance.now() < end) {
      this.#job ??= this.#pick();
      if (!this.#job) return false;
      const isDone = this.#job.next().done;
      // A job may stop the work, or begin another.
      if (this.#turns !== turns) return false;
      if (isDone) this.#job = null;
    }
    return true;
  }
}

/** Runs one job in slices, and gives what it returns. */
export async function inSlices<T>(job: Job<T>): Promise<T> {
  const results: T[] = [];
  function* run(): Job {
    results.push(yield* job);
  }
  const jobs = [run()];
  const slices = new Slices(() => jobs.pop() ?? null);
  slices.wake();
  await slices.idle;
  return results[0] as T;
}
