/** The timeline of all stages, and one moment of it as the pictures and the readout show it. */

import {
  at,
  type Explanation,
  format,
  highlightsAt,
  momentName,
  paceOf,
  placeAt,
  type StageMoment,
  type Story,
  shorten,
  storyOf as storyOfStages,
  type Target,
  type Timeline,
  type UnfoldingOf,
  unfoldingAt,
} from "#parts";
import { explainCell, isEdited, type MatrixArea, sourcesOf } from "./explain";
import { kindOf, type MatrixName, sizeOf } from "./matrices";
import type { Solution } from "./problem";
import type { MatrixCell, State } from "./settings";
import { isBlockStage, type StageName, stagesOf } from "./stageNames";
import { targetsOf } from "./stages";
import {
  addsPositions,
  hidesAny,
  isRotated,
  isVisible,
  type SentenceAttention,
  sizesOf,
} from "./state";
import { viewOf } from "./viewOf";

export type Unfolding = UnfoldingOf<MatrixName>;

/** The values that the pictures show. */
export interface Shown {
  /**
   * The settings of the solution with the current presentation. The controls may be one answer ahead of the pictures.
   */
  readonly state: State;
  readonly attention: SentenceAttention;
  /** Null before the first answer. */
  readonly solution: Solution | null;
  /** How far the stage's computation is shown; null if it is complete. */
  readonly unfolding: Unfolding | null;
}

/** Stages whose rows follow from earlier rows without a sum, so that no cell is explained separately. */
function goesByRows(state: State): boolean {
  const { stage, vectors } = state;
  if (stage === "embedding") return !addsPositions(state);
  return stage === "tokens" || stage === "masked" || (stage === "joined" && vectors === "example");
}

/** The number of terms of the first cell of a matrix; 1 if it was edited. */
function termCountOf(matrix: MatrixName, attention: SentenceAttention, state: State): number {
  if (isEdited({ matrix, row: attention.row, col: 0 }, attention, state)) return 1;
  const { embedding, head, key, joined } = sizesOf(attention);
  // A rotated entry of a query is a sum of two, and a normalised one is no sum.
  const q = isRotated(state, attention) ? 2 : attention.model?.hasHeadNorms ? 1 : embedding;
  const counts = { input: 2, q, scores: head, output: key, result: joined };
  return counts[matrix as keyof typeof counts] ?? 1;
}

/** Null if the stage has nothing to compute, or shows it as a whole. */
function timelineOf(state: State, attention: SentenceAttention): Timeline<MatrixName> | null {
  if (isBlockStage(state.stage)) return null;
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

/** All stages of the room on one timeline. */
export function storyOf(state: State, attention: SentenceAttention): Story<StageName, MatrixName> {
  return storyOfStages(stagesOf(state), (stage) => timelineOf({ ...state, stage }, attention));
}

/** The milliseconds of each moment. Playing passes over the stage of the mask if it hides nothing. */
export function playPaceOf(
  story: Story<StageName, MatrixName>,
  state: State,
  attention: SentenceAttention,
): (index: number) => number {
  const pace = paceOf(story);
  if (hidesAny(state, attention)) return pace;
  return (index) => (placeAt(story, index).stage === "masked" ? 0 : pace(index));
}

/** The partial sum of the first cell after `terms` terms. The first term of an input is the embedding. */
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
  // The exponentials have only one row, for the selected query.
  const query = matrix === "exponentials" ? attention.row : row;
  const isKnown = knownRow === query && head === attention.head;
  return isKnown ? (solution.running[matrix]?.[terms - 1] ?? null) : null;
}

export function unfoldingOf(
  state: State,
  attention: SentenceAttention,
  solution: Solution | null,
): Unfolding | null {
  return unfoldingAt(
    timelineOf(state, attention),
    state.time,
    (moment) => solution && sumAt(solution, moment, attention),
  );
}

/** The rows and columns in use, and the two factors of the last term. */
export function highlightsOf(
  unfolding: Unfolding,
  attention: SentenceAttention,
  state: State,
): readonly MatrixArea[] {
  const { matrix, terms } = unfolding.moment;
  const sources = (cell: MatrixCell) => sourcesOf(cell, attention, state);
  if (matrix === "q" && unfolding.cell && isRotated(state, attention))
    return sources(unfolding.cell);
  // An input has two terms, each of which is one cell.
  if (matrix === "input" && unfolding.cell && terms !== null)
    return sources(unfolding.cell).slice(terms - 1, terms);
  return highlightsAt(unfolding, sources);
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

const vectorWords: Readonly<Record<State["vectors"], string>> = {
  example: "Its vector is given by the example.",
  random: "Its vector is made from the word and the seed.",
  learned: "Its vector, as the layer reads it.",
};

/** Describes the computation of a whole row. */
function rowWords(state: State, attention: SentenceAttention, row: number): string {
  if (state.stage === "tokens") return "One piece of the text.";
  if (!goesByRows(state)) return "The whole row is computed in the same way.";
  if (state.stage === "embedding") return vectorWords[state.vectors];
  if (state.stage === "joined") return "The output of the only head.";
  const { keys } = attention;
  const hidden = keys.tokens.filter((_, col) => !isVisible(state, attention, row, col)).length;
  if (hidden === 0) return "It may see every key.";
  return `The mask hides ${hidden} of ${keys.tokens.length} keys from it.`;
}

const longestQuery = 10;

/** Describes the current moment of the computation. The row of the selected query comes first. */
export function momentWords(unfolding: Unfolding, { queries, row }: SentenceAttention): string {
  return momentName(unfolding, `“${shorten(queries.tokens[row] ?? "", longestQuery)}”`);
}
