/** The solver's answer to the latest settings. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useAnswer } from "../../worker/useAnswer";
import type { Problem, Solution } from "./problem";
import { problemOf, type Scene, type State } from "./state";

export interface Solved {
  /** The last answer and its settings; null before the first one, and while there is no token. */
  readonly answer: { readonly solution: Solution; readonly state: State } | null;
  readonly failure: string | null;
}

export function useSolution(state: State, scene: Scene): Solved {
  const { stage, cell, time, range, curve, mass, ...relevant } = state;
  // Only settings that affect the numbers change the problem.
  const problem = useMemo(() => problemOf(state, scene), Object.values(relevant));
  const asked = useRef(new WeakMap<Problem, State>());
  useEffect(() => {
    if (problem) asked.current.set(problem, state);
  }, [problem]);

  const { answer: solution, request, failure } = useAnswer("steps", problem);
  const answered = request && asked.current.get(request);
  const answer = useMemo(
    () => (solution && answered ? { solution, state: answered } : null),
    [solution, answered],
  );
  return { answer, failure };
}
