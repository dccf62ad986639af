/** The solver of this room: makes all measurements of a run and reports its progress. */
import { type Heed, load, type Variant } from "heed";
import type { Solver, SolverContext } from "../../worker/solver";
import {
  type CaseInputs,
  callMemoryOf,
  differenceOf,
  inputsOf,
  type PreparedCase,
  prepareEngine,
  prepareJavaScript,
  someRows,
} from "./contenders";
import { findLimits, type Limits } from "./limits";
import { casesOf, contendersOf } from "./plan";
import type {
  CallMemory,
  Case,
  Contender,
  Measurement,
  MeasuringNews,
  MeasuringRequest,
  SpeedReport,
} from "./report";
import { clockStep, type Racer, type Sampling, timeInRounds } from "./rounds";
import { measureWriting } from "./writing";

/** A row with a larger difference is wrong. */
const tolerance = 1e-4;
/** The number of rows compared if plain JavaScript would take too long for all. */
const rowsCompared = 64;
/** Milliseconds after which an engine that does not start is skipped. */
const patience = 10_000;
const engineMemory = 2 ** 30;

interface Effort extends Sampling {
  /** The longest acceptable call of plain JavaScript, in milliseconds. */
  readonly longestCall: number;
  /** Milliseconds until the last case ends. A slow machine makes fewer rounds, and fewer calls of plain JavaScript. */
  readonly budget: number;
}
const short: Effort = { shortest: 4, rounds: 5, longestCall: 120, budget: 2300 };
const long: Effort = {
  ...{ shortest: 12, rounds: 11, longestCall: 8000 },
  budget: Number.POSITIVE_INFINITY,
};
/** The number of calls of plain JavaScript in a case: for the comparison, the warm-up, and the rounds. */
const callsOfCase = 6;
/** The minimum length of a sample, in steps of the clock. */
const stepsInSample = 20;
/** The least time between two messages to the page, because painting them takes time from the threads. */
const newsInterval = 250;
/** The shares of progress at which the cases begin and end. */
const [begun, ended] = [0.1, 0.9];

function within<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error("it did not start")), milliseconds);
  });
  return Promise.race([promise, late]);
}

/** A contender that takes part in the rounds of a case. */
interface Racing extends Racer {
  readonly contender: Contender;
  readonly prepared: PreparedCase;
  readonly measurement: Measurement;
}

class MeasuringRun {
  readonly #context: SolverContext<MeasuringNews>;
  readonly #effort: Effort;
  readonly #engines = new Map<string, Heed>();
  /** Why a contender is not measured in any case. */
  readonly #absent = new Map<string, string>();
  #report: SpeedReport;
  readonly #measurements: Measurement[] = [];
  #limits: Limits | null = null;
  readonly #start = performance.now();
  #deadline = Number.POSITIVE_INFINITY;
  /** The longest acceptable call of plain JavaScript in the current case, in milliseconds. */
  #longestCall: number;
  /** In operations per millisecond; a guess until it is measured. */
  #javaScriptSpeed = 1e6;
  #told = Number.NEGATIVE_INFINITY;
  /** The number of measurements sent to the page; -1 before the first report. */
  #shown = -1;

