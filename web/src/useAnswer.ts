/** Keeps a desk's answer to the latest request: at most one is under way, and of those that wait only the latest. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { AnswerOf, DeskName, RequestOf } from "./desks";
import type { Engine } from "./engine";
import { useShell } from "./shell";

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

  useEffect(() => {
    latest.current = request;
    if (!request || loop.current) return;
    const controller = new AbortController();
    loop.current = controller;
    setIsUnderWay(true);
    void askLatest(engine, desk, latest, controller.signal, setShown).finally(() => {
      if (controller.signal.aborted) return;
      loop.current = null;
      setIsUnderWay(false);
    });
  }, [request]);
  useEffect(() => () => loop.current?.abort(), []);

  if (!request) return { ...(nothing as typeof shown), isBusy: false };
  return { ...shown, isBusy: isUnderWay };
}

/** Asks until the latest request has its answer. */
async function askLatest<Name extends DeskName>(
  engine: Engine,
  desk: Name,
  latest: { readonly current: RequestOf<Name> | null },
  signal: AbortSignal,
  show: (change: (now: Omit<Answered<Name>, "isBusy">) => Omit<Answered<Name>, "isBusy">) => void,
): Promise<void> {
  for (let done: RequestOf<Name> | null = null; latest.current && latest.current !== done; ) {
    const request: RequestOf<Name> = latest.current;
    try {
      const answer = await engine.ask(desk, request, { signal });
      show(() => ({ answer, request, failure: null }));
    } catch (error) {
      if (signal.aborted) return;
      // The last answer stays in view beside the words for what went wrong.
      show((now) => ({ ...now, failure: (error as Error).message }));
    }
    done = request;
  }
}
