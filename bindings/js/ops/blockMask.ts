// The block mask: a mask function, evaluated once and stored by blocks; and functions for common masks.

import type { Kind } from "../core/border.js";
import { blockKeys, blockQueries, emptyBlock, fullBlock } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { describe, HeedError, refuse } from "../core/error.js";
import { Owned } from "../core/owned.js";
import { createTensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  checkRequired,
  isFunction,
  isWholeNumber,
} from "../core/validate.js";

/** Whether query q of batch entry b and head h may see key k. */
export type MaskFunction = (place: { b: number; h: number; q: number; k: number }) => boolean;

/** The sizes of a block mask. */
export interface BlockMaskSizes {
  /** 1 by default: the same mask for all batch entries. */
  batch?: number;
  /** 1 by default: the same mask for all heads. */
  heads?: number;
  /** The number L of queries. */
  queries: number;
  /** The number S of keys. */
  keys: number;
}

const checks = {
  batch: isWholeNumber(1),
  heads: isWholeNumber(1),
  queries: isWholeNumber(0),
  keys: isWholeNumber(0),
} satisfies Record<keyof BlockMaskSizes, Check>;

/** Evaluating more pairs would take too long. */
const mostPairs = 2 ** 30;

interface Blocks {
  kinds: Int32Array;
  shape: number[];
  bits: Uint8Array[];
}

function evaluate(visible: MaskFunction, sizes: Required<BlockMaskSizes>): Blocks {
  const { batch, heads, queries, keys } = sizes;
  const rows = Math.ceil(queries / blockQueries);
  const columns = Math.ceil(keys / blockKeys);
  const count = batch * heads * rows * columns;
  const pairs = batch * heads * queries * keys;
  if (pairs > mostPairs) {
    throw refuse("memory", "sizes", `at most ${mostPairs} pairs`, `${pairs}`);
  }
  const kinds = new Int32Array(count);
  const bits: Uint8Array[] = [];
  const shape = [batch, heads, rows, columns];
  // If one size is 0, the others have no limit.
  if (count === 0) return { kinds, shape, bits };
  let next = 0;
  for (let b = 0; b < batch; ++b) {
    for (let h = 0; h < heads; ++h) {
      for (let q0 = 0; q0 < queries; q0 += blockQueries) {
        for (let k0 = 0; k0 < keys; k0 += blockKeys) {
          const height = Math.min(blockQueries, queries - q0);
          const width = Math.min(blockKeys, keys - k0);
          const block = new Uint8Array(blockQueries * blockKeys);
          let seen = 0;
          for (let i = 0; i < height; ++i) {
            for (let j = 0; j < width; ++j) {
              const see = visible({ b, h, q: q0 + i, k: k0 + j });
              if (typeof see !== "boolean")
                throw refuse("option", "visible", "true or false", describe(see));
              if (see) {
                block[i * blockKeys + j] = 1;
                ++seen;
              }
            }
          }
          const isFull = seen === height * width;
          kinds[next++] = seen === 0 ? emptyBlock : isFull ? fullBlock : bits.push(block) - 1;
        }
      }
    }
  }
  return { kinds, shape, bits };
}

/**
 * A mask by blocks of 48 queries x 128 keys: empty blocks cost nothing, full ones are not masked.
 *
 * @example
 * ```ts
 * using mask = heed.blockMask(maskFunctions.causal(), { queries: 480, keys: 512 });
 * console.log(mask.density.toFixed(2)); // prints: 0.63
 * ```
 */
export class BlockMask extends Owned {
  /** The sizes that it was made for. */
  readonly sizes: Readonly<Required<BlockMaskSizes>>;
  /** The proportion of blocks that are computed. */
  readonly density: number;

  /** @internal Made by `heed.blockMask`. */
  constructor(engine: Engine, visible: MaskFunction, sizes: BlockMaskSizes) {
    checkOptions("blockMask", sizes, checks);
    checkRequired(sizes, checks, "queries", "keys");
    checkArgument("visible", visible, isFunction);
    const { border } = engine;
    const { batch = 1, heads = 1, queries, keys } = sizes;
    const all = Object.freeze({ batch, heads, queries, keys });
    const { kinds, shape, bits } = evaluateOrExplain(visible, all);
    border.checkAlive();
    const flat = allocate(bits.length * blockQueries * blockKeys);
    bits.forEach((block, index) => {
      flat.set(block, index * block.length);
    });
    const made = [createTensor(engine, kinds, shape, undefined)];
    try {
      made.push(createTensor(engine, flat, [bits.length, blockQueries, blockKeys], "bool"));
      const handles = made.map((tensor) => tensor.handle("visible", border));
      // The mask takes over the contents of the tensors.
      border.run(engine.module.newBlockMask, [queries, keys, ...handles]);
    } finally {
      for (const tensor of made) tensor.dispose();
    }
    super(engine, border.nextHeld("mask"));
    this.sizes = all;
    this.density = kinds.filter((kind) => kind !== emptyBlock).length / Math.max(1, kinds.length);
  }

