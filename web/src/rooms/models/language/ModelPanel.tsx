/** The open model, the progress of its download, and the ways to open one of the person. */
import { useState } from "preact/hooks";
import { Announced } from "../../../shared/Announced";
import { Notices } from "../../../shared/Notices";
import { Panel } from "../../../shared/Panel";
import { Progress } from "../../../shared/Progress";
import type { Setter } from "../../../shared/room";
import { CardView } from "./CardView";
import type { Card } from "./messages";
import { addressOf, ourSource, type Source, sourceAt } from "./source";
import { ourModel, type State, yourModel } from "./state";
import type { Opened } from "./useOpened";
import { Ways } from "./Ways";

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

interface ModelPanelProps {
  readonly opened: Opened;
  /** The model that is shown; null while attention weights of a file are. */
  readonly card: Card | null;
  readonly state: State;
  readonly set: Setter<State>;
  /** Whether files are dragged over the page. */
  readonly isOver: boolean;
  readonly notices: readonly string[];
}

export function ModelPanel({ opened, card, state, set, isOver, notices }: ModelPanelProps) {
  const { loading, isMissing, actions, attention } = opened;
  const [keep, setKeep] = useState(true);
  const load = (source: Source) => actions.load(source, state.dtype);
  const isOurs = state.model === ourModel;
  const current = card?.link;
  const isNamed = !isOurs && ![yourModel, current].includes(state.model) && !loading;
  const loadNamed = () => {
    const address = addressOf(state.model);
    if (address) load(sourceAt(address, keep));
  };
  const ways = <Ways {...{ opened, state, set, isOver, keep, setKeep, load }} />;
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
              {ways}
            </details>
          ) : (
            ways
          )}
        </Panel>
      )}
      {attention.reading !== null && <p class="faint">Reading {attention.reading}</p>}
      <div class="model-place">
        <Panel name="input">
          {card && <CardView card={card} close={isOurs ? null : actions.close} />}
        </Panel>
        {loading && <Progress loading={loading} cancel={actions.cancel} />}
        <Announced>
          {loading ? `${loading.name} is loading` : card && `${card.name} is open`}
        </Announced>
      </div>
      <Notices notices={notices} />
    </section>
  );
}
