/** Controls for the measure and order of heads, and for the drawing of their weights. */

import type { ColourCurve, ColourRange, MeasureWords } from "heed/view/parts";
import { ColourChoice } from "../picture/ColourChoice";
import { Choice, Slider } from "./Fields";
import { massLimits } from "./lookLink";
import { hides } from "./restrictions";
import type { Setter } from "./room";
import { useShell } from "./shell";

export interface Look<Name extends string> {
  readonly measure: Name;
  /** Whether heads are ordered by layer or by the measure. */
  readonly order: "layer" | "measure";
  readonly range: ColourRange;
  readonly curve: ColourCurve;
  /** The strongest lines of each query are drawn until they sum to this share of its attention, in percent. */
  readonly mass: number;
}

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
