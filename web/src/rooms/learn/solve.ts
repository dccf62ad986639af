/** The room's desk: one lesson at a time, of one training or of two that take turns, which goes on from order to order. */
import { type Heed, HeedError } from "heed";
import type { Bench } from "../../desks";
import type { Begun, News, Order, Setup, Snapshot, Stopped } from "./orders";
import { spacingAt } from "./past";
import { held, Training, weighed } from "./training";

/** How long the worker computes before it listens, and before it tells, in milliseconds. */
const slice = 20;
/** Two trainings have twice the pictures to be drawn: they tell less often, so that the page stays smooth. */
const silences = [100, 160];

/** A step refuses a loss that is no number; an answer may be refused for the same reason. */
function isOfNumbers(error: unknown): boolean {
  return error instanceof HeedError && (error.code === "nan" || error.message.includes("NaN"));
}

class Lesson {
  readonly #trainings: Training[] = [];
  #isPaused = true;
  #isOver = false;
  /** Resolves when no steps are being made. */
  #rest: Promise<unknown> = Promise.resolve();

  constructor(heed: Heed, setups: readonly Setup[]) {
    try {
      for (const setup of setups) this.#trainings.push(new Training(heed, setup));
    } catch (error) {
      this.#dispose();
      throw error;
    }
  }

  async begin(): Promise<Begun> {
    const [one] = this.#trainings as [Training];
    return {
      kind: "begun",
      ...{ about: one.task.about, source: one.source, chance: one.chance, held, weighed },
      courses: this.#trainings.map((training) => training.course()),
      first: await this.#look(),
    };
  }

  pause(): void {
    this.#isPaused = true;
  }

  async train(steps: number, bench: Bench<News>): Promise<Stopped> {
    this.pause();
    await this.#rest;
    this.#isPaused = false;
    const work = this.#work(steps, bench);
    this.#rest = work.catch(() => {});
    return work;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#rest;
    this.#dispose();
  }

  get #step(): number {
    return Math.min(...this.#trainings.map(({ trainer }) => trainer.stepCount));
  }

  async #work(steps: number, bench: Bench<News>): Promise<Stopped> {
    const begin = performance.now();
    const last = this.#step + steps;
    let [heard, told, trained, done] = [begin, begin, 0, 0];
    let snapshots: Snapshot[] = [];
    const tell = () => {
      const millisecondsPerStep = trained / Math.max(1, done);
      bench.progress({ step: this.#step, snapshots, millisecondsPerStep });
      snapshots = [];
      told = performance.now();
    };
    const silence = silences[this.#trainings.length - 1] as number;
    let why: Stopped["why"] | null = null;
    while (why === null) {
      const before = performance.now();
      try {
        for (const training of this.#trainings) training.step();
        trained += performance.now() - before;
        ++done;
        if (this.#trainings[0]?.trainer.finished) why = "finished";
        else if (this.#step >= last) why = "done";
        else if (this.#isPaused || this.#isOver) why = "paused";
        // Where training stops, one wants to see.
        if (why !== null || this.#step % spacingAt(this.#step) === 0)
          snapshots.push(await this.#look());
      } catch (error) {
        if (!isOfNumbers(error)) throw error;
        why = "nan";
      }
      if (performance.now() - told >= silence) tell();
      if (performance.now() - heard >= slice) {
        await bench.pause();
        heard = performance.now();
      }
    }
    tell();
    return { kind: "stopped", step: this.#step, why };
  }

  async #look(): Promise<Snapshot> {
    const step = this.#step;
    const courses = [];
    for (const training of this.#trainings) courses.push(await training.look());
    return { step, courses };
  }

  #dispose(): void {
    for (const training of this.#trainings) training.dispose();
  }
}

let lesson: Lesson | null = null;
/** Lessons begin one after the other: the one before has to have ended. */
let turn: Promise<unknown> = Promise.resolve();

async function begin(setups: readonly Setup[], { heed, signal }: Bench<News>): Promise<Begun> {
  signal.throwIfAborted();
  const old = lesson;
  lesson = null;
  await old?.end();
  const next = new Lesson(heed, setups);
  lesson = next;
  return next.begin();
}

export default async function solve(order: Order, bench: Bench<News>): Promise<Begun | Stopped> {
  if (order.kind === "begin") {
    lesson?.pause();
    const begun = turn.then(() => begin(order.setups, bench));
    turn = begun.catch(() => {});
    return begun;
  }
  if (!lesson) throw new RangeError("nothing has been begun");
  if (order.kind === "train") return lesson.train(order.steps, bench);
  lesson.pause();
  return { kind: "stopped", step: 0, why: "paused" };
}
