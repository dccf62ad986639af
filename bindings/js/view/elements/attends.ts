/** Describes in words which tokens one token attends to, or which tokens attend to it. */
import { tokenLabel } from "../parts/pieces.js";
import { format, withPoint } from "../picture/format.js";
import type { Area, Cell } from "../picture/layout.js";
import { at } from "../picture/view.js";
import { type Explained, formulaOf, placeOf, sideOf } from "./explain.js";

/** The cells of a row or a column with the largest weights, in descending order; the first of equal ones. */
export function largestCells(
  { view }: Pick<Explained, "view">,
  { row, col }: Area,
  count: number,
): (Cell & { readonly value: number })[] {
  const found: (Cell & { readonly value: number })[] = [];
  const length = row === undefined ? view.rows : view.cols;
  for (let i = 0; i < length; ++i) {
    const cell = row === undefined ? { row: i, col: col as number } : { row, col: i };
    const value = at(view, cell.row, cell.col);
    if (
      !(value > 0) ||
      view.hides?.(cell.row, cell.col) ||
      (found.length === count && value <= (found.at(-1)?.value as number))
    )
      continue;
    const before = found.findIndex((other) => other.value < value);
    found.splice(before < 0 ? found.length : before, 0, { ...cell, value });
    if (found.length > count) found.pop();
  }
  return found;
}

/** The cell of an area: the cell itself, or the one with the largest weight in the row or column. */
export function cellIn(explained: Pick<Explained, "view">, area: Area): Cell {
  const isCell = area.row !== undefined && area.col !== undefined;
  const { row = 0, col = 0 }: Area = isCell ? area : (largestCells(explained, area, 1)[0] ?? area);
  return { row, col };
}

/** The file name of a picture, without its extension. */
export function fileOf(label: string): string {
  return label.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
}

/** The largest number of tokens that a sentence names. */
const named = 3;

const wordOf = (words: readonly string[] | undefined, index: number) =>
  words ? `“${tokenLabel(words[index] ?? "")}”` : `${index + 1}`;

/** A sentence about a query, a key or one weight. */
export function attendsWords(explained: Explained, area: Area): string {
  const { words, point } = explained;
  const { row, col } = area;
  if (row !== undefined && col !== undefined) {
    const cell = { row, col };
    return `${placeOf(words, cell)}: ${formulaOf(explained, cell)}`;
  }
  const number = (value: number) => withPoint(format(value), point);
  const cells = largestCells(explained, area, named);
  const isRow = row !== undefined;
  const others = cells.map(({ value, ...cell }) =>
    isRow
      ? `${wordOf(words.keys, cell.col)} ${number(value)}`
      : `${wordOf(words.queries, cell.row)} ${number(value)}`,
  );
  const list = others.length > 0 ? others.join(", ") : "nothing";
  return isRow
    ? `${sideOf("query", row, words.queries)} attends most to ${list}`
    : `${sideOf("key", col as number, words.keys)} is attended to most by ${list}`;
}
