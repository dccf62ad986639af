/** The models other than our language model, and the tokens of one of the texts that the room shows. */
import { useEffect, useMemo } from "preact/hooks";
import { savesData } from "../../shared/ourModel";
import type { Setter } from "../../shared/room";
import { useAnswer } from "../../worker/engineClient";
import { exampleText } from "./example";
import type { State } from "./settings";
import { withLearned, withModel, withRandom } from "./state";
import type { WalkAnswer, Walked, WalkRequest } from "./walk";

export interface Walk {
  readonly others: WalkAnswer["others"];
  /**
   * The model of the state and its tokens of the text; null until it has answered. Until the tokens of a new text are
   * known, it has the tokens of the last text.
   */
  readonly walked: Walked | null;
  readonly failure: string | null;
}

export function useWalk(
  { vectors, model, text }: State,
  set: Setter<State>,
  /** Called with a message if the model of the link is not shown. It has the reason and the replacement. */
  notify: (why: string) => void,
): Walk {
  // The page cuts the text for our language model itself.
  const read = model === null ? "" : text;
  const asked = useMemo<WalkRequest | null>(
    () => (vectors === "learned" ? { model, text: read, base: document.baseURI } : null),
    [vectors, model, read],
  );
  const { answer, request, failure } = useAnswer("walk", asked);
  const others = answer?.others ?? [];
  // While a model is loading, nothing of the model before it may be shown as its own.
  const isOther = vectors === "learned" && model !== null && request?.model === model;
  const walked = isOther ? (answer?.walked ?? null) : null;
  const why = request === asked ? answer?.why : null;
  useEffect(() => {
    if (!why) return;
    const saves = savesData();
    notify(`${why} ${saves ? "Random vectors are" : "Our language model is"} shown instead.`);
    set(saves ? withRandom() : withLearned());
  }, [why]);
  // A link without a text opens on one that the model reads.
  const isUnread = walked?.tokens.why !== undefined && text === exampleText;
  useEffect(() => {
    if (isUnread) set(withModel(others.find(({ link }) => link === model)));
  }, [isUnread]);
  return { others, walked, failure };
}
