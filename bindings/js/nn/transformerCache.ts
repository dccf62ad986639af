// The cache of a transformer for step-by-step decoding.

import { isInstance, mark, markKey } from "../core/copies.js";
import { refuse } from "../core/error.js";
import { disposeSymbol } from "../core/owned.js";
import { instanceOf } from "../core/validate.js";
import type { KvCache } from "../ops/kvCache.js";

/** The caches of one layer, under the names of its attention modules. */
export interface LayerCache {
  /** Keys and values of the earlier tokens. */
  readonly selfAttn: KvCache;
  /** Keys and values of the encoder's output. The first step computes them. */
  readonly multiheadAttn?: KvCache;
}

/** Removes the keys and values of an encoder's output. */
const empty = (cache: KvCache | undefined) => cache?.rewind(cache.lengths[0] ?? 0);

/** The sizes of a cache of a stack. */
export interface TransformerCacheOptions {
  /** The number of sequences; 1 by default. */
  batch?: number;
  /** The maximum number of tokens of a sequence. */
  capacity: number;
  /** The type of the stored elements; "float32" by default: see KvCacheOptions. */
  dtype?: "float32" | "float16" | "int8";
}

/**
 * The keys and values of all layers of a stack. `createCache` of TransformerEncoder and TransformerDecoder
 * creates it.
 *
 * @example
 * ```ts
 * const decoder = new nn.TransformerEncoder(heed, 8, 2, 1).eval();
 * using cache = decoder.createCache({ capacity: 16, dtype: "float16" });
 * decoder.forward(heed.ones([1, 3, 8]), { isCausal: true, cache });
 * cache.rewind(1);
 * console.log(cache.lengths, cache.layers.length); // prints: [ 2 ] 1
 * ```
 */
export class TransformerCache implements Disposable {
  /** The caches of each layer, from the first on. */
  readonly layers: readonly LayerCache[];

  /** @internal */
  constructor(layers: readonly LayerCache[]) {
    this.layers = layers;
  }

  /** The number of tokens of each sequence, which is the position of its next token. */
  get lengths(): number[] {
    return this.layers[0]?.selfAttn.lengths ?? [];
  }

  /** The memory that the cache uses, in bytes. */
  get bytes(): number {
    return this.#all().reduce((sum, cache) => sum + cache.bytes, 0);
  }

  /**
   * @internal Runs a call of a stack that appends to all layers. If it fails, layers that have grown
   * are as before.
   *
   * @param layers the number of the stack's layers
   */
  appending<T>(layers: number, run: () => T): T {
    const own = this.layers.length;
    if (own !== layers) throw refuse("option", "cache", `a cache of ${layers} layers`, `${own}`);
    const before = this.lengths;
    try {
      return run();
    } catch (error) {
      for (const { selfAttn, multiheadAttn } of this.layers) {
        if (selfAttn.isDisposed) continue;
        selfAttn.shorten(before);
        if (before[0] === 0) empty(multiheadAttn);
      }
      throw error;
    }
  }

  /** Removes the last tokens of all sequences. If none is left, the next step reads the memory again. */
  rewind(tokens: number): void {
    for (const { selfAttn, multiheadAttn } of this.layers) {
      selfAttn.rewind(tokens);
      if (selfAttn.lengths.every((length) => length === 0)) empty(multiheadAttn);
    }
  }

  /**
   * Replaces each sequence i by the former sequence `order[i]`, as a beam search needs it. Sequences with a
   * common past share its memory until one of them grows.
   */
  reorder(order: readonly number[]): void {
    for (const cache of this.#all()) cache.reorder(order);
  }

  /** Frees the memory. A second call does nothing. */
  dispose(): void {
    for (const cache of this.#all()) cache.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  #all(): KvCache[] {
    return this.layers.flatMap(({ selfAttn, multiheadAttn }) =>
      multiheadAttn ? [selfAttn, multiheadAttn] : [selfAttn],
    );
  }

  /** @internal */
  get [markKey](): object {
    return mark;
  }

  static readonly [Symbol.hasInstance] = isInstance;

  get [Symbol.toStringTag](): string {
    return "TransformerCache";
  }
}

export const isTransformerCache = instanceOf("a cache made by createCache", TransformerCache);
