/** One head's weights, large enough to read, with the right places outlined. */

import {
  type Area,
  type Cell,
  cellsFor,
  explanationText,
  filmOf,
  leftOf,
  type Palette,
  tokenAxes,
} from "heed/view/parts";
import { useMemo, useState } from "preact/hooks";
import { HeatMap, usePicture } from "../../picture/Matrix";
import { Announced } from "../../shared/Announced";
import { type Shares, weightsOf } from "../../shared/attended";
import { percent } from "../../shared/format";
import { Readout } from "../../shared/Readout";
import { RowDetails } from "../../shared/RowDetails";
import { SaveVectors } from "../../shared/SaveVectors";
import { useWidth } from "../../shared/useWidth";
import type { CourseProps } from "./courseProps";
import type { CourseAttention } from "./messages";
import type { CourseHead } from "./state";
import { explainCourseWeight, hiddenIn } from "./weights";
import { attentionNameOf } from "./words";

/** The maximum size of a cell. */
const cellLimit = 32;
/** Below this width, as on a telephone, cells are lower, so that the picture fits on the screen. */
const narrow = 420;
const lowCell = 26;

export function LargeHead({
  course,
  attentions,
  snapshot,
  step,
  past,
  layers,
  weighed,
  state,
  set,
  shown,
  palette,
}: CourseProps & { shown: CourseHead; palette: Palette }) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [hover, setHover] = useState<Cell | null>(null);
  const [byKeyboard, setByKeyboard] = useState(false);
  const attention = attentions[shown.attention] as CourseAttention;
  const shares = snapshot.shares[shown.attention] as Shares;
  const { aligned, rows, columns: cols } = attention;
  const view = useMemo(
    () => weightsOf(attention, shares, shown.head),
    [shares, attention, shown.head],
  );
  const cell = state.cell ?? hover;
  const active = cell && cell.row < rows.length && cell.col < cols.length ? cell : null;
  const highlights = useMemo<Area[]>(
    () =>
      state.outlined && aligned
        ? aligned.flatMap((places, row) => places.map((col) => ({ row, col })))
        : [],
    [aligned, state.outlined],
  );
  const labels = { rows, cols, ...tokenAxes };
  const firstAsked = Math.max(0, aligned?.findIndex((places) => places.length > 0) ?? 0);
  const row = Math.min(state.row ?? firstAsked, rows.length - 1);
  const size = cellsFor(width - leftOf(labels), cols.length, rows.length);
  const picture = usePicture({
    ...{ view, rows: rows.length, cols: cols.length, palette, labels, highlights, active },
    selected: { row },
    cell: {
      width: Math.min(size.width, cellLimit),
      height: Math.min(size.height, width < narrow ? lowCell : cellLimit),
    },
    isHidden: hiddenIn(attention),
  });
  const mass = snapshot.masses[shown.attention]?.[shown.head] ?? Number.NaN;
  const title = `Head ${shown.head + 1}, ${attentionNameOf(attention, layers)}`;
  const detail = { name: title, attention, shares, head: shown.head };
  const explanation = active && explainCourseWeight(attention, shares, shown.head, active);
  return (
    <>
      <div ref={ref} class="learn-large">
        {width > 0 && (
          <HeatMap
            name={`head-${course.heads}`}
            title={title}
            symbol={<b>{title}</b>}
            note=""
            picture={picture}
            saved={{
              file: `learn-${state.task}-step-${step}-head-${shown.head + 1}`,
              caption: `${title}, after step ${step}`,
              ...{ rows, cols },
              plays: {
                caption: `${title}, as it was learned`,
                film: () =>
                  filmOf(
                    past().map(([step, { shares }]) => ({
                      name: `step ${step}`,
                      view: weightsOf(attention, shares[shown.attention] as Shares, shown.head),
                    })),
                  ),
              },
            }}
            actions={{
              point(cell, by) {
                setByKeyboard(by === "keyboard");
                setHover(cell);
                if (by === "keyboard" && cell) set((now) => (now.cell ? { cell } : {}));
              },
              press: ({ row, col }) =>
                set(({ cell: now }) =>
                  now?.row === row && now.col === col
                    ? { cell: null }
                    : { cell: { row, col }, row },
                ),
              selectRow: (row) => set({ row }),
            }}
          />
        )}
        <p class="learn-mass number">
          {Number.isFinite(mass)
            ? `${percent(mass)} on right places of ${weighed} examples${state.head === null ? ": best\u00a0head" : ""}`
            : "There are no right places here"}
        </p>
      </div>
      <div class="learn-row">
        <Readout explanation={explanation} locked={state.cell !== null} />
        <RowDetails of={detail} row={row} />
        <SaveVectors of={detail} file={`learn-step-${step}-head-${shown.head + 1}`} />
        <Announced>{byKeyboard && explanation ? explanationText(explanation) : ""}</Announced>
      </div>
    </>
  );
}
