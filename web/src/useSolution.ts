/** Keeps the engine's answer to the latest settings. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Engine } from "./engine";
import type { EngineInfo, Problem, Solution } from "./protocol";
import { problemOf, type Scene, type State } from "./state";

/** An answer with the settings it belongs to. */
interface Answer {
  readonly solution: Solution;
  readonly state: State;
}

export interface EngineView {
  /** The last answer; null before the first one, and while there is no token to work on. */
  readonly answer: Answer | null;
  readonly info: EngineInfo | null;
  readonly failure: string | null;
}

export function useSolution(state: State, scene: Scene): EngineView {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [info, setInfo] = useState<EngineInfo | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const engine = useRef<Engine | null>(null);
  const asked = useRef(new WeakMap<Problem, State>());

  const { stage, cell, range, curve, mass, ...relevant } = state;
  // Only what changes the numbers makes a new problem.
  const problem = useMemo(() => problemOf(state, scene), Object.values(relevant));

  useEffect(() => {
    engine.current = new Engine({
      ready: setInfo,
      solved(solution, problem) {
        const state = asked.current.get(problem);
        if (state) setAnswer({ solution, state });
        setFailure(null);
      },
      failed: setFailure,
    });
  }, []);

  // A problem is asked once, with the state that it came from.
  useEffect(() => {
    if (!problem) return;
    asked.current.set(problem, state);
    engine.current?.solve(problem);
  }, [problem]);

  return { answer: problem && answer, info, failure };
}
