// Engines with a small memory limit, with requests that exceed it.

import { type Heed, type HeedErrorCode, type KvCache, load, type Tensor } from "heed";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { refusal } from "../engine.js";
import { expectWorks, sizeOf } from "../values.js";

/** A tensor of zeros of this shape. */
type Make = (...shape: number[]) => Tensor;

describe("a request for more memory than there is", () => {
  const MiB = 2 ** 20;
  let heed: Heed;
  beforeAll(async () => {
    heed = await load({ threads: 2, maxMemory: 64 * MiB });
  });
  afterAll(() => heed.dispose());

  // ops/out_of_memory.test.ts lets each method fail at each of its allocations, without threads.
  const tooMuch: { what: string; call: (heed: Heed, make: Make) => unknown }[] = [
    { what: "for a tensor", call: (_, t) => t(20 * MiB) },
    { what: "for any tensor at all", call: (h) => h.sinusoidalEncoding(2 ** 31, 8) },
    {
      what: "for captured scores",
      call: (h, t) => {
        const x = t(1, 1, 3000, 2);
        return h.attention(x, x, x, { capture: ["scores", "masked"] });
      },
    },
    {
      what: "for the pages of a cache",
      call: (h, t) => {
        using cache = h.createKvCache({ heads: 1, headSize: 512, capacity: MiB });
        const x = t(1, 1, 4096, 512);
        const used = () => [cache.lengths, cache.bytes];
        for (;;) {
          const before = used();
          try {
            cache.append(x, x);
          } catch (error) {
            expect(used()).toEqual(before);
            throw error;
          }
        }
      },
    },
    {
      what: "for a cache's new page within attention",
      call: (h, t) => {
        using cache = h.createKvCache({ heads: 1, headSize: 512, capacity: MiB });
        const x = t(1, 1, 4096, 512);
        const q = t(1, 1, 1, 512);
        for (;;) {
          const before = [cache.lengths, cache.bytes];
          try {
            h.attention(q, x, x, { past: cache });
          } catch (error) {
            expect([cache.lengths, cache.bytes]).toEqual(before);
            throw error;
          }
        }
      },
    },
    {
      what: "for a block mask",
      call: (h, t) => {
        t(12 * MiB);
        return h.blockMask(({ k }) => k % 2 === 0, { queries: 2880, keys: 6400 });
      },
    },
    { what: "for a cast", call: (h, t) => h.cast(t(13 * MiB), "float16") },
    {
      what: "for the scratch of attention",
      call: (h, t) => h.attention(t(1, 1, 1, 1), t(1, 1, 4 * MiB, 1), t(1, 1, 4 * MiB, 1)),
    },
  ];

  // Runs twice, because a leak of the first failure would show in the second.
  for (const { what, call } of tooMuch) {
    test(`is an error ${what}, and the engine stays usable`, () => {
      for (let again = 0; again < 2; ++again) {
        heed.scope(() => {
          const make: Make = (...shape) => heed.tensor(new Float32Array(sizeOf(shape)), shape);
          const error = refusal(() => call(heed, make));
          expect(error.code).toBe("memory");
          expect(error.message).toMatch(/^memory: expected .+, got .+$/);
        });
        expectWorks(heed);
      }
    });
  }

  test("smaller requests still succeed afterwards", () => {
    heed.scope(() => {
      const x = heed.tensor(new Float32Array(2 * MiB).fill(1));
      expect(heed.softmax(x).size).toBe(2 * MiB);
    });
  });
});

/** Creates tensors of these sizes in bytes, each until there is no room for another. */
function exhaust(heed: Heed, ...sizes: number[]): Tensor[] {
  const made: Tensor[] = [];
  for (const bytes of sizes) {
    const error = refusal(() => {
      for (;;) made.push(heed.tensor(new Float32Array(bytes / 4)));
    });
    expect(error.code).toBe("memory");
  }
  return made;
}

/** Allocates all memory except `spare` bytes and about 64 KiB, so that a leak soon shows. */
function fill(heed: Heed, spare: number): void {
  const ballast = exhaust(heed, 2 ** 20, 2 ** 16);
  let freed = 0;
  for (const tensor of ballast.filter(({ size }) => size === 2 ** 14)) {
    if (freed >= spare) break;
    freed += 4 * tensor.size;
    tensor.dispose();
  }
  expect(freed).toBe(spare);
}

