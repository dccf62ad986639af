/** Controls for the measure and order of heads, and for the drawing of their weights. */

import type { MeasureWords } from "#parts";
import { ColourChoice } from "../picture/ColourChoice";
import { Choice, Slider } from "./Fields";
import { type Look, massLimits } from "./lookLink";
import { hides } from "./restrictions";
import type { Setter } from "./room";
import { useShell } from "./shell";

export function HeadLook<Name extends string>({
  state: { measure, order, range, curve, mass },
  set,
  names,
  measures,
}: {
  state: Look<Name>;
  set: Setter<Look<Name>>;
  names: readonly Name[];
  measures: Readonly<Record<Name, MeasureWords>>;
}) {
  const { restrictions } = useShell();
  return (
    <>
      <Choice
        label="Measure"
        value={measure}
        choices={names.map((name) => [name, measures[name].name] as const)}
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
        limits={massLimits}
        step={5}
        text={mass === 100 ? "all attention" : `the top ${mass} %`}
        onChange={(mass) => set({ mass })}
      />
    </>
  );
}
