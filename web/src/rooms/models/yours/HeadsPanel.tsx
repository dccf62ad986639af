/** Every head of every layer as a small picture with one measure below it, ordered by layer or by that measure. */

import { formatShort, type Palette, type PatternName, patterns, px } from "heed/view/parts";
import { useMemo } from "preact/hooks";
import { HeadThumbnail } from "../../../picture/HeadThumbnail";
import { Legend } from "../../../picture/Legend";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { headName, headPlaceOf } from "../../../shared/layerHeads";
import { Lockable } from "../../../shared/Panel";
import { hides } from "../../../shared/restrictions";
import { Steady } from "../../../shared/Steady";
import { useShell } from "../../../shared/shell";
import { useWidth } from "../../../shared/useWidth";
import type { ReadHead } from "./messages";
import { useRowByRow } from "./useRowByRow";
import { useYoursWorkspace } from "./workspace";

/** The side of a small picture, and the space around it, in pixels. */
const sides = { least: 28, most: 60 };
const around = 10;
/** From this width on two layers are side by side, with a gap between them. */
const wide = { least: 800, gap: 32 };

/** The rows for the heads of a layer: as few as possible, all filled alike, with the largest possible pictures. */
function gridIn(width: number, heads: number): { side: number; rows: number; perRow: number } {
  const room = width < wide.least ? width : (width - wide.gap) / 2;
  const rows = Math.ceil((heads * (sides.least + around)) / room);
  const perRow = Math.ceil(heads / rows);
  const largest = Math.floor(room / perRow) - around;
  return { side: Math.max(sides.least, Math.min(sides.most, largest)), rows, perRow };
}

const none: readonly ReadHead[] = [];

/** The settings that a row of small pictures uses. */
interface Look {
  readonly measure: PatternName;
  readonly palette: Palette;
  readonly side: number;
}

/** A row of small pictures. It renders again only if its heads, look, selected head or dropped heads change. */
function Row({
  heads,
  look,
  selected,
  dropped,
  title,
}: {
  heads: readonly ReadHead[];
  look: Look;
  /** The selected head, if it is in this row. */
  selected: string | null;
  /** The keys of the dropped heads, separated by commas. */
  dropped: string;
  title: string | null;
}) {
  const { card, answer, set } = useYoursWorkspace();
  const { measure, palette, side } = look;
  const isDropped = (key: string) => dropped.split(",").includes(key);
  return (
    <Steady by={[heads, look, selected, dropped, title, card, set]}>
      {() => (
        <div class="layer">
          {title !== null && <h4>{title}</h4>}
          <ul>
            {heads.map(({ key, small, measures }) => {
              const value = measures[measure];
              return (
                <HeadThumbnail
                  key={key}
                  {...{ id: key, small, side, palette }}
                  causalSize={card.predicts === "causal" ? answer.tokens.length : null}
                  name={isDropped(key) ? `${headName(key)}, dropped` : headName(key)}
                  about={patterns[measure].name}
                  label={title === null ? key : `${(headPlaceOf(key)?.head ?? 0) + 1}`}
                  value={value === null ? "–" : formatShort(value)}
                  isSelected={key === selected}
                  isDropped={isDropped(key)}
                  onSelect={() => set({ head: key, cell: null })}
                />
              );
            })}
          </ul>
        </div>
      )}
    </Steady>
  );
}

/** Heads in rows: one for each layer, or as many sorted ones. */
function rowsOf(
  heads: readonly ReadHead[],
  perRow: number,
  score: ((head: ReadHead) => number) | null,
): ReadHead[][] {
  const ordered = score ? [...heads].sort((a, b) => score(b) - score(a)) : heads;
  return Array.from({ length: heads.length / perRow }, (_, row) =>
    ordered.slice(row * perRow, (row + 1) * perRow),
  );
}

/** Which heads are dropped. */
function Dropped() {
  const { dropped, set } = useYoursWorkspace();
  if (dropped.length === 0) return null;
  return (
    <Lockable>
      <p class="dropped-heads">
        Dropped: {dropped.map(headName).join("; ")}.{" "}
        <button type="button" class="link" onClick={() => set({ dropped: [] })}>
          Restore {dropped.length === 1 ? "it" : "them"}
        </button>
      </p>
    </Lockable>
  );
}

export function HeadsPanel() {
  const { state, card, answer, heads: all, dropped, head } = useYoursWorkspace();
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const { measure, order } = state;
  const { layers, heads } = card;
  const isSorted = order === "measure";
  const rows = useMemo(
    () =>
      rowsOf(
        all,
        heads,
        isSorted ? ({ measures }) => measures[measure] ?? Number.NEGATIVE_INFINITY : null,
      ),
    [all, heads, isSorted, measure],
  );
  const palette = useWeightPalette(state);
  const grid = gridIn(width, heads);
  const { side } = grid;
  // The space of a layer is reserved before its pictures arrive.
  const places =
    width > 0 ? { "--side": px(side), "--rows": grid.rows, "--per-row": grid.perRow } : {};
  const drawn = useMemo(
    () => ({ rows, isSorted, model: answer.model, look: { measure, palette, side } }),
    [rows, palette, side],
  );
  const at = useRowByRow(width > 0 ? drawn : null, layers);
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      {!hides(restrictions, "text") && (
        <p class="faint">
          <span class="wide-only">Rows: queries; columns: keys; </span>
          below: {patterns[measure].name}
          {isSorted && ", the largest first"}
        </p>
      )}
      <Dropped />
      <div ref={ref} class="layers" style={places}>
        {Array.from({ length: layers }, (_, row) => {
          const found = at(row);
          // Rows of another model have other heads, so they are not shown.
          const own = found?.model === card.model ? found : null;
          const { rows, isSorted, look } = own ?? { ...drawn, rows: [] };
          const shown = rows[row] ?? none;
          return (
            <Row
              key={row}
              {...{ heads: shown, look }}
              selected={shown.some(({ key }) => key === head) ? head : null}
              dropped={dropped.filter((each) => shown.some(({ key }) => key === each)).join()}
              title={isSorted ? null : `Layer ${row + 1}`}
            />
          );
        })}
      </div>
      <Legend palette={palette} hasHidden={card.predicts === "causal"} />
    </section>
  );
}
