/** The weights of one head in a snapshot, and the explanation of one weight. */
import { at, type Cell, type Explanation } from "#parts";
import { formulaOf, isLater, type Shares, weightsOf } from "../../shared/attended";
import { percent } from "../../shared/format";
import type { CourseAttention, CourseSnapshot } from "./messages";
import type { CourseHead } from "./state";
import { bestCourseHead } from "./words";

/** The head that is drawn large: the selected one if this model has it, otherwise the best over several snapshots. */
export function shownHead(
  attentions: readonly CourseAttention[],
  snapshots: readonly CourseSnapshot[],
  wanted: CourseHead | null,
): CourseHead {
  const heads = attentions[wanted?.attention ?? -1]?.heads ?? 0;
  return wanted && wanted.head < heads ? wanted : bestCourseHead(snapshots);
}

export function explainCourseWeight(
  attention: CourseAttention,
  shares: Shares,
  head: number,
  cell: Cell,
): Explanation {
  const { row, col } = cell;
  const { aligned, rows, columns } = attention;
  const name = `“${rows[row]}” (${row + 1}) attends to “${columns[col]}” (${col + 1})`;
  if (attention.isCausal && isLater(row, col))
    return { name, formula: [{ text: "hidden: the causal mask allows no later position" }] };
  const formula = formulaOf(attention, shares, head, cell);
  const places = aligned?.[row] ?? [];
  if (places.length === 0) {
    const words = aligned ? [{ text: "\nthis row has no answer position" }] : [];
    return { name, formula: [...formula, ...words] };
  }
  const weights = weightsOf(attention, shares, head);
  const there = places.reduce((sum, place) => sum + at(weights, row, place), 0);
  const isRight = places.includes(col) ? "an answer position" : "not an answer position";
  const words = `\n${isRight}; ${percent(there)} of its row is on answer positions`;
  return { name, formula: [...formula, { text: words }] };
}
