/** Sums and products of numbers, as pieces of a formula. */
import type { FormulaPiece, Role } from "./explanation";
import { format } from "./format";

/** A longer sum is shortened, and ends with the number of omitted terms. */
const termsShown = 8;

/** No line breaks inside a product. */
export const times = "\u00a0×\u00a0";

/** Joins terms with plus signs; of a long sum only the first terms, and the number of the others. */
export function sum(terms: readonly (readonly FormulaPiece[])[]): FormulaPiece[] {
  const shown = terms.length > termsShown ? terms.slice(0, termsShown - 1) : terms;
  const pieces = shown.flatMap((term, i) => (i === 0 ? term : [{ text: " + " }, ...term]));
  const left = terms.length - shown.length;
  return left === 0 ? pieces : [...pieces, { text: ` + … ${left} more` }];
}

/** Puts a negative operand in brackets, so that two signs are never adjacent. */
export function operand(value: number, role?: Role): FormulaPiece {
  const text = format(value);
  return { text: text.startsWith("−") ? `(${text})` : text, role };
}
