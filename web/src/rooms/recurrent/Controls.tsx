/** What a person can set beside the date. */
import { ColourChoice } from "../../picture/ColourChoice";
import { Choice } from "../../shared/Fields";
import { Settings } from "../../shared/Settings";
import { HeadPicker } from "./HeadPicker";
import { usePage } from "./page";
import type { State } from "./state";

export function Controls({ state }: { state: State }) {
  const { set } = usePage();
  const look = (
    <>
      <Choice
        label="Maps of the model"
        value={state.way}
        choices={[
          ["alone", "writing alone"],
          ["taught", "being taught"],
        ]}
        onChange={(way) => set({ way })}
      />
      <HeadPicker />
      <ColourChoice range={state.range} curve={state.curve} onChange={set} />
    </>
  );
  return (
    <Settings look={look}>
      <Choice
        label="Recurrent attention"
        value={state.between}
        choices={[
          ["bahdanau", "Bahdanau’s"],
          ["dot", "dot product"],
        ]}
        onChange={(between) => set({ between })}
      />
    </Settings>
  );
}
