// Tests the properties of caches, their arguments and their refusals. The random calls of right_calls.test.ts decode with them.

import { load } from "heed";
import { describe, expect, test } from "vitest";
import { floats } from "../compare.js";
import { describeEngines, engine, refusal } from "../engine.js";
import { expectSameBits, expectWorks, Random } from "../values.js";

describeEngines((heed) => {
  test("NaN in a query of a decode step reaches its output and lse, with a sink too", () => {
    const random = new Random(11);
    for (const length of [5, 513, 700]) {
      const cache = heed().createKvCache({ heads: 1, headSize: 8, capacity: length });
      const keys = floats(heed(), random.array([1, 1, length, 8]));
      heed().attention(floats(heed(), random.array([1, 1, 1, 8])), keys, keys, { past: cache });
      const query = heed().tensor([[[[1, 2, Number.NaN, 4, 5, 6, 7, 8]]]]);
      const none = heed().zeros([1, 1, 0, 8]);
      for (const sinks of [undefined, heed().tensor([0])]) {
        const options = { past: cache, needLse: true, ...(sinks && { sinks }) } as const;
        const { output, lse } = heed().attention(query, none, none, options);
        expect([...output.data, ...lse.data].every(Number.isNaN), `${length} keys`).toBe(true);
      }
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
