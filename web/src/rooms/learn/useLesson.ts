/** The page's side of the training: its own engine, the current lesson, and the snapshots kept of its past. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { EngineClient } from "../../worker/engineClient";
import type {
  BeginAnswer,
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
  /** The settings that were requested. */
  readonly setups: readonly TrainingSetup[];
  /** The examples of all snapshots. */
  readonly showings: readonly ShownExample[];
  /** The reason why the typed text is not shown. */
  readonly why: string | null;
  readonly past: readonly Snapshot[];
  /** The current training step. */
  readonly step: number;
  readonly millisecondsPerStep: number | null;
  readonly stop: TrainAnswer["why"] | null;
}

export interface LessonControls {
  /** Null until the first one has begun. */
  readonly lesson: Lesson | null;
  readonly isPlaying: boolean;
  /** An error message for the person. */
  readonly failure: string | null;
  setPlaying(isPlaying: boolean): void;
  stepOnce(): void;
  reset(): void;
}

const endless = 1e9;

function withShowing(
  showings: readonly ShownExample[],
  showing: ShownExample,
): readonly ShownExample[] {
  return showings.some(({ id }) => id === showing.id) ? showings : [...showings, showing];
}

/** Replaces the last snapshot if it is of the current step, because another example is shown now. */
function withShown(
  { past, showings }: Lesson,
  { showing, why, step, outputs }: ShowAnswer,
): Partial<Lesson> {
  if (!showing) return { why };
  const last = past.at(-1);
  const isThere = last?.step === step && outputs.length > 0;
  return {
    ...{ why, showings: withShowing(showings, showing) },
    ...(isThere && {
      past: past.with(-1, {
        ...{ step, showing: showing.id },
        courses: last.courses.map((snapshot, i) => ({ ...snapshot, ...outputs[i] })),
      }),
    }),
  };
}

/** `setups` must be memoised; a new list starts another training. Training starts by itself. */
export function useLesson(setups: readonly TrainingSetup[], text: string | null): LessonControls {
  const engine = useRef<EngineClient | null>(null);
  const [lesson, setLesson] = useState<Lesson | null>(null);
  const [isPlaying, setIsPlaying] = useState(true);
  const [failure, setFailure] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  /** Aborts the previous lesson. */
  const current = useRef(new AbortController());
  const wantsToPlay = useRef(true);
  const begunFor = useRef(setups);
  /** The text last requested to be shown. */
  const asked = useRef(text);

  const change = (next: (now: Lesson) => Partial<Lesson>) =>
    setLesson((now) => now && { ...now, ...next(now) });

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
      if (stopped.why === "finished" || stopped.why === "nan") stand();
    } catch (error) {
      if (signal.aborted) return;
      setFailure((error as Error).message);
      stand();
    }
  };
  const stand = () => {
    wantsToPlay.current = false;
    setIsPlaying(false);
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
    // A new training starts playing; the same one starts again in its previous state.
    if (begunFor.current !== setups) {
      wantsToPlay.current = true;
      setIsPlaying(true);
    }
    begunFor.current = setups;
    own.ask("learn", { kind: "begin", setups, text }, { signal }).then(
      (begun) => {
        if (begun.kind !== "begun" || signal.aborted) return;
        const { first, showing, why } = begun;
        setLesson({
          ...{ begun, setups, showings: withShowing([], showing), why, past: [first] },
          ...{ step: 0, millisecondsPerStep: null, stop: null },
        });
        if (wantsToPlay.current) void train(endless);
      },
      (error: Error) => {
        if (signal.aborted) return;
        setFailure(error.message);
        stand();
      },
    );
  }, [setups, round]);

  const isReady = lesson !== null && lesson.setups === setups && failure === null;
  const isOver = lesson?.stop === "finished" || lesson?.stop === "nan";

  useEffect(() => {
    if (!isReady || asked.current === text) return;
    asked.current = text;
    const { signal } = current.current;
    engine.current?.ask("learn", { kind: "show", text }, { signal }).then(
      (shown) => {
        if (shown.kind === "shown" && !signal.aborted) change((now) => withShown(now, shown));
      },
      (error: Error) => {
        if (!signal.aborted) setFailure(error.message);
      },
    );
  }, [text, isReady]);
  return useMemo(() => {
    const reset = () => setRound((now) => now + 1);
    return {
      ...{ lesson, isPlaying, failure, reset },
      setPlaying(wanted) {
        wantsToPlay.current = wanted;
        setIsPlaying(wanted);
        // At its end, or after a failure, it starts again.
        if (wanted && (isOver || failure !== null)) reset();
        else if (isReady && wanted) void train(endless);
        else if (isReady) {
          // Without a lesson its start has failed, which was reported.
          engine.current?.ask("learn", { kind: "pause" }).catch(() => {});
        }
      },
      stepOnce() {
        if (isReady && !isOver) void train(1);
      },
    };
  }, [lesson, isPlaying, failure, isReady, isOver]);
}
