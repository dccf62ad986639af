/** The meaning and the formula of a cell of a head's weights. */

import { at, type Cell, type Explanation, format } from "#parts";
import { formulaOf } from "../../../shared/attended";
import type { HeadSelection } from "./selection";

export function explainHeadWeight(cell: Cell, { shown, other }: HeadSelection): Explanation {
  const { attention, index, weights } = shown;
  const { rows, columns, isCausal, shares } = attention;
  const { row, col } = cell;
  const [query, key] = [rows[row], columns[col]];
  if (isCausal && col > row)
    return {
      name: `“${query}” may not attend to “${key}”`,
      formula: [{ text: "hidden: what comes later is not known yet" }],
    };
  const name = `How much “${query}” attends to “${key}” (row ${row + 1}, column ${col + 1})`;
  const formula = formulaOf(attention, shares, index, cell);
  if (!other) {
    const visible = isCausal ? row + 1 : columns.length;
    const even = `\n1 ÷ ${visible} = ${format(1 / visible)} with uniform attention`;
    return { name, formula: [...formula, { text: even }] };
  }
  const [weight, second] = [at(weights, row, col), at(other.weights, row, col)];
  // One digit more than elsewhere, so that the rounded numbers agree with their difference.
  const [a, b, less] = [weight, second, weight - second].map((each) => format(each, 4));
  return {
    name,
    formula: [{ text: `${shown.name} less ${other.name}: ${a} − ${b} = ${less}\n` }, ...formula],
  };
}
