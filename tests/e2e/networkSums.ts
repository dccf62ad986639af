/** Arithmetic in double precision for the tests of the whole network. */
import { expect } from "vitest";

export function expectNear(
  got: ArrayLike<number> | null | undefined,
  expected: ArrayLike<number> | null | undefined,
): void {
  if (!got || !expected) expect.fail("there are no numbers");
  expect(got.length).toBe(expected.length);
  expect(got.length).toBeGreaterThan(0);
  for (let i = 0; i < got.length; ++i) expect(got[i]).toBeCloseTo(expected[i] as number, 4);
}

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((sum, each, i) => sum + each * (b[i] as number), 0);

export function softmax(logits: readonly number[]): number[] {
  const powers = logits.map(Math.exp);
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((each) => each / total);
}

/** The value of a written sum of products, such as "0.5 × (−1.2) + bias 0.3". */
export function sumOf(words: string): number {
  const terms = words
    .replaceAll("−", "-")
    .replaceAll(/[()]|bias /g, "")
    .split(" + ");
  return terms.reduce(
    (sum, term) =>
      sum + term.split(/\s×\s/).reduce((product, factor) => product * Number(factor), 1),
    0,
  );
}
