/** The weights of one head over the tokens of a text: queries are rows, keys are columns. */

import {
  type Area,
  type Cell,
  cellsFor,
  type Labels,
  leftOf,
  type MatrixView,
  type Palette,
  shorten,
  tokenAxes,
} from "heed/view/parts";
import { useMemo } from "preact/hooks";
import { HeatMap, type HeatMapProps, usePicture } from "./Matrix";

const longestLabel = 10;

export function TokenMap({
  view,
  tokens,
  palette,
  isHidden,
  active,
  row,
  width,
  caption,
  file,
  ...heatMap
}: Pick<HeatMapProps, "name" | "title" | "note" | "actions"> & {
  view: MatrixView;
  /** Must be memoised. */
  tokens: readonly string[];
  palette: Palette;
  /** The cells that a mask hides; must be memoised. */
  isHidden?: ((row: number, col: number) => boolean) | undefined;
  /** The cell that a person points at or locks. */
  active: Cell | null;
  /** The selected row; null for none. */
  row: number | null;
  /** In pixels. */
  width: number;
  /** The caption of the saved picture. */
  caption: string;
  file: string;
}) {
  const { length } = tokens;
  const labels = useMemo<Labels>(() => {
    const short = tokens.map((token) => shorten(token, longestLabel));
    return { rows: short, cols: short, ...tokenAxes };
  }, [tokens]);
  const sources: Area[] = active ? [{ row: active.row }, { col: active.col }] : [];
  const picture = usePicture({
    ...{ view, rows: length, cols: length, labels, active, palette, isHidden },
    cell: cellsFor(width - leftOf(labels), length, length),
    ...{ selected: row === null ? null : { row }, highlights: sources },
  });
  return (
    <HeatMap {...heatMap} picture={picture} saved={{ file, caption, rows: tokens, cols: tokens }} />
  );
}
