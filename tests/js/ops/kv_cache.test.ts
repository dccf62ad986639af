// Caches: decoding with a cache equals attention over the whole sequence, and caches report their content.

import { type Heed, type KvCache, load } from "heed";
import { describe, expect, test } from "vitest";
import { CacheModel, storages } from "../cache_model.js";
import { floats } from "../compare.js";
import { describeEngines, engine, refusal } from "../engine.js";
import { attention, rowsOf, type Values } from "../oracle.js";
import { any } from "../refusals/case.js";
import { expectSameBits, expectWorks, Random } from "../values.js";

const dtypes = ["float32", "float16", "int8"] as const;

/** Feeds the rows from `begin` to end - 1, `chunk` at a time, and returns the outputs. */
function decode(
  heed: Heed,
  cache: KvCache,
  { q, k, v }: { q: Values; k: Values; v: Values },
  [begin, end, chunk]: readonly [number, number, number],
  options: { window?: [number, number] } = {},
): Values[] {
  const outputs: Values[] = [];
  for (let from = begin; from < end; from += chunk) {
    const to = Math.min(end, from + chunk);
    heed.scope(() => {
      const [qt, kt, vt] = [q, k, v].map((x) => floats(heed, rowsOf(x, from, to)));
      const given = { ...options, past: cache, isCausal: true };
      const { output } = heed.attention(any(qt), any(kt), any(vt), given);
      outputs.push({ data: output.data.slice(), shape: output.shape });
    });
  }
  return outputs;
}

/** Returns the largest difference between outputs and the corresponding rows of the whole result. */
function worstOf(outputs: Values[], whole: Values, begin = 0): number {
  let [worst, from] = [0, begin];
  for (const output of outputs) {
    const to = from + (output.shape[2] as number);
    const { data } = rowsOf(whole, from, to);
    for (let i = 0; i < data.length; ++i)
      worst = Math.max(worst, Math.abs((data[i] as number) - (output.data[i] as number)));
    from = to;
  }
  return worst;
}

const sizes = { batch: 2, heads: 2, headSize: 16, valueSize: 8, capacity: 300 };

function inputs(random: Random, L: number) {
  return {
    q: random.array([2, 4, L, 16], 2),
    k: random.array([2, 2, L, 16], 2),
    v: random.array([2, 2, L, 8]),
  };
}

