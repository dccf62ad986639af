/** The page's side of the training: an engine of its own, the lesson that it gives, and what is kept of its past. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { EngineClient } from "../../worker/engineClient";
import type { Begun, News, Setup, Showing, Shown, Snapshot, Stopped } from "./orders";
import { withMore } from "./past";

export interface Lesson {
  readonly begun: Begun;
  /** What was asked for it. */
  readonly setups: readonly Setup[];
  /** What a snapshot shows is among them. */
  readonly showings: readonly Showing[];
  /** Why what was typed is not shown, in words. */
  readonly why: string | null;
  readonly past: readonly Snapshot[];
  /** The step that training is at. */
  readonly step: number;
  readonly millisecondsPerStep: number | null;
  readonly stop: Stopped["why"] | null;
}

export interface LessonControls {
  /** Null until the first one has begun. */
  readonly lesson: Lesson | null;
  readonly isPlaying: boolean;
  /** In words for the person. */
  readonly failure: string | null;
  setPlaying(isPlaying: boolean): void;
  stepOnce(): void;
  reset(): void;
}

const endless = 1e9;

function withShowing(showings: readonly Showing[], showing: Showing): readonly Showing[] {
  return showings.some(({ id }) => id === showing.id) ? showings : [...showings, showing];
}

/** Where training stands at its last look, that look is of what is shown now. */
function withShown(
  { past, showings }: Lesson,
  { showing, why, step, views }: Shown,
): Partial<Lesson> {
  if (!showing) return { why };
  const last = past.at(-1);
  const isThere = last?.step === step && views.length > 0;
  return {
    ...{ why, showings: withShowing(showings, showing) },
    ...(isThere && {
      past: past.with(-1, {
        ...{ step, showing: showing.id },
        courses: last.courses.map((seen, i) => ({ ...seen, ...views[i] })),
      }),
    }),
  };
}

/** `setups` has to be the same list (useMemo) until another training is wanted. It plays by itself. */
export function useLesson(setups: readonly Setup[], text: string | null): LessonControls {
  const engine = useRef<EngineClient | null>(null);
  const [lesson, setLesson] = useState<Lesson | null>(null);
  const [isPlaying, setIsPlaying] = useState(true);
  const [failure, setFailure] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  /** Ends whatever the lesson before still says. */
  const current = useRef(new AbortController());
  const wantsToPlay = useRef(true);
  const begunFor = useRef(setups);
  /** What was last asked to be shown. */
  const asked = useRef(text);

  const change = (next: (now: Lesson) => Partial<Lesson>) =>
    setLesson((now) => now && { ...now, ...next(now) });

  const hear = ({ step, showing, snapshots, millisecondsPerStep }: News) =>
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
    // Another training is wanted to be seen; the same one begins again as it was left.
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
        // From its end it plays again from the start, and so it does after a failure.
        if (wanted && (isOver || failure !== null)) reset();
        else if (isReady && wanted) void train(endless);
        else if (isReady) {
          // Where there is no lesson, its beginning has failed and said so.
          engine.current?.ask("learn", { kind: "pause" }).catch(() => {});
        }
      },
      stepOnce() {
        if (isReady && !isOver) void train(1);
      },
    };
  }, [lesson, isPlaying, failure, isReady, isOver]);
}
