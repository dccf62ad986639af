// The decimals of the numbers in a picture: as many as fit into its cells.

import { format, withPoint } from "./format.js";
import { type CellSize, type Geometry, geometryOf, type Labels, measuring } from "./layout.js";
import { at, type Hides, type MatrixView } from "./view.js";

/** The most decimals of a number in a picture. */
export const mostDecimals = 3;

/** A matrix whose numbers may be shown in its cells. */
export interface Numbered {
  readonly geometry: Geometry;
  readonly view: MatrixView | null;
  readonly labels: Labels;
  /** The most decimals of its numbers; `mostDecimals` by default. */
  readonly decimals?: number | undefined;
  /** The decimal sign of its numbers; "." by default. */
  readonly point?: string | undefined;
}

/**
 * The number of decimals of this font size with which every number fits into its cell; null if not
 * even one decimal fits.
 */
export function decimalsOfSize(
  { geometry: g, view: shown, decimals: most = mostDecimals, labels: { family } }: Numbered,
  size: number,
): number | null {
  const context = measuring("400", size, family);
  if (!shown || !context) return null;
  // A partly computed matrix has the decimals of the complete one, so that they do not change while
  // more of it is computed.
  const view = shown.whole ?? shown;
  // All digits have the same width, so most widths are already known.
  const widths = new Map<string, number>();
  const widthOfText = (text: string): number => {
    const shape = text.replace(/\d/g, "0");
    const known = widths.get(shape) ?? context.measureText(shape).width;
    widths.set(shape, known);
    return known;
  };
  let decimals = most;
  for (let i = 0; i < view.rows; ++i) {
    for (let j = 0; j < view.cols; ++j) {
      const value = at(view, i, j);
      if (Number.isNaN(value) || shown.hides?.(i, j)) continue;
      while (widthOfText(format(value, decimals)) > g.cellWidth - 6) {
        if (--decimals === 0) return null;
      }
    }
  }
  return decimals;
}

function findDecimals(still: Numbered): number | null {
  const { cellWidth, cellHeight } = still.geometry;
  return isTooSmall(cellWidth, cellHeight) ? null : decimalsOfSize(still, numberSize(cellHeight));
}

const known = new WeakMap<Numbered, number | null>();

/**
 * The number of decimals that the canvas shows, or null if it shows no numbers. It is computed once
 * for each picture.
 */
export function decimalsIn(still: Numbered): number | null {
  const found = known.get(still);
  if (found !== undefined) return found;
  const decimals = findDecimals(still);
  known.set(still, decimals);
  return decimals;
}

/**
 * The text of a number in a cell. With few decimals, a number that rounds to zero is a dot, because
 * hundreds of "0.0" would hide the others.
 */
export function numberIn(value: number, decimals: number, point?: string): string {
  if (decimals < mostDecimals && isSmall(value, decimals)) return "·";
  return withPoint(format(value, decimals), point);
}

/** Whether a number rounds to zero. */
const isSmall = (value: number, decimals: number) => Math.abs(value) < 0.5 * 10 ** -decimals;

/** The meaning of the dots in a picture, if it has any; by default with the decimals of the canvas. */
export function notesOf(still: Numbered, decimals = decimalsIn(still)): string[] {
  const { view: shown, point } = still;
  if (!shown || decimals === null || decimals >= mostDecimals) return [];
  const view = shown.whole ?? shown;
  for (let i = 0; i < view.rows; ++i)
    for (let j = 0; j < view.cols; ++j)
      if (!shown.hides?.(i, j) && isSmall(at(view, i, j), decimals))
        return [withPoint(`· less than ${(0.5 * 10 ** -decimals).toFixed(decimals + 1)}`, point)];
  return [];
}

const fontSize = 12;

export const numberSize = (cellHeight: number) => Math.min(fontSize, cellHeight * 0.7);

/** The number of decimals that fit into cells of this size, or null; see `decimalsIn`. */
export function decimalsOf(view: MatrixView, cell: CellSize): number | null {
  const geometry = geometryOf(view.rows, view.cols, cell, {});
  // Hidden scores have no text.
  const hides: Hides = (row, col) => at(view, row, col) === Number.NEGATIVE_INFINITY;
  return findDecimals({ geometry, view: { ...view, hides }, labels: {} });
}

const isTooSmall = (width: number, height: number) => height < 15 || width < 24;
