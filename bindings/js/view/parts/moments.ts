/** One moment of a computation: the partly computed matrices, and the highlights of the pictures. */

import { at, type MatrixView, viewOn } from "../picture/view.js";
import type { AreaOf, CellOf } from "./attention.js";
import {
  countOf,
  isMadeBy,
  madeIn,
  momentAt,
  type StageMoment,
  type Timeline,
} from "./timeline.js";

export interface UnfoldingOf<Name extends string> {
  readonly moment: StageMoment<Name>;
  /** The cell that is being computed; null for a whole row. */
  readonly cell: CellOf<Name> | null;
  /** The partial sum of its terms; null if it is computed in one step. */
  readonly sum: number | null;
  /** The matrices that are being computed; others are complete. */
  readonly targets: readonly Name[];
  isMade(matrix: Name, row: number, col: number): boolean;
}

/**
 * The state of a stage at a time counted from its beginning; null when the stage is complete.
 *
 * @param sumAt the partial sum of the first cell at a moment, if it is known
 */
export function unfoldingAt<Name extends string>(
  timeline: Timeline<Name> | null,
  time: number | null,
  sumAt: (moment: StageMoment<Name>) => number | null,
): UnfoldingOf<Name> | null {
  if (!timeline || time === null || time >= countOf(timeline) - 1) return null;
  const moment = momentAt(timeline, time);
  const { matrix, row, col } = moment;
  return {
    moment,
    cell: col === null ? null : { matrix, row, col },
    sum: sumAt(moment),
    targets: madeIn(timeline),
    isMade: isMadeBy(timeline, time),
  };
}

/** A partly computed matrix: entries that are not computed yet are NaN, which is not drawn. */
export function partOf<Name extends string>(
  view: MatrixView,
  name: Name,
  { isMade, cell, sum }: UnfoldingOf<Name>,
): MatrixView {
  /** The cell that shows a partial sum. For exponentials there is none, because they are the terms themselves. */
  const growing = name !== "exponentials" && cell?.matrix === name ? cell : null;
  const size = view.rows * view.cols;
  const data = view.data instanceof Float32Array ? new Float32Array(size) : new Float64Array(size);
  for (let i = 0; i < view.rows; ++i) {
    for (let j = 0; j < view.cols; ++j) {
      const isGrowing = growing?.row === i && growing.col === j;
      const value = (isGrowing ? sum : null) ?? at(view, i, j);
      data[i * view.cols + j] = isMade(name, i, j) ? value : Number.NaN;
    }
  }
  return { ...viewOn(data, view.rows, view.cols), whole: view };
}

/** The rows and columns in use, and the two factors of the last term. */
export function highlightsAt<Name extends string>(
  { moment, cell }: UnfoldingOf<Name>,
  sourcesOf: (cell: CellOf<Name>) => readonly AreaOf<Name>[],
): readonly AreaOf<Name>[] {
  const { matrix, row, terms } = moment;
  if (!cell) {
    // The sources of the whole row; the column is ignored.
    const ofRow = sourcesOf({ matrix, row, col: -1 }).filter((area) => area.row === row);
    return [...ofRow.map((area) => ({ matrix: area.matrix, row })), { matrix, row }];
  }
  const highlights = sourcesOf(cell);
  if (terms === null || matrix === "exponentials") return highlights;
  const n = terms - 1;
  return highlights.flatMap((area) => [
    area,
    area.row === undefined ? { ...area, row: n } : { ...area, col: n },
  ]);
}

/** Describes the present moment of the computation in a few words. `query` is the query whose row is computed first. */
export function momentName({ moment, sum }: UnfoldingOf<string>, query: string): string {
  if (moment.matrix === "exponentials") return `the sum of ${query}`;
  if (moment.col === null) return "row by row";
  return sum !== null || moment.terms !== null ? "the first number" : `the row of ${query}`;
}
