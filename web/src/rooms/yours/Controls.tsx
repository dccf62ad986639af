/** How the next token is drawn, how heads are measured and ordered, and how weights are coloured. */
import { ColourChoice } from "../../picture/ColourChoice";
import { Choice, Slider } from "../../shared/Fields";
import { patternNames, patterns } from "../../shared/headMeasures";
import { hides } from "../../shared/restrictions";
import type { Setter } from "../../shared/room";
import { SamplingFields } from "../../shared/SamplingFields";
import { SettingsPanel } from "../../shared/SettingsPanel";
import { useShell } from "../../shared/shell";
import type { Card } from "./messages";
import { allowed, type State } from "./state";

export function Controls({ state, set, card }: { state: State; set: Setter<State>; card: Card }) {
  const { restrictions } = useShell();
  const { measure, order, range, curve, mass } = state;
  const { temperature, topK, topP, seed } = state;
  const look = (
    <>
      <Choice
        label="Measure each head by"
        value={measure}
        choices={patternNames.map((name) => [name, patterns[name].name] as const)}
        onChange={(measure) => set({ measure })}
      />
      {!hides(restrictions, "text") && <p class="faint measure-about">{patterns[measure].about}</p>}
      <Choice
        label="Order"
        value={order}
        choices={[
          ["layer", "by layer"],
          ["measure", "by this measure"],
        ]}
        onChange={(order) => set({ order })}
      />
      <ColourChoice range={range} curve={curve} onChange={set} />
      <Slider
        label="Lines that carry"
        value={mass}
        limits={allowed.mass}
        step={5}
        text={mass === 100 ? "all attention" : `the top ${mass} %`}
        onChange={(mass) => set({ mass })}
      />
    </>
  );
  return (
    <SettingsPanel look={look}>
      {card.predicts === "causal" && (
        <SamplingFields {...{ temperature, topK, topP, seed }} onChange={set} />
      )}
    </SettingsPanel>
  );
}
