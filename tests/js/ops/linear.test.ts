// Linear layers: activations and packed weights.

import { load } from "heed";
import { describe, expect, test } from "vitest";
import { describeEngines, refusal } from "../engine.js";
import { linear } from "../oracle.js";
import { expectClose, expectSameBits, Random, upload } from "../values.js";

describeEngines((heed) => {
  test("accepts a bias alone, a bias as an option, or no bias", () => {
    const random = new Random(202);
    heed().scope(() => {
      const x = upload(heed(), random.array([3, 4]));
      const weight = upload(heed(), random.array([5, 4]));
      const bias = upload(heed(), random.array([5]));
      const alone = heed().linear(x, weight, bias).data.slice();
      expectSameBits(heed().linear(x, weight, { bias }).data, alone);
      expectSameBits(heed().linear(x, weight, {}).data, heed().linear(x, weight).data.slice());
    });
  });

  test("int8 weights give whole numbers exactly, and others within 3 %", () => {
    const random = new Random(203);
    for (const rows of [1, 30]) {
      const x = random.array([rows, 200]);
      const weight = random.array([50, 200]);
      const whole = (values: Float32Array, least: number, most: number, every: number) =>
        values.map((_, i) =>
          i % every === 0 ? least : i % every === 1 ? most : random.whole(least, most),
        );
      heed().scope(() => {
        const wholeX = { data: whole(x.data, -60, 66, 200), shape: x.shape };
        const wholeWeight = { data: whole(weight.data, -64, 64, 200), shape: weight.shape };
        using packed = heed().packWeights(upload(heed(), wholeWeight), { format: "int8" });
        const exact = linear(wholeX, wholeWeight);
        expectClose(heed().linear(upload(heed(), wholeX), packed), [rows, 50], exact, 1e-6);

        const wanted = linear(x, weight);
        const square = (values: number[]) => values.reduce((sum, value) => sum + value * value, 0);
        for (const [format, most] of [
          ["int8", 0.03],
          ["int4", 0.1],
        ] as const) {
          using near = heed().packWeights(upload(heed(), weight), { format });
          const got = heed().linear(upload(heed(), x), near).data;
          const errors = wanted.map((value, i) => (got[i] as number) - value);
          expect(Math.sqrt(square(errors) / square(wanted)), format).toBeLessThan(most);
        }
      });
    }
  });
});

describeEngines((heed) => {
  test("a float16 weight gives the bits of the same numbers in float32", () => {
    const random = new Random(205);
    heed().scope(() => {
      const halves = heed().cast(upload(heed(), random.array([70, 45])), "float16");
      const numbers = heed().cast(halves, "float32");
      const bias = upload(heed(), random.array([70]));
      for (const shape of [[45], [1, 45], [2, 4, 45], [20, 45], [0, 45]]) {
        const values = random.array(shape);
        const x = upload(heed(), values);
        const options = { bias, activation: "gelu" } as const;
        const got = heed().linear(x, halves, options);
        expect([got.dtype, got.shape]).toEqual(["float32", [...shape.slice(0, -1), 70]]);
        expectSameBits(got.data, heed().linear(x, numbers, options).data.slice());
        const weight = { data: numbers.data.slice() as Float32Array, shape: [70, 45] };
        expectClose(heed().linear(x, halves), got.shape, linear(values, weight));
      }
      const ids = heed().tensor(Int32Array.of(69, 0, 7, 7), [2, 2]);
      const rows = heed().embedding(ids, halves);
      expect([rows.dtype, rows.shape]).toEqual(["float32", [2, 2, 45]]);
      expectSameBits(rows.data, heed().embedding(ids, numbers).data.slice());
    });
  });

  test("a float16 weight keeps infinity and NaN", () => {
    for (const rows of [1, 9])
      heed().scope(() => {
        const values = new Float32Array(3 * 40).fill(0.5);
        values[40 + 3] = Number.POSITIVE_INFINITY;
        values[80 + 39] = Number.NaN;
        const weight = heed().cast(heed().tensor(values, [3, 40]), "float16");
        const y = heed().linear(heed().ones([rows, 40]), weight).data;
        const row = [20, Number.POSITIVE_INFINITY, Number.NaN];
        expect([...y]).toEqual(Array.from({ length: rows }, () => row).flat());
      });
  });
});

describe("packed weights", () => {
  test("describe themselves, and outlive their tensor", async () => {
    const heed = await load({ threads: 1 });
    const random = new Random(204);
    const values = random.array([64, 64]);
    const weight = upload(heed, values);
    using floats = heed.packWeights(weight);
    using bytes = heed.packWeights(weight, { format: "int8" });
    using nibbles = heed.packWeights(weight, { format: "int4" });
    weight.dispose();
    expect([floats.shape, floats.format, floats.bytes]).toEqual([[64, 64], "float32", 4 * 64 * 64]);
    expect([bytes.shape, bytes.format]).toEqual([[64, 64], "int8"]);
    expect(bytes.bytes).toBeLessThan(floats.bytes / 3);
    expect([nibbles.format, nibbles.bytes]).toEqual(["int4", (64 * 64 * 4.5) / 8]);
    const x = random.array([2, 64]);
    heed.scope(() => expectClose(heed.linear(upload(heed, x), floats), [2, 64], linear(x, values)));
  });

  test("are refused after dispose, and by another engine", async () => {
    const heed = await load({ threads: 1 });
    const other = await load({ threads: 1 });
    const x = heed.tensor([[1]]);
    const packed = heed.packWeights(x);
    const foreign = refusal(() => other.linear(other.tensor([[1]]), packed));
    expect(foreign.code).toBe("option");
    expect(foreign.message).toBe("weight: expected weights of this engine, got those of another");
    packed.dispose();
    packed.dispose();
    const gone = refusal(() => heed.linear(x, packed));
    expect(gone.code).toBe("disposed");
    expect(gone.message).toBe("weight: expected live weights, got disposed ones");
    const after = heed.packWeights(x);
    heed.dispose();
    other.dispose();
    expect(refusal(() => heed.linear(x, after)).code).toBe("disposed");
    expect(refusal(() => heed.packWeights(x)).code).toBe("disposed");
    after.dispose();
  });
});
