// Rows of a table.

import type { Engine } from "../core/engine.js";
import { refuse } from "../core/error.js";
import { recording } from "../core/tape.js";
import type { Tensor } from "../core/tensor.js";
import { type Check, checkOptions, isWholeNumber } from "../core/validate.js";

/** Options of `embedding`. */
export interface EmbeddingOptions {
  /** The row of the table that gets no gradient. */
  paddingIndex?: number;
}

const embeddingChecks = { paddingIndex: isWholeNumber(0) } satisfies Record<
  keyof EmbeddingOptions,
  Check
>;

/**
 * Rows of a table. ids int32 [...], weight [V, E] -> float32 [..., E]. A float16 table has no
 * gradient.
 *
 * @throws HeedError "shape", "dtype", "option" for an id outside the table, "memory", "disposed"
 * @example
 * ```ts
 * const table = heed.tensor([[0, 0], [1, 2], [3, 4]]);
 * console.log(heed.embedding(heed.tensor([2, 1], undefined, "int32"), table).toArray()); // prints: [ [ 3, 4 ], [ 1, 2 ] ]
 * ```
 */
export function embedding(
  engine: Engine,
  ids: Tensor,
  weight: Tensor,
  options: EmbeddingOptions = {},
): Tensor {
  checkOptions("embedding", options, embeddingChecks);
  const { module } = engine;
  const { paddingIndex } = options;
  const args = engine.handles({ ids, weight });
  const [rows = 0] = weight.shape;
  if (paddingIndex !== undefined && paddingIndex >= rows) {
    const expected = `a number from 0 to below ${rows}`;
    throw refuse("option", "paddingIndex", expected, String(paddingIndex));
  }
  const found = engine.apply(module.embedding, args);
  const tape = recording();
  if (weight.dtype !== "float32") {
    tape?.cut(`embedding in a ${weight.dtype} table`, { weight }, [found]);
    return found;
  }
  tape?.record("embedding", { weight }, [found], ([d]) => {
    const args = [...engine.handles({ d, ids }), rows, paddingIndex ?? Number.NaN];
    return { weight: engine.apply(module.embeddingBackward, args) };
  });
  return found;
}
