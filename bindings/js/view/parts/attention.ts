/**
 * softmax(QKᵀ / √d + mask) V of one head: its matrices, the sources of each of their numbers, and
 * the formula of each number. See moments.ts for their computation over time.
 */

import {
  type ColourCurve,
  type ColourRange,
  type Palette,
  positivePalette,
  signedPalette,
  type Theme,
  weightPalette,
} from "../picture/colour.js";
import { format } from "../picture/format.js";
import type { Area, Cell } from "../picture/layout.js";
import { at, type MatrixView, rangeOf, transposed } from "../picture/view.js";
import type { Explanation, FormulaPiece } from "./explanation.js";
import { type Explainer, product, type SoFar } from "./formulas.js";
import { operand, sum } from "./terms.js";

/**
 * The names and symbols of the matrices, the meaning of their rows and columns, and the role that
 * determines their colour.
 */
export const attentionMatrices = {
  q: { title: "Queries", symbol: "Q", rows: "query", cols: "head", role: "q" },
  k: { title: "Keys", symbol: "K", rows: "key", cols: "head", role: "k" },
  v: { title: "Values", symbol: "V", rows: "key", cols: "head", role: "v" },
  scores: { title: "Scores", symbol: "QKᵀ", rows: "query", cols: "key" },
  scaled: { title: "Scaled scores", symbol: "S", rows: "query", cols: "key" },
  masked: { title: "Masked scores", symbol: "M", rows: "query", cols: "key" },
  exponentials: { title: "Exponentials", symbol: "e^M", rows: "selected", cols: "key" },
  weights: { title: "Weights", symbol: "A", rows: "query", cols: "key" },
  output: { title: "Output of the head", symbol: "O", rows: "query", cols: "head", role: "o" },
} as const;

export type AttentionMatrix = keyof typeof attentionMatrices;

/** A matrix, or a row, a column or a cell of it. */
export interface AreaOf<Name extends string> extends Area {
  readonly matrix: Name;
}

export interface CellOf<Name extends string> extends Cell {
  readonly matrix: Name;
}

/** The rows, columns and cells from which a number is computed. `row` is the row whose exponentials are shown. */
export function attentionSources(
  { matrix, row, col }: CellOf<AttentionMatrix>,
  shownRow: number,
): readonly AreaOf<AttentionMatrix>[] {
  switch (matrix) {
    case "scores":
      return [
        { matrix: "q", row },
        { matrix: "k", row: col },
      ];
    case "scaled":
      return [{ matrix: "scores", row, col }];
    case "masked":
      return [{ matrix: "scaled", row, col }];
    case "exponentials":
      return [{ matrix: "masked", row: shownRow, col }];
    case "weights": {
      const scores = { matrix: "masked", row } as const;
      return row === shownRow ? [scores, { matrix: "exponentials", row: 0 }] : [scores];
    }
    case "output":
      return [
        { matrix: "weights", row },
        { matrix: "v", col },
      ];
    default:
      return [];
  }
}

/**
 * Exponentials of larger scores would have too many digits; if all scores are smaller, all
 * exponentials would be 0.000.
 */
const largestExponent = 11;
const smallestExponent = -5;

/** The number that is subtracted from every score of a row before its exponentials are shown; usually 0. */
export function takenOff(scores: ArrayLike<number>): number {
  const largest = Math.max(...Array.from(scores));
  const isExtreme =
    largest + Math.log(scores.length) > largestExponent || largest < smallestExponent;
  return Number.isFinite(largest) && isExtreme ? largest : 0;
}

/** The numbers that the formulas of one head contain. */
export interface AttentionNumbers {
  view(name: AttentionMatrix): MatrixView;
  /** The row of the exponentials, the number subtracted from its scores, and their sum; null for another head's. */
  readonly shown: { readonly row: number; readonly taken: number; readonly total: number } | null;
  /** The division or multiplication of a score, such as ÷ √4; empty if the score does not change. */
  readonly scaling: string;
}

/** The formula of a number that attention computes. */
export function explainAttention(
  { matrix, row: i, col: j }: CellOf<AttentionMatrix>,
  { view, shown, scaling }: AttentionNumbers,
  { name, equals, says, head }: Explainer,
  soFar?: SoFar,
): Explanation {
  switch (matrix) {
    case "scores":
      return equals(product(view("q"), i, transposed(view("k")), j, ["q", "k"], soFar));
    case "scaled":
      if (scaling === "") return says("the score as it is");
      return equals([operand(at(view("scores"), i, j)), { text: ` ${scaling}` }]);
    case "masked": {
      const isHidden = at(view("masked"), i, j) === Number.NEGATIVE_INFINITY;
      return says(isHidden ? "hidden by the mask" : "may be seen");
    }
    case "exponentials": {
      const { row, taken } = shown ?? { row: 0, taken: 0 };
      const score = at(view("masked"), row, j);
      const power =
        taken === 0 ? operand(score).text : `(${format(score)} − ${operand(taken).text})`;
      const value = format(at(view("exponentials"), 0, j));
      const own: FormulaPiece[] = [...head, { text: `e^${power} ≈ ` }, { text: value }];
      if (soFar) own.push({ text: `, sum so far ${soFar.sum}` });
      return { name, formula: own };
    }
    case "weights": {
      const masked = view("masked");
      const terms = Array.from({ length: masked.cols }, (_, n) => at(masked, i, n))
        .filter((score) => score !== Number.NEGATIVE_INFINITY)
        .map((score) => [{ text: `e^${operand(score).text}` }]);
      if (terms.length === 0) return says("because this query may see no key at all");
      const score = at(masked, i, j);
      if (score === Number.NEGATIVE_INFINITY) return says("because the mask hides this key");
      const parts = [{ text: `e^${operand(score).text} ÷ (` }, ...sum(terms), { text: ")" }];
      if (i !== shown?.row) return equals(parts);
      const [own, all] = [at(view("exponentials"), 0, j), shown.total].map((n) => format(n));
      return equals([...parts, { text: ` = ${own} ÷ ${all}` }]);
    }
    case "output":
      return equals(product(view("weights"), i, view("v"), j, [undefined, "v"], soFar));
    default:
      return says("given");
  }
}

/** Weights are shares, exponentials are positive; all other matrices have signed numbers. */
export function attentionPalette(
  name: string,
  view: MatrixView | null,
  { range, curve, theme }: { range: ColourRange; curve: ColourCurve; theme: Theme },
): Palette {
  if (name === "weights") return weightPalette(range, curve, theme);
  const [low, high] = (view && rangeOf(view)) ?? [0, 1];
  if (name === "exponentials") return positivePalette(high, theme);
  return signedPalette(Math.max(-low, high), theme);
}
