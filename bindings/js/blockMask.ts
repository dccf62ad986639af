// heed.blockMask: a mask from a function, evaluated once and kept by blocks; and functions for the masks
// that people use.

import type { Border } from "./border.js";
import type { Engine } from "./engine.js";
import { describe, HeedError, refuse } from "./error.js";
import type { Handle } from "./module.js";
import { createTensor, disposeSymbol } from "./tensor.js";
import { type Check, checkArgument, checkOptions, isWholeNumber } from "./validate.js";

/** Whether query q of batch entry b and head h may see key k. */
export type MaskFunction = (place: { b: number; h: number; q: number; k: number }) => boolean;

export interface BlockMaskSizes {
  /** 1 by default: the same mask for all batch entries. */
  batch?: number;
  /** 1 by default: the same mask for all heads. */
  heads?: number;
  queries: number;
  keys: number;
}

const checks = {
  batch: isWholeNumber(1),
  heads: isWholeNumber(1),
  queries: isWholeNumber(0),
  keys: isWholeNumber(0),
} satisfies Record<keyof BlockMaskSizes, Check>;

// The kernel's tiles, and the names of blocks without bits: as in include/heed/heed.hpp.
const blockQueries = 48;
const blockKeys = 128;
/** More would take longer to evaluate than anybody waits. */
const mostBlocks = 2 ** 24;
const empty = -1;
const full = -2;

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
  if (count > mostBlocks) {
    throw new HeedError("memory", `sizes: expected at most ${mostBlocks} blocks, got ${count}`);
  }
  const kinds = new Int32Array(count);
  const bits: Uint8Array[] = [];
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
          kinds[next++] = seen === 0 ? empty : isFull ? full : bits.push(block) - 1;
        }
      }
    }
  }
  return { kinds, shape: [batch, heads, rows, columns], bits };
}

/** A mask by blocks of 48 queries x 128 keys: empty blocks cost nothing, full ones are not masked. */
export class BlockMask implements Disposable {
  readonly sizes: Readonly<Required<BlockMaskSizes>>;
  /** The share of blocks that are computed at all. */
  readonly density: number;
  readonly #border: Border;
  /** 0 once it is disposed of. */
  #handle: Handle;

  /** @internal Made by `heed.blockMask`. */
  constructor(engine: Engine, visible: MaskFunction, sizes: BlockMaskSizes) {
    checkOptions("blockMask", sizes, checks);
    checkArgument("queries", sizes.queries, checks.queries);
    checkArgument("keys", sizes.keys, checks.keys);
    if (typeof visible !== "function")
      throw refuse("option", "visible", "a function", describe(visible));
    const { border } = engine;
    this.#border = border;
    const { batch = 1, heads = 1, queries, keys } = sizes;
    this.sizes = Object.freeze({ batch, heads, queries, keys });
    const { kinds, shape, bits } = evaluateOrExplain(visible, this.sizes);
    this.density = kinds.filter((kind) => kind !== empty).length / Math.max(1, kinds.length);
    border.checkAlive();
    const flat = new Uint8Array(bits.length * blockQueries * blockKeys);
    bits.forEach((block, index) => {
      flat.set(block, index * block.length);
    });
    const kindsTensor = createTensor(engine, kinds, shape, undefined);
    try {
      const bitsShape = [bits.length, blockQueries, blockKeys];
      const bitsTensor = createTensor(engine, flat, bitsShape, undefined);
      try {
        // The mask takes over what is in them.
        border.run(engine.module.newBlockMask, [
          queries,
          keys,
          kindsTensor.handle("visible", border),
          bitsTensor.handle("visible", border),
        ]);
      } finally {
        bitsTensor.dispose();
      }
    } finally {
      kindsTensor.dispose();
    }
    this.#handle = border.next();
  }

  /** Frees the memory. Doing so again does nothing. */
  dispose(): void {
    if (this.#handle !== 0) this.#border.module.deleteBlockMask(this.#handle);
    this.#handle = 0;
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** @internal For the operations of this library. */
  handle(argument: string, border: Border): Handle {
    if (this.#handle === 0) {
      throw new HeedError("disposed", `${argument}: expected a live mask, got a disposed one`);
    }
    if (this.#border !== border) {
      throw new HeedError(
        "option",
        `${argument}: expected a mask of this engine, got one of another`,
      );
    }
    return this.#handle;
  }
}

function evaluateOrExplain(visible: MaskFunction, sizes: Required<BlockMaskSizes>): Blocks {
  try {
    return evaluate(visible, sizes);
  } catch (error) {
    if (error instanceof HeedError) throw error;
    const what = error instanceof Error ? error.message : String(error);
    throw new HeedError("option", `visible: expected true or false, got an exception: ${what}`, {
      cause: error,
    });
  }
}

/** Functions for `heed.blockMask`. */
export const maskFunctions = {
  /** k <= q + offset */
  causal:
    (offset = 0): MaskFunction =>
    ({ q, k }) =>
      k <= q + offset,
  /** q - left <= k <= q + right; -1 leaves a side open */
  window:
    (left: number, right: number): MaskFunction =>
    ({ q, k }) =>
      (left < 0 || k >= q - left) && (right < 0 || k <= q + right),
  /** Tokens see their own document: documents[position] is its number. */
  document:
    (documents: ArrayLike<number>): MaskFunction =>
    ({ q, k }) =>
      documents[q] === documents[k],
  /** Everybody sees the first `length` tokens; the rest is causal (Raffel et al., 2020). */
  prefixLm:
    (length: number): MaskFunction =>
    ({ q, k }) =>
      k < length || k <= q,
  /** Every `step`-th key, counted from the query, up to `reach` steps away (Beltagy et al., 2020). */
  dilated:
    (step: number, reach: number): MaskFunction =>
    ({ q, k }) =>
      (q - k) % step === 0 && Math.abs(q - k) <= step * reach,
  /** What all of them allow. */
  and:
    (...masks: MaskFunction[]): MaskFunction =>
    (place) =>
      masks.every((mask) => mask(place)),
  /** What any of them allows. */
  or:
    (...masks: MaskFunction[]): MaskFunction =>
    (place) =>
      masks.some((mask) => mask(place)),
} as const;
