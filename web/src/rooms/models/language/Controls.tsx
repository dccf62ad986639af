/** How the next token is drawn, how heads are measured and ordered, and how weights are coloured. */

import { patternNames, patterns } from "#parts";
import { samplingLimits } from "../../../shared/candidates";
import { HeadLook } from "../../../shared/HeadLook";
import { hides } from "../../../shared/restrictions";
import type { Setter } from "../../../shared/room";
import { SamplingFields } from "../../../shared/SamplingFields";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { useShell } from "../../../shared/shell";
import type { Card, ReadAnswer } from "./messages";
import type { State } from "./state";

interface ControlsProps {
  readonly state: State;
  readonly set: Setter<State>;
  /** Our model has its controls while it loads. */
  readonly predicts: Card["predicts"];
  /** Null until a text is read. */
  readonly answer: ReadAnswer | null;
  /** The selected token. */
  readonly place: number;
}

function Drawing({ state, set, answer, place }: Omit<ControlsProps, "predicts">) {
  const { restrictions } = useShell();
  const { temperature, topK, topP, seed } = state;
  /** The tokens up to the current place stay; the others are generated again. */
  const change = (next: Partial<State>) => {
    const kept = answer ? answer.ids.slice(answer.given, place + 1) : state.kept;
    set({ ...next, kept, place });
  };
  return (
    <>
      <SamplingFields {...{ temperature, topK, topP, seed }} onChange={change} />
      <div class="row-of-buttons">
        <button
          type="button"
          onClick={() => change({ seed: (seed + 1) % (samplingLimits.seed.max + 1) })}
        >
          Another seed
        </button>
      </div>
      {!hides(restrictions, "text") && <p class="faint">A change rewrites what follows.</p>}
    </>
  );
}

export function Controls({ predicts, ...props }: ControlsProps) {
  const { state, set } = props;
  const look = (
    <details>
      <summary>Measures and colours</summary>
      <div class="controls">
        <HeadLook {...{ state, set }} names={patternNames} measures={patterns} />
      </div>
    </details>
  );
  return (
    <SettingsPanel look={look}>{predicts === "causal" && <Drawing {...props} />}</SettingsPanel>
  );
}
