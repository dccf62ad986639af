// Random values for tests, and comparisons within tolerances.

import type { Heed, Tensor, TensorData } from "heed";
import { expect } from "vitest";
import type { Values } from "./oracle.js";

/** Pseudo-random numbers, the same in every run (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns a number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from least to most, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<T>(...choices: T[]): T {
    return choices[this.whole(0, choices.length - 1)] as T;
  }

  /** Returns floats in [-spread, spread). */
  array(shape: readonly number[], spread = 1): Values & { data: Float32Array } {
    const data = new Float32Array(sizeOf(shape)).map(() => (2 * this.next() - 1) * spread);
    return { data, shape };
  }

  /** Returns bytes that are 1 with the given probability, else 0. */
  bools(shape: readonly number[], probability = 0.6): Values & { data: Uint8Array } {
    const data = new Uint8Array(sizeOf(shape)).map(() => (this.next() < probability ? 1 : 0));
    return { data, shape };
  }
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

export function upload(
  heed: Heed,
  values: Values & { data: Float32Array | Int32Array | Uint8Array },
): Tensor {
  const { data, shape } = values;
  return data instanceof Uint8Array ? heed.tensor(data, shape, "bool") : heed.tensor(data, shape);
}

/**
 * Expects that the tensor has this shape and these float32 elements, within an absolute and relative
 * tolerance.
 */
export function expectClose(
  tensor: Tensor,
  shape: readonly number[],
  expected: ArrayLike<number>,
  tolerance = 2e-5,
): void {
  expect(tensor.shape).toEqual(shape);
  expect(tensor.dtype).toBe("float32");
  const data = tensor.data;
  expect(data.length).toBe(expected.length);
  for (let i = 0; i < expected.length; ++i) {
    const got = data[i] as number;
    const wanted = expected[i] as number;
    const near =
      Object.is(got, wanted) || Math.abs(got - wanted) <= tolerance * (1 + Math.abs(wanted));
    // One assertion per element is slow, so the test reports the first wrong element.
    if (!near) expect.fail(`element ${i} of [${shape}]: expected ${wanted}, got ${got}`);
  }
}

/** The cosine similarity of two lists of numbers. */
export function cosine(x: Float32Array, y: Float32Array): number {
  const dot = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, number, i) => sum + number * (b[i] ?? 0), 0);
  return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
}

export function expectSameBits(got: TensorData | undefined, expected: TensorData): void {
  const words = (x: TensorData) => new Uint8Array(x.slice().buffer);
  const [a, b] = [words(got ?? new Uint8Array()), words(expected)];
  expect(a.length).toBe(b.length);
  // This is much faster on large arrays than one assertion on the whole array.
  const different = a.findIndex((byte, i) => byte !== b[i]);
  if (different !== -1)
    expect.fail(`byte ${different}: expected ${b[different]}, got ${a[different]}`);
}

/**
 * Expects the right result of a call that must always work: the worked example of the Playground, opened on
 * the word "quick".
 */
export function expectWorks(heed: Heed): void {
  heed.scope(() => {
    const embeddings = [0, 1, 2, 3, 4].map((token) =>
      [1, 2, 3, 4].map((entry) => (4 * token + entry) / 10),
    );
    const entries = (...picked: number[]) =>
      heed.tensor([[embeddings.map((row) => picked.map((entry) => row[entry] as number))]]);
    const { output, weights } = heed.attention(entries(0, 1), entries(1, 0), entries(2, 3), {
      needWeights: true,
    });
    const rounded = (tensor: Tensor, from: number, to: number) =>
      [...tensor.data.slice(from, to)].map((x) => x.toFixed(3));
    expect(rounded(weights, 5, 10)).toEqual(["0.098", "0.133", "0.182", "0.248", "0.339"]);
    expect(rounded(output, 2, 4)).toEqual(["1.339", "1.439"]);
  });
}
