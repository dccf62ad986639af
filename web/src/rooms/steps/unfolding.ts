/** One moment of a stage's computation: what the pictures and the readout show. */

import {
  at,
  countOf,
  type Explanation,
  format,
  isMadeBy,
  type MatrixView,
  momentAt,
  type StageMoment,
  shorten,
  type Target,
  type Timeline,
  viewOn,
} from "heed/view/parts";
import { explainCell, isEdited, type MatrixArea, sourcesOf } from "./explain";
import { kindOf, type MatrixName, sizeOf } from "./matrices";
import type { Solution } from "./problem";
import { targetsOf } from "./stages";
import type { MatrixCell, SentenceAttention, State } from "./state";
import { isVisible, sizesOf } from "./state";
import { viewOf } from "./viewOf";

export interface Unfolding {
  readonly moment: StageMoment<MatrixName>;
  /** The cell that is being computed; null for a whole row. */
  readonly cell: MatrixCell | null;
  /** The partial sum of its terms; null if it is computed in one step. */
  readonly sum: number | null;
  /** The matrices that are being computed; others are complete. */
  readonly targets: readonly MatrixName[];
  isMade(matrix: MatrixName, row: number, col: number): boolean;
}

/** Stages whose rows follow from those before without a sum: none of their cells needs a look of its own. */
function goesByRows({ stage, example, position }: State): boolean {
  if (stage === "embedding") return !position;
  return stage === "tokens" || stage === "masked" || (stage === "joined" && example);
}

/** The number of terms of the first cell of a matrix; 1 if it was edited. */
function termCountOf(matrix: MatrixName, attention: SentenceAttention, state: State): number {
  if (isEdited({ matrix, row: attention.row, col: 0 }, attention, state)) return 1;
  const sizes = sizesOf(attention);
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
export function timelineOf(
  state: State,
  attention: SentenceAttention,
): Timeline<MatrixName> | null {
  const sizes = sizesOf(attention);
  const target = (matrix: MatrixName): Target<MatrixName> => ({ matrix, ...sizeOf(matrix, sizes) });
  const [first, ...others] = targetsOf(state.stage, state).map(target);
  if (!first || first.rows === 0 || first.cols === 0) return null;
  const byRows = goesByRows(state);
  return {
    lead: first.matrix === "weights" ? target("exponentials") : null,
    targets: [first, ...others],
    terms: byRows ? 0 : termCountOf(first.matrix, attention, state),
    first: byRows ? 0 : attention.row,
  };
}

/** The sum of the first cell after `terms` of its terms; an input's first term is the embedding. */
function sumAt(
  solution: Solution,
  { matrix, row, terms }: StageMoment<MatrixName>,
  attention: SentenceAttention,
): number | null {
  if (terms === null) return null;
  if (matrix === "input") {
    const view = viewOf(solution, terms === 1 ? "embedding" : "input", attention.head);
    return view && row < view.rows ? at(view, row, 0) : null;
  }
  const { row: knownRow, head } = solution.problem;
  // The exponentials have only one row, that of the selected query.
  const query = matrix === "exponentials" ? attention.row : row;
  const isKnown = knownRow === query && head === attention.head;
  return isKnown ? (solution.running[matrix]?.[terms - 1] ?? null) : null;
}

export function unfoldingOf(
  state: State,
  attention: SentenceAttention,
  solution: Solution | null,
): Unfolding | null {
  const timeline = timelineOf(state, attention);
  if (!timeline || state.time === null || state.time >= countOf(timeline) - 1) return null;
  const moment = momentAt(timeline, state.time);
  const { matrix, row, col } = moment;
  return {
    moment,
    cell: col === null ? null : { matrix, row, col },
    sum: solution && sumAt(solution, moment, attention),
    targets: [...(timeline.lead ? [timeline.lead] : []), ...timeline.targets].map(
      (target) => target.matrix,
    ),
    isMade: isMadeBy(timeline, state.time),
  };
}

/** A partly computed matrix: entries without a number yet are NaN, which is not drawn. */
export function partOf(
  view: MatrixView,
  name: MatrixName,
  { isMade, cell, sum }: Unfolding,
): MatrixView {
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
  attention: SentenceAttention,
  state: State,
): MatrixArea[] {
  const { matrix, row, terms } = moment;
  if (!cell) {
    // No column is meant, whatever its index.
    const ofRow = sourcesOf({ matrix, row, col: -1 }, attention, state).filter(
      (area) => area.row === row,
    );
    return [...ofRow.map((area) => ({ matrix: area.matrix, row })), { matrix, row }];
  }
  const highlights = sourcesOf(cell, attention, state);
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
  attention: SentenceAttention,
): Explanation | null {
  const { matrix, row, terms } = moment;
  if (cell) {
    const soFar = terms === null || sum === null ? undefined : { terms, sum: format(sum) };
    return explainCell(cell, solution, state, attention, soFar);
  }
  const kind = kindOf(matrix);
  const token = (kind.rows === "query" ? attention.queries : attention.keys).tokens[row];
  const name = state.stage === "tokens" ? `Token ${row + 1}` : kind.title;
  return {
    name: `${name}, “${token}”`,
    formula: [{ text: rowWords(state, attention, row) }],
  };
}

/** How a whole row is made. */
function rowWords(state: State, { keys }: SentenceAttention, row: number): string {
  if (state.stage === "tokens") return "One piece of the text.";
  if (!goesByRows(state)) return "The whole row is computed in the same way.";
  if (state.stage === "embedding")
    return state.example
      ? "Its vector is given by the example."
      : "Its vector is made from the word and the seed.";
  if (state.stage === "joined") return "The output of the only head.";
  const hidden = keys.tokens.filter((_, col) => !isVisible(state, row, col)).length;
  if (hidden === 0) return "It may see every key.";
  return `The mask hides ${hidden} of ${keys.tokens.length} keys from it.`;
}

const longestQuery = 10;

/** Where the playing computation is, in a few words: the row of the selected query comes first. */
export function momentWords(
  { moment, sum }: Unfolding,
  { queries, row }: SentenceAttention,
): string {
  const query = `“${shorten(queries.tokens[row] ?? "", longestQuery)}”`;
  if (moment.matrix === "exponentials") return `the sum of ${query}`;
  if (moment.col === null) return "row by row";
  return sum !== null || moment.terms !== null ? "the first number" : `the row of ${query}`;
}
