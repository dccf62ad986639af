/** Sums and products of numbers, as pieces of a formula. */

import { format } from "../picture/format.js";
import type { FormulaPiece, Role } from "./explanation.js";

/** A longer sum is shortened, and ends with the number of omitted terms. */
const termsShown = 8;

/** No line breaks inside a product. */
export const times = "\u00a0×\u00a0";

/** Joins terms with plus signs; those of a long sum after the first ones are shown on demand. */
export function sum(terms: readonly (readonly FormulaPiece[])[]): FormulaPiece[] {
  const joined = terms.map((term, i) => (i === 0 ? term : [{ text: " + " }, ...term]));
  if (terms.length <= termsShown) return joined.flat();
  const shown = termsShown - 1;
  const all = joined.slice(shown).flat();
  return [...joined.slice(0, shown).flat(), { text: ` + … ${terms.length - shown} more`, all }];
}

/** Puts a negative operand in brackets, so that two signs are never adjacent. */
export function operand(value: number, role?: Role): FormulaPiece {
  const text = format(value);
  return { text: text.startsWith("−") ? `(${text})` : text, role };
}
