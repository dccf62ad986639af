/** The Transformer's layers and heads as small maps, with the mean of each layer's heads first. */
import { useMemo } from "preact/hooks";
import { HeadGrid, smallOf } from "../../picture/HeadGrid";
import { Legend } from "../../picture/Legend";
import { useWeightPalette } from "../../picture/useWeightPalette";
import { headWords, viewOfHead } from "./maps";
import { runShown } from "./state";
import { useRecurrentWorkspace } from "./workspace";

export function TransformerHeads() {
  const { state, solution, set } = useRecurrentWorkspace();
  const found = solution?.models.find(({ name }) => name === "transformer");
  const { layers, heads: count } = found ?? { layers: 2, heads: 4 };
  const palette = useWeightPalette(state);
  const rows = useMemo(
    () =>
      Array.from({ length: layers }, (_, layer) => ({
        title: `Transformer, layer ${layer + 1}`,
        heads: Array.from({ length: count + 1 }, (_, head) => layer * (count + 1) + head),
      })),
    [layers, count],
  );
  const heads = useMemo(() => {
    const attentions = found && runShown(found, state.way).attentions;
    return rows.flatMap(({ title, heads }, layer) =>
      heads.map((_, head) => {
        const attention = attentions?.[layer];
        return {
          ...{ id: `${layer + 1}.${head}`, palette, hides: undefined },
          small: attention ? smallOf(viewOfHead(attention, head)) : null,
          ...{ label: head === 0 ? "mean" : `${head}`, value: "" },
          ...{ name: title, about: headWords(head) },
        };
      }),
    );
  }, [rows, found, state.way, palette]);
  return (
    <div>
      <HeadGrid
        {...{ rows, heads, side: 36, lines: 1, selected: `${state.layer + 1}.${state.head}` }}
        isWhole
        select={(id) => {
          const [layer, head] = id.split(".").map(Number) as [number, number];
          set({ layer: layer - 1, head });
        }}
      />
      <Legend palette={palette} />
    </div>
  );
}
