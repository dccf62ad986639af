/** A moment of a stage's computation, as the pictures and the readout show it. */

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
  /** The one cell that is being made. */
  readonly cell: CellRef | null;
  /** What its terms add up to so far; null when it is made at once. */
  readonly sum: number | null;
  /** The matrices that are being made: those of other stages are whole. */
  readonly targets: readonly MatrixName[];
  isMade(matrix: MatrixName, row: number, col: number): boolean;
}

/** How many terms the first cell of a matrix adds up; one that is set by hand adds up none. */
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

/** Null where a stage has nothing to compute. */
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
  // The exponentials have but one row, that of the query that is looked at.
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

/** A matrix as far as it is made: what has no number yet is NaN, which is not drawn. */
export function partOf(view: View, name: MatrixName, { isMade, cell, sum }: Unfolding): View {
  /** The cell that shows what its terms add up to so far; the exponentials are themselves the terms. */
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

/** The rows and columns that are used, and of the term that was added last its two factors. */
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
