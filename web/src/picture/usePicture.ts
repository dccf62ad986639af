/** Builds the picture of a matrix, which stays the same object until something in it changes. */
import { useMemo } from "preact/hooks";
import { format } from "../shared/format";
import type { Palette } from "./colour";
import type { Labels } from "./layout";
import { type CellSize, geometryOf } from "./layout";
import type { Area, Picture } from "./paint";
import { rangeOf, type View } from "./view";

export interface PictureOf {
  /** Null until there are numbers; the matrix takes up its space meanwhile. */
  readonly view: View | null;
  readonly rows: number;
  readonly cols: number;
  readonly palette: Palette;
  readonly cell: CellSize;
  readonly labels?: Labels;
  /** The cells that a mask hides; must be memoised. */
  readonly isHidden?: ((row: number, col: number) => boolean) | undefined;
  /** The selected row or column, with a thin outline. */
  readonly selected?: Area | null;
  /** The sources of the active cell. */
  readonly highlights?: readonly Area[];
  /** Cells that were edited. */
  readonly marked?: readonly Area[];
  /** The cell that is pointed at or locked. */
  readonly active?: Area | null;
}

const noLabels: Labels = {};

export function usePicture({
  view,
  rows,
  cols,
  palette,
  cell,
  labels = noLabels,
  isHidden,
  selected = null,
  highlights = [],
  marked = [],
  active = null,
}: PictureOf): Picture {
  const geometry = geometryOf(rows, cols, cell, labels);
  // Pointing at a cell changes only a few pictures on the page, and only their highlights.
  const still = useMemo(
    () => ({ geometry, view, palette, labels, isHidden, marked }),
    [view, palette, isHidden, JSON.stringify(geometry), textOf(labels), JSON.stringify(marked)],
  );
  return useMemo(
    () => ({ ...still, still, selected, highlights, active }),
    [still, JSON.stringify([selected, highlights, active])],
  );
}

/** Caches the text by which long lists of labels are compared. */
const texts = new WeakMap<readonly string[], string>();

function textOf({ rows, cols, rowAxis, colAxis }: Labels): string {
  return [rows, cols, [rowAxis ?? "", colAxis ?? ""]]
    .map((words) => {
      if (!words) return "";
      const text = texts.get(words) ?? JSON.stringify(words);
      texts.set(words, text);
      return text;
    })
    .join();
}

/** A sentence about a matrix, for screen readers. */
export function summaryOf(title: string, view: View | null, rows: number, cols: number): string {
  const size = `${title}, ${rows} rows and ${cols} columns`;
  if (!view) return `${size}.`;
  const range = rangeOf(view);
  return range
    ? `${size}, from ${format(range[0])} to ${format(range[1])}.`
    : `${size}, all hidden.`;
}
