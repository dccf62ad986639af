/** The panel of the whole network in the rooms of models that predict the next token. */
import type { RefObject } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import { counted } from "../shared/format";
import { type HeadKey, headKey } from "../shared/layerHeads";
import { Notices } from "../shared/Notices";
import { TokenSelect } from "../shared/RowTable";
import type { Facts } from "./facts";
import type { NetworkHost } from "./host";
import { layerOfRow } from "./Inside";
import type { Spot } from "./messages";
import { NetworkPicture } from "./NetworkPicture";

/** The settings of a room for the picture of its network. */
export interface CausalState {
  /** The open row: 0 for the embedding, then the layers, then the end; null for none. */
  readonly layer: number | null;
  /** The number of the open row that is locked; null for none. */
  readonly number: Spot | null;
}

interface CausalChange extends Partial<CausalState> {
  readonly head?: HeadKey;
  readonly cell?: null;
}

interface CausalProps {
  /** Receives the element that useInView observes. */
  section: RefObject<HTMLElement | null>;
  state: CausalState;
  set(change: CausalChange): void;
  /** Null until they are computed. */
  facts: Facts | null;
  failure: string | null;
  isBusy: boolean;
  /** The labels of all tokens of the text; `place` is the traced token. */
  tokens: readonly string[];
  place: number;
  onSelect(place: number): void;
  noteOf?: NetworkHost["noteOf"];
}

function useHost({ state: { layer: row, number: kept }, set, facts, noteOf }: CausalProps) {
  return useMemo<NetworkHost>(
    () => ({
      kept,
      keep: (number) => set({ number }),
      choose(head) {
        const layer = layerOfRow(row, facts?.numbers.lengths.length ?? 0);
        if (layer !== null) set({ head: headKey({ layer, head }), cell: null });
      },
      ...(noteOf && { noteOf }),
    }),
    [kept, row, facts, set, noteOf],
  );
}

export function CausalPanel(props: CausalProps) {
  const { section, state, set, facts, failure, isBusy, tokens, place, onSelect } = props;
  const host = useHost(props);
  const open = useCallback((layer: number | null) => set({ layer, number: null }), [set]);
  const ablated = facts?.numbers.ablated.length ?? 0;
  return (
    <section ref={section} class="network" aria-labelledby="network-title">
      <h2 id="network-title">The whole network</h2>
      <Notices notices={failure ? [failure] : []} />
      {facts ? (
        <NetworkPicture
          {...{ facts, host, row: state.layer, open }}
          choice={
            <>
              <TokenSelect label="Token" tokens={tokens} index={place} onSelect={onSelect} />
              {ablated > 0 && <span class="faint">without {counted(ablated, "ablated head")}</span>}
            </>
          }
        />
      ) : (
        <>
          {isBusy && <p class="faint">Computing the way of a token …</p>}
          <p class="faint on-paper">It is computed once it is in view: scroll to it, then print.</p>
        </>
      )}
    </section>
  );
}
