/** The page's side of the training: its own engine, the current lesson, and the kept snapshots. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { UnreadableText } from "../../shared/typed";
import { EngineClient } from "../../worker/engineClient";
import type {
  LessonRequest,
  ShownExample,
  Snapshot,
  TrainAnswer,
  TrainingNews,
  TrainingSetup,
} from "./messages";
import { withMore } from "./past";
import type { BeginAnswer, LookAnswer, ShowAnswer } from "./solve";
import type { State } from "./state";

export interface Lesson {
  readonly begun: BeginAnswer;
  readonly setups: readonly TrainingSetup[];
  /** The examples of all snapshots; the last one is the present one. */
  readonly showings: readonly ShownExample[];
  /** The typed text from which the present example was made. */
  readonly text: string | null;
  /** The typed text, if it cannot be shown. */
  readonly unread: UnreadableText | null;
  readonly past: readonly Snapshot[];
  /** The steps whose parameters are not kept. The present example cannot be shown at these steps. */
  readonly forgotten: ReadonlySet<number>;
  readonly step: number;
  readonly millisecondsPerStep: number | null;
  readonly stop: TrainAnswer["why"] | null;
}

interface Status {
  /** Null until the first one has begun. */
  readonly lesson: Lesson | null;
  readonly isTraining: boolean;
  /** Whether another training was requested and has not begun, so that `lesson` is the previous one. */
  readonly isBeginning: boolean;
  readonly failure: string | null;
}

const endless = 1e9;

function withShowing(showings: readonly ShownExample[], showing: ShownExample) {
  return showings.some(({ id }) => id === showing.id) ? showings : [...showings, showing];
}

/** The snapshots, with the outputs for another example after one step. */
function withOutputs(
  past: readonly Snapshot[],
  { step, showing, outputs }: Pick<LookAnswer, "step" | "showing" | "outputs">,
): readonly Snapshot[] {
  if (outputs.length === 0) return past;
  return past.map((one) =>
    one.step !== step
      ? one
      : {
          ...{ step, showing },
          courses: one.courses.map((course, i) => ({ ...course, ...outputs[i] })),
        },
  );
}

function withShown(
  { past, showings }: Lesson,
  { showing, unread, step, outputs }: ShowAnswer,
  text: string | null,
): Partial<Lesson> {
  if (!showing) return { unread, text };
  return {
    ...{ unread, text, forgotten: new Set(), showings: withShowing(showings, showing) },
    past: withOutputs(past, { step, showing: showing.id, outputs }),
  };
}

/** Asks the engine, and keeps what it answers. */
class LessonClient {
  readonly #engine = new EngineClient({ hasThreads: false });
  readonly #tell: (status: Status) => void;
  #status: Status;
  #setups: readonly TrainingSetup[] = [];
  /** Aborts all requests of the current lesson. */
  #current = new AbortController();
  /** The text last requested to be shown, and the step last looked at. */
  #text: string | null = null;
  #looked = "";
  #isSlow = false;

  constructor(isTraining: boolean, tell: (status: Status) => void) {
    this.#tell = tell;
    this.#status = { lesson: null, isTraining, isBeginning: true, failure: null };
  }

  get status(): Status {
    return this.#status;
  }

