/** The settings of the room, except the date. */
import { ColourChoice } from "../../picture/ColourChoice";
import { Choice } from "../../shared/Fields";
import { SettingsPanel } from "../../shared/SettingsPanel";
import type { State } from "./state";
import { TransformerHeads } from "./TransformerHeads";
import { useRecurrentWorkspace } from "./workspace";

export function Controls({ state }: { state: State }) {
  const { set } = useRecurrentWorkspace();
  const look = (
    <>
      <Choice
        label="The decoder gets"
        value={state.way}
        choices={[
          ["alone", "its own output"],
          ["taught", "the right answer (teacher forcing)"],
        ]}
        onChange={(way) => set({ way })}
      />
      <TransformerHeads />
      <ColourChoice range={state.range} curve={state.curve} onChange={set} />
    </>
  );
  return (
    <SettingsPanel look={look}>
      <Choice
        label="Recurrent attention"
        value={state.between}
        choices={[
          ["bahdanau", "Bahdanau’s"],
          ["dot", "dot product"],
        ]}
        onChange={(between) => set({ between })}
      />
    </SettingsPanel>
  );
}
