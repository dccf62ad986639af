/** The settings of the room, except the date. */
import { ColourChoice } from "../../picture/ColourChoice";
import { Choice } from "../../shared/Fields";
import { SettingsPanel } from "../../shared/SettingsPanel";
import { fieldsOf } from "../../shared/settings";
import { type State, settings } from "./state";
import { TransformerHeads } from "./TransformerHeads";
import { useRecurrentWorkspace } from "./workspace";

export function Controls({ state }: { state: State }) {
  const { set } = useRecurrentWorkspace();
  const field = fieldsOf(settings, { state, set });
  const look = (
    <>
      <Choice
        label="The decoder gets"
        choices={[
          ["alone", "its own output"],
          ["taught", "the right answer (teacher forcing)"],
        ]}
        {...field("way")}
      />
      <TransformerHeads />
      <ColourChoice range={state.range} curve={state.curve} onChange={set} />
    </>
  );
  return (
    <SettingsPanel look={look}>
      <Choice
        label="Recurrent attention"
        choices={[
          ["bahdanau", "Bahdanau’s"],
          ["dot", "dot product"],
        ]}
        {...field("between")}
      />
    </SettingsPanel>
  );
}
