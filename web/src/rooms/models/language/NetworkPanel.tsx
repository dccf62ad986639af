/** The whole network: one token's way through the model. */
import { useCallback, useMemo } from "preact/hooks";
import { CausalPanel } from "../../../network/CausalPanel";
import { useInView } from "../../../network/useInView";
import { useNetwork } from "../../../network/useNetwork";
import { useRest } from "../../../network/useRest";
import { headKey } from "../../../shared/layerHeads";
import { label } from "../../../shared/pieces";
import { kindOf, kinds } from "./measures";
import { baseOf } from "./useWriting";
import { useWriteWorkspace } from "./workspace";

export function NetworkPanel() {
  const { state, opened, answer, place, head, clock, go, set } = useWriteWorkspace();
  const { dropped, layer: row } = state;
  const { ids } = answer;
  const tokens = useMemo(() => answer.pieces.map(label), [answer]);
  const [section, isInView] = useInView<HTMLElement>();
  const { isPlaying } = clock;
  const isAtRest = useRest(useMemo(() => (isPlaying ? null : {}), [answer, place, isPlaying]));
  // A printed page also contains the parts that are out of view, and nothing can be computed while it prints.
  const isSeen = isInView || isAtRest;
  const model = useMemo(() => ({ base: baseOf() }), []);
  const way = useNetwork("write", {
    ...{ model, dropped, isSeen, ids, tokens, place, row, head },
    layers: opened.layers,
  });
  const noteOf = useCallback(
    (layer: number, head: number) => {
      const measures = opened.measures.find(({ key }) => key === headKey({ layer, head }));
      const kind = measures && kindOf(measures);
      return kind ? kinds[kind].name : null;
    },
    [opened],
  );
  return <CausalPanel {...{ section, state, set, tokens, place, noteOf, ...way }} onSelect={go} />;
}
