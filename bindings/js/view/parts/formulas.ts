/** Writes the name of a matrix entry and its formula with numbers. */

import { format } from "../picture/format.js";
import { at, type MatrixView } from "../picture/view.js";
import type { Explanation, FormulaPiece, Role } from "./explanation.js";
import { operand, sum, times } from "./terms.js";

/** A partial sum of a cell. */
export interface SoFar {
  readonly terms: number;
  readonly sum: string;
}

/** The number of terms shown last in a partial sum; earlier terms are part of the sum already. */
const termsKept = 3;

/** The terms of a sum; for a partial sum, the last terms that were added. */
export function termsOf(
  terms: readonly (readonly FormulaPiece[])[],
  soFar: SoFar | undefined,
): FormulaPiece[] {
  if (!soFar) return sum(terms);
  const from = Math.max(0, soFar.terms - termsKept);
  const pieces = sum(terms.slice(from, soFar.terms));
  return from === 0 ? pieces : [{ text: "… + " }, ...pieces];
}

/** Row `i` of `left` times column `j` of `right`. */
export function product(
  left: MatrixView,
  i: number,
  right: MatrixView,
  j: number,
  roles: readonly [Role | undefined, Role | undefined],
  soFar: SoFar | undefined,
): FormulaPiece[] {
  const terms = Array.from({ length: left.cols }, (_, n) => [
    operand(at(left, i, n), roles[0]),
    { text: times },
    operand(at(right, n, j), roles[1]),
  ]);
  return termsOf(terms, soFar);
}

/** Explains one number: `equals` gives a formula, and `says` gives words. */
export interface Explainer {
  readonly name: string;
  /** A[1, 2] =  */
  readonly head: readonly FormulaPiece[];
  equals(formula: readonly FormulaPiece[]): Explanation;
  says(words: string): Explanation;
}

export function explainer({
  name,
  symbol,
  row,
  col,
  value,
  role,
  soFar,
}: {
  readonly name: string;
  readonly symbol: string;
  readonly row: number;
  readonly col: number;
  readonly value: number;
  readonly role?: Role | undefined;
  readonly soFar?: SoFar | undefined;
}): Explainer {
  const head: FormulaPiece[] = [
    { text: `${symbol}[${row + 1}, ${col + 1}]`, role },
    { text: " = " },
  ];
  const result: FormulaPiece = { text: soFar?.sum ?? format(value), role };
  return {
    name,
    head,
    equals: (formula) => ({
      name,
      formula: [...head, ...formula, { text: soFar ? ", so far " : " = " }, result],
    }),
    says: (words) => ({ name, formula: [...head, result, { text: `, ${words}` }] }),
  };
}
