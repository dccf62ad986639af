/** The page's side of the training: an engine of its own, the lesson that it gives, and what is kept of its past. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Engine } from "../../engine";
import type { Begun, News, Setup, Snapshot, Stopped } from "./orders";
import { withMore } from "./past";

export interface Lesson {
  readonly begun: Begun;
  /** What was asked for it. */
  readonly setups: readonly Setup[];
  readonly past: readonly Snapshot[];
  /** The step that training is at. */
  readonly step: number;
  readonly millisecondsPerStep: number | null;
  readonly why: Stopped["why"] | null;
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

/** `setups` has to be the same list (useMemo) until another training is wanted. It plays by itself. */
export function useLesson(setups: readonly Setup[]): LessonControls {
  const engine = useRef<Engine | null>(null);
  const [lesson, setLesson] = useState<Lesson | null>(null);
  const [isPlaying, setIsPlaying] = useState(true);
  const [failure, setFailure] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  /** Ends whatever the lesson before still says. */
  const current = useRef(new AbortController());
  const wantsToPlay = useRef(true);

  const change = (next: (now: Lesson) => Partial<Lesson>) =>
    setLesson((now) => now && { ...now, ...next(now) });

  const hear = ({ step, snapshots, millisecondsPerStep }: News) =>
    change(({ past }) => ({
      ...{ step, millisecondsPerStep },
      ...(snapshots.length > 0 && { past: withMore(past, snapshots) }),
    }));

  const train = async (steps: number) => {
    const { signal } = current.current;
    change(() => ({ why: null }));
    try {
      const stopped = await engine.current?.ask(
        "learn",
        { kind: "train", steps },
        { signal, progress: hear as (news: unknown) => void },
      );
      if (stopped?.kind !== "stopped" || signal.aborted) return;
      change(() => ({ why: stopped.why }));
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
    const own = new Engine({ hasThreads: false });
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
    own.ask("learn", { kind: "begin", setups }, { signal }).then(
      (begun) => {
        if (begun.kind !== "begun" || signal.aborted) return;
        setLesson({
          ...{ begun, setups, past: [begun.first], step: 0, millisecondsPerStep: null, why: null },
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
  const isOver = lesson?.why === "finished" || lesson?.why === "nan";
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
        else if (isReady) void engine.current?.ask("learn", { kind: "pause" });
      },
      stepOnce() {
        if (isReady && !isOver) void train(1);
      },
    };
  }, [lesson, isPlaying, failure, isReady, isOver]);
}
