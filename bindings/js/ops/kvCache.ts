// The cache of keys and values, in the layout that the kernel reads.

import type { Kind } from "../core/border.js";
import { type KvCacheFormat, kvCacheFormats } from "../core/constants.js";
import type { Engine } from "../core/engine.js";
import { describe } from "../core/error.js";
import { withKvCacheOptions } from "../core/members.js";
import type { Operation } from "../core/module.js";
import { Owned } from "../core/owned.js";
import type { Tensor } from "../core/tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  checkRequired,
  isBoolean,
  isListOrTensor,
  isWholeNumber,
  oneOf,
} from "../core/validate.js";

/** The sizes of a cache of keys and values. */
export interface KvCacheOptions {
  /** Sequences; 1 by default. */
  batch?: number;
  /** Key/value heads. */
  heads: number;
  /** The size D of a key head. */
  headSize: number;
  /** headSize by default. */
  valueSize?: number;
  /** The maximum number of tokens of a sequence. */
  capacity: number;
  /** How numbers are stored; "float32" by default. "int8" has one scale for each token and head. */
  dtype?: KvCacheFormat;
  /**
   * A full sequence drops its oldest tokens instead of refusing new ones; positions continue to
   * count. In attention, the query at position p sees the last `capacity` keys up to its own, from
   * p - capacity + 1 on, as with `window: [capacity - 1, -1]`. So results are the same for tokens
   * one by one or many at a time. A rewind does not restore dropped tokens.
   */
  isRolling?: boolean;
}

const checks = {
  batch: isWholeNumber(1),
  heads: isWholeNumber(1),
  headSize: isWholeNumber(1),
  valueSize: isWholeNumber(1),
  capacity: isWholeNumber(1),
  dtype: oneOf(...kvCacheFormats),
  isRolling: isBoolean,
} satisfies Record<keyof KvCacheOptions, Check>;

/**
 * A cache of keys and values for `heed.attention(q, k, v, { past: cache })`, which appends k and v
 * and attends to all tokens in the cache. A decode step copies only the new token, never the past.
 * Sequences may share their beginnings.
 *
 * @example
 * ```ts
 * using cache = heed.createKvCache({ heads: 1, headSize: 2, capacity: 4 });
 * const token = heed.ones([1, 1, 1, 2]);
 * for (let i = 0; i < 3; ++i) heed.attention(token, token, token, { past: cache });
 * cache.rewind(1);
 * console.log(cache.lengths); // prints: [ 2 ]
 * ```
 */
export class KvCache extends Owned {
  readonly #options: Readonly<Required<KvCacheOptions>>;

  /** @internal Made by `heed.createKvCache`. */
  constructor(engine: Engine, options: KvCacheOptions) {
    checkOptions("createKvCache", options, checks);
    checkRequired(options, checks, "heads", "headSize", "capacity");
    const { batch = 1, heads, headSize, valueSize = headSize, capacity } = options;
    const { dtype = "float32", isRolling = false } = options;
    const { module, border } = engine;
    const others = { batch, heads, headSize, valueSize, capacity, isRolling };
    border.run(module.newKvCache, withKvCacheOptions([], { ...others, format: dtype }));
    super(engine, border.nextHeld("cache"));
    this.#options = { ...others, dtype };
  }

  /** @internal */
  get kind(): Kind {
    return "cache";
  }

  override get [Symbol.toStringTag](): string {
    return "KvCache";
  }

  protected traits(): string[] {
    const { batch, heads, headSize, valueSize, capacity, dtype, isRolling } = this.#options;
    return [
      ...[dtype, `batch ${batch}`, `heads ${heads}`, `headSize ${headSize}`],
      ...(valueSize === headSize ? [] : [`valueSize ${valueSize}`]),
      ...[`capacity ${capacity}`, ...(isRolling ? ["rolling"] : [])],
    ];
  }

  protected override state(): string[] {
    return [`lengths ${describe(this.lengths)}`];
  }

