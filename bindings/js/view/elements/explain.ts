/** Describes a cell of a matrix, and the computation of its number. */

import { tokenLabel } from "../parts/pieces.js";
import { format, withPoint } from "../picture/format.js";
import type { Cell } from "../picture/layout.js";
import { at, type Hides, largestOf, type MatrixView } from "../picture/view.js";

/** The words of the two sides of a matrix, if it has any. */
export interface Sides {
  readonly queries: readonly string[] | undefined;
  readonly keys: readonly string[] | undefined;
  /** The roles of tokens, for the sides with the same number of tokens. */
  readonly roles?: readonly string[] | undefined;
}

export interface Explained {
  readonly kind: "weights" | "scores";
  readonly view: MatrixView;
  /** The scores from which the weights were computed. */
  readonly scores: MatrixView | null;
  readonly words: Sides;
  /** The decimal sign. */
  readonly point: string;
}

/** The label of a query or a key, counted from 1. */
export function sideOf(name: string, index: number, words: readonly string[] | undefined): string {
  return `${name} ${index + 1}${words ? ` “${tokenLabel(words[index] ?? "")}”` : ""}`;
}

/** The position of a cell in words, such as: query 2 “sat” (verb), key 1 “cat” (subject). */
export function placeOf({ queries, keys, roles }: Sides, { row, col }: Cell): string {
  const side = (name: string, index: number, words: readonly string[] | undefined) => {
    const role = words && roles?.length === words.length ? ` (${roles[index]})` : "";
    return sideOf(name, index, words) + role;
  };
  return `${side("query", row, queries)}, ${side("key", col, keys)}`;
}

/** A row's softmax: its largest score, and the sum of e^(score - largest). */
function softmaxOfRow(scores: MatrixView, row: number, hides: Hides | undefined) {
  const visible: number[] = [];
  for (let col = 0; col < scores.cols; ++col)
    if (!hides?.(row, col)) visible.push(at(scores, row, col));
  const largest = visible.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  const sum = visible.reduce((total, score) => total + Math.exp(score - largest), 0);
  return { largest, sum };
}

/** If a weight differs by more than this from the softmax of its score, it was not computed from the score. */
const tolerance = 0.005;

/** The number of a cell in words, with its softmax if the scores are known. */
export function formulaOf({ kind, view, scores, point }: Explained, { row, col }: Cell): string {
  const number = (value: number) => withPoint(format(value), point);
  const value = at(view, row, col);
  if (view.hides?.(row, col)) return "hidden by the mask";
  if (Number.isNaN(value)) return "missing (NaN)";
  const known = kind === "scores" ? view : scores;
  if (known === null) {
    const largest = number(largestOf(view, row));
    return `weight ${number(value)}; the largest of its row is ${largest}`;
  }
  const score = at(known, row, col);
  const { largest, sum } = softmaxOfRow(known, row, view.hides);
  const share = Math.exp(score - largest) / sum;
  const made = `score ${number(score)}; e^s ÷ Σ e^s = e^(${number(score)} − ${number(largest)}) ÷ ${number(sum)} = ${number(share)}`;
  const isMade = kind === "scores" || Math.abs(share - value) <= tolerance;
  return isMade ? made : `${made}, but the weight is ${number(value)}`;
}
