/** Controls for the measure and order of heads, and for the drawing of their weights. */

import type { MeasureWords } from "#parts";
import { ColourChoice } from "../picture/ColourChoice";
import { Choice, Slider } from "./Fields";
import type { Look, LookSettings } from "./lookSettings";
import { Prose } from "./Panel";
import type { Setter } from "./room";
import { fieldsOf } from "./settings";

export function HeadLook<Name extends string>({
  state,
  set,
  settings,
  names,
  measures,
}: {
  state: Look<Name>;
  set: Setter<Look<Name>>;
  settings: LookSettings<Name>;
  names: readonly Name[];
  measures: Readonly<Record<Name, MeasureWords>>;
}) {
  const { measure, range, curve, mass } = state;
  const field = fieldsOf(settings, { state, set });
  return (
    <>
      <Choice
        label="Measure"
        choices={names.map((name) => [name, measures[name].name] as const)}
        {...field("measure")}
      />
      <Prose class="faint measure-about">{measures[measure].about}</Prose>
      <Choice
        label="Order"
        choices={[
          ["layer", "by layer"],
          ["measure", "by this measure"],
        ]}
        {...field("order")}
      />
      <ColourChoice range={range} curve={curve} onChange={set} />
      <Slider
        label="Lines that carry"
        step={5}
        text={mass === 100 ? "all attention" : `the top ${mass} %`}
        {...field("mass")}
      />
    </>
  );
}