test("a full memory refuses even the smallest tensor", async () => {
  const heed = await load({ threads: 1, maxMemory: 16 * 2 ** 20 });
  for (const tensor of exhaust(heed, 2 ** 20, 2 ** 16, 2 ** 12, 2 ** 8, 4)) tensor.dispose();
  expectWorks(heed);
  heed.dispose();
});

describe("an engine with 256 KiB left", () => {
  const spare = 2 ** 18;
  /** With this many rounds, a leak of nine bytes per round exceeds the memory. */
  const rounds = 40_000;
  let heed: Heed;
  beforeEach(async () => {
    heed = await load({ threads: 1, maxMemory: 16 * 2 ** 20 });
  });
  afterEach(() => heed.dispose());

  test("runs out of memory if a loop leaks", () => {
    fill(heed, spare);
    const leak = () => heed.tensor([1]);
    const error = refusal(() => {
      for (let round = 0; round < rounds; ++round) leak();
    });
    expect(error.code).toBe("memory");
  });

  test("decodes without a leak with a cache that is rewound, and with one that rolls", () => {
    const q = heed.tensor(new Float32Array(16).fill(1), [1, 2, 1, 8]);
    const k = heed.tensor(new Float32Array(8).fill(1), [1, 1, 1, 8]);
    const cache = heed.createKvCache({ heads: 1, headSize: 8, capacity: 200 });
    const rolling = heed.createKvCache({ heads: 1, headSize: 8, capacity: 130, isRolling: true });
    const step = (past: KvCache) =>
      heed.scope(
        () => heed.attention(q, k, k, { past, isCausal: true, needLse: true }).output.size,
      );
    for (let i = 0; i < 200; ++i) step(cache);
    for (let i = 0; i < 400; ++i) step(rolling);
    fill(heed, spare);
    for (let round = 0; round < rounds / 2; ++round) {
      cache.rewind(round % 200 === 0 ? 199 : 1);
      while ((cache.lengths[0] as number) < 200 && round % 200 === 0) step(cache);
      if (round % 200 !== 0) step(cache);
      step(rolling);
    }
    expect(cache.lengths).toEqual([200]);
    expect(rolling.lengths[0]).toBe(400 + rounds / 2);
  });

  test("attends with all options, and makes caches and masks, without a leak", () => {
    const x = heed.tensor(new Float32Array(8).fill(1), [1, 2, 2, 2]);
    const bias = heed.tensor(new Float32Array(4), [2, 2]);
    const half = heed.cast(x, "float16");
    const packed = heed.tensor(new Float32Array(8), [2, 2, 2]);
    const past = { key: x, value: x };
    const part = { output: x, lse: heed.tensor(new Float32Array(4), [1, 2, 2]) };
    const calls: (() => unknown)[] = [
      () =>
        heed.attention(x, x, x, {
          ...{ causalOffset: [1], window: [1, 1], softcap: 2, dropout: 0.1, seed: 3 },
          ...{ kvLengths: [1], bias, alibiSlopes: [1, 2], sinks: [1, 2], needWeights: true },
          ...{ needLse: true, capture: ["scores", "capped", "masked", "entropy"] },
        } as const),
      () => heed.attention(x, x, x, { past }),
      () => heed.attention(half, half, half, { needLse: true }),
      () => heed.attention(packed, packed, packed, { cuSeqlens: [0, 1, 2] }),
      () => heed.mergeAttention(part, part),
      () => heed.linearAttention(x, x, x, { pastState: x }),
      () => heed.rope(x, { offset: 3 }),
      () => heed.cast(half, "bfloat16"),
      () => {
        using cache = heed.createKvCache({ heads: 2, headSize: 2, capacity: 2 });
        cache.append(x, x, [1]);
      },
      () => {
        using blockMask = heed.blockMask(({ q, k }) => q !== k, { queries: 2, keys: 2 });
        heed.attention(x, x, x, { blockMask });
      },
    ];
    fill(heed, spare);
    for (const call of calls) {
      for (let round = 0; round < rounds / 8; ++round) {
        heed.scope(() => void call());
      }
    }
  });

  test("refuses calls without a leak", () => {
    const x = heed.tensor(new Float32Array(8).fill(1), [1, 2, 2, 2]);
    const packed = heed.tensor(new Float32Array(8), [2, 2, 2]);
    const ids = heed.tensor(Int32Array.of(7));
    const table = heed.tensor([[1, 2]]);
    using cache = heed.createKvCache({ heads: 2, headSize: 2, capacity: 3 });
    cache.append(x, x);
    // An exception that leaves the module must free its part of the module's stack, too.
    const refused: [code: HeedErrorCode, call: () => unknown][] = [
      ["option", () => heed.attention(x, x, x, { past: cache })],
      ["shape", () => heed.attention(x, x, x, { past: cache, kvLengths: [1], sinks: [1] })],
      ["option", () => heed.attention(x, x, x, { bias: x, mask: x })],
      ["option", () => heed.attention(packed, packed, packed, { cuSeqlens: [0, 1] })],
      ["shape", () => heed.attention(x, x, x, { kvLengths: [1, 2], alibiSlopes: [1, 2] })],
      ["option", () => cache.rewind(3)],
      ["option", () => cache.share({ from: 0, to: 0, tokens: 3 })],
      ["shape", () => cache.append(packed, x, [1])],
      ["shape", () => heed.linearAttention(x, x, x, { pastState: packed })],
      ["option", () => heed.rope(x, { rotarySize: 8 })],
      ["option", () => heed.blockMask(() => 1 as never, { queries: 2, keys: 2 })],
      ["shape", () => heed.mergeAttention({ output: x, lse: x }, { output: x, lse: x })],
      ["dtype", () => heed.softmax(ids)],
      ["option", () => heed.embedding(ids, table)],
      ["memory", () => heed.sinusoidalEncoding(2 ** 31, 8)],
    ];
    fill(heed, spare);
    for (const [code, call] of refused)
      for (let round = 0; round < rounds / 8; ++round)
        if (refusal(call).code !== code) expect(refusal(call).code).toBe(code);
    expect(cache.lengths).toEqual([2]);
    expect(x.data).toEqual(new Float32Array(8).fill(1));
    expect(ids.toArray()).toEqual([7]);
    expectWorks(heed);
  });
});

