/** Numbers of one head for pairs of tokens: queries are rows, keys are columns. */
import { useMemo } from "preact/hooks";
import {
  type Area,
  type Cell,
  cellsFor,
  type Labels,
  leftOf,
  type MatrixView,
  type Palette,
  type Saved,
  shorten,
  tokenAxes,
} from "#parts";
import { HeatMap, type HeatMapProps, usePicture } from "./Matrix";

const longestLabel = 12;

/** Below this width, as on a telephone, cells are lower than wide, so that the picture fits on the screen. */
const narrow = 420;
const lowCell = 26;

const noAreas: readonly Area[] = [];

export function TokenMap({
  view,
  tokens,
  columns = tokens,
  outlined = noAreas,
  palette,
  active,
  row,
  width,
  most = Number.POSITIVE_INFINITY,
  caption,
  file,
  plays,
  ...heatMap
}: Pick<HeatMapProps, "name" | "title" | "symbol" | "note" | "actions"> & {
  view: MatrixView;
  /** Must be memoised. */
  tokens: readonly string[];
  /** The tokens of the keys, if they are others; must be memoised. */
  columns?: readonly string[];
  outlined?: readonly Area[];
  palette: Palette;
  /** The cell that a person points at or locks. */
  active: Cell | null;
  /** The selected row; null for none. */
  row: number | null;
  /** In pixels. */
  width: number;
  most?: number;
  caption: string;
  file: string;
  plays?: Saved["plays"];
}) {
  const labels = useMemo<Labels>(() => {
    const short = (all: readonly string[]) => all.map((token) => shorten(token, longestLabel));
    return { rows: short(tokens), cols: short(columns), ...tokenAxes };
  }, [tokens, columns]);
  const sources: Area[] = active ? [{ row: active.row }, { col: active.col }] : [];
  const cell = cellsFor(width - leftOf(labels), columns.length, tokens.length);
  const picture = usePicture({
    ...{ view, rows: tokens.length, cols: columns.length, labels, active, palette },
    cell: {
      width: Math.min(cell.width, most),
      height: Math.min(cell.height, width < narrow ? lowCell : most),
    },
    ...{ selected: row === null ? null : { row }, highlights: [...outlined, ...sources] },
  });
  const saved = { file, caption, rows: tokens, cols: columns, ...(plays && { plays }) };
  return <HeatMap {...heatMap} picture={picture} saved={saved} />;
}
