/** Keeps a desk's answer to the latest request: at most one is under way, and of those that wait only the latest. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useShell } from "../shared/shell";
import type { AnswerOf, DeskName, RequestOf } from "./solvers";

export interface Answered<Name extends DeskName> {
  /** The last answer; null before the first one, and while nothing is asked. */
  readonly answer: AnswerOf<Name> | null;
  /** The very object that was asked for it. */
  readonly request: RequestOf<Name> | null;
  /** Words for the person. */
  readonly failure: string | null;
  /** Whether a newer answer is on its way. */
  readonly isBusy: boolean;
}

const nothing = { answer: null, request: null, failure: null };

/** `request` has to be the same object (useMemo) until something else is wanted; null asks nothing. */
export function useAnswer<Name extends DeskName>(
  desk: Name,
  request: RequestOf<Name> | null,
): Answered<Name> {
  const { engine } = useShell();
  const [shown, setShown] = useState<Omit<Answered<Name>, "isBusy">>(nothing);
  const [isUnderWay, setIsUnderWay] = useState(false);
  const latest = useRef<RequestOf<Name> | null>(null);
  const loop = useRef<AbortController | null>(null);

  /** Asks until the latest request has its answer. */
  const askLatest = async (signal: AbortSignal) => {
    for (let done: RequestOf<Name> | null = null; latest.current && latest.current !== done; ) {
      const request: RequestOf<Name> = latest.current;
      try {
        const answer = await engine.ask(desk, request, { signal });
        setShown({ answer, request, failure: null });
      } catch (error) {
        if (signal.aborted) return;
        // The last answer stays in view beside the words for what went wrong.
        setShown((now) => ({ ...now, failure: (error as Error).message }));
      }
      done = request;
    }
    // Nothing may come between the last look at `latest` and this: a request that did would wait for good.
    loop.current = null;
    setIsUnderWay(false);
  };

  useEffect(() => {
    latest.current = request;
    if (!request || loop.current) return;
    loop.current = new AbortController();
    setIsUnderWay(true);
    void askLatest(loop.current.signal);
  }, [request]);
  useEffect(() => () => loop.current?.abort(), []);

  if (!request) return { ...nothing, isBusy: false };
  return { ...shown, isBusy: isUnderWay };
}
