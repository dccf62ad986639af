/** Measures that distinguish heads: their attention to certain tokens, in repeated random tokens. */
import type { HeadKey } from "../../../shared/layerHeads";

/** The number of random tokens; they follow the start, twice. */
export const repeated = 32;

/** The weights of one head, [rows, rows], row by row. */
interface Square {
  readonly weights: Float32Array;
  readonly rows: number;
}

/** The column of each row that a measure looks at; null for none. */
const columnOf = {
  previous: (row: number) => (row >= 2 ? row - 1 : null),
  first: (row: number) => (row >= 2 ? 0 : null),
  // The token at this row was at row − repeated, and is followed by the next one.
  induction: (row: number) => (row > repeated ? row - repeated + 1 : null),
} as const;

export type MeasureName = keyof typeof columnOf;

type Measures = Readonly<Record<MeasureName, number>>;

/** The mean weight of a head on the token that each measure looks at. */
interface HeadMeasures extends Measures {
  readonly key: HeadKey;
}

export interface Kinds {
  readonly measures: readonly HeadMeasures[];
  /** The same of a head that attends to all visible tokens alike. */
  readonly uniform: Measures;
}

/** The tokens of the measured text: a start, and the random tokens twice. */
export const measuredTokens = 2 * repeated + 1;

function meanOf(name: MeasureName, rows: number, at: (row: number, col: number) => number): number {
  const found: number[] = [];
  for (let row = 0; row < rows; ++row) {
    const col = columnOf[name](row);
    if (col !== null) found.push(at(row, col));
  }
  return found.reduce((sum, each) => sum + each, 0) / found.length;
}

const all = (rows: number, at: (row: number, col: number) => number) => ({
  previous: meanOf("previous", rows, at),
  first: meanOf("first", rows, at),
  induction: meanOf("induction", rows, at),
});

export function measuresOf({ weights, rows }: Square): Measures {
  return all(rows, (row, col) => weights[row * rows + col] as number);
}

/** The measures of a head that attends to all visible tokens alike. */
export function uniformMeasures(rows: number): Measures {
  return all(rows, (row) => 1 / (row + 1));
}

/** The name of a head with a high value of a measure. */
export const kinds: Readonly<Record<MeasureName, string>> = {
  ...{ previous: "previous token", first: "first token", induction: "induction" },
};

export const measureNames = Object.keys(kinds) as MeasureName[];

/** A head gets the name of a measure if at least this share of its attention is on the measured tokens. */
const enough = 0.3;

/** The measure that a head is named after; null if none is high. */
export function kindOf(measures: Measures): MeasureName | null {
  const [best] = [...measureNames].sort((a, b) => measures[b] - measures[a]);
  return best && measures[best] >= enough ? best : null;
}

/** The name of the kind of a head; null if it has none. */
export function kindNameOf(all: Kinds | null, key: HeadKey): string | null {
  const measures = all?.measures.find((each) => each.key === key);
  const kind = measures && kindOf(measures);
  return kind ? kinds[kind] : null;
}

/** Whether a head's value of a measure is higher than chance. */
export function isFound(value: number, uniform: number): boolean {
  return value >= 3 * uniform;
}

/** The head with the highest value. */
export function bestOf(measures: readonly HeadMeasures[], name: MeasureName): HeadMeasures {
  return measures.reduce((best, each) => (each[name] > best[name] ? each : best));
}