  constructor(request: MeasuringRequest, context: SolverContext<MeasuringNews>) {
    const { version, variant, threads, reason } = context.heed.info;
    const cores = navigator.hardwareConcurrency;
    const isIsolated = globalThis.crossOriginIsolated;
    const clock = clockStep();
    const effort = request.isLong ? long : short;
    this.#context = context;
    this.#longestCall = effort.longestCall;
    this.#effort = { ...effort, shortest: Math.max(effort.shortest, stepsInSample * clock) };
    this.#report = {
      ...{ request, version, cores, isIsolated, reason, clock },
      date: Date.now(),
      contenders: contendersOf(request, { variant, threads, cores, isIsolated }),
      cases: casesOf(request),
      ...{ limits: [], measurements: [], callMemories: [], milliseconds: 0 },
      writing: request.writing ?? null,
    };
  }

  async measure(): Promise<SpeedReport> {
    const { cases, request } = this.#report;
    const { heed, pause } = this.#context;
    await this.#loadEngines();
    await this.#startLimits();
    for (const [i, one] of cases.entries()) {
      this.#allot(cases.length - i);
      await this.#measureCase(one, (share) => {
        this.#tell(begun + ((i + share) / cases.length) * (ended - begun), one.name);
      });
    }
    if (!request.writing) this.#tell(ended, "our language model");
    const writing =
      request.writing ??
      (await measureWriting(heed, request.base, pause).catch((error: Error) => error.message));
    // Runs last, because the memory for the weights is never returned, and later measurements would count it.
    const callMemories: CallMemory[] = [];
    for (const one of cases.filter(({ kind }) => kind === "attention")) {
      await this.#rest();
      callMemories.push(callMemoryOf(heed, one, inputsOf(heed, one)));
    }
    this.#report = { ...this.#report, writing, callMemories };
    return this.#now();
  }

  /** Divides the remaining budget among the remaining cases. */
  #allot(casesLeft: number): void {
    const { budget, longestCall } = this.#effort;
    const now = performance.now();
    const share = Math.max(0, this.#start + budget - now) / casesLeft;
    this.#deadline = now + share;
    this.#longestCall = Math.min(longestCall, Math.max(longestCall / 4, share / callsOfCase));
  }

  #now(): SpeedReport {
    return {
      ...this.#report,
      limits: this.#limits?.soFar() ?? [],
      measurements: [...this.#measurements],
      milliseconds: performance.now() - this.#start,
    };
  }

  #tell(share: number, doing: string): void {
    const now = performance.now();
    if (now - this.#told < newsInterval) return;
    this.#told = now;
    const hasMore = this.#measurements.length > this.#shown;
    this.#shown = this.#measurements.length;
    this.#context.progress({ share, doing, report: hasMore ? this.#now() : null });
  }

  async #loadEngines(): Promise<void> {
    const { heed } = this.#context;
    for (const { id, name, variant, threads } of this.#report.contenders) {
      this.#tell(0, `starting ${name}`);
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
      within(findLimits(contenders, this.#effort.shortest), patience);
    // If no more threads start, one thread can still be measured.
    this.#limits = await find(present).catch(() => find(alone));
    await this.#limits.measure(this.#rest, () => this.#tell(begun / 2, "the limits"));
  }

  /** Lets the worker handle messages, and lets spinning threads go to sleep. */
  #rest = async (): Promise<void> => {
    await this.#context.pause();
    await new Promise((resolve) => setTimeout(resolve, 2));
  };

  async #measureCase(one: Case, tell: (share: number) => void): Promise<void> {
    const racers = await this.#racersOf(one, tell);
    const timings = await timeInRounds(racers, this.#effort, this.#rest, tell, this.#deadline);
    for (const [i, { contender, prepared, measurement }] of racers.entries()) {
      const timing = timings[i];
      if (!timing) continue;
      if (contender.variant === null) this.#javaScriptSpeed = one.operations / timing.least;
      this.#measurements.push({ ...measurement, timing });
      prepared.dispose();
    }
    if (performance.now() < this.#deadline) await this.#limits?.measure(this.#rest, () => {});
  }

  /** Prepares the contenders of a case, and compares their answers with that of plain JavaScript. */
  async #racersOf(one: Case, tell: (share: number) => void): Promise<Racing[]> {
    const inputs = inputsOf(this.#context.heed, one);
    const reference = this.#reference(one, inputs);
    const racers: Racing[] = [];
    const join = ({ prepared, measurement, ...rest }: Omit<Racing, "run">) =>
      racers.push({
        ...{ ...rest, prepared, run: prepared.run },
        measurement: { ...measurement, memory: prepared.memory() },
      });
    for (const contender of this.#report.contenders) {
      await this.#rest();
      tell(0);
      const measurement = { ...nothing, caseId: one.id, contenderId: contender.id };
      const reason = this.#reasonAgainst(contender, one);
      const heed = this.#engines.get(contender.id);
      if (reason !== null) {
        this.#measurements.push({ ...measurement, reason });
      } else if (!heed) {
        join({ contender, measurement, ...reference });
      } else {
        const prepared = prepareEngine(heed, one, inputs);
        const { answer, took } = timed(() => prepared.answer());
        const difference = differenceOf(reference.rows, answer, one);
        // Negated, so that NaN counts as wrong too.
        if (!(difference <= tolerance))
          throw new Error(
            `${contender.name}, ${one.name}: expected what plain JavaScript computes, got a row that differs by ${difference}`,
          );
        join({ contender, prepared, first: took, measurement: { ...measurement, difference } });
      }
    }
    return racers;
  }

  #isTooLong(one: Case): boolean {
    return one.operations / this.#javaScriptSpeed > this.#longestCall;
  }

  /** The reason why a contender is not measured in a case. */
  #reasonAgainst({ id, variant }: Contender, one: Case): string | null {
    const absent = this.#absent.get(id);
    if (absent !== undefined) return absent;
    if (variant !== null || !this.#isTooLong(one)) return null;
    const seconds = one.operations / this.#javaScriptSpeed / 1000;
    return `a call would take about ${seconds.toFixed(1)} s`;
  }

  /** Plain JavaScript's answer: all rows if it is a contender, otherwise some. */
  #reference(one: Case, inputs: CaseInputs) {
    const prepared = prepareJavaScript(one, inputs);
    if (this.#isTooLong(one) && one.kind !== "layer")
      return { prepared, rows: someRows(one, inputs, rowsCompared), first: 0 };
    const { answer, took } = timed(() => prepared.answer());
    return { prepared, rows: { values: answer, step: 1 }, first: took };
  }
}

const nothing = { timing: null, reason: null, difference: null, memory: null };

function timed<T>(run: () => T): { answer: T; took: number } {
  const start = performance.now();
  const answer = run();
  return { answer, took: performance.now() - start };
}

const solve: Solver<MeasuringRequest, SpeedReport, MeasuringNews> = (request, context) =>
  new MeasuringRun(request, context).measure();

export default solve;
