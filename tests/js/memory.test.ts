// Engines that may grow to little, asked for more.

import { type Heed, type HeedErrorCode, load, type Tensor } from "heed";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusal } from "./engine.js";
import { expectWorks, sizeOf } from "./values.js";

/** A tensor of zeros of this shape. */
type Make = (...shape: number[]) => Tensor;

describe("more memory than there is", () => {
  const MiB = 2 ** 20;
  let heed: Heed;
  beforeAll(async () => {
    heed = await load({ threads: 2, maxMemory: 64 * MiB });
  });
  afterAll(() => heed.dispose());

  const tooMuch: { what: string; call: (heed: Heed, make: Make) => unknown }[] = [
    { what: "for a tensor", call: (_, t) => t(20 * MiB) },
    { what: "for any tensor at all", call: (h) => h.sinusoidalEncoding(2 ** 31, 8) },
    { what: "for a table", call: (h) => h.sinusoidalEncoding(MiB, 20) },
    { what: "for the result of a product", call: (h, t) => h.linear(t(8192, 1), t(4096, 1)) },
    {
      what: "for the weights of attention",
      call: (h, t) => {
        const x = t(1, 1, 6000, 2);
        return h.attention(x, x, x, { needWeights: true });
      },
    },
    {
      what: "for captured scores",
      call: (h, t) => {
        const x = t(1, 1, 3000, 2);
        return h.attention(x, x, x, { capture: ["scores", "masked"] });
      },
    },
    {
      what: "for the scratch of attention",
      call: (h, t) => h.attention(t(1, 1, 1, 1), t(1, 1, 4 * MiB, 1), t(1, 1, 4 * MiB, 1)),
    },
    {
      what: "for the weights of multi-head attention",
      call: (h, t) => {
        const x = t(1, 3000, 4);
        const parameters = { inProjWeight: t(12, 4), outProjWeight: t(4, 4) };
        return h.multiHeadAttention(x, x, x, parameters, { heads: 2, needWeights: true });
      },
    },
    { what: "for the weights of selfSimilarity", call: (h, t) => h.selfSimilarity(t(1, 5000, 1)) },
    { what: "for a softmax", call: (h, t) => h.softmax(t(9 * MiB)) },
    { what: "for a sum", call: (h, t) => h.add(t(9 * MiB), t(1)) },
    {
      what: "for an embedding",
      call: (h, t) => h.embedding(h.tensor(new Int32Array(MiB)), t(1, 16)),
    },
  ];

  // Twice, because what the first failure left behind would show in the second.
  for (const { what, call } of tooMuch) {
    test(`is an error ${what}, and the engine goes on`, () => {
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

  test("what fits is still there after all that", () => {
    heed.scope(() => {
      const x = heed.tensor(new Float32Array(2 * MiB).fill(1));
      expect(heed.softmax(x).size).toBe(2 * MiB);
    });
  });
});

describe("operations", () => {
  test("give back all that they took but for their results", async () => {
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
      // Each takes more in that many rounds than there is.
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

  test("go on after thousands of refused calls, which leave nothing behind", async () => {
    // An exception that leaves the module must take its part of the module's stack with it.
    const heed = await load({ threads: 1, maxMemory: 16 * 2 ** 20 });
    heed.scope(() => {
      const x = heed.tensor([[1, 2]]);
      const ids = heed.tensor(Int32Array.of(7));
      const refused: [code: HeedErrorCode, call: () => unknown][] = [
        ["shape", () => heed.attention(x, x, x)],
        ["dtype", () => heed.softmax(ids)],
        ["option", () => heed.embedding(ids, x)],
        ["memory", () => heed.sinusoidalEncoding(2 ** 31, 8)],
      ];
      for (const [code, call] of refused)
        for (let round = 0; round < 2000; ++round) expect(refusal(call).code).toBe(code);
      expect(x.toArray()).toEqual([[1, 2]]);
      expect(ids.toArray()).toEqual([7]);
    });
    expectWorks(heed);
    heed.dispose();
  });
});