describe("operations", () => {
  test("free everything but their results", async () => {
    const heed = await load({ threads: 2, maxMemory: 16 * 2 ** 20 });
    heed.scope(() => {
      const make: Make = (...shape) => heed.tensor(new Float32Array(sizeOf(shape)), shape);
      const batch = 1000;
      const small = make(batch, 1, 1, 1);
      const kvLengths = new Array<number>(batch).fill(1);
      const [x, weight] = [make(1, 512, 4), make(4, 4)];
      const parameters = { qProjWeight: weight, kProjWeight: weight, vProjWeight: weight };
      const all = { ...parameters, outProjWeight: weight };
      const mean = { heads: 2, needWeights: true, averageWeights: true };
      const heads = heed.tensor(new Float32Array(2048), [1, 1, 512, 4]);
      // In that many rounds, each call allocates more memory than there is.
      const calls: [rounds: number, call: () => unknown][] = [
        [4000, () => heed.attention(small, small, small, { kvLengths })],
        [4000, () => refusal(() => heed.attention(small, small, weight, { kvLengths }))],
        [50, () => heed.attention(heads, heads, heads, { needWeights: true })],
        [50, () => heed.attention(heads, heads, heads, { capture: ["scores", "masked"] })],
        [50, () => heed.multiHeadAttention(x, x, x, all, { heads: 2, needWeights: true })],
        [50, () => heed.multiHeadAttention(x, x, x, all, mean)],
        [50, () => heed.selfSimilarity(x)],
        [50, () => heed.sinusoidalEncoding(50_000, 8)],
      ];
      for (const [rounds, call] of calls)
        for (let round = 0; round < rounds; ++round) heed.scope(() => void call());
    });
    expectWorks(heed);
    heed.dispose();
  });
});

