/** The picture of a matrix of attention: its colours, its labels and the size of its cells. */

import {
  type ColourCurve,
  type ColourRange,
  type Palette,
  signedPalette,
  type Theme,
  weightPalette,
} from "../picture/colour.js";
import { shorten } from "../picture/format.js";
import { cellsFor, geometryOf, type Labels, leftOf, tokenAxes } from "../picture/layout.js";
import type { Still } from "../picture/paint.js";
import { at, type Hides, type MatrixView } from "../picture/view.js";
import type { Sides } from "./explain.js";

interface Look {
  readonly kind: "weights" | "scores";
  readonly range: ColourRange;
  readonly curve: ColourCurve;
  readonly theme: Theme;
  /** The width available to the picture, in CSS pixels. */
  readonly width: number;
  readonly family: string;
  /** The decimal sign. */
  readonly point: string;
}

/** A label longer than this is shortened on the page, but not in files. */
const longestLabel = 12;

/**
 * The finite number farthest from 0 that is not hidden; 0 if there is none. Many programs give a
 * hidden score a number such as -1e38.
 */
function farthestIn(view: MatrixView): number {
  let farthest = 0;
  for (let i = 0; i < view.rows; ++i)
    for (let j = 0; j < view.cols; ++j) {
      const size = Math.abs(at(view, i, j));
      if (size > farthest && size < Number.POSITIVE_INFINITY && !view.hides?.(i, j))
        farthest = size;
    }
  return farthest;
}

function paletteOf(view: MatrixView, { kind, range, curve, theme }: Look): Palette {
  if (kind === "weights") return weightPalette(range, curve, theme);
  return signedPalette(farthestIn(view), theme);
}

/** A score of −∞ is hidden even if the mask does not hide it: its weight is 0. */
function withHidden(view: MatrixView, kind: Look["kind"]): MatrixView {
  if (kind === "weights") return view;
  const hides: Hides = (row, col) =>
    view.hides?.(row, col) === true || at(view, row, col) === Number.NEGATIVE_INFINITY;
  return { ...view, hides };
}

export function pictureOf(view: MatrixView, { queries, keys }: Sides, look: Look): Still {
  const { rows, cols } = view;
  const short = (words: readonly string[]) => words.map((word) => shorten(word, longestLabel));
  const labels: Labels = {
    ...tokenAxes,
    ...(queries && { rows: short(queries) }),
    ...(keys && { cols: short(keys) }),
    family: look.family,
  };
  const cell = cellsFor(look.width - leftOf(labels), cols, rows);
  return {
    geometry: geometryOf(rows, cols, cell, labels),
    ...{ labels, marked: [], point: look.point },
    view: withHidden(view, look.kind),
    palette: paletteOf(view, look),
  };
}
