/** The page's side of the training: its own engine, the current lesson, and the kept snapshots. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { UnreadableText } from "../../shared/typed";
import { EngineClient } from "../../worker/engineClient";
import type {
  BeginAnswer,
  LookAnswer,
  ShowAnswer,
  ShownExample,
  Snapshot,
  TrainAnswer,
  TrainingNews,
  TrainingSetup,
} from "./messages";
import { withMore } from "./past";

export interface Lesson {
  readonly begun: BeginAnswer;
  /** The requested settings, and the number of times that training was restarted before. */
  readonly setups: readonly TrainingSetup[];
  readonly round: number;
  /** The examples of all snapshots; the last one is the present one. */
  readonly showings: readonly ShownExample[];
  /** The typed text from which the present example was made. */
  readonly text: string | null;
  /** The typed text, if it cannot be shown. */
  readonly unread: UnreadableText | null;
  readonly past: readonly Snapshot[];
  /** The steps whose parameters are not kept. The present example cannot be shown at these steps. */
  readonly forgotten: ReadonlySet<number>;
  /** The current training step. */
  readonly step: number;
  readonly millisecondsPerStep: number | null;
  readonly stop: TrainAnswer["why"] | null;
}

export interface LessonControls {
  /** Null until the first one has begun. */
  readonly lesson: Lesson | null;
  readonly isTraining: boolean;
  /** Whether another training was requested and has not begun, so that `lesson` is the previous one. */
  readonly isBeginning: boolean;
  /** An error message for the person. */
  readonly failure: string | null;
  /** Continues the training, or pauses it. */
  setTraining(isTraining: boolean): void;
  trainOnce(): void;
  /** Restarts the training from the first step. */
  trainAgain(): void;
  /** Shows the present example with the parameters of a snapshot's step. */
  look(step: number): void;
}

const endless = 1e9;

function withShowing(
  showings: readonly ShownExample[],
  showing: ShownExample,
): readonly ShownExample[] {
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

/**
 * `setups` must be memoised. A new list starts another training.
 *
 * @param starts whether a training starts automatically
 */
export function useLesson(
  setups: readonly TrainingSetup[],
  text: string | null,
  starts: boolean,
): LessonControls {
  const engine = useRef<EngineClient | null>(null);
  const [lesson, setLesson] = useState<Lesson | null>(null);
  const [isTraining, setIsTraining] = useState(starts);
  const [failure, setFailure] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  /** Aborts the previous lesson. */
  const current = useRef(new AbortController());
  const wantsToTrain = useRef(starts);
  const begunFor = useRef(setups);
  /** The text last requested to be shown, and the step last looked at. */
  const asked = useRef(text);
  const looked = useRef("");

  const change = (next: (now: Lesson) => Partial<Lesson>) =>
    setLesson((now) => now && { ...now, ...next(now) });

  const want = (isWanted: boolean) => {
    wantsToTrain.current = isWanted;
    setIsTraining(isWanted);
  };

  const hear = ({ step, showing, snapshots, millisecondsPerStep }: TrainingNews) =>
    change(({ past, showings }) => ({
      ...{ step, millisecondsPerStep, showings: withShowing(showings, showing) },
      ...(snapshots.length > 0 && { past: withMore(past, snapshots) }),
    }));

  const train = async (steps: number) => {
    const { signal } = current.current;
    change(() => ({ stop: null }));
    try {
      const stopped = await engine.current?.ask(
        "learn",
        { kind: "train", steps },
        { signal, progress: hear as (news: unknown) => void },
      );
      if (stopped?.kind !== "stopped" || signal.aborted) return;
      change(() => ({ stop: stopped.why }));
      if (stopped.why === "finished" || stopped.why === "nan") want(false);
    } catch (error) {
      if (signal.aborted) return;
      setFailure((error as Error).message);
      want(false);
    }
  };

  useEffect(() => {
    const own = new EngineClient({ hasThreads: false });
    engine.current = own;
    return () => {
      current.current.abort();
      own.dispose();
    };
  }, []);

  useEffect(() => {
    const own = engine.current;
    if (!own) return;
    current.current.abort();
    const controller = new AbortController();
    const { signal } = controller;
    current.current = controller;
    setFailure(null);
    asked.current = text;
    if (begunFor.current !== setups) want(starts);
    begunFor.current = setups;
    own.ask("learn", { kind: "begin", setups, text }, { signal }).then(
      (begun) => {
        if (begun.kind !== "begun" || signal.aborted) return;
        const { first, showing, unread } = begun;
        setLesson({
          ...{ begun, setups, round, showings: [showing], text, unread, past: [first] },
          ...{ forgotten: new Set(), step: 0, millisecondsPerStep: null, stop: null },
        });
        if (wantsToTrain.current) void train(endless);
      },
      (error: Error) => {
        if (signal.aborted) return;
        setFailure(error.message);
        want(false);
      },
    );
  }, [setups, round]);

  const isBeginning = lesson === null || lesson.setups !== setups || lesson.round !== round;
  const isReady = !isBeginning && failure === null;
  const isOver = !isBeginning && (lesson?.stop === "finished" || lesson?.stop === "nan");

  useEffect(() => {
    if (!isReady || asked.current === text) return;
    asked.current = text;
    const { signal } = current.current;
    engine.current?.ask("learn", { kind: "show", text }, { signal }).then(
      (shown) => {
        if (shown.kind === "shown" && !signal.aborted) change((now) => withShown(now, shown, text));
      },
      (error: Error) => {
        if (!signal.aborted) setFailure(error.message);
      },
    );
  }, [text, isReady]);
  return useMemo(
    () => ({
      ...{ lesson, isTraining, isBeginning, failure },
      setTraining(wanted) {
        want(wanted);
        // After a failure the training starts again.
        if (wanted && failure !== null) setRound((now) => now + 1);
        else if (isReady && wanted) void train(endless);
        else if (isReady) {
          // If the start of the lesson has failed, the request fails too. The failure was reported already.
          engine.current?.ask("learn", { kind: "pause" }).catch(() => {});
        }
      },
      trainOnce() {
        if (!isReady || isOver) return;
        want(false);
        void train(1);
      },
      trainAgain() {
        want(true);
        setRound((now) => now + 1);
      },
      look(step) {
        const key = `${step} ${lesson?.showings.at(-1)?.id}`;
        if (!isReady || looked.current === key) return;
        looked.current = key;
        const { signal } = current.current;
        engine.current?.ask("learn", { kind: "look", step }, { signal }).then(
          (answer) => {
            if (answer.kind !== "looked" || signal.aborted) return;
            const isForgotten = answer.outputs.length === 0;
            change(({ past, forgotten }) =>
              isForgotten
                ? { forgotten: new Set([...forgotten, step]) }
                : { past: withOutputs(past, answer) },
            );
          },
          (error: Error) => {
            if (!signal.aborted) setFailure(error.message);
          },
        );
      },
    }),
    [lesson, isTraining, isBeginning, failure, isReady, isOver],
  );
}
