// heed.createKvCache: keys and values kept where the kernel reads them.

import type { Border } from "./border.js";
import type { Engine } from "./engine.js";
import { HeedError } from "./error.js";
import type { Handle, Operation } from "./module.js";
import { disposeSymbol, type Tensor } from "./tensor.js";
import {
  type Check,
  checkArgument,
  checkOptions,
  isBoolean,
  isListOrTensor,
  isWholeNumber,
  oneOf,
} from "./validate.js";

export interface KvCacheOptions {
  /** Sequences; 1 by default. */
  batch?: number;
  /** Key/value heads. */
  heads: number;
  headSize: number;
  /** As headSize by default. */
  valueSize?: number;
  /** Tokens a sequence may hold. */
  capacity: number;
  /** How numbers are stored; "f32" by default. "int8" has one scale for each token and head. */
  dtype?: "f32" | "f16" | "int8";
  /**
   * A full sequence drops its oldest tokens instead of refusing new ones: before an append all but the
   * last `capacity` go. Positions go on counting.
   */
  isRolling?: boolean;
}

const checks = {
  batch: isWholeNumber(1),
  heads: isWholeNumber(1),
  headSize: isWholeNumber(1),
  valueSize: isWholeNumber(1),
  capacity: isWholeNumber(1),
  dtype: oneOf("f32", "f16", "int8"),
  isRolling: isBoolean,
} satisfies Record<keyof KvCacheOptions, Check>;

/**
 * A cache of keys and values for `heed.attention(q, k, v, { past: cache })`, which appends k and v and
 * attends to all it holds: a decode step copies its own token, never the past. Sequences may share
 * their beginnings.
 */
export class KvCache implements Disposable {
  readonly #engine: Engine;
  readonly #batch: number;
  /** 0 once it is disposed of. */
  #handle: Handle;

  /** @internal Made by `heed.createKvCache`. */
  constructor(engine: Engine, options: KvCacheOptions) {
    checkOptions("createKvCache", options, checks);
    for (const name of ["heads", "headSize", "capacity"] as const) {
      checkArgument(name, options[name], checks[name]);
    }
    this.#engine = engine;
    const { batch = 1, heads, headSize, valueSize = headSize, capacity } = options;
    const { dtype = "f32", isRolling = false } = options;
    this.#batch = batch;
    const { module, border } = engine;
    border.run(module.newKvCache, [
      batch,
      heads,
      headSize,
      valueSize,
      capacity,
      module.KvCacheFormat[dtype].value,
      Number(isRolling),
    ]);
    this.#handle = border.next();
  }

  /** Tokens appended to each sequence and not taken back: the position of its next one. */
  get lengths(): number[] {
    return this.#ofEach(this.#engine.module.kvCacheLength);
  }

  /** The position of the oldest token that each sequence still holds. */
  get firsts(): number[] {
    return this.#ofEach(this.#engine.module.kvCacheFirst);
  }

  /** Memory held, in bytes; what sequences share is counted once. */
  get bytes(): number {
    const { module, border } = this.#engine;
    border.run(module.kvCacheBytes, [this.handle("cache", border)]);
    return border.next();
  }

  /**
   * Appends k [batch, heads, L, headSize] and v [batch, heads, L, valueSize] without attending.
   *
   * @param counts [batch] how many of the L rows each sequence takes; all by default
   * @throws HeedError "option" if a sequence that does not roll would pass its capacity, "shape"
   */
  append(k: Tensor, v: Tensor, counts?: readonly number[] | Tensor): void {
    if (counts !== undefined) checkArgument("counts", counts, isListOrTensor);
    const engine = this.#engine;
    const handle = this.handle("cache", engine.border);
    const rows = [engine.handle("k", k), engine.handle("v", v)] as const;
    engine.withLists((list) =>
      engine.run(engine.module.kvCacheAppend, [handle, ...rows, list("counts", counts)]),
    );
  }

  /** Takes back the last tokens of a sequence; of all sequences if none is named. */
  rewind(tokens: number, sequence?: number): void {
    checkArgument("tokens", tokens, isWholeNumber(0));
    const { module, border } = this.#engine;
    const handle = this.handle("cache", border);
    if (sequence !== undefined) {
      checkArgument("sequence", sequence, isWholeNumber(0, this.#batch - 1));
      border.run(module.kvCacheRewind, [handle, sequence, tokens]);
      return;
    }
    // All or none: look before the first one changes.
    const { lengths, firsts } = this;
    const held = Math.min(...lengths.map((length, b) => length - (firsts[b] ?? 0)));
    checkArgument("tokens", tokens, {
      expected: `a number from 0 to ${held}, the tokens held`,
      accepts: (value) => (value as number) <= held,
    });
    for (let b = 0; b < this.#batch; ++b) border.run(module.kvCacheRewind, [handle, b, tokens]);
  }

  /**
   * Gives a sequence, in place of what it holds, the first tokens of another, sharing their memory until
   * one of them writes to it.
   */
  share(options: { from: number; to: number; tokens: number }): void {
    const sequence = isWholeNumber(0, this.#batch - 1);
    const checks = { from: sequence, to: sequence, tokens: isWholeNumber(0) };
    checkOptions("share", options, checks);
    const { from, to, tokens } = options;
    checkArgument("from", from, checks.from);
    checkArgument("to", to, checks.to);
    checkArgument("tokens", tokens, checks.tokens);
    const { module, border } = this.#engine;
    border.run(module.kvCacheShare, [this.handle("cache", border), from, to, tokens]);
  }

  /**
   * Sequence b becomes what sequence order[b] was, for all at once. Sequences that come from the same one
   * share its memory until one of them writes to it.
   */
  reorder(order: readonly number[]): void {
    checkArgument("order", order, { expected: "a list of numbers", accepts: Array.isArray });
    const engine = this.#engine;
    const handle = this.handle("cache", engine.border);
    engine.withLists((list) =>
      engine.run(engine.module.kvCacheReorder, [handle, list("order", order)]),
    );
  }

  /** Frees the memory. Doing so again does nothing. */
  dispose(): void {
    if (this.#handle !== 0) this.#engine.module.deleteKvCache(this.#handle);
    this.#handle = 0;
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** @internal For the operations of this library. */
  handle(argument: string, border: Border): Handle {
    border.checkAlive();
    if (this.#handle === 0) {
      throw new HeedError("disposed", `${argument}: expected a live cache, got a disposed one`);
    }
    if (this.#engine.border !== border) {
      throw new HeedError(
        "option",
        `${argument}: expected a cache of this engine, got one of another`,
      );
    }
    return this.#handle;
  }

  /** A number of each sequence. */
  #ofEach(operation: Operation): number[] {
    const { border } = this.#engine;
    const handle = this.handle("cache", border);
    return Array.from({ length: this.#batch }, (_, b) => {
      border.run(operation, [handle, b]);
      return border.next();
    });
  }
}
