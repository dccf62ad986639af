/** From what was seen to the weights of one head, and what one of them is. */
import type { Explanation } from "../../explanation";
import { format } from "../../format";
import { at, type View, viewOn } from "../../view";
import type { Attention, Course, Seen } from "./orders";
import type { HeadRef } from "./state";
import { bestHead, isCausal } from "./words";

/** The weights of one head among all that were seen. */
export function headView(seen: Seen, attention: Attention, head: number): View {
  const [rows, cols] = [attention.rows.length, attention.columns.length];
  return viewOn(seen.weights, rows, cols, attention.offset + head * rows * cols);
}

const isAhead = (row: number, col: number) => col > row;

/** What may not be seen; the same function for all attentions that are alike. */
export function hiddenIn(
  attention: Attention,
): ((row: number, col: number) => boolean) | undefined {
  return isCausal(attention) ? isAhead : undefined;
}

/** The head that is drawn large: the one that was chosen, if this model has it, or the best of some looks. */
export function shownHead(course: Course, looks: readonly Seen[], wanted: HeadRef | null): HeadRef {
  const heads = course.attentions[wanted?.attention ?? -1]?.heads ?? 0;
  return wanted && wanted.head < heads ? wanted : bestHead(looks);
}

/** Spaces are seen as such. */
export function visible(tokens: readonly string[]): string[] {
  return tokens.map((token) => (token === " " ? "␣" : token));
}

export function explain(
  attention: Attention,
  weights: View,
  { row, col }: { readonly row: number; readonly col: number },
): Explanation {
  const { aligned } = attention;
  const [rows, columns] = [visible(attention.rows), visible(attention.columns)];
  const name = `“${rows[row]}” (${row + 1}) takes from “${columns[col]}” (${col + 1})`;
  if (hiddenIn(attention)?.(row, col))
    return { name, formula: [{ text: "nothing: it may not look ahead" }] };
  const weight = format(at(weights, row, col));
  const places = aligned?.[row] ?? [];
  if (places.length === 0) return { name, formula: [{ text: weight }] };
  const there = places.reduce((sum, place) => sum + at(weights, row, place), 0);
  const isRight = places.includes(col) ? "a right place" : "not a right place";
  return {
    name,
    formula: [{ text: `${weight}, ${isRight}; its row has ${format(there)} of 1 on right places` }],
  };
}
