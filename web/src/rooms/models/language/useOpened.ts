/** The view has one open source: our model, a model of the person, or attention weights from a file. */
import { useEffect } from "preact/hooks";
import { savesData } from "../../../shared/ourModel";
import type { Setter } from "../../../shared/room";
import { useShell } from "../../../shared/shell";
import type { Card } from "./messages";
import { type FoundFile, folderIn, ourSource } from "./source";
import { ourModel, type State, withModel, yourModel } from "./state";
import { useAttention } from "./useAttention";
import { useModel } from "./useModel";

export type Opened = ReturnType<typeof useOpened>;

export function useOpened(state: State, set: Setter<State>) {
  const { restrictions } = useShell();
  const whose = state.model === ourModel ? "ours" : "yours";
  const onOpen = ({ link: model }: Card) => {
    attention.close();
    if (whose === "ours") return;
    // The selection of a link is for the model that it names or, without a name, for the first one that is opened.
    set((now) =>
      card === null && [yourModel, model].includes(now.model) ? { model } : withModel(model),
    );
  };
  const { card, isKnown, loading, why, setWhy, actions } = useModel(whose, onOpen);
  const attention = useAttention(setWhy);
  const { dtype } = state;
  useEffect(() => {
    if (isKnown && whose === "ours" && !card && !savesData()) actions.load(ourSource(), dtype);
  }, [isKnown]);
  const close = () => {
    actions.close();
    set(withModel(yourModel));
  };
  return {
    ...{ card, loading, why, setWhy, attention, isKnown },
    actions: { ...actions, close },
    /** Whether our model does not open by itself, or could not be loaded. */
    isMissing: isKnown && !card && !loading && (savesData() || why !== null),
    /** Takes files that were dropped or chosen. */
    take(found: readonly FoundFile[]) {
      if (restrictions.lock || found.length === 0 || attention.take(found)) return;
      const source = folderIn(found);
      if ("why" in source) setWhy(source.why);
      else actions.load(source, dtype);
    },
  };
}
