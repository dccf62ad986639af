/** The page's side of the open model: opens one, tells how much of it has come, and closes it. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Loading, loadingOf, type News } from "../../../shared/loading";
import { useEngine } from "../../../worker/engineClient";
import type { Card, Whose } from "./messages";
import type { Source } from "./source";
import type { WeightType } from "./state";

/** @param onOpen called for a model that is opened, but not for one that was open before */
export function useModel(whose: Whose, onOpen: (card: Card) => void) {
  const engine = useEngine();
  const [card, setCard] = useState<Card | null>(null);
  /** Whether it is known if a model is open. */
  const [isKnown, setKnown] = useState(false);
  const [loading, setLoading] = useState<Loading | null>(null);
  const [why, setWhy] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  const latestOnOpen = useRef(onOpen);
  latestOnOpen.current = onOpen;

  /** A model of the person stays open while the person is elsewhere. */
  const ask = useCallback(
    () =>
      engine.ask("language", { kind: "card", whose }).then(
        (answer) => {
          setCard(answer?.kind === "card" ? answer : null);
          setKnown(true);
        },
        (error: Error) => setWhy(error.message),
      ),
    [engine, whose],
  );
  const close = useCallback(() => {
    setCard(null);
    void engine.ask("language", { kind: "close", whose }).catch(() => {});
  }, [engine, whose]);
  useEffect(() => {
    void ask();
    return () => {
      running.current?.abort();
      if (whose === "ours") close();
    };
  }, [ask, close, whose]);

  const load = async (source: Source, dtype: WeightType) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    const loadingAt = loadingOf(source.name);
    setWhy(null);
    setLoading(loadingAt({ loaded: 0, total: 0 }));
    const progress = (news: News) => {
      if (!signal.aborted) setLoading(loadingAt(news));
    };
    const request = { kind: "load", source, dtype } as const;
    try {
      const answer = await engine.ask("language", request, { signal, progress });
      if (answer?.kind === "refused") setWhy(answer.why);
      if (answer?.kind === "card") {
        latestOnOpen.current(answer);
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
  };
  const cancel = () => running.current?.abort();
  return { card, isKnown, loading, why, setWhy, actions: { load, cancel, close } };
}
