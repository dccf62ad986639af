/** The Transformer's layers and heads as small maps. Position and number identify a head. */
import { useMemo } from "preact/hooks";
import type { Palette } from "#parts";
import { Legend } from "../../picture/Legend";
import { Matrix, usePicture } from "../../picture/Matrix";
import { useWeightPalette } from "../../picture/useWeightPalette";
import { headWords, viewOfHead } from "./maps";
import type { RecordedAttention } from "./solve";
import { lastStep, runShown } from "./state";
import { useRecurrentWorkspace } from "./workspace";

const size = { width: 40, height: 28 };

interface MapThumbnailProps {
  palette: Palette;
  attention: RecordedAttention | null;
  head: number;
  name: string;
}

function MapThumbnail({ palette, attention, head, name }: MapThumbnailProps) {
  const { source } = useRecurrentWorkspace();
  const view = useMemo(() => attention && viewOfHead(attention, head), [attention, head]);
  const rows = attention?.rows ?? lastStep + 1;
  const cols = Math.max(1, source.length);
  const cell = { width: size.width / cols, height: size.height / rows };
  const picture = usePicture({ view, rows, cols, palette, cell });
  return <Matrix picture={picture} summary={`Weights of ${name}`} />;
}

export function TransformerHeads() {
  const { state, solution, set } = useRecurrentWorkspace();
  const found = solution?.models.find(({ name }) => name === "transformer");
  const { layers, heads } = found ?? { layers: 2, heads: 4 };
  const palette = useWeightPalette(state);
  return (
    <>
      {Array.from({ length: layers }, (_, layer) => (
        <fieldset key={layer} class="head-picker line">
          <legend class="faint">Transformer, layer {layer + 1}</legend>
          {Array.from({ length: heads + 1 }, (_, head) => {
            const words = head === 0 ? "mean" : String(head);
            const name = `layer ${layer + 1}, ${headWords(head)}`;
            return (
              <label key={head} class="picture-choice">
                <input
                  type="radio"
                  name="dates-head"
                  aria-label={name}
                  checked={state.layer === layer && state.head === head}
                  onChange={() => set({ layer, head })}
                />
                <MapThumbnail
                  palette={palette}
                  attention={(found && runShown(found, state.way).attentions[layer]) ?? null}
                  head={head}
                  name={name}
                />
                <span class="number">{words}</span>
              </label>
            );
          })}
        </fieldset>
      ))}
      <Legend palette={palette} />
    </>
  );
}
