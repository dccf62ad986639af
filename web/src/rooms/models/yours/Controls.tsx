/** How the next token is drawn, how heads are measured and ordered, and how weights are coloured. */

import { patternNames, patterns } from "heed/view/parts";
import { HeadLook } from "../../../shared/HeadLook";
import type { Setter } from "../../../shared/room";
import { SamplingFields } from "../../../shared/SamplingFields";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import type { Card } from "./messages";
import { allowed, type State } from "./state";

export function Controls({ state, set, card }: { state: State; set: Setter<State>; card: Card }) {
  const { temperature, topK, topP, seed } = state;
  const look = (
    <details>
      <summary>Measures and colours</summary>
      <div class="controls">
        <HeadLook
          {...{ state, set }}
          names={patternNames}
          measures={patterns}
          limits={allowed.mass}
        />
      </div>
    </details>
  );
  return (
    <SettingsPanel look={look}>
      {card.predicts === "causal" && (
        <SamplingFields {...{ temperature, topK, topP, seed }} onChange={set} />
      )}
    </SettingsPanel>
  );
}
