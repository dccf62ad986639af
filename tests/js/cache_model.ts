// A reference model of KvCache, which stores its content in plain arrays.

import type { Heed, KvCache, KvCacheOptions, Tensor } from "heed";
import { expect } from "vitest";
import { floats } from "./compare.js";
import { attention, concatenate, rowsOf, type Values } from "./oracle.js";
import { expectClose } from "./values.js";

/** Returns rows as a cache gives them back after storing them. */
export type Storage = (heed: Heed, rows: Values) => Values;

/** Rounds as int8 storage does: each row has one scale, which maps its largest magnitude to 127. */
function throughInt8(_: Heed, { data, shape }: Values): Values {
  const size = shape.at(-1) as number;
  const stored = Array.from(data);
  for (let row = 0; row < stored.length; row += size) {
    const numbers = stored.slice(row, row + size);
    const scale = Math.fround(Math.max(...numbers.map(Math.abs)) / 127);
    const inverse = Math.fround(1 / scale);
    numbers.forEach((x, i) => {
      // Adding this number rounds a float to a whole one, and halves to even ones, as the engine does.
      const step = Math.fround(Math.fround(x * inverse) + 1.5 * 2 ** 23) - 1.5 * 2 ** 23;
      stored[row + i] = scale === 0 ? 0 : scale * step;
    });
  }
  return { data: stored, shape };
}

const storages: Record<NonNullable<KvCacheOptions["dtype"]>, Storage> = {
  float32: (_, rows) => rows,
  float16: (heed, rows) =>
    heed.scope(() => {
      const whole = heed.cast(heed.cast(floats(heed, rows), "float16"), "float32");
      return { data: whole.data.slice(), shape: rows.shape };
    }),
  int8: throughInt8,
};

/** The state of a sequence before a call. */
export interface Before {
  readonly length: number;
  readonly first: number;
}

interface Sequence {
  /** The position of the oldest token that attention still sees. */
  first: number;
  /** [1, heads, length, size], including tokens that were dropped. */
  keys: Values;
  values: Values;
}

/** Returns one sequence of the batch, as a batch of one. */
function sequenceOf({ data, shape }: Values, b: number): Values {
  const size = data.length / (shape[0] as number);
  return { data: Array.from(data).slice(b * size, (b + 1) * size), shape: [1, ...shape.slice(1)] };
}

export class CacheModel {
  sequences: Sequence[];
  readonly #options: Required<KvCacheOptions>;

  constructor(options: Required<KvCacheOptions>) {
    this.#options = options;
    const { batch, heads, headSize, valueSize } = options;
    const none = (size: number): Values => ({ data: [], shape: [1, heads, 0, size] });
    this.sequences = Array.from({ length: batch }, () => ({
      ...{ first: 0, keys: none(headSize), values: none(valueSize) },
    }));
  }

  lengthOf(b: number): number {
    return this.#sequence(b).keys.shape[2] as number;
  }

  heldBy(b: number): number {
    return this.lengthOf(b) - this.#sequence(b).first;
  }

  append(heed: Heed, k: Values, v: Values, counts: readonly number[]): void {
    const { capacity, dtype, isRolling } = this.#options;
    const store = (x: Values, b: number, count: number) =>
      storages[dtype](heed, rowsOf(sequenceOf(x, b), 0, count));
    for (const [b, count] of counts.entries()) {
      const sequence = this.#sequence(b);
      sequence.keys = concatenate(sequence.keys, store(k, b, count));
      sequence.values = concatenate(sequence.values, store(v, b, count));
      if (isRolling && count > 0)
        sequence.first = Math.max(sequence.first, this.lengthOf(b) - capacity);
    }
  }

  rewind(b: number, tokens: number): void {
    this.#keep(b, this.#sequence(b), this.lengthOf(b) - tokens);
  }

  share(from: number, to: number, tokens: number): void {
    this.#keep(to, this.#sequence(from), tokens);
  }

  reorder(order: readonly number[]): void {
    this.sequences = order.map((b) => ({ ...this.#sequence(b) }));
  }

  now(): Before[] {
    return this.sequences.map(({ first }, b) => ({ length: this.lengthOf(b), first }));
  }

  /** Computes the output of attention for queries at the positions from `before` on, for each sequence. */
  attend(q: Values, before: readonly Before[], options: { isCausal?: boolean }): number[] {
    const { capacity, isRolling } = this.#options;
    return before.flatMap(({ length: causalOffset, first }, b) => {
      const { keys, values } = this.#sequence(b);
      const query = sequenceOf(q, b);
      // A query of a rolling cache sees the last `capacity` keys up to its own.
      const maySee = ({ q, k }: { q: number; k: number }) =>
        k >= first && !(isRolling && k <= causalOffset + q - capacity);
      return attention({ ...options, q: query, k: keys, v: values, causalOffset, maySee }).output;
    });
  }

  /** Expects that the cache and the model have the same lengths and the same oldest tokens. */
  expectSameSizes(cache: KvCache): void {
    expect(cache.lengths).toEqual(this.sequences.map((_, b) => this.lengthOf(b)));
    expect(cache.firsts).toEqual(this.sequences.map(({ first }) => first));
  }

  /** Appends the same rows to the cache and the model, and compares the outputs of attention. */
  expectSameStep(
    heed: Heed,
    cache: KvCache,
    { q, k, v, counts }: { q: Values; k: Values; v: Values; counts: readonly number[] },
    tolerance?: number,
  ): void {
    const before = this.now();
    heed.scope(() => {
      const tensors: [Tensor, Tensor, Tensor] = [floats(heed, q), floats(heed, k), floats(heed, v)];
      const isCausal = true;
      const { output } = heed.attention(...tensors, { past: cache, kvLengths: counts, isCausal });
      this.append(heed, k, v, counts);
      const shape = [...q.shape.slice(0, 3), v.shape[3] as number];
      expectClose(output, shape, this.attend(q, before, { isCausal }), tolerance);
    });
    this.expectSameSizes(cache);
  }

  #keep(b: number, { keys, values, first }: Sequence, tokens: number): void {
    const part = (x: Values) => rowsOf(x, 0, tokens);
    this.sequences[b] = { first, keys: part(keys), values: part(values) };
  }

  #sequence(b: number): Sequence {
    return this.sequences[b] as Sequence;
  }
}