  /** The options and the lengths of the sequences, without their contents. */
  toJSON(): Required<KvCacheOptions> & { lengths: number[] | null } {
    return { ...this.#options, lengths: this.isDisposed ? null : this.lengths };
  }

  /** @internal The maximum number of tokens of a sequence. */
  get capacity(): number {
    return this.#options.capacity;
  }

  /** The number of tokens appended to each sequence and not rewound: the position of its next token. */
  get lengths(): number[] {
    return this.#ofEach(this.engine.module.kvCacheLength);
  }

  /** The position of the oldest token that each sequence holds. */
  get firsts(): number[] {
    return this.#ofEach(this.engine.module.kvCacheFirst);
  }

  /** Memory held, in bytes; memory that sequences share is counted once. */
  get bytes(): number {
    const { module, border } = this.engine;
    border.run(module.kvCacheBytes, [this.handle("cache", border)]);
    return border.next();
  }

  /**
   * Appends k [batch, heads, L, headSize] and v [batch, heads, L, valueSize] without attending.
   *
   * @param counts [batch] the number of rows for each sequence, of the L rows; all by default
   * @throws HeedError "option" if a sequence that does not roll would pass its capacity, "shape", "dtype",
   *   "memory", "disposed"
   */
  append(k: Tensor, v: Tensor, counts?: readonly number[] | Tensor): void {
    if (counts !== undefined) checkArgument("counts", counts, isListOrTensor);
    const engine = this.engine;
    const handle = this.handle("cache", engine.border);
    const rows = [engine.handle("k", k), engine.handle("v", v)] as const;
    engine.withLists((list) =>
      engine.run(engine.module.kvCacheAppend, [
        handle,
        ...rows,
        engine.handleOrNone("counts", list("counts", counts)),
      ]),
    );
  }

  /** @internal Runs a call that appends. If it fails, the sequences are as long as before. */
  appending<T>(run: () => T): T {
    const before = this.isDisposed ? [] : this.lengths;
    try {
      return run();
    } catch (error) {
      this.shorten(before);
      throw error;
    }
  }

  /** @internal Removes the tokens that sequences have beyond these lengths. */
  shorten(lengths: readonly number[]): void {
    if (this.isDisposed) return;
    for (const [b, length] of this.lengths.entries())
      this.rewind(Math.max(0, length - (lengths[b] ?? length)), b);
  }

  /**
   * Removes the last tokens of a sequence, or of all sequences if none is given.
   *
   * @throws HeedError "option" for more tokens than are held, "disposed"
   */
  rewind(tokens: number, sequence?: number): void {
    checkArgument("tokens", tokens, isWholeNumber(0));
    const { module, border } = this.engine;
    const handle = this.handle("cache", border);
    if (sequence !== undefined) {
      checkArgument("sequence", sequence, isWholeNumber(0, this.#options.batch - 1));
      border.run(module.kvCacheRewind, [handle, sequence, tokens]);
      return;
    }
    // All or none: checks every sequence before it changes the first one.
    const { lengths, firsts } = this;
    const held = Math.min(...lengths.map((length, b) => length - (firsts[b] ?? 0)));
    checkArgument("tokens", tokens, {
      expected: `a number from 0 to ${held}, the tokens held`,
      accepts: (value) => (value as number) <= held,
    });
    for (let b = 0; b < this.#options.batch; ++b)
      border.run(module.kvCacheRewind, [handle, b, tokens]);
  }

  /**
   * Replaces the contents of a sequence by the first tokens of another. They share memory until one of them
   * writes to it.
   *
   * @throws HeedError "option" if `from` does not hold its first `tokens` tokens, "disposed"
   */
  share(options: { from: number; to: number; tokens: number }): void {
    const sequence = isWholeNumber(0, this.#options.batch - 1);
    const checks = { from: sequence, to: sequence, tokens: isWholeNumber(0) };
    checkOptions("share", options, checks);
    const { from, to, tokens } = options;
    checkRequired(options, checks, "from", "to", "tokens");
    const { module, border } = this.engine;
    border.run(module.kvCacheShare, [this.handle("cache", border), from, to, tokens]);
  }

  /**
   * Replaces every sequence b by the former sequence order[b]. Sequences with the same origin share its memory
   * until one of them writes to it.
   *
   * @throws HeedError "shape" for another number of sequences, "option", "memory", "disposed"
   */
  reorder(order: readonly number[]): void {
    checkArgument("order", order, { expected: "a list of numbers", accepts: Array.isArray });
    const engine = this.engine;
    const handle = this.handle("cache", engine.border);
    engine.withLists((list) =>
      engine.run(engine.module.kvCacheReorder, [
        handle,
        engine.handleOrNone("order", list("order", order)),
      ]),
    );
  }

  /** A number for each sequence. */
  #ofEach(operation: Operation): number[] {
    const { border } = this.engine;
    const handle = this.handle("cache", border);
    return Array.from({ length: this.#options.batch }, (_, b) => {
      border.run(operation, [handle, b]);
      return border.next();
    });
  }
}

/**
 * A cache of keys and values, for `attention` with `past`.
 *
 * @throws HeedError "option", "memory", "disposed"
 * @example
 * ```ts
 * const cache = heed.createKvCache({ heads: 2, headSize: 4, capacity: 16, dtype: "float16" });
 * const step = heed.ones([1, 2, 1, 4]);
 * const { output } = heed.attention(step, step, step, { past: cache, isCausal: true });
 * console.log(output.shape, cache.lengths); // prints: [ 1, 2, 1, 4 ] [ 1 ]
 * ```
 */
export function createKvCache(engine: Engine, options: KvCacheOptions): KvCache {
  return engine.track(new KvCache(engine, options));
}
