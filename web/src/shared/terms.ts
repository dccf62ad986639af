/** Sums and products with their true numbers, as pieces of a formula. */
import type { Piece, Role } from "./explanation";
import { format } from "./format";

/** Longer sums are cut in the middle of nowhere useful; they end with how many terms were left out. */
const termsShown = 8;

/** No line breaks inside a product. */
export const times = "\u00a0×\u00a0";

/** Terms joined by plus signs, or the first ones and a count. */
export function sum(terms: readonly (readonly Piece[])[]): Piece[] {
  const shown = terms.length > termsShown ? terms.slice(0, termsShown - 1) : terms;
  const pieces = shown.flatMap((term, i) => (i === 0 ? term : [{ text: " + " }, ...term]));
  const left = terms.length - shown.length;
  return left === 0 ? pieces : [...pieces, { text: ` + … ${left} more` }];
}

/** A negative operand stands in brackets, so that two signs never meet. */
export function operand(value: number, role?: Role): Piece {
  const text = format(value);
  return { text: text.startsWith("−") ? `(${text})` : text, role };
}
