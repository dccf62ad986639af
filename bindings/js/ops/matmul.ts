// Products of matrices.

import type { Engine } from "../core/engine.js";
import { withMatmulOptions } from "../core/members.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, isBoolean } from "../core/validate.js";
import { repeated, sumTo } from "./sums.js";

/** Options of `matmul`. */
export interface MatmulOptions {
  /** Whether to swap the last two axes of a first. */
  transposeA?: boolean;
  /** Whether to swap the last two axes of b first. */
  transposeB?: boolean;
}

const checks = { transposeA: isBoolean, transposeB: isBoolean } satisfies Record<
  keyof MatmulOptions,
  Check
>;

/**
 * The product of matrices, or of batches of them.
 *
 * @param a [..., M, K]
 * @param b [K, N], or [..., K, N] with the same axes before -> [..., M, N]
 * @throws HeedError "shape", "dtype", "option", "memory", "disposed"
 * @example
 * ```ts
 * const a = heed.tensor([[1, 2], [3, 4]]);
 * console.log(heed.matmul(a, a).toArray(), heed.matmul(a, a, { transposeB: true }).toArray()); // prints: [ [ 7, 10 ], [ 15, 22 ] ] [ [ 5, 11 ], [ 11, 25 ] ]
 * ```
 */
export function matmul(engine: Engine, a: Tensor, b: Tensor, options: MatmulOptions = {}): Tensor {
  checkOptions("matmul", options, checks);
  const times = (x: Tensor, y: Tensor, transposeA: boolean, transposeB: boolean) =>
    engine.apply(
      engine.module.matmul,
      withMatmulOptions([engine.handle("a", x), engine.handle("b", y)], { transposeA, transposeB }),
    );
  const { transposeA = false, transposeB = false } = options;
  const result = times(a, b, transposeA, transposeB);
  recording()?.record("matmul", { a, b }, [result], ([d], needs) => {
    if (!d) return {};
    let forA: Tensor | undefined;
    if (needs("a")) {
      // One matrix b is used for every a of a batch.
      forA = transposeA
        ? perBatch(engine, b, d, transposeB, times)
        : times(d, b, false, !transposeB);
    }
    let forB: Tensor | undefined;
    if (needs("b")) {
      const batched = transposeB ? times(d, a, true, transposeA) : times(a, d, !transposeA, false);
      forB = sumTo(engine, batched, b.shape);
    }
    return { a: forA, b: forB };
  });
  return result;
}

/** b d^T for each a of a batch [..., K, M], where b is one matrix or one for each a. */
function perBatch(
  engine: Engine,
  b: Tensor,
  d: Tensor,
  transposeB: boolean,
  times: (x: Tensor, y: Tensor, transposeX: boolean, transposeY: boolean) => Tensor,
): Tensor {
  if (b.shape.length === d.shape.length) return times(b, d, transposeB, true);
  const each = repeated(engine, b, [...d.shape.slice(0, -2), ...b.shape]);
  const result = times(each, d, transposeB, true);
  each.dispose();
  return result;
}
