/** Controls for the measure and order of heads, and for the drawing of their weights. */
import { HeadLook } from "../../../shared/HeadLook";
import type { Setter } from "../../../shared/room";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { measureNames, measures } from "./measures";
import type { State } from "./state";

export function Controls({ state, set }: { state: State; set: Setter<State> }) {
  const look = <HeadLook {...{ state, set, measures }} names={measureNames} />;
  return <SettingsPanel look={look} folded="Measures and colours" />;
}
