// What ends the life of tensors and engines, but for a tensor's own dispose.

import { load, type Tensor } from "heed";
import { describe, expect, test } from "vitest";
import { engine, refusal } from "./engine.js";
import { expectWorks } from "./values.js";

describe("scope", () => {
  const heed = engine({ threads: 1 });

  test("frees the tensors made in it, results of operations and all", () => {
    const made: Tensor[] = [];
    const result = heed().scope(() => {
      const x = heed().tensor([[[[1, 2]]]]);
      const { output, weights, lse, capture } = heed().attention(x, x, x, {
        needWeights: true,
        needLse: true,
        capture: ["scores", "weights"],
      });
      made.push(x, output, weights, lse, capture.scores, capture.weights, heed().softmax(x));
      return 5;
    });
    expect(result).toBe(5);
    expect(made.map((tensor) => tensor.isDisposed)).toEqual(made.map(() => true));
  });

  test("keeps what is returned, alone or in arrays and objects", () => {
    const { list, deep, alone, lost } = heed().scope(() => {
      const make = () => heed().tensor([1]);
      const dropped = make();
      return {
        list: [make(), make()],
        deep: { er: { still: make() } },
        alone: make(),
        lost: () => dropped,
      };
    });
    const kept = [...list, deep.er.still, alone];
    expect(kept.map((tensor) => tensor.isDisposed)).toEqual([false, false, false, false]);
    expect(lost().isDisposed).toBe(true);
    for (const tensor of kept) tensor.dispose();
    const single = heed().scope(() => heed().tensor([2]));
    expect(single.toArray()).toEqual([2]);
    single.dispose();
  });

  test("keeps a whole result of an operation", () => {
    const result = heed().scope(() => {
      const x = heed().tensor([[[[1, 2]]]]);
      return heed().attention(x, x, x, { needLse: true });
    });
    expect(result.output.toArray()).toEqual([[[[1, 2]]]]);
    expect(result.lse.isDisposed).toBe(false);
    result.output.dispose();
    result.lse.dispose();
  });

  test("hands what an inner scope returns over to the outer one", () => {
    const seen: Tensor[] = [];
    const outer = heed().scope(() => {
      const [inner, returned] = heed().scope(() => {
        seen.push(heed().tensor([1]));
        return [heed().tensor([2]), heed().tensor([3])] as const;
      });
      expect(seen[0]?.isDisposed).toBe(true);
      expect(inner.isDisposed).toBe(false);
      seen.push(inner);
      return returned;
    });
    expect(seen[1]?.isDisposed).toBe(true);
    expect(outer.toArray()).toEqual([3]);
    outer.dispose();
  });

  test("leaves alone what was made outside", () => {
    using outside = heed().tensor([1]);
    heed().scope(() => heed().softmax(outside).toArray());
    expect(outside.isDisposed).toBe(false);
  });

  test("frees all and passes the error on when the function throws", () => {
    let made: Tensor | undefined;
    const run = () =>
      heed().scope(() => {
        made = heed().tensor([1]);
        throw new RangeError("mine");
      });
    expect(run).toThrow(new RangeError("mine"));
    expect(made?.isDisposed).toBe(true);
    const after = heed().tensor([1]);
    expect(after.isDisposed).toBe(false);
    after.dispose();
  });

  test("refuses an async function", () => {
    const error = refusal(() => heed().scope(async () => heed().tensor([1]).toArray()));
    expect(error.code).toBe("option");
    expect(error.message).toBe("scope: expected a function that is not async, got a promise");
  });
});

describe("dispose", () => {
  test("ends an engine: every use after it is an error", async () => {
    const heed = await load({ threads: 2 });
    const x = heed.tensor([[[[1]]]]);
    const cache = heed.createKvCache({ heads: 1, headSize: 1, capacity: 2 });
    const mask = heed.blockMask(() => true, { queries: 1, keys: 1 });
    heed.dispose();
    heed.dispose();
    const uses: (() => unknown)[] = [
      () => heed.tensor([1]),
      () => heed.attention(x, x, x),
      () => heed.softmax(x),
      () => heed.selfSimilarity(x),
      () => heed.sinusoidalEncoding(1, 1),
      () => heed.attention(x, x, x, { past: cache }),
      () => heed.attention(x, x, x, { blockMask: mask }),
      () => heed.linear(x, x),
      () => heed.packWeights(x),
      () => heed.linearAttention(x, x, x),
      () => heed.mergeAttention({ output: x, lse: x }, { output: x, lse: x }),
      () => heed.rope(x),
      () => heed.cast(x, "float16"),
      () => heed.createKvCache({ heads: 1, headSize: 1, capacity: 1 }),
      () => heed.blockMask(() => true, { queries: 1, keys: 1 }),
      () => cache.bytes,
      () => cache.append(x, x),
      () => x.data,
      () => x.toArray(),
    ];
    for (const use of uses) expect(refusal(use).code).toBe("disposed");
    x.dispose();
    cache.dispose();
    mask.dispose();
  });

  test("leaves other engines running", async () => {
    const [first, second] = await Promise.all([load({ threads: 2 }), load({ threads: 2 })]);
    first.dispose();
    expectWorks(second);
    second.dispose();
  });
});
