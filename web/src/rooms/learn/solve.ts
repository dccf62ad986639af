/** The solver of this room. It keeps one lesson across requests, with one training or two that alternate. */
import { type Heed, HeedError } from "heed";
import type { SolverContext } from "../../worker/solver";
import type {
  ExampleOutput,
  LessonRequest,
  ShownExample,
  Snapshot,
  TrainAnswer,
  TrainingNews,
  TrainingSetup,
} from "./messages";
import { keptParameters, slowPace, slowSteps, spacingAt, withMore } from "./past";
import { readOwn, Training } from "./training";

/** In milliseconds: how long the worker computes before it handles messages, and before it sends news. */
const slice = 20;
/** More frequent news would not be visible, and would make the page less smooth. */
const newsInterval = 250;

/** A training step rejects a loss of NaN, and an answer may fail for the same reason. */
function isOfNumbers(error: unknown): boolean {
  return error instanceof HeedError && (error.code === "nan" || error.message.includes("NaN"));
}

/** The parameters of all trainings after a step. */
interface KeptParameters {
  readonly step: number;
  readonly parameters: readonly (readonly Float32Array[])[];
}

type TrainOrder = Extract<LessonRequest, { kind: "train" }>;

/** A running request to train. */
interface Work {
  readonly isPaused: () => boolean;
  /** The step at which it is done. */
  readonly last: number;
  /** The snapshots that the page has not received yet. */
  snapshots: Snapshot[];
  /** The number of steps made, and the milliseconds that they took. */
  done: number;
  trained: number;
}

let shownSoFar = 0;

/** The new example, or the text that cannot be shown. */
export type ShowAnswer = Awaited<ReturnType<TrainingLesson["show"]>>;
export type LookAnswer = Awaited<ReturnType<TrainingLesson["look"]>>;
export type BeginAnswer = Awaited<ReturnType<TrainingLesson["begin"]>>;

class TrainingLesson {
  readonly #trainings: Training[] = [];
  /** The number of requests that end the running training: to pause, or to train from then on. */
  #pauses = 0;
  #isOver = false;
  /** Resolves when all requested training has ended. */
  #rest: Promise<unknown> = Promise.resolve();
  /** Resolves when nothing uses the models. A look at an earlier step changes their parameters for a while. */
  #free: Promise<unknown> = Promise.resolve();
  #showing: ShownExample;
  #past: readonly KeptParameters[] = [];

  constructor(heed: Heed, setups: readonly TrainingSetup[]) {
    try {
      for (const setup of setups) this.#trainings.push(new Training(heed, setup));
    } catch (error) {
      this.#dispose();
      throw error;
    }
    this.#showing = this.#shows();
  }

  async begin(text: string | null) {
    const { task, chance } = this.#first;
    const unread = text === null ? null : (await this.show(text)).unread;
    return {
      ...{ kind: "begun" as const, about: task.about },
      /** The typed text, if it cannot be shown. */
      unread,
      /** The attention on the answer positions if attention were uniform. */
      chance,
      courses: this.#trainings.map((training) => training.course()),
      first: await this.#alone(() => this.#snapshot()),
      showing: this.#showing,
    };
  }