describeEngines((heed) => {
  test("decoding token by token gives full causal attention, within a millionth", () => {
    const L = 140;
    const x = inputs(new Random(51), L);
    heed().scope(() => {
      const [q, k, v] = [floats(heed(), x.q), floats(heed(), x.k), floats(heed(), x.v)];
      const { output } = heed().attention(q, k, v, { isCausal: true });
      const whole = { data: output.data.slice(), shape: output.shape };
      for (const chunk of [1, 3, 64, L]) {
        using cache = heed().createKvCache(sizes);
        expect(worstOf(decode(heed(), cache, x, [0, L, chunk]), whole)).toBeLessThan(1e-6);
      }
    });
  });

  test.each([
    ["float16", 2e-3, 2e-5],
    // Steps compute with queries and weights of 16 bits.
    ["int8", 3e-2, 5e-4],
  ] as const)(
    "a cache of %s gives attention over numbers so rounded, off by %d at most",
    (dtype, most, added) => {
      const L = 140;
      const { q, k, v } = inputs(new Random(52), L);
      const stored = { k: storages[dtype](heed(), k), v: storages[dtype](heed(), v) };
      const shape = [2, 4, L, 8];
      const rounded = { data: attention({ q, ...stored, isCausal: true }).output, shape };
      const exact = { data: attention({ q, k, v, isCausal: true }).output, shape };
      using cache = heed().createKvCache({ ...sizes, dtype });
      const outputs = decode(heed(), cache, { q, k, v }, [0, L, 1]);
      expect(worstOf(outputs, rounded)).toBeLessThan(added);
      expect(worstOf(outputs, exact)).toBeLessThan(most);
      // The cache does round: it does not store float32.
      expect(worstOf(outputs, exact)).toBeGreaterThan(most / 100);
    },
  );

  test("sequences append different numbers of tokens", () => {
    const random = new Random(54);
    const options = { ...sizes, batch: 3, dtype: "float32", isRolling: false } as const;
    using cache = heed().createKvCache(options);
    const model = new CacheModel(options);
    const step = (L: number, counts: number[]) => {
      const [q, k, v] = [
        [3, 4, L, 16],
        [3, 2, L, 16],
        [3, 2, L, 8],
      ].map((s) => random.array(s));
      // Rows that no sequence uses are not read.
      for (const [b, count] of counts.entries())
        for (const [x, size] of [
          [k, 16],
          [v, 8],
        ] as const)
          for (let g = 0; g < 2; ++g)
            x?.data.fill(
              Number.NaN,
              ((b * 2 + g) * L + count) * size,
              ((b * 2 + g) * L + L) * size,
            );
      model.expectSameStep(heed(), cache, any({ q, k, v, counts }));
    };
    step(130, [130, 0, 57]);
    step(3, [1, 3, 2]);
    step(1, [1, 1, 0]);
    expect(cache.lengths).toEqual([132, 4, 59]);
  });

  test("an append without attention leaves what an attention would have left", () => {
    const x = inputs(new Random(55), 135);
    const [one, other] = [heed().createKvCache(sizes), heed().createKvCache(sizes)];
    decode(heed(), one, x, [0, 130, 130]);
    heed().scope(() => {
      const part = (rows: Values) => floats(heed(), rowsOf(rows, 0, 130));
      other.append(part(x.k), part(x.v));
    });
    const [a, b] = [one, other].map((cache) => decode(heed(), cache, x, [130, 135, 1]));
    expect(a).toEqual(b);
    one.dispose();
    other.dispose();
  });

  test("tokens that follow a rewind replace the removed ones without a trace", () => {
    const random = new Random(56);
    const [x, wrong] = [inputs(random, 150), inputs(random, 150)];
    const [straight, back] = [heed().createKvCache(sizes), heed().createKvCache(sizes)];
    decode(heed(), straight, x, [0, 120, 120]);
    decode(heed(), back, x, [0, 120, 120]);
    decode(heed(), back, wrong, [120, 150, 7]);
    back.rewind(30);
    expect(back.lengths).toEqual([120, 120]);
    const [a, b] = [straight, back].map((cache) => decode(heed(), cache, x, [120, 150, 1]));
    expect(b).toEqual(a);
    straight.dispose();
    back.dispose();
  });

  test("sequences share the memory of their beginning until one of them writes, and keep their own tokens", () => {
    const random = new Random(57);
    const options = { ...sizes, valueSize: 16, dtype: "float32", isRolling: false } as const;
    using cache = heed().createKvCache(options);
    const model = new CacheModel(options);
    const page = 128 * 2 * (16 + 16) * 4;
    const append = (L: number, counts: number[]) => {
      const shapes = [[2, 4, L, 16], [2, 2, L, 16], [2, 2, L, 16]]; // biome-ignore format: one line
      const [q, k, v] = shapes.map((shape) => random.array(shape));
      model.expectSameStep(heed(), cache, any({ q, k, v, counts }));
    };
    expect(cache.bytes).toBe(0);
    append(128, [128, 0]);
    expect(cache.bytes).toBe(page);
    append(72, [72, 0]);
    expect(cache.bytes).toBe(2 * page);
    cache.share({ from: 0, to: 1, tokens: 190 });
    model.share(0, 1, 190);
    expect(cache.bytes).toBe(2 * page);
    // Both sequences now write to the second page, each after its own number of tokens.
    append(2, [2, 2]);
    expect(cache.bytes).toBe(3 * page);
    append(1, [1, 1]);
    cache.rewind(201, 0);
    model.rewind(0, 201);
    append(5, [5, 5]);
  });

  test("a rolling cache never shows more keys than its capacity", () => {
    heed().scope(() => {
      using cache = heed().createKvCache({ heads: 1, headSize: 1, capacity: 5, isRolling: true });
      const zero = heed().zeros([1, 1, 1, 1]);
      for (let token = 1; token <= 12; ++token) {
        const { weights } = heed().attention(zero, zero, zero, { past: cache, needWeights: true });
        expect(weights.data.filter((weight) => weight !== 0)).toHaveLength(Math.min(token, 5));
        expect(cache.firsts).toEqual([Math.max(0, token - 5)]);
      }
    });
  });

  test("a rolling cache gives the same results for any number of tokens at a time", () => {
    const [L, capacity] = [40, 7];
    const x = inputs(new Random(62), L);
    heed().scope(() => {
      const [q, k, v] = [floats(heed(), x.q), floats(heed(), x.k), floats(heed(), x.v)];
      const window = [capacity - 1, 0] as const;
      const { output } = heed().attention(q, k, v, { isCausal: true, window });
      const whole = { data: output.data.slice(), shape: output.shape };
      for (const step of [1, 3, 6, 7, 8, 25, L]) {
        using cache = heed().createKvCache({ ...sizes, capacity, isRolling: true });
        expect(worstOf(decode(heed(), cache, x, [0, L, step], {}), whole)).toBeLessThan(1e-6);
      }
    });
  });

  test("a rolling cache over a window gives attention over that window, in bounded memory", () => {
    const L = 500;
    const x = inputs(new Random(58), L);
    const options = { ...sizes, capacity: 64, isRolling: true };
    heed().scope(() => {
      const [q, k, v] = [floats(heed(), x.q), floats(heed(), x.k), floats(heed(), x.v)];
      const { output } = heed().attention(q, k, v, { isCausal: true, window: [63, 0] });
      const whole = { data: output.data.slice(), shape: output.shape };
      using cache = heed().createKvCache(options);
      const window: [number, number] = [63, 0];
      expect(worstOf(decode(heed(), cache, x, [0, 10, 10], { window }), whole)).toBeLessThan(1e-6);
      let most = 0;
      for (let from = 10; from < L; from += 30) {
        const step = decode(heed(), cache, x, [from, Math.min(L, from + 30), 1], { window });
        expect(worstOf(step, whole, from)).toBeLessThan(1e-6);
        most = Math.max(most, cache.bytes);
      }
      expect(cache.lengths).toEqual([L, L]);
      expect(cache.firsts).toEqual([L - 64, L - 64]);
      // 64 tokens occupy at most two pages of 128.
      expect(most).toBeLessThanOrEqual(2 * 2 * 128 * 2 * (16 + 16) * 4);
    });
  });

  test("float16 takes half the memory of float32, and int8 about a quarter", () => {
    const { k, v } = inputs(new Random(59), 200);
    const [f32, f16, int8] = dtypes.map((dtype) =>
      heed().scope(() => {
        using cache = heed().createKvCache({ ...sizes, dtype });
        cache.append(floats(heed(), k), floats(heed(), v));
        return cache.bytes;
      }),
    ) as [number, number, number];
    expect(f16).toBe(f32 / 2);
    expect(int8).toBeGreaterThanOrEqual(f32 / 4);
    expect(int8).toBeLessThan(f32 / 2.5);
  });

  test("NaN in a cache reaches only the queries that see it, and a rewind removes it", () => {
    for (const dtype of dtypes) {
      const random = new Random(60);
      const x = inputs(random, 12);
      const spoiled = { ...x, v: { ...x.v, data: x.v.data.slice().fill(Number.NaN) } };
      using cache = heed().createKvCache({ ...sizes, dtype });
      using clean = heed().createKvCache({ ...sizes, dtype });
      for (const each of [cache, clean]) decode(heed(), each, x, [0, 8, 8]);
      const [nan] = decode(heed(), cache, spoiled, [8, 9, 1]);
      expect(Array.from(nan?.data ?? [0]).every(Number.isNaN)).toBe(true);
      // No query beyond the window sees it.
      const behind = decode(heed(), cache, x, [9, 10, 1], { window: [0, 0] });
      expect(Array.from(behind[0]?.data ?? [Number.NaN]).some(Number.isNaN)).toBe(false);
      cache.rewind(2);
      const [again, never] = [cache, clean].map((each) => decode(heed(), each, x, [8, 12, 4]));
      expect(worstOf(any(again), any(never?.[0]))).toBeLessThan(1e-6);
    }
  });
});

