/** Every head of every layer as a small picture with one measure below it, ordered by layer or by that measure. */

import { useCallback, useMemo } from "preact/hooks";
import { formatShort, type Palette, patterns, px } from "#parts";
import { Legend } from "../../../picture/Legend";
import { useWeightPalette } from "../../../picture/useWeightPalette";
import { headName, headPlaceOf } from "../../../shared/layerHeads";
import { Lockable } from "../../../shared/Panel";
import { hides } from "../../../shared/restrictions";
import { useShell } from "../../../shared/shell";
import { useWidth } from "../../../shared/useWidth";
import { type GridHead, HeadRow, useHeadKeys } from "../parts/HeadRow";
import { Found } from "./Found";
import type { ReadHead } from "./messages";
import { useRowByRow } from "./useRowByRow";
import { type LanguageWorkspace, useLanguageWorkspace } from "./workspace";

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

const none: readonly GridHead[] = [];

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

/** The rows of all heads and their look, which are drawn together. */
interface Drawn {
  readonly rows: readonly (readonly GridHead[])[];
  readonly isSorted: boolean;
  readonly model: number;
  readonly palette: Palette;
  readonly side: number;
}

function useDrawn(
  { state, card, answer, heads, ablating }: LanguageWorkspace,
  side: number,
): Drawn {
  const { measure, order } = state;
  const { ablated } = ablating;
  const palette = useWeightPalette(state);
  const isSorted = order === "measure";
  const rows = useMemo(() => {
    const score = ({ measures }: ReadHead) => measures[measure] ?? Number.NEGATIVE_INFINITY;
    const gridHead = ({ key, small, measures }: ReadHead): GridHead => {
      const value = measures[measure];
      const isAblated = ablated.includes(key);
      return {
        ...{ key, small, isAblated, about: patterns[measure].name },
        causalSize: card.predicts === "causal" ? answer.tokens.length : null,
        name: isAblated ? `${headName(key)}, ablated` : headName(key),
        label: isSorted ? key : `${(headPlaceOf(key)?.head ?? 0) + 1}`,
        value: value === null ? "–" : formatShort(value),
      };
    };
    return rowsOf(heads, card.heads, isSorted ? score : null).map((row) => row.map(gridHead));
  }, [heads, card, isSorted, measure, ablated]);
  return useMemo(
    () => ({ rows, isSorted, model: answer.model, palette, side }),
    [rows, palette, side],
  );
}

/** Which heads are ablated. */
function Ablated() {
  const { ablating, set } = useLanguageWorkspace();
  const { ablated } = ablating;
  if (ablated.length === 0) return null;
  return (
    <Lockable>
      <p class="ablated-heads">
        Ablated: {ablated.map(headName).join("; ")}.{" "}
        <button type="button" class="link" onClick={() => set({ ablated: [] })}>
          Restore {ablated.length === 1 ? "it" : "them"}
        </button>
      </p>
    </Lockable>
  );
}

/** All pictures, drawn row by row. */
function Grid() {
  const workspace = useLanguageWorkspace();
  const { card, head, set } = workspace;
  const [ref, width] = useWidth<HTMLDivElement>();
  const { side, rows, perRow } = gridIn(width, card.heads);
  const drawn = useDrawn(workspace, side);
  const at = useRowByRow(width > 0 ? drawn : null, card.layers);
  const move = useHeadKeys(ref);
  const select = useCallback((head: string) => set({ head, cell: null }), [set]);
  // The space of a layer is reserved before its pictures arrive.
  const places = width > 0 ? { "--side": px(side), "--rows": rows, "--per-row": perRow } : {};
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move among the buttons in it
    <div ref={ref} class="layers" style={places} onKeyDown={move}>
      {Array.from({ length: card.layers }, (_, row) => {
        const found = at(row);
        // Rows of another model have other heads, so they are not shown.
        const { rows, isSorted, palette, side } =
          found?.model === card.model ? found : { ...drawn, rows: [] };
        const heads = rows[row] ?? none;
        return (
          <HeadRow
            key={row}
            {...{ heads, palette, side, select }}
            selected={heads.some(({ key }) => key === head) ? head : null}
            title={isSorted ? null : `Layer ${row + 1}`}
          />
        );
      })}
    </div>
  );
}

export function HeadsPanel() {
  const { state, card } = useLanguageWorkspace();
  const { restrictions } = useShell();
  const palette = useWeightPalette(state);
  const { measure, order } = state;
  return (
    <section class="all-heads" aria-labelledby="all-heads-title">
      <h2 id="all-heads-title">All heads</h2>
      {!hides(restrictions, "text") && (
        <p class="faint">
          <span class="wide-only">Rows: queries; columns: keys; </span>
          below: {patterns[measure].name}
          {order === "measure" && ", the largest first"}
        </p>
      )}
      <Ablated />
      <Grid />
      <Legend palette={palette} hasHidden={card.predicts === "causal"} />
      <Found />
    </section>
  );
}
