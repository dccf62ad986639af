/** The open model, the progress of its download, and the ways to open one of the person. */
import { useState } from "preact/hooks";
import { Announced } from "../../../shared/Announced";
import { Notices } from "../../../shared/Notices";
import { Panel } from "../../../shared/Panel";
import { CardView } from "./CardView";
import type { Card } from "./messages";
import { Progress } from "./Progress";
import { addressOf, linkOf, ourSource, type Source, sourceAt } from "./source";
import { ourModel, yourModel } from "./state";
import type { Loading, ModelActions } from "./useModel";
import { Ways, type WaysProps } from "./Ways";

/** The model that a link names. It is not loaded before the person wants it: some are large. */
function Named({ model, load }: { model: string; load(): void }) {
  return (
    <p class="named-model">
      The link names <b>{model}</b>.{" "}
      <button type="button" onClick={load}>
        Open it
      </button>
    </p>
  );
}

/** The card of the open model, or how much of it has come. */
function ModelPlace({
  card,
  loading,
  actions,
}: {
  card: Card | null;
  loading: Loading | null;
  actions: ModelActions;
}) {
  const close = card?.whose === "ours" ? null : actions.close;
  return (
    <div class="model-place">
      <Panel name="input">{card && <CardView {...{ card, close }} />}</Panel>
      {loading && <Progress loading={loading} cancel={actions.cancel} />}
      <Announced>
        {loading ? `${loading.name} is loading` : card && `${card.name} is open`}
      </Announced>
    </div>
  );
}

interface ModelPanelProps extends Omit<WaysProps, "keep" | "setKeep" | "load" | "isLoading"> {
  readonly card: Card | null;
  readonly loading: Loading | null;
  /** Whether our model does not open by itself, or could not be loaded. */
  readonly isMissing: boolean;
  readonly actions: ModelActions;
  /** The names of the files whose attention weights are being read. */
  readonly reading: string | null;
  readonly notices: readonly string[];
}

export function ModelPanel({
  card,
  loading,
  isMissing,
  actions,
  reading,
  notices,
  ...ways
}: ModelPanelProps) {
  const { state } = ways;
  const [keep, setKeep] = useState(true);
  const load = (source: Source) => actions.load(source, state.dtype);
  const isOurs = state.model === ourModel;
  const current = card && (card.address === null ? yourModel : linkOf(card.address));
  const isNamed = !isOurs && ![yourModel, current].includes(state.model) && !loading;
  const loadNamed = () => {
    const address = addressOf(state.model);
    if (address) load(sourceAt(address, keep));
  };
  const isOpening = { ...ways, keep, setKeep, load, isLoading: loading !== null };
  return (
    <section class="input" aria-label="The model">
      {/* A framed or locked link needs its model, too. */}
      {isNamed && <Named model={state.model} load={loadNamed} />}
      {isOurs && isMissing && (
        <button type="button" onClick={() => load(ourSource())}>
          Open our language model, 6 MB
        </button>
      )}
      {!isOurs && (
        <Panel name="input">
          {card ? (
            <details class="other-model">
              <summary>Open another model</summary>
              <Ways {...isOpening} />
            </details>
          ) : (
            <Ways {...isOpening} />
          )}
        </Panel>
      )}
      {reading !== null && <p class="faint">Reading {reading}</p>}
      <ModelPlace {...{ card, loading, actions }} />
      <Notices notices={notices} />
    </section>
  );
}
