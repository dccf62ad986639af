/** The person's model that is open in the room Models, and its tokens of the texts that the room shows. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { savesData } from "../../shared/ourModel";
import { useAnswer } from "../../worker/engineClient";
import type { State } from "./settings";
import { withLearned, withRandom } from "./state";
import type { WalkAnswer, Walked, WalkRequest } from "./walk";

export interface Walk {
  /** The open model of the person, if its layers can be shown. */
  readonly open: WalkAnswer["open"];
  /** The model of the state and its tokens of the text. Until the tokens of a new text are known, it has the tokens of the last text. */
  readonly walked: Walked | null;
  readonly failure: string | null;
}

/** @param onRefused called with the reason if the model of the link is not shown, and with what to show instead */
export function useWalk(
  { vectors, model, text }: State,
  onRefused: (why: string, instead: Partial<State>) => void,
): Walk {
  // Only the person's own model needs the text.
  const read = model === null ? "" : text;
  const asked = useMemo<WalkRequest | null>(
    () => (vectors === "learned" ? { model, text: read } : null),
    [vectors, model, read],
  );
  const { answer, request, failure } = useAnswer("walk", asked);
  const last = useRef<Walked | null>(null);
  last.current = answer?.walked ?? last.current;
  const why = request === asked ? answer?.why : null;
  useEffect(() => {
    if (!why) return;
    if (savesData()) onRefused(`${why} Random vectors are shown instead.`, withRandom());
    else onRefused(`${why} Our language model is shown instead.`, withLearned());
  }, [why]);
  const isYours = vectors === "learned" && model !== null;
  return { open: answer?.open ?? null, walked: isYours ? last.current : null, failure };
}
