// The bounds of web/guides/numerics.md on the errors of attention, against the double-precision oracle.

/// <reference types="vite/client" />

import { expect, test } from "vitest";
import guide from "../../../web/guides/numerics.md?raw";
import { floats } from "../compare.js";
import { describeEngines } from "../engine.js";
import { attention, type Values } from "../oracle.js";
import { cosine, Random, upload } from "../values.js";

/** A number of the guide: the group of a pattern that must occur once. */
function figure(pattern: RegExp): number {
  const found = [...guide.matchAll(new RegExp(pattern, "g"))];
  if (found.length !== 1) expect.fail(`numerics.md: expected one ${pattern}, got ${found.length}`);
  return Number(found[0]?.[1]);
}

/** The largest of the lengths of the rows of D numbers. */
const longest = (x: Values, D: number) =>
  Math.max(
    ...Array.from({ length: x.data.length / D }, (_, row) =>
      Math.hypot(...Array.from(x.data).slice(row * D, (row + 1) * D)),
    ),
  );

const largest = (got: ArrayLike<number>, want: ArrayLike<number>, of = (_: number) => 1) =>
  Array.from(want).reduce(
    (most, x, i) => Math.max(most, Math.abs((got[i] as number) - x) / of(x)),
    0,
  );

const near = (random: Random, shape: number[], center: number, spread: number) => {
  const { data } = random.array(shape, spread);
  return { data: data.map((x) => x + center), shape };
};

describeEngines((heed) => {
  test.for([
    [16, 1],
    [64, 5],
    [128, 10],
    [64, 25],
    [64, 50],
  ] as const)("attention with D = %i and entries near %i errs as the guide says", ([D, entry]) => {
    const mostOutput = figure(/at most (\S+) in tests/);
    const random = new Random(D + entry);
    const q = near(random, [1, 2, 48, D], entry, 0.5);
    const k = near(random, [1, 2, 200, D], entry, 0.05);
    const v = random.array([1, 2, 200, 8]);
    const want = attention({ q, k, v });
    heed().scope(() => {
      const options = { needWeights: true, capture: "scores" } as const;
      const got = heed().attention(
        floats(heed(), q),
        upload(heed(), k),
        upload(heed(), v),
        options,
      );
      const e = (D * 2 ** -24 * longest(q, D) * longest(k, D)) / Math.sqrt(D);
      expect(largest(got.capture.data, want.scores)).toBeLessThan(e);
      // The rounding of the softmax itself is a few units of 2^-24.
      const relative = Math.expm1(2 * e) + 1e-6;
      expect(largest(got.weights.data, want.weights, (weight) => weight)).toBeLessThan(relative);
      const output = largest(got.output.data, want.output);
      expect(output).toBeLessThan(relative);
      if (D === 64 && entry === 25) expect(output).toBeLessThan(mostOutput);
    });
  });

  test("attention with exact scores around 5,000 keeps the digits of their differences", () => {
    const absolute = figure(/(\S+) absolute plus \S+ relative, because/);
    const relative = figure(/\S+ absolute plus (\S+) relative, because/);
    const random = new Random(5000);
    const whole = (rows: number) => {
      const data = Float32Array.from({ length: 2 * rows * 64 }, () => random.whole(8, 9));
      return { data, shape: [1, 2, rows, 64] };
    };
    const [q, k, v] = [whole(48), whole(200), random.array([1, 2, 200, 8])];
    const want = attention({ q, k, v, scale: 1 });
    expect(Math.min(...Array.from(want.scores))).toBeGreaterThan(4000);
    heed().scope(() => {
      const [qt, kt, vt] = [upload(heed(), q), upload(heed(), k), upload(heed(), v)];
      const { output } = heed().attention(qt, kt, vt, { scale: 1 });
      expect(
        largest(output.data, want.output, (x) => absolute + relative * Math.abs(x)),
      ).toBeLessThan(1);
    });
  });

  test("int8 scores have the cosine similarity that the guide says", () => {
    const least = figure(/above (\S+) on normally distributed inputs/);
    const random = new Random(8);
    const normal = () =>
      Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const tensor = (rows: number) =>
      heed().tensor(Float32Array.from({ length: 2 * rows * 64 }, normal), [1, 2, rows, 64]);
    heed().scope(() => {
      const [q, k, v] = [tensor(128), tensor(512), tensor(512)];
      const [exact, rounded] = (["float32", "int8-scores"] as const).map(
        (precision) => heed().attention(q, k, v, { precision }).output.data.slice() as Float32Array,
      ) as [Float32Array, Float32Array];
      expect(cosine(exact, rounded)).toBeGreaterThan(least);
      expect(cosine(exact, rounded)).toBeLessThan(1 - 1e-9);
    });
  });
});