  /** @internal */
  get kind(): Kind {
    return "mask";
  }

  override get [Symbol.toStringTag](): string {
    return "BlockMask";
  }

  protected traits(): string[] {
    const { batch, heads, queries, keys } = this.sizes;
    const share = `${Math.round(100 * this.density)} % of blocks computed`;
    return [`batch ${batch}`, `heads ${heads}`, `queries ${queries}`, `keys ${keys}`, share];
  }
}

function allocate(bytes: number): Uint8Array {
  try {
    return new Uint8Array(bytes);
  } catch (error) {
    throw refuse("memory", "sizes", `room for ${bytes} bytes`, "none", { cause: error });
  }
}

function evaluateOrExplain(visible: MaskFunction, sizes: Required<BlockMaskSizes>): Blocks {
  try {
    return evaluate(visible, sizes);
  } catch (error) {
    if (error instanceof HeedError) throw error;
    const got = `an exception: ${error instanceof Error ? error.message : String(error)}`;
    throw refuse("option", "visible", "true or false", got, { cause: error });
  }
}

const isOffset = isWholeNumber(-Number.MAX_SAFE_INTEGER);
const isReach = isWholeNumber(0);
const isSide = isWholeNumber(-1);

function checkMasks(masks: readonly MaskFunction[]): void {
  for (const [i, mask] of masks.entries()) checkArgument(`masks[${i}]`, mask, isFunction);
}

/**
 * Functions for `heed.blockMask`.
 *
 * @example
 * ```ts
 * const visible = maskFunctions.and(maskFunctions.causal(), maskFunctions.window(2, 0));
 * console.log(visible({ b: 0, h: 0, q: 5, k: 3 }), visible({ b: 0, h: 0, q: 5, k: 2 })); // prints: true false
 * ```
 */
export const maskFunctions = {
  /** k <= q + offset */
  causal: (offset = 0): MaskFunction => {
    checkArgument("offset", offset, isOffset);
    return ({ q, k }) => k <= q + offset;
  },
  /** q - left <= k <= q + right; -1 leaves a side open */
  window: (left: number, right: number): MaskFunction => {
    checkArgument("left", left, isSide);
    checkArgument("right", right, isSide);
    return ({ q, k }) => (left < 0 || k >= q - left) && (right < 0 || k <= q + right);
  },
  /** Tokens see their own document: documents[position] is its number. */
  document: (documents: ArrayLike<number>): MaskFunction => {
    checkArgument("documents", documents, {
      expected: "a list of numbers",
      accepts: (value) => Array.isArray(value) || ArrayBuffer.isView(value),
    });
    return ({ q, k }) => documents[q] === documents[k];
  },
  /** All tokens see the first `length` tokens; the rest is causal (Raffel et al., 2020). */
  prefixLm: (length: number): MaskFunction => {
    checkArgument("length", length, isReach);
    return ({ q, k }) => k < length || k <= q;
  },
  /** Every `step`-th key, counted from the query, up to `reach` steps away (Beltagy et al., 2020). */
  dilated: (step: number, reach: number): MaskFunction => {
    checkArgument("step", step, isWholeNumber(1));
    checkArgument("reach", reach, isReach);
    return ({ q, k }) => (q - k) % step === 0 && Math.abs(q - k) <= step * reach;
  },
  /** Visible if all of the masks allow it. */
  and: (...masks: MaskFunction[]): MaskFunction => {
    checkMasks(masks);
    return (place) => masks.every((mask) => mask(place));
  },
  /** Visible if any of the masks allows it. */
  or: (...masks: MaskFunction[]): MaskFunction => {
    checkMasks(masks);
    return (place) => masks.some((mask) => mask(place));
  },
} as const;

/**
 * A mask from a function, evaluated once for every pair of these sizes and stored by blocks
 * (Dong et al., "FlexAttention", 2024). `maskFunctions` has common ones.
 *
 * @param visible called once for each pair: true where query q may see key k
 * @throws HeedError "option", "memory", "disposed", and any error of the function
 * @example
 * ```ts
 * const x = heed.normal([1, 1, 100, 8], { seed: 1 });
 * using blockMask = heed.blockMask(maskFunctions.window(10, 10), { queries: 100, keys: 100 });
 * const same = heed.attention(x, x, x, { window: [10, 10] }).output.data.slice();
 * console.log(heed.attention(x, x, x, { blockMask }).output.data.every((v, i) => Math.abs(v - same[i]!) < 1e-6)); // prints: true
 * ```
 */
export function blockMask(engine: Engine, visible: MaskFunction, sizes: BlockMaskSizes): BlockMask {
  return engine.track(new BlockMask(engine, visible, sizes));
}
