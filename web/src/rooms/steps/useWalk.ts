/** The models other than our language model, and the tokens of one of the texts that the room shows. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import { savesData } from "../../shared/ourModel";
import { useAnswer } from "../../worker/engineClient";
import type { State } from "./settings";
import { withLearned, withRandom } from "./state";
import type { WalkAnswer, Walked, WalkRequest } from "./walk";

export interface Walk {
  readonly others: WalkAnswer["others"];
  /** The model of the state and its tokens of the text. Until the tokens of a new text are known, it has the tokens of the last text. */
  readonly walked: Walked | null;
  readonly failure: string | null;
}

/** @param onRefused called with the reason if the model of the link is not shown, and with what to show instead */
export function useWalk(
  { vectors, model, text }: State,
  onRefused: (why: string, instead: Partial<State>) => void,
): Walk {
  // The page cuts the text for our language model itself.
  const read = model === null ? "" : text;
  const asked = useMemo<WalkRequest | null>(
    () => (vectors === "learned" ? { model, text: read, base: document.baseURI } : null),
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
  const isOther = vectors === "learned" && model !== null;
  return { others: answer?.others ?? [], walked: isOther ? last.current : null, failure };
}
