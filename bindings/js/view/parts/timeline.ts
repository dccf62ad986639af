/**
 * The computation of a stage over time, as a pure function of the time: the first cell term by
 * term, the rest of its row cell by cell, then whole rows. The sum by which the first row is
 * divided is computed before. See story.ts for the timeline of all stages. `Name` is the type of
 * the names of the matrices.
 */

export interface Target<Name extends string = string> {
  readonly matrix: Name;
  readonly rows: number;
  readonly cols: number;
}

export interface Timeline<Name extends string = string> {
  /** A row whose sum is computed first, cell by cell; null if there is none. */
  readonly lead: Target<Name> | null;
  /** The computed matrices, one after another. Only the first matrix is computed cell by cell. */
  readonly targets: readonly [Target<Name>, ...Target<Name>[]];
  /** The number of terms of the first cell; 0 if the first row is computed in one step, like all other rows. */
  readonly terms: number;
  /** The row that is computed first. */
  readonly first: number;
}

/** The entries that are computed at a moment. */
export interface StageMoment<Name extends string = string> {
  readonly matrix: Name;
  readonly row: number;
  /** The column of the cell; null for a whole row. */
  readonly col: number | null;
  /** The number of terms of this cell, or of cells of the lead, added so far; null if it is computed in one step. */
  readonly terms: number | null;
}

const leadOf = ({ lead }: Timeline): number => lead?.cols ?? 0;

/** The matrices that are made, in their order. */
export const madeIn = <Name extends string>({ lead, targets }: Timeline<Name>): readonly Name[] =>
  [...(lead ? [lead] : []), ...targets].map(({ matrix }) => matrix);

export function countOf(timeline: Timeline): number {
  const [first, ...others] = timeline.targets;
  const further = others.reduce((sum, { rows }) => sum + rows, 0);
  return leadOf(timeline) + firstRowOf(timeline) + first.rows - 1 + further;
}

/** The number of moments of the first row. */
const firstRowOf = ({ terms, targets: [first] }: Timeline): number =>
  terms === 0 ? 1 : terms + first.cols - 1;

/** The row at position `turn`, if row `first` comes first and the others follow in order. */
const rowOf = (turn: number, first: number) =>
  turn === 0 ? first : turn <= first ? turn - 1 : turn;
const turnOf = (row: number, first: number) => (row === first ? 0 : row < first ? row + 1 : row);

export function momentAt<Name extends string>(
  timeline: Timeline<Name>,
  index: number,
): StageMoment<Name> {
  const { lead, targets, terms, first } = timeline;
  if (lead && index < lead.cols)
    return { matrix: lead.matrix, row: 0, col: index, terms: index + 1 };
  const [{ matrix, rows, cols }, ...others] = targets;
  let left = index - leadOf(timeline);
  if (terms > 0) {
    if (left < terms) return { matrix, row: first, col: 0, terms: terms > 1 ? left + 1 : null };
    left -= terms - 1;
    if (left < cols) return { matrix, row: first, col: left, terms: null };
    left -= cols - 1;
  }
  if (left < rows) return { matrix, row: rowOf(left, first), col: null, terms: null };
  left -= rows;
  for (const other of others) {
    if (left < other.rows) return { matrix: other.matrix, row: left, col: null, terms: null };
    left -= other.rows;
  }
  throw new RangeError(`moment ${index} is after the end`);
}

/** Whether a cell has a number at moment `index`; a partial sum counts. */
export function isMadeBy<Name extends string>(
  timeline: Timeline<Name>,
  index: number,
): (matrix: Name, row: number, col: number) => boolean {
  const now = momentAt(timeline, index);
  const { targets, first } = timeline;
  const order = madeIn(timeline);
  const current = order.indexOf(now.matrix);
  const turn = (row: number) => (now.matrix === targets[0].matrix ? turnOf(row, first) : row);
  return (matrix, row, col) => {
    const place = order.indexOf(matrix);
    if (place !== current) return place < current;
    if (row === now.row) return now.col === null || col <= now.col;
    return turn(row) < turn(now.row);
  };
}

/**
 * The tempo of a moment: a term or a cell of the lead, a cell of the first row, a whole row, or the
 * end of the stage.
 */
export type Tempo = "slow" | "cell" | "row" | "end";

export function tempoAt(timeline: Timeline, index: number): Tempo {
  if (index >= countOf(timeline) - 1) return "end";
  const slow = leadOf(timeline) + timeline.terms;
  if (index < slow) return "slow";
  return timeline.terms > 0 && index < leadOf(timeline) + firstRowOf(timeline) ? "cell" : "row";
}

/** The approximate number of moments of a tempo on the timeline. */
export function countOfTempo(timeline: Timeline, tempo: Tempo): number {
  const [first] = timeline.targets;
  return { slow: leadOf(timeline) + timeline.terms, cell: first.cols, row: first.rows, end: 1 }[
    tempo
  ];
}
