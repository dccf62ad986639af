/** The page's side of the open model: opens one, tells how much of it has come, and closes it. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useEngine } from "../../../worker/engineClient";
import type { Card, News } from "./messages";
import type { Source } from "./source";
import type { WeightType } from "./state";

export interface Loading {
  readonly name: string;
  readonly loaded: number;
  /** 0 until the files tell it. */
  readonly total: number;
  /** Bytes per millisecond over the last seconds, because kept files load faster. Null at first. */
  readonly rate: number | null;
  /** Whether it opens automatically, without a request of the person. */
  readonly byItself: boolean;
}

export interface ModelActions {
  /** @param byItself whether it opens automatically; the room's state then does not change */
  load(source: Source, dtype: WeightType, byItself?: boolean): void;
  cancel(): void;
  close(): void;
}

/** The time over which the rate is taken, and the least for a first one, in milliseconds. */
const recently = 5000;
const soonest = 500;

/** Measures the rate of a download from the times at which its bytes arrived. */
function rateMeter(): (loaded: number) => number | null {
  const seen: { readonly time: number; readonly loaded: number }[] = [];
  return (loaded) => {
    const time = performance.now();
    seen.push({ time, loaded });
    while (seen.length > 2 && time - (seen[1]?.time ?? 0) > recently) seen.shift();
    const [first] = seen;
    if (!first || time - first.time < soonest || loaded <= first.loaded) return null;
    return (loaded - first.loaded) / (time - first.time);
  };
}

export function useModel(onOpen: (card: Card) => void) {
  const engine = useEngine();
  const [card, setCard] = useState<Card | null>(null);
  /** Whether it is known if a model is open. */
  const [isKnown, setKnown] = useState(false);
  const [loading, setLoading] = useState<Loading | null>(null);
  const [why, setWhy] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  const latestOnOpen = useRef(onOpen);
  latestOnOpen.current = onOpen;

  /** A model stays open while the person is in other rooms. */
  const ask = useCallback(
    () =>
      engine.ask("yours", { kind: "card" }).then(
        (answer) => {
          setCard(answer?.kind === "card" ? answer : null);
          setKnown(true);
        },
        (error: Error) => setWhy(error.message),
      ),
    [engine],
  );
  useEffect(() => {
    void ask();
    return () => running.current?.abort();
  }, [ask]);

  const load: ModelActions["load"] = useCallback(
    async (source, dtype, byItself = false) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const { signal } = controller;
      const rateAt = rateMeter();
      setWhy(null);
      setLoading({ name: source.name, loaded: 0, total: 0, rate: null, byItself });
      const progress = ({ loaded, total }: News) => {
        if (signal.aborted) return;
        setLoading({ name: source.name, loaded, total, rate: rateAt(loaded), byItself });
      };
      try {
        const answer = await engine.ask(
          "yours",
          { kind: "load", source, dtype },
          { signal, progress },
        );
        if (answer?.kind === "refused") setWhy(answer.why);
        if (answer?.kind === "card") {
          if (!byItself) latestOnOpen.current(answer);
          setCard(answer);
        }
      } catch (error) {
        // The model may have arrived just before the cancelling.
        if (signal.aborted) void ask();
        else setWhy((error as Error).message);
      }
      if (running.current === controller) {
        running.current = null;
        setLoading(null);
      }
    },
    [engine, ask],
  );
  const cancel = useCallback(() => running.current?.abort(), []);
  const close = useCallback(() => {
    setCard(null);
    void engine.ask("yours", { kind: "close" }).catch(() => {});
  }, [engine]);
  return { card, isKnown, loading, why, setWhy, actions: { load, cancel, close } };
}
