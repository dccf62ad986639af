/** Reads q, k and v of <heed-steps>, and refuses values that do not fit. */

import { describe, refuse } from "../../core/error.js";
import type { Shaped } from "../elements/input.js";
import { type Hides, type MatrixView, viewOn } from "../picture/view.js";

/**
 * The most scores, and products in total: with more, the page would stop responding, and the steps
 * could not be followed.
 */
const mostScores = 2 ** 20;
const mostProducts = 2 ** 27;

interface Heads {
  readonly count: number;
  readonly rows: number;
  readonly cols: number;
  view(head: number): MatrixView;
}

function headsOf(name: string, parts: readonly Shaped[], expected: string): Heads {
  const [{ shape, data }] = parts as [Shaped];
  if (parts.length > 1) throw refuse("shape", name, expected, `${parts.length} tensors`);
  if (shape === undefined)
    throw refuse("shape", name, `${expected}, as lists, a tensor or { shape, data }`, "no shape");
  if ((shape.length !== 2 && shape.length !== 3) || shape.includes(0))
    throw refuse("shape", name, expected, describe(shape));
  const [count, rows, cols] = [1, ...shape].slice(-3) as [number, number, number];
  return {
    ...{ count, rows, cols },
    view: (head) => viewOn(data, rows, cols, head * rows * cols),
  };
}

interface HeadOfQkv {
  readonly q: MatrixView;
  readonly k: MatrixView;
  readonly v: MatrixView;
}

/**
 * One head of q [L, D] or [H, L, D], k [S, D] or [G, S, D] and v [S, Dv] or [G, S, Dv]. G divides
 * H: as in Heed, H / G consecutive heads of the queries share one head of k and v.
 *
 * @throws HeedError if the shapes do not fit together, or there is no head with the number `head`
 */
export function headOf(
  q: readonly Shaped[],
  k: readonly Shaped[],
  v: readonly Shaped[],
  head: number,
): HeadOfQkv {
  const [Q, K, V] = [
    headsOf("q", q, "[L, D] or [heads, L, D]"),
    headsOf("k", k, "[S, D] or [heads, S, D]"),
    headsOf("v", v, "[S, Dv] or [heads, S, Dv]"),
  ];
  if (K.cols !== Q.cols) throw refuse("shape", "k", `rows of ${Q.cols}, as q has`, `${K.cols}`);
  if (V.rows !== K.rows) throw refuse("shape", "v", `${K.rows} rows, as k has`, `${V.rows}`);
  if (Q.count % K.count !== 0)
    throw refuse("shape", "k", `a number of heads that divides the ${Q.count} of q`, `${K.count}`);
  if (V.count !== K.count) throw refuse("shape", "v", `${K.count} heads, as k has`, `${V.count}`);
  if (head >= Q.count) throw refuse("option", "head", `a number below ${Q.count}`, `${head}`);
  const scores = Q.rows * K.rows;
  if (scores > mostScores || scores * Math.max(Q.cols, V.cols) > mostProducts)
    throw refuse(
      "shape",
      "q and k",
      `at most ${mostScores} scores and ${mostProducts} products`,
      `${describe([Q.rows, K.rows])} scores of vectors of ${Q.cols}`,
    );
  const ofKeys = Math.floor(head / (Q.count / K.count));
  return { q: Q.view(head), k: K.view(ofKeys), v: V.view(ofKeys) };
}

/**
 * The first of the queries with the most visible keys: without a mask the first query, with a
 * causal mask the last one.
 */
export function rowToShow(rows: number, cols: number, hides: Hides | undefined): number {
  let [best, most] = [0, -1];
  for (let i = 0; i < rows; ++i) {
    let seen = 0;
    for (let j = 0; j < cols; ++j) if (!hides?.(i, j)) ++seen;
    if (seen > most) [best, most] = [i, seen];
  }
  return best;
}
