/** What a person can set beside the date. */
import { ColourChoice } from "../../components/ColourChoice";
import { Choice } from "../../components/Fields";
import { Settings } from "../../components/Settings";
import { usePage } from "./page";
import type { State } from "./state";

export function Controls({ state }: { state: State }) {
  const { solution, set } = usePage();
  const { layers, heads } = solution?.models.at(-1) ?? { layers: 2, heads: 4 };
  const counted = (count: number) =>
    Array.from({ length: count }, (_, i) => [String(i + 1), String(i + 1)] as const);
  return (
    <Settings>
      <Choice
        label="Recurrent attention"
        value={state.between}
        choices={[
          ["bahdanau", "Bahdanau’s"],
          ["dot", "dot product"],
        ]}
        onChange={(between) => set({ between })}
      />
      <Choice
        label="Maps of the model"
        value={state.way}
        choices={[
          ["alone", "writing alone"],
          ["taught", "being taught"],
        ]}
        onChange={(way) => set({ way })}
      />
      <Choice
        label="Layer of the Transformer"
        value={String(state.layer + 1)}
        choices={counted(layers)}
        onChange={(layer) => set({ layer: Number(layer) - 1 })}
      />
      <Choice
        label="Its head"
        value={String(state.head)}
        choices={[["0", "mean"], ...counted(heads)]}
        onChange={(head) => set({ head: Number(head) })}
      />
      <ColourChoice range={state.range} curve={state.curve} onChange={set} />
    </Settings>
  );
}
