// What a transformer remembers while it decodes step by step.

import { isInstance, mark, markKey } from "../core/copies.js";
import { disposeSymbol } from "../core/owned.js";
import type { KvCache } from "../ops/kvCache.js";

/** The caches of one layer, under the names of its attentions. */
export interface LayerCache {
  readonly selfAttn: KvCache;
  /** Keys and values of what the encoder gave: projected at the first step and kept. */
  readonly multiheadAttn?: KvCache;
}

export interface TransformerCacheOptions {
  /** Sequences; 1 by default. */
  batch?: number;
  /** Tokens a sequence may come to have. */
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

  /** Tokens that each sequence has: the position of its next one. */
  get lengths(): number[] {
    return this.layers[0]?.selfAttn.lengths ?? [];
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.#all().reduce((sum, cache) => sum + cache.bytes, 0);
  }

  /** Takes back the last tokens of all sequences. */
  rewind(tokens: number): void {
    for (const { selfAttn } of this.layers) selfAttn.rewind(tokens);
  }

  /**
   * Sequence i becomes what sequence `order[i]` was, as a beam search has it: nothing is copied until one
   * of those that share a past goes on.
   */
  reorder(order: readonly number[]): void {
    for (const cache of this.#all()) cache.reorder(order);
  }

  /** Frees the memory. Doing so again does nothing. */
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
