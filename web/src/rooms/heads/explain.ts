/** What a cell of a head's weights says. */
import type { Explanation } from "../../explanation";
import { format } from "../../format";
import type { HeadView, Scene } from "./scene";
import type { CellAt } from "./state";

export function weightAt({ attention, head }: HeadView, { row, col }: CellAt): number {
  return head.weights[row * attention.columns.length + col] as number;
}

export function explain(cell: CellAt, { shown, other }: Scene): Explanation {
  const { rows, columns, isCausal } = shown.attention;
  const [query, key] = [rows[cell.row], columns[cell.col]];
  if (isCausal && cell.col > cell.row)
    return {
      name: `“${query}” cannot see “${key}”`,
      formula: [{ text: "hidden: what comes later is not known yet" }],
    };
  const name = `How much “${query}” looks at “${key}” (row ${cell.row + 1}, column ${cell.col + 1})`;
  const weight = weightAt(shown, cell);
  const seen = isCausal ? cell.row + 1 : columns.length;
  const even = `${format(weight)} of 1; even attention would be 1 ÷ ${seen} = ${format(1 / seen)}`;
  if (!other) return { name, formula: [{ text: even }] };
  const second = weightAt(other, cell);
  return {
    name,
    formula: [
      { text: `${shown.short} − ${other.short}: ` },
      { text: `${format(weight)} − ${format(second)} = ${format(weight - second)}` },
    ],
  };
}
