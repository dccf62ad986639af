/** The whole network of a language model: one token's way through it. */
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { Facts } from "../../../network/facts";
import { type NetworkHost, NetworkHostContext } from "../../../network/host";
import { Inside, layerOfRow } from "../../../network/Inside";
import { SaveRows, Winner } from "../../../network/StackSummary";
import { StackTable } from "../../../network/StackTable";
import { useInView } from "../../../network/useInView";
import { counted } from "../../../shared/format";
import { headKey } from "../../../shared/layerHeads";
import { Notices } from "../../../shared/Notices";
import { Prose } from "../../../shared/Panel";
import { label } from "../../../shared/pieces";
import { TokenSelect } from "../../../shared/RowTable";
import { Term } from "../../../shared/Term";
import { useWidth } from "../../../shared/useWidth";
import { kindNameOf } from "./kinds";
import { useNetwork } from "./useNetwork";
import { useLanguageWorkspace } from "./workspace";

function useHost(layers: number): NetworkHost {
  const { state, kinds, set } = useLanguageWorkspace();
  const { layer: row, number: kept } = state;
  return useMemo(
    () => ({
      kept,
      keep: (number) => set({ number }),
      choose(head) {
        const layer = layerOfRow(row, layers);
        if (layer !== null) set({ head: headKey({ layer, head }), cell: null });
      },
      noteOf: (layer, head) => kindNameOf(kinds, headKey({ layer, head })),
    }),
    [kept, row, layers, kinds, set],
  );
}

/** @param tokens the labels of all tokens of the text */
function Picture({ facts, tokens }: { facts: Facts; tokens: readonly string[] }) {
  const { state, place, go, set } = useLanguageWorkspace();
  const [ref, width] = useWidth<HTMLDivElement>();
  const { numbers } = facts;
  const { layer: row } = state;
  const host = useHost(numbers.lengths.length);
  const open = useCallback((layer: number | null) => set({ layer, number: null }), [set]);
  const token = facts.tokens[facts.place] as string;
  const own = `“${token}”`;
  const names = [own, "Next token"] as const;
  const { length: ablated } = numbers.ablated;
  return (
    <NetworkHostContext.Provider value={host}>
      <div class="network-head column">
        <Prose class="words">
          The vector of {own}, the <Term name="residual stream" />, goes straight down; each layer
          adds to it{numbers.readings ? "" : " and normalises the sums"}.{" "}
          {numbers.readings && (
            <>
              “It would say” reads it out as if the model ended there (
              <Term name="logit lens" />
              ).{" "}
            </>
          )}
          Open a row to see inside.
        </Prose>
        <Winner {...{ numbers, row }} />
      </div>
      <div class="way-choice line small">
        <TokenSelect label="Token" tokens={tokens} index={place} onSelect={go} />
        {ablated > 0 && <span class="faint">without {counted(ablated, "ablated head")}</span>}
        <SaveRows {...{ numbers, token }} />
      </div>
      <div ref={ref}>
        <StackTable {...{ numbers, names, row, open, width }} caption="The layers of the model">
          {width > 0 && row !== null && <Inside {...{ row, facts, width }} />}
        </StackTable>
      </div>
    </NetworkHostContext.Provider>
  );
}

/** In milliseconds: longer than the delay before a room starts to play. */
const restAfter = 1500;

/**
 * Whether nothing has changed for a while.
 *
 * @param now the same object while nothing changes; null while something moves
 */
function useRest(now: object | null): boolean {
  const [rested, setRested] = useState<object | null>(null);
  useEffect(() => {
    if (!now) return;
    const timer = setTimeout(() => setRested(now), restAfter);
    return () => clearTimeout(timer);
  }, [now]);
  return now !== null && rested === now;
}

function Network() {
  const { card, answer, place, clock } = useLanguageWorkspace();
  const tokens = useMemo(() => answer.tokens.map(({ piece }) => label(piece)), [answer]);
  const [section, isInView] = useInView<HTMLElement>();
  const { isPlaying } = clock;
  const isAtRest = useRest(useMemo(() => (isPlaying ? null : {}), [answer, place, isPlaying]));
  // A printed page also contains the parts that are out of view, and nothing can be computed while it prints. The
  // network of the person's own model may take long, so it is computed only in view.
  const isSeen = isInView || (isAtRest && card.whose === "ours");
  const { facts, isBusy, failure } = useNetwork(isSeen, tokens);
  return (
    <section ref={section} class="network" aria-labelledby="network-title">
      <h2 id="network-title">The whole network</h2>
      <Notices notices={failure ? [failure] : []} />
      {facts ? (
        <Picture {...{ facts, tokens }} />
      ) : (
        <>
          {isBusy && <p class="faint">Computing the way of a token …</p>}
          <p class="faint on-paper">It is computed once it is in view: scroll to it, then print.</p>
        </>
      )}
    </section>
  );
}

export function NetworkPanel() {
  const { whyNoNetwork } = useLanguageWorkspace().card;
  if (whyNoNetwork === null) return <Network />;
  return <Prose class="faint no-network">The whole network is not shown: {whyNoNetwork}.</Prose>;
}
