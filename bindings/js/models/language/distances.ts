// Learned biases of attention for the distance between two positions (Raffel et al., "Exploring the Limits of Transfer
// Learning with a Unified Text-to-Text Transformer", 2020, section 2.1).

import type { Tensor } from "../../core/tensor.js";
import type { Heed } from "../../heed.js";
import type { Table } from "./parts.js";

export interface DistanceSizes {
  /** The number of rows of the table. */
  readonly buckets: number;
  /** The distance from which on all share a row; 128 in the published models. */
  readonly most: number;
  /** Whether a query sees keys after it, which have the second half of the rows. */
  readonly isBidirectional: boolean;
}

/**
 * The row for a key at a distance after the query. Near distances have a row each, and farther ones share
 * rows that widen with the logarithm of the distance.
 */
export function bucketOf(
  distance: number,
  { buckets, most, isBidirectional }: DistanceSizes,
): number {
  const rows = isBidirectional ? buckets >> 1 : buckets;
  const base = isBidirectional && distance > 0 ? rows : 0;
  const far = isBidirectional ? Math.abs(distance) : Math.max(0, -distance);
  const exact = rows >> 1;
  if (far < exact) return base + far;
  // The published models compute the logarithms in float32.
  const share = Math.fround(
    Math.fround(Math.log(Math.fround(far / exact))) / Math.fround(Math.log(most / exact)),
  );
  return base + Math.min(rows - 1, exact + Math.trunc(Math.fround(share * (rows - exact))));
}

/** The biases [1, H, queries, keys] of a table [buckets, H]; the first query has the position `offset`. */
export function distanceBias(
  heed: Heed,
  table: Table,
  { queries, keys, offset = 0 }: { queries: number; keys: number; offset?: number },
  sizes: DistanceSizes,
): Tensor {
  const rows = Int32Array.from({ length: queries * keys }, (_, at) =>
    bucketOf((at % keys) - Math.floor(at / keys) - offset, sizes),
  );
  return heed.scope(() => {
    const found = table.forward(heed.tensor(rows, [queries, keys]));
    const heads = found.shape[2] as number;
    return heed.reshape(heed.transpose(found, [2, 0, 1]), [1, heads, queries, keys]);
  });
}
