/** The trace of the selected token through the model, requested only while its panel is in view. */
import { useMemo, useRef } from "preact/hooks";
import type { Facts } from "../../../network/facts";
import { layerOfRow } from "../../../network/Inside";
import { type HeadPlace, headPlaceOf } from "../../../shared/layerHeads";
import { useAnswer } from "../../../worker/engineClient";
import { useLanguageWorkspace } from "./workspace";

/** The matrices of the open layer; null until they arrive, or if they are too large. */
function useMatrices(isSeen: boolean, layer: number | null) {
  const { model } = useLanguageWorkspace().answer;
  const asked = useMemo(
    () => (isSeen && layer !== null ? ({ kind: "matrices", model, layer } as const) : null),
    [isSeen, model, layer],
  );
  const { answer, request } = useAnswer("language", asked);
  return asked && request === asked && answer?.kind === "matrices" ? answer.matrices : null;
}

/** @param tokens the labels of all tokens of the text */
export function useNetwork(isSeen: boolean, tokens: readonly string[]) {
  const { state, card, answer, place, head: key, ablating } = useLanguageWorkspace();
  const { model, ids } = answer;
  const { head } = headPlaceOf(key) as HeadPlace;
  const layer = layerOfRow(state.layer, card.attentions[0].layers);
  const asked = useMemo(() => {
    // An encoder reads the tokens on both sides.
    const read = card.predicts === "masked" ? { ids, place } : { ids: ids.slice(0, place + 1) };
    const traced = { ...read, layer, head, ...ablating };
    return isSeen ? ({ kind: "network", model, ...traced } as const) : null;
  }, [isSeen, model, ids, place, ablating, layer, head]);
  const { answer: found, request, isBusy, failure } = useAnswer("language", asked);
  const matrices = useMatrices(isSeen, layer);
  /** The latest trace, which stays in view while the next one is computed. */
  const last = useRef<Pick<Facts, "numbers" | "tokens" | "place"> | null>(null);
  if (found?.kind === "network" && request?.kind === "network") {
    const { numbers } = found;
    // Ignores an answer about a text that has changed since.
    if (last.current?.numbers !== numbers && request.ids.every((id, i) => id === ids[i]))
      last.current = {
        ...{ numbers, tokens: tokens.slice(0, request.ids.length) },
        place: request.place ?? request.ids.length - 1,
      };
  }
  const kept = last.current;
  const facts = useMemo<Facts | null>(
    () => kept && { ...kept, matrices, sources: [] },
    [kept, matrices],
  );
  return { facts, isBusy, failure };
}
