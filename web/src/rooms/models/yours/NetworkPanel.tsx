/** The whole network of a model that predicts the next token: one token's way through it. */
import { useMemo } from "preact/hooks";
import { CausalPanel } from "../../../network/CausalPanel";
import { useInView } from "../../../network/useInView";
import { useNetwork } from "../../../network/useNetwork";
import { label } from "../../../shared/pieces";
import { useYoursWorkspace } from "./workspace";

function Network() {
  const { state, card, answer, place, head, dropped, set } = useYoursWorkspace();
  const { ids } = answer;
  const tokens = useMemo(() => answer.tokens.map(({ piece }) => label(piece)), [answer]);
  const [section, isSeen] = useInView<HTMLElement>();
  const model = useMemo(() => ({ model: answer.model }), [answer.model]);
  const way = useNetwork("yours", {
    ...{ model, dropped, isSeen, ids, tokens, place, head },
    ...{ row: state.layer, layers: card.layers },
  });
  return (
    <CausalPanel
      {...{ section, state, set, tokens, place, ...way }}
      onSelect={(place) => set({ place })}
    />
  );
}

/** Renders nothing for an encoder, because its output needs a separate prediction head. */
export function NetworkPanel() {
  const { card } = useYoursWorkspace();
  return card.hasNetwork ? <Network /> : null;
}
