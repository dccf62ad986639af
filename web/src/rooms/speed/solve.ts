/** The room's desk: measures everything of a run, in turn, and tells how far it is. */
import { type Heed, load, type Variant } from "heed";
import type { Solver, SolverContext } from "../../worker/solver";
import {
  differenceOf,
  engineReady,
  holdingOf,
  type Inputs,
  inputsOf,
  javaScriptReady,
  type Ready,
  type Rows,
  someRows,
} from "./contenders";
import { findLimits, type Limits } from "./limits";
import { casesOf, contendersOf } from "./plan";
import type { Case, Contender, Figure, Holding, News, Report, Request } from "./report";
import { clockStep, type Pace, timeInRounds } from "./rounds";

/** A row that differs by more is wrong. */
const tolerance = 1e-4;
/** Rows of an answer that are compared where plain JavaScript would take too long for all. */
const rowsCompared = 64;
/** Milliseconds after which an engine that does not start is left out. */
const patience = 10_000;
const engineMemory = 2 ** 30;

interface Haste extends Pace {
  /** Milliseconds of a call of plain JavaScript that would be too long. */
  readonly longestCall: number;
  /** Milliseconds for all: a slow machine makes fewer rounds of each case, and calls plain JavaScript less. */
  readonly budget: number;
}
const short: Haste = { shortest: 4, rounds: 5, longestCall: 120, budget: 2300 };
const long: Haste = {
  ...{ shortest: 12, rounds: 11, longestCall: 8000 },
  budget: Number.POSITIVE_INFINITY,
};
/** Calls of plain JavaScript in a case: one to compare with, one to warm up, and the rounds. */
const callsOfCase = 6;
/** Samples are so many steps of the clock. */
const stepsInSample = 20;

/** Before anything was measured: operations a millisecond, for how long to expect. */
const guessed = { engine: 2e7, javaScript: 1e6 };

const rest = () => new Promise<void>((resolve) => setTimeout(resolve, 2));

function within<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("it did not start")), milliseconds);
    promise.then(resolve, reject);
  });
}

class Run {
  readonly #context: SolverContext<News>;
  readonly #haste: Haste;
  readonly #engines = new Map<string, Heed>();
  /** Why a contender computes nothing at all. */
  readonly #absent = new Map<string, string>();
  readonly #report: Report;
  readonly #figures: Figure[] = [];
  #limits: Limits | null = null;
  readonly #holdings: Holding[] = [];
  readonly #start = performance.now();
  /** When the case that is measured is to end. */
  #deadline = Number.POSITIVE_INFINITY;
  /** Milliseconds of a call of plain JavaScript that would be too long, in that case. */
  #longestCall: number;
  #javaScriptSpeed = guessed.javaScript;
  /** Work done and to be done, in expected milliseconds. */
  #done = 0;
  #all = 0;
  #told = Number.NEGATIVE_INFINITY;
  /** How many figures the page has; none of them is not the same as no report. */
  #shown = -1;

