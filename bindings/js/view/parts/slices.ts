/** Work in slices of time, so that the page can draw and answer between them. */
import type { Job } from "../picture/job.js";

/**
 * The length of a slice in milliseconds: two slices and the page's own work stay below 50, the
 * limit of a long task.
 */
const slice = 10;

/**
 * Calls `run` once for each request, after other work of the page. A message is delivered sooner
 * than a timer, which browsers delay by 4 ms, and lets the page draw before it. Jest's jsdom has no
 * messages.
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
 * Takes jobs from `pick`, one after the other, and runs each for some milliseconds at a time, until
 * there is none.
 *
 * @param pick returns the most urgent job; null if there is none
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

  /** Resolves when there are no more jobs, or when the work is stopped. */
  get idle(): Promise<void> {
    return this.#idle;
  }

  /** Starts or continues the work, because there may be jobs. */
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

  /** Abandons the running job, and takes no other until `wake` is called. */
  stop(): void {
    this.#job = null;
    this.#close();
  }

  #close(): void {
    this.#turns?.end();
    this.#turns = null;
    this.#rest();
  }

  /** Runs one slice. Returns whether there is more to do. */
  #run(): boolean {
    const turns = this.#turns;
    const end = performance.now() + slice;
    while (performance.now() < end) {
      this.#job ??= this.#pick();
      if (!this.#job) return false;
      const isDone = this.#job.next().done;
      // A job may stop the work, or start it again.
      if (this.#turns !== turns) return false;
      if (isDone) this.#job = null;
    }
    return true;
  }
}

/** Runs one job in slices, and returns its result. */
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
