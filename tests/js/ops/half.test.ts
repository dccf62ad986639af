// 16-bit floats: their bits, their rounding, and attention with 16-bit inputs and outputs.

import { describe, expect, test } from "vitest";
import { floats } from "../compare.js";
import { describeEngines } from "../engine.js";
import { expectClose, expectSameBits, Random } from "../values.js";

type Half = "float16" | "bfloat16";
const types: readonly Half[] = ["float16", "bfloat16"];

const every = Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits);

/** Returns the value of bits by the definition of IEEE 754, with the number of fraction bits of the type. */
function numberOf(bits: number, dtype: Half): number {
  const [fractionBits, least] = dtype === "float16" ? [10, -14] : [7, -126];
  const sign = bits >> 15 ? -1 : 1;
  const magnitude = bits & 0x7fff;
  const exponent = magnitude >> fractionBits;
  const fraction = magnitude - (exponent << fractionBits);
  if (exponent === 0x7fff >> fractionBits) return fraction === 0 ? sign * Infinity : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** (least - fractionBits);
  return sign * (2 ** fractionBits + fraction) * 2 ** (exponent - 1 + least - fractionBits);
}

/** Returns the neighbour of a positive float32. */
function nextFloat(x: number, direction: 1 | -1): number {
  const bits = new Uint32Array(Float32Array.of(x).buffer);
  return new Float32Array(Uint32Array.of((bits[0] as number) + direction).buffer)[0] as number;
}

describeEngines((heed) => {
  describe.each(types)("%s", (dtype) => {
    const numbers = Float64Array.from(every, (bits) => numberOf(bits, dtype));

    test("has the value that IEEE 754 defines for every pattern of bits", () => {
      heed().scope(() => {
        const x = heed().tensor(every, [2 ** 16], dtype);
        expect(x.dtype).toBe(dtype);
        expectSameBits(x.data, every);
        const array = x.toArray() as number[];
        const wide = heed().cast(x, "float32").data;
        const off = (got: ArrayLike<number>) =>
          numbers.findIndex((number, i) => !Object.is(got[i], number));
        expect(off(array)).toBe(-1);
        expect(off(wide)).toBe(-1);
      });
    });

    test("has the same bits after a cast to float32 and back, and NaN stays NaN", () => {
      heed().scope(() => {
        const x = heed().tensor(every, [2 ** 16], dtype);
        const back = heed().cast(heed().cast(x, "float32"), dtype);
        expect(back.dtype).toBe(dtype);
        const off = back.data.findIndex((bits, i) =>
          Number.isNaN(numbers[i]) ? !Number.isNaN(numberOf(bits, dtype)) : bits !== i,
        );
        expect(off).toBe(-1);
      });
    });

    test("rounds to the nearest number, and ties to the even one", () => {
      // Tests the midpoint between each two neighbours and the values next to it, up to the largest number and
      // infinity.
      const infinity = dtype === "float16" ? 0x7c00 : 0x7f80;
      const sources: number[] = [];
      const wanted: number[] = [];
      for (let low = 0; low < infinity; ++low) {
        const [a, b] = [numbers[low] as number, numbers[low + 1] as number];
        // Infinity takes the place of the next number.
        const above = b === Infinity ? 2 * a - (numbers[low - 1] as number) : b;
        const middle = (a + above) / 2;
        sources.push(middle, nextFloat(middle, -1), nextFloat(middle, 1));
        wanted.push(low + (low % 2), low, low + 1);
      }
      heed().scope(() => {
        for (const sign of [1, -1]) {
          const source = Float32Array.from(sources, (x) => sign * x);
          const got = heed().tensor(source, [source.length], dtype).data;
          const signed = wanted.map((bits) => (sign < 0 ? bits | 0x8000 : bits));
          expect(signed.findIndex((bits, i) => bits !== got[i])).toBe(-1);
          expectSameBits(heed().cast(heed().tensor(source), dtype).data, got);
        }
      });
    });

    test("is made from lists of numbers, but not of booleans, and from scalars", () => {
      heed().scope(() => {
        const x = heed().tensor([[1, 2.5], [-0, Infinity]], undefined, dtype); // biome-ignore format: one line
        expect(x.shape).toEqual([2, 2]);
        expect(x.toArray()).toEqual([[1, 2.5], [-0, Infinity]]); // biome-ignore format: one line
        expect(heed().tensor(3, [], dtype).toArray()).toBe(3);
        expect(heed().tensor([], [0], dtype).toArray()).toEqual([]);
      });
    });

    test("cast to itself is a copy, and a cast leaves its input unchanged", () => {
      heed().scope(() => {
        const x = heed().tensor([1, 2, 3], [3], dtype);
        const copy = heed().cast(x, dtype);
        copy.data.fill(0);
        expect(x.toArray()).toEqual([1, 2, 3]);
        expect(heed().cast(x, "float32").toArray()).toEqual([1, 2, 3]);
        expect(x.dtype).toBe(dtype);
      });
    });

    test("attention in this type accepts packed sequences, and a cache of any format", () => {
      const random = new Random(112);
      heed().scope(() => {
        const half = (...shape: number[]) =>
          heed().cast(floats(heed(), random.array(shape)), dtype);
        const packed = half(7, 2, 4);
        const { output } = heed().attention(packed, packed, packed, { cuSeqlens: [0, 3, 7] });
        expect([output.dtype, output.shape]).toEqual([dtype, [7, 2, 4]]);
        for (const format of ["float32", "float16", "int8"] as const) {
          const sizes = { heads: 2, headSize: 4, capacity: 8, dtype: format };
          using cache = heed().createKvCache(sizes);
          const x = half(1, 2, 5, 4);
          const cached = heed().attention(x, x, x, { past: cache, isCausal: true });
          expect(cached.output.dtype).toBe(dtype);
          expect(cache.lengths).toEqual([5]);
          const plain = heed().attention(x, x, x, { isCausal: true });
          const wide = heed().cast(plain.output, "float32").data.slice();
          const most = format === "int8" ? 0.02 : 0.008;
          expectClose(heed().cast(cached.output, "float32"), [1, 2, 5, 4], wide, most);
        }
      });
    });
  });
});
