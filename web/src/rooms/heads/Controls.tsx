/** How heads are measured and ordered, and how weights are drawn. */
import { ColourChoice } from "../../picture/ColourChoice";
import { Choice, Slider } from "../../shared/Fields";
import { hides } from "../../shared/restrictions";
import type { Setter } from "../../shared/room";
import { SettingsPanel } from "../../shared/SettingsPanel";
import { useShell } from "../../shared/shell";
import { measureNames, measures } from "./measures";
import { allowed, type State } from "./state";

export function Controls({ state, set }: { state: State; set: Setter<State> }) {
  const { restrictions } = useShell();
  const { measure, order, range, curve, mass } = state;
  const look = (
    <>
      <Choice
        label="Measure each head by"
        value={measure}
        choices={measureNames.map((name) => [name, measures[name].name] as const)}
        onChange={(measure) => set({ measure })}
      />
      {!hides(restrictions, "text") && <p class="faint measure-about">{measures[measure].about}</p>}
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
  return <SettingsPanel look={look} />;
}
