/** Every head of the model as a small picture that fills as the text is read, and the heads that were found. */
import { useMemo } from "preact/hooks";
import { HeadThumbnail } from "../../picture/HeadThumbnail";
import { Legend } from "../../picture/Legend";
import { useWeightPalette } from "../../picture/useWeightPalette";
import { format } from "../../shared/format";
import { headName, headPlaceOf } from "../../shared/layerHeads";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import { bestOf, isFound, kindOf, kinds, measureNames, repeated } from "./measures";
import type { HeadMeasures } from "./messages";
import { useWriteWorkspace } from "./workspace";

/** The side of a small picture at most, and what stands around it, in pixels. */
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
              <th scope="row">{kinds[name].name}</th>
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

function Thumbnail({ index, side }: { index: number; side: number }) {
  const { state, opened, answer, head, set, drop } = useWriteWorkspace();
  const { restrictions } = useShell();
  const { key, weights } = answer.small[index] as (typeof answer.small)[number];
  const measures = opened.measures.find((each) => each.key === key) as HeadMeasures;
  const kind = kindOf(measures);
  return (
    <HeadThumbnail
      {...{ id: key, small: weights, side }}
      palette={useWeightPalette(state)}
      isCausal
      name={headName(key)}
      about={kind ? kinds[kind].name : "no name"}
      label={`${(headPlaceOf(key)?.head ?? 0) + 1}`}
      value={kind && shortNames[kind]}
      isSelected={key === head}
      isDropped={state.dropped.includes(key)}
      isLocked={restrictions.lock}
      onSelect={() => set({ head: key, cell: null })}
      onDrop={(isDropped) => drop(key, isDropped)}
    />
  );
}

/** All pictures; they are drawn once for a text, and do not depend on the current token. */
function Thumbnails() {
  const { state, opened, answer, head } = useWriteWorkspace();
  const { theme, restrictions } = useShell();
  const { layers, heads } = opened;
  const [ref, width] = useWidth<HTMLDivElement>();
  const side = Math.min(largest, Math.floor(width / heads) - around);
  const { range, curve, dropped } = state;
  const pictures = useMemo(
    () =>
      Array.from({ length: side > 0 ? layers : 0 }, (_, layer) => (
        <div key={layer} class="layer">
          <h4>Layer {layer + 1}</h4>
          <ul>
            {Array.from({ length: heads }, (_, head) => (
              <Thumbnail key={head} index={layer * heads + head} side={side} />
            ))}
          </ul>
        </div>
      )),
    [answer, head, side, range, curve, dropped, theme, restrictions],
  );
  return (
    <div ref={ref} class="layers">
      {pictures}
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
      <Found />
      {!hides(restrictions, "text") && (
        <p class="faint">
          Found on {repeated} random tokens, read twice: how much of its attention each head has on
          the token before, on the first one, and, at a repeated token, on the one that followed it
          the first time (induction). “Even” is what uniform attention has.
        </p>
      )}
      <div style={{ "--read": read }}>
        <Thumbnails />
      </div>
      <Legend palette={palette} hasHidden />
    </section>
  );
}