  constructor(request: Request, context: SolverContext<News>) {
    const { version, variant, threads, reason } = context.heed.info;
    const cores = navigator.hardwareConcurrency;
    const isIsolated = globalThis.crossOriginIsolated;
    const clock = clockStep();
    const haste = request.isLong ? long : short;
    this.#context = context;
    this.#longestCall = haste.longestCall;
    this.#haste = { ...haste, shortest: Math.max(haste.shortest, stepsInSample * clock) };
    this.#report = {
      ...{ request, version, cores, isIsolated, reason, clock },
      date: Date.now(),
      contenders: contendersOf(request, { variant, threads, cores, isIsolated }),
      cases: casesOf(request),
      limits: [],
      figures: [],
      holdings: [],
      milliseconds: 0,
    };
  }

  async measure(): Promise<Report> {
    const { cases, contenders } = this.#report;
    const costs = cases.map((one) => this.#cost(one));
    const starting = 100;
    this.#all = costs.reduce((sum, cost) => sum + cost, contenders.length * starting);
    await this.#loadEngines(starting);
    await this.#startLimits();
    for (const [i, one] of cases.entries()) {
      const before = this.#done;
      this.#allot(cases.length - i);
      await this.#measureCase(one, (share) => {
        this.#tell(before + share * (costs[i] as number), one.name);
      });
      this.#done = before + (costs[i] as number);
    }
    // Last: weights take memory that is never given back, and would be counted in what follows.
    for (const one of cases.filter(({ kind }) => kind === "attention")) {
      await this.#rest();
      this.#holdings.push(holdingOf(this.#context.heed, one, inputsOf(this.#context.heed, one)));
    }
    return this.#now();
  }

  /** Shares what is left of the budget among the cases that are left. */
  #allot(casesLeft: number): void {
    const { budget, longestCall } = this.#haste;
    const now = performance.now();
    const share = Math.max(0, this.#start + budget - now) / casesLeft;
    this.#deadline = now + share;
    this.#longestCall = Math.min(longestCall, Math.max(longestCall / 4, share / callsOfCase));
  }

  #now(): Report {
    return {
      ...this.#report,
      limits: this.#limits?.soFar() ?? [],
      figures: [...this.#figures],
      holdings: [...this.#holdings],
      milliseconds: performance.now() - this.#start,
    };
  }

  /** Not often: the page paints what it is told, which takes time from the threads. */
  #tell(done: number, doing: string): void {
    const now = performance.now();
    if (now - this.#told < 250) return;
    this.#told = now;
    const hasMore = this.#figures.length > this.#shown;
    this.#shown = this.#figures.length;
    const report = hasMore ? this.#now() : null;
    this.#context.progress({ share: Math.min(1, done / this.#all), doing, report });
  }

  /** How long a case will take, about. */
  #cost(one: Case): number {
    const { shortest, rounds, longestCall } = this.#haste;
    const costs = this.#report.contenders.map(({ variant, threads }) => {
      const speed = variant === null ? this.#javaScriptSpeed : guessed.engine * threads;
      const once = one.operations / speed;
      if (variant === null && once > longestCall) return 0;
      return (once > 150 ? 4 : rounds + 2) * Math.max(once, shortest);
    });
    return costs.reduce((sum, cost) => sum + cost, 0);
  }

  async #loadEngines(cost: number): Promise<void> {
    const { heed } = this.#context;
    for (const { id, name, variant, threads } of this.#report.contenders) {
      this.#tell(this.#done, `starting ${name}`);
      this.#done += cost;
      if (variant === null) continue;
      const isThere = variant === heed.info.variant && threads === heed.info.threads;
      try {
        const options = { variant: variant as Variant, threads, maxMemory: engineMemory };
        this.#engines.set(id, isThere ? heed : await within(load(options), patience));
      } catch (error) {
        this.#absent.set(id, (error as Error).message);
      }
      await this.#context.pause();
    }
  }

  async #startLimits(): Promise<void> {
    const present = this.#report.contenders.filter(({ id }) => !this.#absent.has(id));
    const alone = present.filter(({ threads }) => threads === 1);
    const find = (contenders: Contender[]) =>
      within(findLimits(contenders, this.#haste.shortest), patience);
    // Where no more threads start, there is a limit for one.
    this.#limits = await find(present).catch(() => find(alone));
    await this.#limits.measure(this.#rest, () => this.#tell(this.#done, "the limits"));
  }

  /** Lets messages in, and threads that still spin after their work come to rest. */
  #rest = async (): Promise<void> => {
    await this.#context.pause();
    await rest();
  };

  async #measureCase(one: Case, tell: (share: number) => void): Promise<void> {
    const inputs = inputsOf(this.#context.heed, one);
    const reference = this.#reference(one, inputs);
    const racers: { contender: Contender; ready: Ready; first: number; figure: Figure }[] = [];
    for (const contender of this.#report.contenders) {
      await this.#rest();
      tell(0);
      const figure = { ...nothing, caseId: one.id, contenderId: contender.id };
      const reason = this.#reasonAgainst(contender, one);
      const heed = this.#engines.get(contender.id);
      if (reason !== null) {
        this.#figures.push({ ...figure, reason });
      } else if (!heed) {
        const { ready, first } = reference;
        racers.push({ contender, ready, first, figure: { ...figure, memory: ready.memory() } });
      } else {
        const ready = engineReady(heed, one, inputs);
        const { answer, took } = timed(() => ready.answer());
        const difference = differenceOf(reference.rows, answer, one);
        // Written so that a number that is none is a wrong answer, too.
        if (!(difference <= tolerance))
          throw new Error(
            `${contender.name}, ${one.name}: expected what plain JavaScript computes, got a row that differs by ${difference}`,
          );
        const checked = { ...figure, difference, memory: ready.memory() };
        racers.push({ contender, ready, first: took, figure: checked });
      }
    }
    const timings = await timeInRounds(
      racers.map(({ ready, first }) => ({ run: ready.run, first })),
      this.#haste,
      this.#rest,
      tell,
      this.#deadline,
    );
    for (const [i, { contender, ready, figure }] of racers.entries()) {
      const timing = timings[i];
      if (!timing) continue;
      if (contender.variant === null) this.#javaScriptSpeed = one.operations / timing.least;
      this.#figures.push({ ...figure, timing });
      ready.dispose();
    }
    if (performance.now() < this.#deadline) await this.#limits?.measure(this.#rest, () => {});
  }

  #isTooLong(one: Case): boolean {
    return one.operations / this.#javaScriptSpeed > this.#longestCall;
  }

  /** Why a contender is not measured in a case. */
  #reasonAgainst({ id, variant }: Contender, one: Case): string | null {
    const absent = this.#absent.get(id);
    if (absent !== undefined) return absent;
    if (variant !== null || !this.#isTooLong(one)) return null;
    const seconds = one.operations / this.#javaScriptSpeed / 1000;
    return `a call would take about ${seconds.toFixed(1)} s`;
  }

  /** Plain JavaScript's answer: all rows where it takes part, else some. */
  #reference(one: Case, inputs: Inputs): { ready: Ready; rows: Rows; first: number } {
    const ready = javaScriptReady(one, inputs);
    if (this.#isTooLong(one) && one.kind !== "layer")
      return { ready, rows: someRows(one, inputs, rowsCompared), first: 0 };
    const { answer, took } = timed(() => ready.answer());
    return { ready, rows: { values: answer, step: 1 }, first: took };
  }
}

const nothing = { timing: null, reason: null, difference: null, memory: null };

function timed<T>(run: () => T): { answer: T; took: number } {
  const start = performance.now();
  const answer = run();
  return { answer, took: performance.now() - start };
}

const solve: Solver<Request, Report, News> = (request, context) =>
  new Run(request, context).measure();

export default solve;
