// The cache of a transformer for decoding step by step.

import { isInstance, mark, markKey } from "../core/copies.js";
import { disposeSymbol } from "../core/owned.js";
import type { KvCache } from "../ops/kvCache.js";

/** The caches of one layer, under the names of its attentions. */
export interface LayerCache {
  readonly selfAttn: KvCache;
  /** Keys and values of the encoder's output: projected at the first step and kept. */
  readonly multiheadAttn?: KvCache;
}

export interface TransformerCacheOptions {
  /** Sequences; 1 by default. */
  batch?: number;
  /** The most tokens of a sequence. */
  capacity: number;
  /** How numbers are stored; "float32" by default: see KvCacheOptions. */
  dtype?: "float32" | "float16" | "int8";
}

/** Keys and values of all layers of a stack. Made by `createCache` of TransformerEncoder or -Decoder. */
export class TransformerCache implements Disposable {
  readonly layers: readonly LayerCache[];

  /** @internal */
  constructor(layers: readonly LayerCache[]) {
    this.layers = layers;
  }

  /** The number of tokens of each sequence: the position of its next token. */
  get lengths(): number[] {
    return this.layers[0]?.selfAttn.lengths ?? [];
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.#all().reduce((sum, cache) => sum + cache.bytes, 0);
  }

  /** Removes the last tokens of all sequences. */
  rewind(tokens: number): void {
    for (const { selfAttn } of this.layers) selfAttn.rewind(tokens);
  }

  /**
   * Replaces every sequence i by the former sequence `order[i]`, as in a beam search. Nothing is copied until
   * one of the sequences that share a past continues.
   */
  reorder(order: readonly number[]): void {
    for (const cache of this.#all()) cache.reorder(order);
  }

  /** Frees the memory. Does nothing a second time. */
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
