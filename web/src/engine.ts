/** The page's side of the worker: at most one problem is under way, and of those that wait only the latest is kept. */
import type { EngineInfo, FromWorker, Problem, Solution } from "./protocol";

export interface EngineEvents {
  ready(info: EngineInfo): void;
  /** `problem` is the very object that was asked. */
  solved(solution: Solution, problem: Problem): void;
  /** The engine could not start, or could not solve a problem: words for the person. */
  failed(message: string): void;
}

/**
 * Firefox 153 on a busy machine now and then never returns from starting a worker inside a worker, as the engine's
 * threads are. A start that takes this long gets a rival, and the first of them that is ready is the engine. On a slow
 * line nothing is lost: the first start goes on.
 */
const patience = 5000;
const mostStarts = 3;

export class Engine {
  #events: EngineEvents;
  /** Those that are starting, and later the one that started. */
  #workers = new Set<Worker>();
  #starts = 0;
  #worker: Worker | null = null;
  #underWay: Problem | null = null;
  #waiting: Problem | null = null;

  constructor(events: EngineEvents) {
    this.#events = events;
    this.#start();
  }

  solve(problem: Problem): void {
    this.#waiting = problem;
    this.#next();
  }

  #start(): void {
    const worker = new Worker(new URL("./engine.worker.ts", import.meta.url), {
      type: "module",
      name: "heed",
    });
    this.#workers.add(worker);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(worker, data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(worker, event.message || "its worker did not load");
    };
    if (++this.#starts === mostStarts) return;
    setTimeout(() => {
      const isStarting = !this.#worker && this.#workers.size > 0;
      if (isStarting) this.#start();
    }, patience);
  }

  /** A start that failed is only told of when no other one is left to hope for. */
  #fail(worker: Worker, message: string): void {
    this.#workers.delete(worker);
    worker.terminate();
    if (this.#workers.size === 0) this.#events.failed(`The engine could not start: ${message}`);
  }

  #next(): void {
    if (!this.#worker || this.#underWay || !this.#waiting) return;
    this.#underWay = this.#waiting;
    this.#waiting = null;
    this.#worker.postMessage(this.#underWay);
  }

  #receive(worker: Worker, message: FromWorker): void {
    switch (message.kind) {
      case "ready":
        if (this.#worker) return;
        this.#worker = worker;
        this.#workers.delete(worker);
        for (const rival of this.#workers) rival.terminate();
        this.#workers = new Set([worker]);
        this.#events.ready(message.info);
        break;
      case "failed":
        this.#fail(worker, message.message);
        return;
      case "solved": {
        const problem = this.#underWay;
        this.#underWay = null;
        // A newer problem waits already: its answer will follow at once, so this one is not shown.
        if (problem && !this.#waiting) this.#events.solved(message.solution, problem);
        break;
      }
      case "refused":
        this.#underWay = null;
        this.#events.failed(`The engine could not compute this: ${message.message}`);
        break;
    }
    this.#next();
  }
}