  show(text: string | null) {
    return this.#alone(async () => {
      const own = text === null ? null : readOwn(this.#first.task, text);
      const shown = { kind: "shown", step: this.#step } as const;
      if (own && "why" in own) return { ...shown, showing: null, unread: own, outputs: [] };
      for (const training of this.#trainings) training.show(own);
      this.#showing = this.#shows();
      const outputs = await this.#outputs((training) => training.output());
      return { ...shown, showing: this.#showing, unread: null, outputs };
    });
  }

  /** The outputs after a step; none if the parameters of that step are not kept. */
  look(step: number) {
    return this.#alone(async () => {
      const kept = this.#past.find((each) => each.step === step);
      const outputs = await this.#outputs((training, i) => {
        const parameters = kept?.parameters[i];
        return parameters && training.outputWith(parameters);
      });
      return { kind: "looked" as const, step, showing: this.#showing.id, outputs };
    });
  }

  pause(): void {
    ++this.#pauses;
  }

  /** Trains after all earlier requests, the last of which this one pauses. */
  train(order: TrainOrder, context: SolverContext<TrainingNews>): Promise<TrainAnswer> {
    const request = ++this.#pauses;
    const work = this.#rest.then(() =>
      this.#work(order, () => this.#isOver || this.#pauses !== request, context),
    );
    this.#rest = work.catch(() => {});
    return work;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#rest;
    await this.#free;
    this.#dispose();
  }

  get #first(): Training {
    return this.#trainings[0] as Training;
  }

  get #step(): number {
    return Math.min(...this.#trainings.map(({ trainer }) => trainer.stepCount));
  }

  #shows(): ShownExample {
    shownSoFar += 1;
    const attentions = this.#trainings.map((training) => training.attentions());
    return { id: shownSoFar, text: this.#first.text, attentions };
  }

  /** The outputs of the models, without any model whose parameters are NaN. */
  async #outputs(
    outputOf: (training: Training, i: number) => Promise<ExampleOutput> | undefined,
  ): Promise<ExampleOutput[]> {
    const outputs = [];
    try {
      for (const [i, training] of this.#trainings.entries()) {
        const output = await outputOf(training, i);
        if (output) outputs.push(output);
      }
      return outputs;
    } catch (error) {
      if (isOfNumbers(error)) return [];
      throw error;
    }
  }

  /** Uses the models while nothing else does. */
  #alone<T>(run: () => T | Promise<T>): Promise<T> {
    const done = this.#free.then(run);
    this.#free = done.catch(() => {});
    return done;
  }

  async #work(
    { steps, slow }: TrainOrder,
    isPaused: () => boolean,
    context: SolverContext<TrainingNews>,
  ): Promise<TrainAnswer> {
    const last = this.#step + steps;
    const work = { isPaused, last, snapshots: [], trained: 0, done: 0 } as Work;
    let [heard, told] = [performance.now(), performance.now()];
    for (;;) {
      const started = performance.now();
      const why = await this.#alone(() => this.#advance(work));
      if (why !== null || performance.now() - told >= newsInterval) {
        context.progress({
          ...{ step: this.#step, showing: this.#showing, snapshots: work.snapshots },
          millisecondsPerStep: work.trained / Math.max(1, work.done),
        });
        work.snapshots = [];
        told = performance.now();
      }
      if (why !== null) return { kind: "stopped", step: this.#step, why };
      const rest = slow && this.#step < slowSteps ? started + slowPace - performance.now() : 0;
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
      if (performance.now() - heard >= slice) {
        await context.pause();
        heard = performance.now();
      }
    }
  }

  /** Makes a step of every training. Returns the reason to stop after it, if there is one. */
  async #advance(work: Work): Promise<TrainAnswer["why"] | null> {
    const started = performance.now();
    try {
      for (const training of this.#trainings) training.step();
      work.trained += performance.now() - started;
      ++work.done;
      let why: TrainAnswer["why"] | null = work.isPaused() ? "paused" : null;
      if (this.#step >= work.last) why = "done";
      if (this.#first.trainer.finished) why = "finished";
      // Always includes the state at which training stops.
      if (why !== null || this.#step % spacingAt(this.#step) === 0)
        work.snapshots.push(await this.#snapshot());
      return why;
    } catch (error) {
      if (isOfNumbers(error)) return "nan";
      throw error;
    }
  }

  async #snapshot(): Promise<Snapshot> {
    const [step, showing] = [this.#step, this.#showing.id];
    const courses = [];
    for (const training of this.#trainings) courses.push(await training.snapshot());
    const parameters = this.#trainings.map((training) => training.parameters());
    const bytes = parameters.flat().reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#past = withMore(this.#past, [{ step, parameters }], keptParameters(bytes));
    return { step, showing, courses };
  }

  #dispose(): void {
    for (const training of this.#trainings) training.dispose();
  }
}

let lesson: TrainingLesson | null = null;
/** Lessons start in sequence, because the previous one must have ended. */
let turn: Promise<unknown> = Promise.resolve();

export default async function solve(
  order: LessonRequest,
  context: SolverContext<TrainingNews>,
): Promise<BeginAnswer | ShowAnswer | LookAnswer | TrainAnswer> {
  if (order.kind === "begin") {
    lesson?.pause();
    const begun = turn.then(async () => {
      context.signal.throwIfAborted();
      const old = lesson;
      lesson = null;
      await old?.end();
      lesson = new TrainingLesson(context.heed, order.setups);
      return lesson.begin(order.text);
    });
    turn = begun.catch(() => {});
    return begun;
  }
  // A request made while a lesson starts is for that lesson.
  await turn;
  if (!lesson) throw new RangeError("nothing has been begun");
  if (order.kind === "show") return lesson.show(order.text);
  if (order.kind === "look") return lesson.look(order.step);
  if (order.kind === "train") return lesson.train(order, context);
  lesson.pause();
  return { kind: "stopped", step: 0, why: "paused" };
}
