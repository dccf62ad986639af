/**
 * The computation of a stage over time, as a pure function of the time: the first cell term by term, the rest of its row
 * cell by cell, then whole rows. The sum that the first row is divided by comes before all that.
 */
import type { MatrixName } from "./matrices";

export interface Target {
  readonly matrix: MatrixName;
  readonly rows: number;
  readonly cols: number;
}

export interface Timeline {
  /** A row whose sum is computed first, cell by cell; null if there is none. */
  readonly lead: Target | null;
  /** One after another; only the first one is computed cell by cell. */
  readonly targets: readonly [Target, ...Target[]];
  /** The number of terms of the first cell. */
  readonly terms: number;
  /** The row that is computed first. */
  readonly first: number;
}

/** What is being computed. */
export interface Moment {
  readonly matrix: MatrixName;
  readonly row: number;
  /** Null for a whole row. */
  readonly col: number | null;
  /** The number of terms of this cell, or of cells of the lead, added so far; null if it is computed in one step. */
  readonly terms: number | null;
}

const leadOf = ({ lead }: Timeline): number => lead?.cols ?? 0;

export function countOf(timeline: Timeline): number {
  const { targets, terms } = timeline;
  const [first, ...others] = targets;
  const further = others.reduce((sum, { rows }) => sum + rows, 0);
  return leadOf(timeline) + terms + first.cols - 1 + first.rows - 1 + further;
}

/** The row at position `turn`, if row `first` comes first and the others follow in order. */
const rowOf = (turn: number, first: number) =>
  turn === 0 ? first : turn <= first ? turn - 1 : turn;
const turnOf = (row: number, first: number) => (row === first ? 0 : row < first ? row + 1 : row);

export function momentAt(timeline: Timeline, index: number): Moment {
  const { lead, targets, terms, first } = timeline;
  if (lead && index < lead.cols)
    return { matrix: lead.matrix, row: 0, col: index, terms: index + 1 };
  const [{ matrix, rows, cols }, ...others] = targets;
  let left = index - leadOf(timeline);
  if (left < terms) return { matrix, row: first, col: 0, terms: terms > 1 ? left + 1 : null };
  left -= terms - 1;
  if (left < cols) return { matrix, row: first, col: left, terms: null };
  left -= cols - 1;
  if (left < rows) return { matrix, row: rowOf(left, first), col: null, terms: null };
  left -= rows;
  for (const other of others) {
    if (left < other.rows) return { matrix: other.matrix, row: left, col: null, terms: null };
    left -= other.rows;
  }
  throw new RangeError(`moment ${index} is after the end`);
}

/** Whether a cell has a number at moment `index`, even a partial sum. */
export function isMadeBy(
  timeline: Timeline,
  index: number,
): (matrix: MatrixName, row: number, col: number) => boolean {
  const now = momentAt(timeline, index);
  const { lead, targets, first } = timeline;
  const order = [...(lead ? [lead] : []), ...targets].map(({ matrix }) => matrix);
  const current = order.indexOf(now.matrix);
  const turn = (row: number) => (now.matrix === targets[0].matrix ? turnOf(row, first) : row);
  return (matrix, row, col) => {
    const place = order.indexOf(matrix);
    if (place !== current) return place < current;
    if (row === now.row) return now.col === null || col <= now.col;
    return turn(row) < turn(now.row);
  };
}

/** Where playing stops and waits for the person: after the first cell, and after its row. */
export function stopsOf(timeline: Timeline): readonly number[] {
  const { lead, targets, terms } = timeline;
  const firstCell = leadOf(timeline) + terms - 1;
  const row = firstCell + targets[0].cols - 1;
  return lead || terms > 1 ? [firstCell, row] : [row];
}

/** In milliseconds: the most that all moments of a part take together. */
const longest = 9000;

/** Slow for the terms of the first cell, faster along its row, and constant over rows. */
export function paceOf(timeline: Timeline): (index: number) => number {
  const [first] = timeline.targets;
  const slow = leadOf(timeline) + timeline.terms;
  const upTo = (pace: number, count: number) => Math.min(pace, longest / count);
  return (index) => {
    if (index < slow) return upTo(1200, slow);
    return index < slow + first.cols - 1 ? upTo(450, first.cols) : upTo(600, first.rows);
  };
}
