/** A solver's answer to the latest request. One request runs at a time; of those that wait only the latest is kept. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useShell } from "../shared/shell";
import type { AnswerOf, RequestOf, SolverName } from "./solvers";

export interface Answered<Name extends SolverName> {
  /** The last answer; null before the first one, and while there is no request. */
  readonly answer: AnswerOf<Name> | null;
  /** The request that `answer` belongs to, the same object. */
  readonly request: RequestOf<Name> | null;
  /** An error message for the person. */
  readonly failure: string | null;
  /** Whether a request is running. */
  readonly isBusy: boolean;
}

const nothing = { answer: null, request: null, failure: null };

/** `request` must stay the same object (useMemo) until its contents change; null asks nothing. */
export function useAnswer<Name extends SolverName>(
  solver: Name,
  request: RequestOf<Name> | null,
): Answered<Name> {
  const { engine } = useShell();
  const [shown, setShown] = useState<Omit<Answered<Name>, "isBusy">>(nothing);
  const [isRunning, setIsRunning] = useState(false);
  const latest = useRef<RequestOf<Name> | null>(null);
  const loop = useRef<AbortController | null>(null);

  /** Asks until the latest request is answered. */
  const askLatest = async (signal: AbortSignal) => {
    for (let done: RequestOf<Name> | null = null; latest.current && latest.current !== done; ) {
      const request: RequestOf<Name> = latest.current;
      try {
        const answer = await engine.ask(solver, request, { signal });
        setShown({ answer, request, failure: null });
      } catch (error) {
        if (signal.aborted) return;
        // The last answer stays in view beside the error message.
        setShown((now) => ({ ...now, failure: (error as Error).message }));
      }
      done = request;
    }
    // No await may come between the last check of `latest` and this line: a request made in between would never be
    // sent.
    loop.current = null;
    setIsRunning(false);
  };

  useEffect(() => {
    latest.current = request;
    if (!request || loop.current) return;
    loop.current = new AbortController();
    setIsRunning(true);
    void askLatest(loop.current.signal);
  }, [request]);
  useEffect(() => () => loop.current?.abort(), []);

  if (!request) return { ...nothing, isBusy: false };
  return { ...shown, isBusy: isRunning };
}
