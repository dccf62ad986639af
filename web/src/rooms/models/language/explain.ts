/** Explains the meaning of a cell of a head's weights, and its computation. */
import { type Cell, type Explanation, format } from "heed/view/parts";
import { formulaOf } from "../../../shared/attended";
import type { ShownHead } from "./workspace";

/** @param place the token that the model has read last */
export function explainWeight(
  cell: Cell,
  { attention, shares }: ShownHead,
  place: number,
): Explanation {
  const { rows, columns } = attention;
  const { row, col } = cell;
  const [query, key] = [rows[row], columns[col]];
  if (col > row)
    return {
      name: `“${query}” may not attend to “${key}”`,
      formula: [{ text: "hidden: what comes later is not written yet" }],
    };
  if (row > place)
    return { name: `“${query}” is not read yet`, formula: [{ text: "Play, or select its row." }] };
  return {
    name: `How much “${query}” attends to “${key}” (row ${row + 1}, column ${col + 1})`,
    formula: [
      ...formulaOf(attention, shares, 0, cell),
      { text: `\n1 ÷ ${row + 1} = ${format(1 / (row + 1))} with uniform attention` },
    ],
  };
}
