/** How the next token is drawn, and how weights are coloured. */
import { ColourChoice } from "../../../picture/ColourChoice";
import { hides } from "../../../shared/restrictions";
import type { Setter } from "../../../shared/room";
import { SamplingFields } from "../../../shared/SamplingFields";
import { SettingsPanel } from "../../../shared/SettingsPanel";
import { useShell } from "../../../shared/shell";
import type { WriteAnswer } from "./messages";
import { allowed, type State } from "./state";

export function Controls({
  state,
  set,
  answer,
  place,
}: {
  state: State;
  set: Setter<State>;
  answer: WriteAnswer | null;
  place: number;
}) {
  const { restrictions } = useShell();
  const { temperature, topK, topP, seed, range, curve } = state;
  /** The tokens up to the current place stay; the others are generated again. */
  const change = (next: Partial<State>) => {
    const kept = answer ? answer.ids.slice(answer.given, place + 1) : state.kept;
    set({ ...next, kept, place });
  };
  return (
    <SettingsPanel look={<ColourChoice range={range} curve={curve} onChange={set} />}>
      <SamplingFields {...{ temperature, topK, topP, seed }} onChange={change} />
      <div class="row-of-buttons">
        <button type="button" onClick={() => change({ seed: (seed + 1) % (allowed.seed.max + 1) })}>
          Another seed
        </button>
      </div>
      {!hides(restrictions, "text") && <p class="faint">A change rewrites what follows.</p>}
    </SettingsPanel>
  );
}
