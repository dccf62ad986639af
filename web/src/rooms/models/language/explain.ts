/** Explains the meaning of a cell of a head, and the computation of its weight. */
import { at, type Cell, type Explanation, format, viewOn } from "#parts";
import { formulaOf } from "../../../shared/attended";
import { weightedByLength } from "./weighting";
import type { ShownHead } from "./workspace";

export function explainWeight(cell: Cell, { attention, shares, window }: ShownHead): Explanation {
  const { rows, columns, isCausal } = attention;
  const { row, col } = cell;
  const [query, key] = [rows[row], columns[col]];
  const cannot = `“${query}” may not attend to “${key}”`;
  if (isCausal && col > row)
    return { name: cannot, formula: [{ text: "hidden: what comes later is not known yet" }] };
  if (window !== null && Math.abs(row - col) >= window) {
    const seen = isCausal ? `${window} tokens, its own included` : `${window - 1} on each side`;
    return { name: cannot, formula: [{ text: `hidden: this layer sees ${seen}` }] };
  }
  const count = columns.length;
  const most = window ?? Number.POSITIVE_INFINITY;
  const end = isCausal ? row + 1 : Math.min(count, row + most);
  const visible = end - Math.max(0, row + 1 - most);
  const weights = viewOn(shares.weights, 1, count, row * count);
  const weighted = weightedByLength(weights, shares.lengths);
  const [weight, length] = [at(weights, 0, col), shares.lengths[col] as number];
  return {
    name: `How much “${query}” attends to “${key}” (row ${row + 1}, column ${col + 1})`,
    formula: [
      ...formulaOf(attention, shares, 0, cell),
      { text: `\n1 ÷ ${visible} = ${format(1 / visible)} with uniform attention` },
      { text: "\nweight × |" },
      { text: "v", role: "v" },
      {
        text: `| = ${format(weight)} × ${format(length)} = ${format(weight * length)}, which is ${format(at(weighted, 0, col))} of its row's sum`,
      },
    ],
  };
}
