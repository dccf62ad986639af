/** The solver of this room. It keeps one lesson across requests, with one training or two that alternate. */
import { type Heed, HeedError } from "heed";
import type { SolverContext } from "../../worker/solver";
import type {
  BeginAnswer,
  ExampleOutput,
  LessonRequest,
  LookAnswer,
  ShowAnswer,
  ShownExample,
  Snapshot,
  TrainAnswer,
  TrainingNews,
  TrainingSetup,
} from "./messages";
import { keptParameters, spacingAt, withMore } from "./past";
import { held, readOwn, Training, weighed } from "./training";

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
  readonly parameters: readonly Float32Array[];
}

/** The number of examples shown so far. */
let shownSoFar = 0;

class TrainingLesson {
  readonly #trainings: Training[] = [];
  /** The number of requests that end the running training: to pause, or to train from then on. */
  #pauses = 0;
  #isOver = false;
  /** Resolves when all requested training has ended. */
  #rest: Promise<unknown> = Promise.resolve();
  /** Resolves when no snapshot is being taken. A snapshot takes a while, and no step may run meanwhile. */
  #lastSnapshot: Promise<unknown> = Promise.resolve();
  #showing: ShownExample;
  #past: readonly KeptParameters[] = [];

  constructor(heed: Heed, setups: readonly TrainingSetup[]) {
    try {
      for (const setup of setups) this.#trainings.push(new Training(heed, setup));
    } catch (error) {
      this.#dispose();
      throw error;
    }
    this.#showing = this.#shows(null);
  }

  async begin(text: string | null): Promise<BeginAnswer> {
    const one = this.#first;
    const unread = text === null ? null : (await this.show(text)).unread;
    return {
      kind: "begun",
      ...{ about: one.task.about, chance: one.chance, held, weighed, unread },
      courses: this.#trainings.map((training) => training.course()),
      first: await this.#snapshot(),
      showing: this.#showing,
    };
  }

  show(text: string | null): Promise<ShowAnswer> {
    return this.#alone(async () => {
      const own = text === null ? null : readOwn(this.#first.task, text);
      const shown = { kind: "shown", step: this.#step } as const;
      if (own && "why" in own) return { ...shown, showing: null, unread: own, outputs: [] };
      for (const training of this.#trainings) training.show(own);
      this.#showing = this.#shows(text);
      const outputs = await this.#outputs((training) => training.output());
      return { ...shown, showing: this.#showing, unread: null, outputs };
    });
  }

  look(step: number): Promise<LookAnswer> {
    return this.#alone(async () => {
      const kept = this.#past.find((each) => each.step === step);
      const outputs = await this.#outputs((training, i) => {
        const parameters = kept?.parameters[i];
        return parameters && training.outputWith(parameters);
      });
      return { kind: "looked", step, showing: this.#showing.id, outputs };
    });
  }

  pause(): void {
    ++this.#pauses;
  }

  /** Trains after all earlier requests, the last of which this one pauses. */
  train(steps: number, context: SolverContext<TrainingNews>): Promise<TrainAnswer> {
    const request = ++this.#pauses;
    const work = this.#rest.then(async () => {
      // While a snapshot of an earlier step is computed, the model has that step's parameters.
      await this.#lastSnapshot;
      return this.#work(steps, () => this.#pauses !== request, context);
    });
    this.#rest = work.catch(() => {});
    return work;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#rest;
    await this.#lastSnapshot;
    this.#dispose();
  }

  get #first(): Training {
    return this.#trainings[0] as Training;
  }

  #shows(text: string | null): ShownExample {
    shownSoFar += 1;
    const attentions = this.#trainings.map((training) => training.attentions());
    return { id: shownSoFar, text: this.#first.text, isOwn: text !== null, attentions };
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

  #alone<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#lastSnapshot.then(run);
    this.#lastSnapshot = done.catch(() => {});
    return done;
  }

  get #step(): number {
    return Math.min(...this.#trainings.map(({ trainer }) => trainer.stepCount));
  }

  async #work(
    steps: number,
    isPaused: () => boolean,
    context: SolverContext<TrainingNews>,
  ): Promise<TrainAnswer> {
    const begin = performance.now();
    const last = this.#step + steps;
    let [heard, told, trained, done] = [begin, begin, 0, 0];
    let snapshots: Snapshot[] = [];
    const tell = () => {
      const millisecondsPerStep = trained / Math.max(1, done);
      context.progress({
        step: this.#step,
        showing: this.#showing,
        snapshots,
        millisecondsPerStep,
      });
      snapshots = [];
      told = performance.now();
    };
    let why: TrainAnswer["why"] | null = null;
    while (why === null) {
      const before = performance.now();
      try {
        for (const training of this.#trainings) training.step();
        trained += performance.now() - before;
        ++done;
        if (this.#trainings[0]?.trainer.finished) why = "finished";
        else if (this.#step >= last) why = "done";
        else if (isPaused() || this.#isOver) why = "paused";
        // Always includes the state at which training stops.
        if (why !== null || this.#step % spacingAt(this.#step) === 0)
          snapshots.push(await this.#snapshot());
      } catch (error) {
        if (!isOfNumbers(error)) throw error;
        why = "nan";
      }
      if (performance.now() - told >= newsInterval) tell();
      if (performance.now() - heard >= slice) {
        await context.pause();
        await this.#lastSnapshot;
        heard = performance.now();
      }
    }
    tell();
    return { kind: "stopped", step: this.#step, why };
  }

  #snapshot(): Promise<Snapshot> {
    return this.#alone(async () => {
      const [step, showing] = [this.#step, this.#showing.id];
      const courses = [];
      for (const training of this.#trainings) courses.push(await training.snapshot());
      const parameters = this.#trainings.map((training) => training.parameters());
      const bytes = parameters.reduce((sum, { byteLength }) => sum + byteLength, 0);
      this.#past = withMore(this.#past, [{ step, parameters }], keptParameters(bytes));
      return { step, showing, courses };
    });
  }

  #dispose(): void {
    for (const training of this.#trainings) training.dispose();
  }
}

let lesson: TrainingLesson | null = null;
/** Lessons start in sequence, because the previous one must have ended. */
let turn: Promise<unknown> = Promise.resolve();

async function begin(
  setups: readonly TrainingSetup[],
  text: string | null,
  { heed, signal }: SolverContext<TrainingNews>,
): Promise<BeginAnswer> {
  signal.throwIfAborted();
  const old = lesson;
  lesson = null;
  await old?.end();
  const next = new TrainingLesson(heed, setups);
  lesson = next;
  return next.begin(text);
}

export default async function solve(
  order: LessonRequest,
  context: SolverContext<TrainingNews>,
): Promise<BeginAnswer | ShowAnswer | LookAnswer | TrainAnswer> {
  if (order.kind === "begin") {
    lesson?.pause();
    const begun = turn.then(() => begin(order.setups, order.text, context));
    turn = begun.catch(() => {});
    return begun;
  }
  // A request made while a lesson starts is for that lesson.
  await turn;
  if (!lesson) throw new RangeError("nothing has been begun");
  if (order.kind === "show") return lesson.show(order.text);
  if (order.kind === "look") return lesson.look(order.step);
  if (order.kind === "train") return lesson.train(order.steps, context);
  lesson.pause();
  return { kind: "stopped", step: 0, why: "paused" };
}
