// Random draws for examples. They use whole numbers and exact arithmetic only, so that all machines agree.

import type { Generator } from "../../nn/random.js";

/** A number that is uniform in [0, 1). */
export function share(random: Generator): number {
  return random.next() / 2 ** 53;
}

/** A whole number from 0 to count - 1. */
export function below(random: Generator, count: number): number {
  return Math.floor(share(random) * count);
}

/** A whole number from `least` to `most`, both included. */
export function between(random: Generator, least: number, most: number): number {
  return least + below(random, most - least + 1);
}

export function choose<T>(random: Generator, list: readonly T[]): T {
  return list[below(random, list.length)] as T;
}

/** A shuffled copy (Fisher and Yates, 1938). */
export function shuffle<T>(random: Generator, list: readonly T[]): T[] {
  const shuffled = [...list];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = below(random, i + 1);
    [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
  }
  return shuffled;
}
