/**
 * Attention of one head in double precision, softmax(s QKᵀ + mask) V, with all intermediate
 * matrices: q [L, D], k [S, D], v [S, Dv]. The code is for pictures: plain loops, without an
 * engine.
 */

import { type AttentionMatrix, takenOff } from "../parts/attention.js";
import { at, type Hides, type MatrixView, viewOn } from "../picture/view.js";

export interface AttentionQuestion {
  readonly q: MatrixView;
  readonly k: MatrixView;
  readonly v: MatrixView;
  /** The factor of q·k before the softmax. */
  readonly scale: number;
  /** Whether a key is hidden from a query. */
  readonly hides: Hides | undefined;
  /** The query whose row is shown in detail. */
  readonly row: number;
}

export interface Attended {
  readonly views: Readonly<Record<AttentionMatrix, MatrixView>>;
  /**
   * The partial sums of the first cell of the row, after each of its terms; for exponentials, the
   * partial sums after each of them.
   */
  readonly running: Readonly<Partial<Record<AttentionMatrix, Float64Array>>>;
  /** The number that was subtracted from every score of the row before its exponentials. */
  readonly taken: number;
}

/** The sums of the first 1, 2, ... of `count` terms. */
function sumsOf(count: number, term: (n: number) => number): Float64Array {
  let sum = 0;
  return Float64Array.from({ length: count }, (_, n) => {
    sum += term(n);
    return sum;
  });
}

/** The softmax of a row of scores; zeros if all of them are -Infinity. */
function softmax(scores: Float64Array, weights: Float64Array): void {
  const largest = scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
  if (largest === Number.NEGATIVE_INFINITY) return;
  for (const [j, score] of scores.entries()) weights[j] = Math.exp(score - largest);
  const sum = weights.reduce((all, each) => all + each, 0);
  for (const [j, each] of weights.entries()) weights[j] = each / sum;
}

/** Computes attention. It never throws: numbers that are not finite give results that are not finite. */
export function attend({ q, k, v, scale, hides, row }: AttentionQuestion): Attended {
  const [L, S, D, Dv] = [q.rows, k.rows, q.cols, v.cols];
  const pairs = () => new Float64Array(L * S);
  const [scores, scaled, masked, weights] = [pairs(), pairs(), pairs(), pairs()];
  const output = new Float64Array(L * Dv);
  for (let i = 0; i < L; ++i) {
    for (let j = 0, p = i * S; j < S; ++j, ++p) {
      let score = 0;
      for (let d = 0; d < D; ++d) score += at(q, i, d) * at(k, j, d);
      scores[p] = score;
      scaled[p] = score * scale;
      masked[p] = hides?.(i, j) ? Number.NEGATIVE_INFINITY : score * scale;
    }
    const ofRow = weights.subarray(i * S, (i + 1) * S);
    softmax(masked.subarray(i * S, (i + 1) * S), ofRow);
    for (const [j, weight] of ofRow.entries()) {
      // A hidden key has the weight 0 and adds nothing, even if its value is not finite.
      if (weight === 0) continue;
      for (let d = 0; d < Dv; ++d)
        output[i * Dv + d] = (output[i * Dv + d] as number) + weight * at(v, j, d);
    }
  }
  const shown = masked.subarray(row * S, (row + 1) * S);
  const taken = takenOff(shown);
  const exponentials = shown.map((score) => Math.exp(score - taken));
  return {
    views: {
      ...{ q, k, v },
      scores: viewOn(scores, L, S),
      scaled: viewOn(scaled, L, S),
      masked: viewOn(masked, L, S),
      exponentials: viewOn(exponentials, 1, S),
      weights: viewOn(weights, L, S),
      output: viewOn(output, L, Dv),
    },
    running: {
      scores: sumsOf(D, (d) => at(q, row, d) * at(k, 0, d)),
      exponentials: sumsOf(S, (j) => exponentials[j] as number),
      output: sumsOf(S, (j) => {
        const weight = weights[row * S + j] as number;
        return weight === 0 ? 0 : weight * at(v, j, 0);
      }),
    },
    taken,
  };
}
