/** Every head of the model as a small picture that fills as the text is read, and the heads that were found. */

import { format } from "heed/view/parts";
import { HeadThumbnail } from "../../../picture/HeadThumbnail";
import { Legend } from "../../../picture/Legend";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { headName, headPlaceOf } from "../../../shared/layerHeads";
import { hides } from "../../../shared/restrictions";
import { Steady } from "../../../shared/Steady";
import { useShell } from "../../../shared/shell";
import { Term } from "../../../shared/Term";
import { useWidth } from "../../../shared/useWidth";
import { bestOf, isFound, kindOf, kinds, measureNames, repeated } from "./measures";
import type { HeadMeasures } from "./messages";
import { useWriteWorkspace } from "./workspace";

/** The largest side of a small picture, and the space around it, in pixels. */
const largest = 60;
const around = 10;

/** The names of heads under their pictures. */
const shortNames = { previous: "prev", first: "first", induction: "ind" } as const;

function Found() {
  const { opened, head, set } = useWriteWorkspace();
  return (
    <table class="found">
      <tbody>
        {measureNames.map((name) => {
          const best = bestOf(opened.measures, name);
          return (
            <tr key={name} data-kind={name}>
              <th scope="row">
                {name === "induction" ? <Term name="induction" /> : kinds[name].name}
              </th>
              <td>
                <button
                  type="button"
                  class="link"
                  aria-pressed={best.key === head}
                  onClick={() => set({ head: best.key, cell: null })}
                >
                  {headName(best.key)}
                </button>
              </td>
              <td class="number" data-measure={best[name]}>
                {format(best[name])}
              </td>
              <td class="faint number">
                {!isFound(best[name], opened.uniform[name]) && "too low to count; "}even:{" "}
                {format(opened.uniform[name])}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** All pictures. They are drawn again only for another text, head or look, not for each token. */
function Thumbnails() {
  const { state, opened, answer, head: selected, set, drop } = useWriteWorkspace();
  const { restrictions } = useShell();
  const { layers, heads } = opened;
  const [ref, width] = useWidth<HTMLDivElement>();
  const side = Math.min(largest, Math.floor(width / heads) - around);
  const palette = useWeightPalette(state);
  const { dropped } = state;
  const thumbnail = ({ key, weights }: (typeof answer.small)[number]) => {
    const measures = opened.measures.find((each) => each.key === key) as HeadMeasures;
    const kind = kindOf(measures);
    return (
      <HeadThumbnail
        key={key}
        {...{ id: key, small: weights, side, palette }}
        causalSize={answer.ids.length}
        name={headName(key)}
        about={kind ? kinds[kind].name : "no name"}
        label={`${(headPlaceOf(key)?.head ?? 0) + 1}`}
        value={kind ? shortNames[kind] : ""}
        isSelected={key === selected}
        isDropped={dropped.includes(key)}
        isLocked={restrictions.lock}
        onSelect={() => set({ head: key, cell: null })}
        onDrop={(isDropped) => drop(key, isDropped)}
      />
    );
  };
  return (
    <div ref={ref} class="layers">
      <Steady by={[opened, answer, selected, side, palette, dropped, restrictions, set, drop]}>
        {() =>
          Array.from({ length: side > 0 ? layers : 0 }, (_, layer) => (
            <div key={layer} class="layer">
              <h4>Layer {layer + 1}</h4>
              <ul>{answer.small.slice(layer * heads, (layer + 1) * heads).map(thumbnail)}</ul>
            </div>
          ))
        }
      </Steady>
    </div>
  );
}

export function HeadsPanel() {
  const { state, answer, place } = useWriteWorkspace();
  const { restrictions } = useShell();
  const palette = useWeightPalette(state);
  const read = `${(100 * (place + 1)) / answer.ids.length}%`;
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      <div style={{ "--read": read }}>
        <Thumbnails />
      </div>
      <Legend palette={palette} hasHidden />
      <Found />
      {!hides(restrictions, "text") && (
        <p class="faint">
          Measured on {repeated} random tokens, read twice. Even: equal weights. Tick to drop.
        </p>
      )}
    </section>
  );
}
