/** From a matrix and how it is to be seen to its picture, made anew only when something in it changes. */
import { useMemo } from "preact/hooks";
import type { Palette } from "./colour";
import { format } from "./format";
import { type CellSize, geometryOf } from "./layout";
import type { Labels, Light, Picture } from "./paint";
import { rangeOf, type View } from "./view";

export interface PictureOf {
  /** Null until there are numbers: the matrix then keeps its place. */
  readonly view: View | null;
  readonly rows: number;
  readonly cols: number;
  readonly palette: Palette;
  readonly cell: CellSize;
  readonly labels?: Labels;
  /** What a mask hides; the same function for as long as it says the same (useMemo). */
  readonly isHidden?: ((row: number, col: number) => boolean) | undefined;
  /** The chosen row or column, marked quietly. */
  readonly selected?: Light | null;
  /** What the active cell was made of. */
  readonly lights?: readonly Light[];
  /** Cells that were set by hand. */
  readonly marked?: readonly Light[];
  /** The cell that is pointed at or locked. */
  readonly active?: Light | null;
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
  lights = [],
  marked = [],
  active = null,
}: PictureOf): Picture {
  const geometry = geometryOf(rows, cols, cell, labels);
  const marks = { selected, lights, marked, active };
  // Pointing at a cell changes few of the many pictures on the page.
  const key = JSON.stringify([geometry, labels, marks]);
  return useMemo(
    () => ({ geometry, view, palette, labels, isHidden, ...marks }),
    [view, palette, isHidden, key],
  );
}

/** A sentence about a matrix, for those who do not see it. */
export function summaryOf(title: string, view: View | null, rows: number, cols: number): string {
  const size = `${title}, ${rows} rows and ${cols} columns`;
  if (!view) return `${size}.`;
  const range = rangeOf(view);
  return range
    ? `${size}, from ${format(range[0])} to ${format(range[1])}.`
    : `${size}, all hidden.`;
}
