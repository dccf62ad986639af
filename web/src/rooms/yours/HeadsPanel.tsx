/** Every head of every layer as a small picture with one measure below it, ordered by layer or by that measure. */
import { useMemo } from "preact/hooks";
import { HeadThumbnail } from "../../picture/HeadThumbnail";
import { Legend } from "../../picture/Legend";
import { useWeightPalette } from "../../picture/useWeightPalette";
import { formatShort } from "../../shared/format";
import { patterns } from "../../shared/headMeasures";
import { headName, headPlaceOf } from "../../shared/layerHeads";
import { hides } from "../../shared/restrictions";
import { useShell } from "../../shared/shell";
import { useWidth } from "../../shared/useWidth";
import type { ReadAnswer, ReadHead } from "./messages";
import { useRowByRow } from "./useRowByRow";
import { useYoursWorkspace } from "./workspace";

/** The side of a small picture, and what stands around it, in pixels. */
const sides = { least: 28, most: 60 };
const around = 10;
/** From this width on two layers stand side by side, with a gap between them. */
const wide = { least: 800, gap: 32 };

/** The largest side with which the heads of a layer stand in as few rows as possible, all of them full. */
function sideIn(width: number, heads: number): number {
  const room = width < wide.least ? width : (width - wide.gap) / 2;
  const rows = Math.ceil((heads * (sides.least + around)) / room);
  const perRow = Math.ceil(heads / rows);
  return Math.max(sides.least, Math.min(sides.most, Math.floor(room / perRow) - around));
}

/** A row of small pictures: drawn anew only if its heads, its look or its selected head change. */
function Row({
  heads,
  selected,
  side,
  title,
}: {
  heads: readonly ReadHead[];
  /** The selected head, if it is in this row. */
  selected: string | null;
  side: number;
  title: string | null;
}) {
  const { state, card, set } = useYoursWorkspace();
  const { theme } = useShell();
  const { measure, range, curve } = state;
  const palette = useWeightPalette(state);
  return useMemo(
    () => (
      <div class="layer">
        {title !== null && <h4>{title}</h4>}
        <ul>
          {heads.map(({ key, small, measures }) => {
            const value = measures[measure];
            return (
              <HeadThumbnail
                key={key}
                {...{ id: key, small, side, palette }}
                isCausal={card.predicts === "causal"}
                name={headName(key)}
                about={patterns[measure].name}
                label={title === null ? key : `${(headPlaceOf(key)?.head ?? 0) + 1}`}
                value={value === null ? "–" : formatShort(value)}
                isSelected={key === selected}
                onSelect={() => set({ head: key, cell: null })}
              />
            );
          })}
        </ul>
      </div>
    ),
    [heads, selected, side, title, measure, range, curve, theme, card, set],
  );
}

/** The heads of an answer in rows: one for each layer, or as many sorted ones. */
function rowsOf(
  { heads }: ReadAnswer,
  perRow: number,
  score: ((head: ReadHead) => number) | null,
): ReadHead[][] {
  const ordered = score ? [...heads].sort((a, b) => score(b) - score(a)) : heads;
  return Array.from({ length: heads.length / perRow }, (_, row) =>
    ordered.slice(row * perRow, (row + 1) * perRow),
  );
}

export function HeadsPanel() {
  const { state, card, answer, head } = useYoursWorkspace();
  const { restrictions } = useShell();
  const [ref, width] = useWidth<HTMLDivElement>();
  const { measure, order } = state;
  const { layers, heads } = card;
  const isSorted = order === "measure";
  const rows = useMemo(
    () =>
      rowsOf(
        answer,
        heads,
        isSorted ? ({ measures }) => measures[measure] ?? Number.NEGATIVE_INFINITY : null,
      ),
    [answer, heads, isSorted, measure],
  );
  const drawn = useMemo(() => ({ rows, isSorted, model: answer.model }), [rows]);
  const at = useRowByRow(drawn, layers);
  const side = sideIn(width, heads);
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      {!hides(restrictions, "text") && (
        <p class="faint">
          Rows are queries, columns keys. Under each head: its number, and {patterns[measure].name}
          {isSorted && ", the largest first"}.
        </p>
      )}
      <div ref={ref} class="layers" style={{ "--side": `${side}px` }}>
        {width > 0 &&
          Array.from({ length: layers }, (_, row) => {
            const found = at(row);
            // Of another model, whose heads are others.
            const own = found?.model === card.model ? found : null;
            const isByLayer = own ? !own.isSorted : !isSorted;
            const shown = own?.rows[row] ?? [];
            return (
              <Row
                key={row}
                heads={shown}
                selected={shown.some(({ key }) => key === head) ? head : null}
                side={side}
                title={isByLayer ? `Layer ${row + 1}` : null}
              />
            );
          })}
      </div>
      <Legend palette={useWeightPalette(state)} hasHidden={card.predicts === "causal"} />
    </section>
  );
}