describe("memory()", () => {
  const KiB = 2 ** 10;
  let heed: Heed;
  beforeEach(async () => {
    heed = await load({ threads: 1 });
  });
  afterEach(() => heed.dispose());

  const none = { count: 0, bytes: 0 };

  test("reports no objects at first, and none after all are freed", () => {
    const { size, used, ...held } = heed.memory();
    expect(held).toEqual({ tensors: none, caches: none, packedWeights: none, blockMasks: none });
    expect(size).toBeGreaterThanOrEqual(16 * 2 ** 20);
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThan(size);
    heed.scope(() => {
      const x = heed.ones([1, 1, 128, 16]);
      heed.createKvCache({ heads: 1, headSize: 16, capacity: 256 }).append(x, x);
      const blockMask = heed.blockMask(({ q, k }) => k <= q, { queries: 128, keys: 128 });
      heed.attention(x, x, x, { blockMask, needWeights: true });
      heed.linear(x, heed.packWeights(heed.ones([16, 16])));
      expect(Object.values(heed.memory()).every((part) => part !== none)).toBe(true);
    });
    const { size: _, used: __, ...after } = heed.memory();
    expect(after).toEqual({ tensors: none, caches: none, packedWeights: none, blockMasks: none });
  });

  test("counts tensors, and the bytes of their elements in lines of 64", () => {
    const before = heed.memory().used;
    const large = heed.ones([256, KiB]);
    expect(heed.memory().tensors).toEqual({ count: 1, bytes: KiB * KiB });
    expect(heed.memory().used - before).toBeGreaterThanOrEqual(KiB * KiB);
    expect(heed.memory().used - before).toBeLessThan(KiB * KiB + KiB);
    heed.tensor([true]);
    expect(heed.memory().tensors).toEqual({ count: 2, bytes: KiB * KiB + 64 });
    large.dispose();
    large.dispose();
    expect(heed.memory().tensors).toEqual({ count: 1, bytes: 64 });
  });

  test("counts memory that tensors share once, until the last of them is freed", () => {
    const x = heed.ones([16, 16]);
    const flat = heed.reshape(x, [256]);
    const [first] = heed.split(x, 4);
    expect(heed.memory().tensors).toEqual({ count: 6, bytes: KiB });
    x.dispose();
    flat.dispose();
    expect(heed.memory().tensors.bytes).toBe(KiB);
    expect(first?.toArray()).toHaveLength(4);
  });

  test("reports the sizes that caches, packed weights and block masks report themselves", () => {
    const x = heed.ones([1, 2, 3, 8]);
    const caches = [1, 2].map(() => heed.createKvCache({ heads: 2, headSize: 8, capacity: 300 }));
    expect(heed.memory().caches).toEqual({ count: 2, bytes: 0 });
    caches[0]?.append(x, x);
    expect(heed.memory().caches).toEqual({ count: 2, bytes: caches[0]?.bytes });
    const packed = heed.packWeights(heed.ones([32, 32]));
    expect(heed.memory().packedWeights).toEqual({ count: 1, bytes: packed.bytes });
    const { tensors } = heed.memory();
    heed.blockMask(({ q, k }) => q !== k, { queries: 48, keys: 256 });
    // Two blocks of bits, and 64 bytes for the kinds of blocks. They no longer count as tensors.
    expect(heed.memory().blockMasks).toEqual({ count: 1, bytes: 48 * 128 + 64 });
    expect(heed.memory().tensors).toEqual(tensors);
    caches[0]?.dispose();
    packed.dispose();
    expect(heed.memory().caches).toEqual({ count: 1, bytes: 0 });
    expect(heed.memory().packedWeights).toEqual(none);
  });

  test("is correct after refused calls", () => {
    const x = heed.ones([2, 2]);
    const { tensors, blockMasks } = heed.memory();
    refusal(() => heed.attention(x, x, x));
    refusal(() => heed.zeros([2 ** 30]));
    refusal(() => heed.packWeights(heed.reshape(x, [4])));
    refusal(() =>
      heed.blockMask(
        () => {
          throw new Error("mine");
        },
        { queries: 1, keys: 1 },
      ),
    );
    expect(heed.memory().tensors).toEqual({ ...tensors, count: tensors.count + 1 });
    expect(heed.memory().blockMasks).toEqual(blockMasks);
  });
});