describe("a cache", () => {
  const heed = engine({ threads: 1 });
  const small = { heads: 1, headSize: 2, capacity: 4 };

  test("is empty at first: attention over its first tokens is attention over them alone", () => {
    heed().scope(() => {
      using cache = heed().createKvCache(small);
      expect([cache.lengths, cache.firsts, cache.bytes]).toEqual([[0], [0], 0]);
      const x = heed().tensor([[[[1, 2], [3, 4]]]]); // biome-ignore format: one matrix
      const { output } = heed().attention(x, x, x, { past: cache });
      expectSameBits(output.data, heed().attention(x, x, x).output.data);
      expect([cache.lengths, cache.firsts]).toEqual([[2], [0]]);
    });
  });

  test("returns no present, because it holds the present", () => {
    heed().scope(() => {
      using cache = heed().createKvCache(small);
      const x = heed().tensor([[[[1, 2]]]]);
      const result = heed().attention(x, x, x, { past: cache });
      expect([result.presentKey, result.presentValue]).toEqual([undefined, undefined]);
    });
  });

  test("can be filled to the last token, and works after a refusal and a rewind", () => {
    heed().scope(() => {
      using cache = heed().createKvCache(small);
      const x = heed().tensor([[[[1, 2]]]]);
      for (let i = 0; i < 4; ++i) heed().attention(x, x, x, { past: cache });
      const full = refusal(() => heed().attention(x, x, x, { past: cache }));
      expect(full.message).toBe("past: expected room for 1 more tokens in sequence 0, got 0 of 4");
      expect(cache.lengths).toEqual([4]);
      cache.rewind(1);
      heed().attention(x, x, x, { past: cache });
      expect(cache.lengths).toEqual([4]);
    });
  });

  test("accepts counts as a list and as a tensor", () => {
    heed().scope(() => {
      const x = heed().tensor(new Float32Array(12).fill(1), [2, 1, 3, 2]);
      for (const counts of [[3, 1], heed().tensor(Int32Array.of(3, 1))]) {
        using cache = heed().createKvCache({ ...small, batch: 2 });
        cache.append(x, x, counts);
        expect(cache.lengths).toEqual([3, 1]);
        heed().attention(x, x, x, { past: cache, kvLengths: [0, 1] });
        expect(cache.lengths).toEqual([3, 2]);
      }
    });
  });

  test("can be disposed of twice, or by `using`, which frees its memory", async () => {
    const other = await load({ threads: 1, maxMemory: 64 * 2 ** 20 });
    const x = other.tensor(new Float32Array(2 ** 20), [1, 1, 2 ** 14, 64]);
    // Each takes 8 MiB.
    for (let i = 0; i < 20; ++i) {
      using cache = other.createKvCache({ heads: 1, headSize: 64, capacity: 2 ** 14 });
      cache.append(x, x);
      expect(cache.bytes).toBe(8 * 2 ** 20);
      cache.dispose();
    }
    expectWorks(other);
    other.dispose();
  });

  test("is refused after dispose", () => {
    heed().scope(() => {
      const cache = heed().createKvCache(small);
      const x = heed().tensor([[[[1, 2]]]]);
      cache.dispose();
      const uses: (() => unknown)[] = [
        () => cache.lengths,
        () => cache.firsts,
        () => cache.bytes,
        () => cache.append(x, x),
        () => cache.rewind(0),
        () => cache.rewind(0, 0),
        () => cache.share({ from: 0, to: 0, tokens: 0 }),
      ];
      for (const use of uses) {
        const error = refusal(use);
        expect(error.code).toBe("disposed");
        expect(error.message).toBe("cache: expected a live cache, got a disposed one");
      }
      expectWorks(heed());
    });
  });

  test("is refused by other engines, and ends with its own", async () => {
    const other = await load({ threads: 1 });
    const cache = other.createKvCache(small);
    heed().scope(() => {
      const x = heed().tensor([[[[1, 2]]]]);
      const past = refusal(() => heed().attention(x, x, x, { past: cache }));
      expect(past.code).toBe("option");
      expect(past.message).toBe("past: expected a cache of this engine, got one of another");
      expect(refusal(() => cache.append(x, x)).message).toBe(
        "k: expected a tensor of this engine, got one of another",
      );
      expect(cache.lengths).toEqual([0]);
    });
    other.dispose();
    for (const use of [
      () => cache.lengths,
      () => cache.rewind(0),
      () => other.createKvCache(small),
    ])
      expect(refusal(use).message).toBe("engine: expected a live engine, got a disposed one");
    cache.dispose();
  });
});
