/** One head in detail: its weights over the text, up to the current token. */
import { useMemo } from "preact/hooks";
import { cellsFor, type Labels, leftOf, tokenAxes } from "../../picture/layout";
import { HeatMap, usePicture } from "../../picture/Matrix";
import { useWeightPalette } from "../../picture/useWeightPalette";
import { viewOn } from "../../picture/view";
import type { Explanation } from "../../shared/explanation";
import { Switch } from "../../shared/Fields";
import { shorten } from "../../shared/format";
import { Readout } from "../../shared/Readout";
import { RowDetails } from "../../shared/RowDetails";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import { kindOf, kinds } from "./measures";
import type { HeadMeasures } from "./messages";
import { headName, type ShownHead, useWriteWorkspace } from "./workspace";

const longestLabel = 10;
const hidesFuture = (row: number, col: number) => col > row;

function HeadMap({ shown, width }: { shown: ShownHead; width: number }) {
  const { state, answer, place, head, active, go, point, press } = useWriteWorkspace();
  const { rows } = shown.attention;
  const labels = useMemo<Labels>(() => {
    const short = rows.map((token) => shorten(token, longestLabel));
    return { rows: short, cols: short, ...tokenAxes };
  }, [rows]);
  const view = useMemo(() => viewOn(shown.shares.weights, rows.length, rows.length), [shown]);
  const picture = usePicture({
    view,
    ...{ rows: rows.length, cols: rows.length, labels, active },
    palette: useWeightPalette(state),
    cell: cellsFor(width - leftOf(labels), rows.length, rows.length),
    isHidden: hidesFuture,
    selected: { row: place },
    highlights: active ? [{ row: active.row }, { col: active.col }] : [],
  });
  return (
    <HeatMap
      name="weights"
      title="Weights"
      note={headName(head)}
      picture={picture}
      covered={place + 1}
      actions={{ point, press, selectRow: go }}
      saved={{
        file: `weights-${head}`,
        caption: `Weights, ${headName(head)}: ${answer.text}`,
        ...{ rows, cols: rows },
      }}
    />
  );
}

export function HeadPanel({ explanation }: { explanation: Explanation | null }) {
  const { state, opened, place, head, shown, drop } = useWriteWorkspace();
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const measures = opened.measures.find(({ key }) => key === head) as HeadMeasures;
  const kind = kindOf(measures);
  const name = headName(head).replace(/^./, (first) => first.toUpperCase());
  return (
    <section class="one-head" aria-labelledby="one-head-title">
      <div class="head-bar">
        <h2 id="one-head-title">
          {name}
          {kind && <span class="faint"> · {kinds[kind].name}</span>}
        </h2>
        <fieldset class="lockable" disabled={restrictions.lock}>
          <Switch
            label="Drop this head"
            checked={state.dropped.includes(head)}
            onChange={(isDropped) => drop(head, isDropped)}
          />
        </fieldset>
      </div>
      <div ref={ref} class="scroll head-place">
        {shown && width > 0 && <HeadMap shown={shown} width={width} />}
      </div>
      <Readout explanation={explanation} locked={state.cell !== null} />
      {shown && (
        <RowDetails
          of={{ name: headName(head), attention: shown.attention, shares: shown.shares, head: 0 }}
          row={place}
        />
      )}
    </section>
  );
}
