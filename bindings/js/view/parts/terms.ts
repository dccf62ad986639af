/** Sums and products of numbers, as pieces of a formula. */

import { format } from "../picture/format.js";
import type { FormulaPiece, Role } from "./explanation.js";

/** The most terms of a sum that are shown; a longer sum ends with the number of omitted terms. */
const termsShown = 8;

/** A product sign without a line break on either side. */
export const times = "\u00a0×\u00a0";

/** Joins terms with plus signs. A long sum shows its first terms, and the others on demand. */
export function sum(terms: readonly (readonly FormulaPiece[])[]): FormulaPiece[] {
  const joined = terms.map((term, i) => (i === 0 ? term : [{ text: " + " }, ...term]));
  if (terms.length <= termsShown) return joined.flat();
  const shown = termsShown - 1;
  const all = joined.slice(shown).flat();
  return [...joined.slice(0, shown).flat(), { text: ` + … ${terms.length - shown} more`, all }];
}

/** A number as an operand: a negative one is in brackets, so that two signs are never adjacent. */
export function operand(value: number, role?: Role): FormulaPiece {
  const text = format(value);
  return { text: text.startsWith("−") ? `(${text})` : text, role };
}
