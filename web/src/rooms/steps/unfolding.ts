/** One moment of a stage's computation: what the pictures and the readout show. */

import { at, type View, viewOn } from "../../picture/view";
import type { Explanation } from "../../shared/explanation";
import { format } from "../../shared/format";
import { explain, isEdited, type MatrixArea, sourcesOf } from "./explain";
import { kindOf, type MatrixName, sizeOf } from "./matrices";
import type { Solution } from "./problem";
import { targetsOf } from "./stages";
import type { CellRef, Scene, State } from "./state";
import { sizesOf } from "./state";
import { countOf, isMadeBy, type Moment, momentAt, type Target, type Timeline } from "./time";
import { viewOf } from "./viewOf";

export interface Unfolding {
  readonly moment: Moment;
  /** The cell that is being computed; null for a whole row. */
  readonly cell: CellRef | null;
  /** The partial sum of its terms; null if it is computed in one step. */
  readonly sum: number | null;
  /** The matrices that are being computed; others are complete. */
  readonly targets: readonly MatrixName[];
  isMade(matrix: MatrixName, row: number, col: number): boolean;
}

/** The number of terms of the first cell of a matrix; 1 if it was edited. */
function termsOf(matrix: MatrixName, scene: Scene, state: State): number {
  if (isEdited({ matrix, row: scene.row, col: 0 }, scene, state)) return 1;
  const sizes = sizesOf(scene);
  switch (matrix) {
    case "input":
      return 2;
    case "q":
      return sizes.embedding;
    case "scores":
      return sizes.head;
    case "output":
      return sizes.key;
    case "result":
      return sizes.joined;
    default:
      return 1;
  }
}

/** Null if the stage has nothing to compute. */
export function timelineOf(state: State, scene: Scene): Timeline | null {
  const sizes = sizesOf(scene);
  const target = (matrix: MatrixName): Target => ({ matrix, ...sizeOf(matrix, sizes) });
  const [first, ...others] = targetsOf(state.stage, state).map(target);
  if (!first || first.rows === 0 || first.cols === 0) return null;
  return {
    lead: first.matrix === "weights" ? target("exponentials") : null,
    targets: [first, ...others],
    terms: termsOf(first.matrix, scene, state),
    first: scene.row,
  };
}

/** The sum of the first cell after `terms` of its terms; an input's first term is the embedding. */
function sumAt(solution: Solution, { matrix, row, terms }: Moment, scene: Scene): number | null {
  if (terms === null) return null;
  if (matrix === "input") {
    const view = viewOf(solution, terms === 1 ? "embedding" : "input", scene.head);
    return view && row < view.rows ? at(view, row, 0) : null;
  }
  const { row: knownRow, head } = solution.problem;
  // The exponentials have only one row, that of the selected query.
  const query = matrix === "exponentials" ? scene.row : row;
  const isKnown = knownRow === query && head === scene.head;
  return isKnown ? (solution.running[matrix]?.[terms - 1] ?? null) : null;
}

export function unfoldingOf(
  state: State,
  scene: Scene,
  solution: Solution | null,
): Unfolding | null {
  const timeline = timelineOf(state, scene);
  if (!timeline || !solution || state.time === null || state.time >= countOf(timeline) - 1)
    return null;
  const moment = momentAt(timeline, state.time);
  const { matrix, row, col } = moment;
  return {
    moment,
    cell: col === null ? null : { matrix, row, col },
    sum: sumAt(solution, moment, scene),
    targets: [...(timeline.lead ? [timeline.lead] : []), ...timeline.targets].map(
      (target) => target.matrix,
    ),
    isMade: isMadeBy(timeline, state.time),
  };
}

/** A partly computed matrix: entries without a number yet are NaN, which is not drawn. */
export function partOf(view: View, name: MatrixName, { isMade, cell, sum }: Unfolding): View {
  /** The cell that shows a partial sum; the exponentials are themselves terms. */
  const growing = name !== "exponentials" && cell?.matrix === name ? cell : null;
  const data = new Float32Array(view.rows * view.cols);
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
export function highlightsOf(
  { moment, cell }: Unfolding,
  scene: Scene,
  state: State,
): MatrixArea[] {
  const { matrix, row, terms } = moment;
  if (!cell) {
    const ofRow = sourcesOf({ matrix, row, col: 0 }, scene, state).filter(
      (area) => area.row === row,
    );
    return [...ofRow.map((area) => ({ matrix: area.matrix, row })), { matrix, row }];
  }
  const highlights = sourcesOf(cell, scene, state);
  if (terms === null || matrix === "exponentials") return [...highlights];
  const n = terms - 1;
  if (matrix === "input") return highlights.slice(n, terms);
  return highlights.flatMap((area) => [
    area,
    area.row === undefined ? { ...area, row: n } : { ...area, col: n },
  ]);
}

export function explainMoment(
  { moment, cell, sum }: Unfolding,
  solution: Solution,
  state: State,
  scene: Scene,
): Explanation | null {
  const { matrix, row, terms } = moment;
  if (cell) {
    const soFar = terms === null || sum === null ? undefined : { terms, sum: format(sum) };
    return explain(cell, solution, state, scene, soFar);
  }
  const kind = kindOf(matrix);
  const token = (kind.rows === "query" ? scene.queries : scene.keys).tokens[row];
  return {
    name: `${kind.title}, “${token}”`,
    formula: [{ text: "The whole row in the same way, all of its cells at once." }],
  };
}
