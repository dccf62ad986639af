/** The whole network of a model that predicts the next token: one token's way through it. */
import { useCallback, useMemo } from "preact/hooks";
import { CausalPanel } from "../../../network/CausalPanel";
import { useInView } from "../../../network/useInView";
import { useNetwork } from "../../../network/useNetwork";
import { useRest } from "../../../network/useRest";
import { headKey } from "../../../shared/layerHeads";
import { label } from "../../../shared/pieces";
import { kindNameOf } from "./kinds";
import { useLanguageWorkspace } from "./workspace";

function Network() {
  const { state, card, answer, kinds, place, head, ablating, clock, go, set } =
    useLanguageWorkspace();
  const { ids } = answer;
  const tokens = useMemo(() => answer.tokens.map(({ piece }) => label(piece)), [answer]);
  const [section, isInView] = useInView<HTMLElement>();
  const { isPlaying } = clock;
  const isAtRest = useRest(useMemo(() => (isPlaying ? null : {}), [answer, place, isPlaying]));
  // A printed page also contains the parts that are out of view, and nothing can be computed while it prints. The
  // network of the person's own model may take long, so it is computed only in view.
  const isSeen = isInView || (isAtRest && card.whose === "ours");
  const model = useMemo(() => ({ model: answer.model }), [answer.model]);
  const way = useNetwork("language", {
    ...{ model, ablating, isSeen, ids, tokens, place, head },
    ...{ row: state.layer, layers: card.layers },
  });
  const noteOf = useCallback(
    (layer: number, head: number) => kindNameOf(kinds, headKey({ layer, head })),
    [kinds],
  );
  return <CausalPanel {...{ section, state, set, tokens, place, noteOf, ...way }} onSelect={go} />;
}

/** Renders nothing for an encoder, because its output needs a separate prediction head. */
export function NetworkPanel() {
  const { card } = useLanguageWorkspace();
  return card.hasNetwork ? <Network /> : null;
}