  /** Starts another training, after its first answer at once if `isTraining`. */
  async begin(setups: readonly TrainingSetup[], text: string | null, isTraining: boolean) {
    this.#current.abort();
    this.#current = new AbortController();
    [this.#setups, this.#text, this.#looked] = [setups, text, ""];
    this.#set({ isTraining, isBeginning: true, failure: null });
    const begun = await this.#ask({ kind: "begin", setups, text });
    if (begun?.kind !== "begun") return;
    const { first, showing, unread } = begun;
    const lesson: Lesson = {
      ...{ begun, setups, showings: [showing], text, unread, past: [first] },
      ...{ forgotten: new Set(), step: 0, millisecondsPerStep: null, stop: null },
    };
    this.#set({ lesson, isBeginning: false });
    if (this.#status.isTraining) void this.#train(endless);
    if (this.#text !== text) void this.#show(this.#text);
  }

  show(text: string | null): void {
    if (this.#text === text) return;
    this.#text = text;
    if (this.#isReady) void this.#show(text);
  }

  /** Sets whether the first steps are slow, now too. */
  setSlow(isSlow: boolean): void {
    if (this.#isSlow === isSlow) return;
    this.#isSlow = isSlow;
    if (this.#isReady && this.#status.isTraining) void this.#train(endless);
  }

  /** Continues the training, or pauses it. After a failure it starts again. */
  setTraining(isTraining: boolean): void {
    this.#set({ isTraining });
    if (isTraining && this.#status.failure !== null) this.trainAgain();
    else if (this.#isReady && isTraining) void this.#train(endless);
    else if (this.#isReady) void this.#ask({ kind: "pause" });
  }

  trainOnce(): void {
    if (!this.#isReady || isOver(this.#status)) return;
    this.#set({ isTraining: false });
    void this.#train(1);
  }

  trainAgain(): void {
    void this.begin(this.#setups, this.#text, true);
  }

  /** Shows the present example with the parameters of a snapshot's step. */
  async look(step: number): Promise<void> {
    const key = `${step} ${this.#status.lesson?.showings.at(-1)?.id}`;
    if (!this.#isReady || this.#looked === key) return;
    this.#looked = key;
    const answer = await this.#ask({ kind: "look", step });
    if (answer?.kind !== "looked") return;
    const isForgotten = answer.outputs.length === 0;
    this.#change(({ past, forgotten }) =>
      isForgotten
        ? { forgotten: new Set([...forgotten, step]) }
        : { past: withOutputs(past, answer) },
    );
  }

  dispose(): void {
    this.#current.abort();
    this.#engine.dispose();
  }

  get #isReady(): boolean {
    return !this.#status.isBeginning && this.#status.failure === null;
  }

  #set(change: Partial<Status>): void {
    this.#status = { ...this.#status, ...change };
    this.#tell(this.#status);
  }

  #change(next: (now: Lesson) => Partial<Lesson>): void {
    const { lesson } = this.#status;
    if (lesson) this.#set({ lesson: { ...lesson, ...next(lesson) } });
  }

  /** The answer; null if another lesson was begun meanwhile, or the engine failed. */
  async #ask(request: LessonRequest) {
    const { signal } = this.#current;
    const progress = (news: unknown) => !signal.aborted && this.#hear(news as TrainingNews);
    try {
      return await this.#engine.ask("learn", request, { signal, progress });
    } catch (error) {
      if (signal.aborted) return null;
      this.#current.abort();
      this.#set({ failure: (error as Error).message, isTraining: false });
      return null;
    }
  }

  async #train(steps: number): Promise<void> {
    this.#change(() => ({ stop: null }));
    const stopped = await this.#ask({ kind: "train", steps, slow: this.#isSlow });
    if (stopped?.kind !== "stopped") return;
    this.#change(() => ({ stop: stopped.why }));
    if (isOver(this.#status)) this.#set({ isTraining: false });
  }

  #hear({ step, showing, snapshots, millisecondsPerStep }: TrainingNews): void {
    this.#change(({ past, showings }) => ({
      ...{ step, millisecondsPerStep, showings: withShowing(showings, showing) },
      ...(snapshots.length > 0 && { past: withMore(past, snapshots) }),
    }));
  }

  async #show(text: string | null): Promise<void> {
    const shown = await this.#ask({ kind: "show", text });
    if (shown?.kind === "shown") this.#change((now) => withShown(now, shown, text));
  }
}

/** Whether the training has no further step. */
export function isOver({ lesson, isBeginning }: Status): boolean {
  return !isBeginning && (lesson?.stop === "finished" || lesson?.stop === "nan");
}

export interface LessonControls extends Status {
  readonly client: LessonClient;
}

/**
 * `setups` must be memoised. A new list starts another training.
 *
 * @param starts whether a training starts automatically
 * @param slow whether its first steps are slow
 */
export function useLesson(
  setups: readonly TrainingSetup[],
  text: string | null,
  { starts, slow }: Pick<State, "starts" | "slow">,
): LessonControls {
  const [status, setStatus] = useState<Status | null>(null);
  const client = useMemo(() => new LessonClient(starts, setStatus), []);
  useEffect(() => () => client.dispose(), []);
  useEffect(() => client.setSlow(slow), [slow]);
  useEffect(() => void client.begin(setups, text, starts), [setups]);
  useEffect(() => client.show(text), [text]);
  const { lesson, isBeginning, ...rest } = status ?? client.status;
  return { client, lesson, isBeginning: isBeginning || lesson?.setups !== setups, ...rest };
}
