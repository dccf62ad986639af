// The ways to free tensors, caches, packed weights, block masks and engines other than their own `dispose`.

import { type BlockMask, type KvCache, load, type PackedWeights, type Tensor } from "heed";
import { nn, valueAndGrad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { engine, refusal } from "../engine.js";
import { expectWorks } from "../values.js";

describe("scope", () => {
  const heed = engine({ threads: 1 });

  test("frees the tensors made in it, including results of operations", () => {
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

  test("keeps returned tensors, alone or in arrays and objects", () => {
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

  test("keeps a returned result of an operation", () => {
    const result = heed().scope(() => {
      const x = heed().tensor([[[[1, 2]]]]);
      return heed().attention(x, x, x, { needLse: true });
    });
    expect(result.output.toArray()).toEqual([[[[1, 2]]]]);
    expect(result.lse.isDisposed).toBe(false);
    result.output.dispose();
    result.lse.dispose();
  });

  test("passes the result of an inner scope to the outer one", () => {
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

  test("keeps objects that were made outside", () => {
    using outside = heed().tensor([1]);
    heed().scope(() => heed().softmax(outside).toArray());
    expect(outside.isDisposed).toBe(false);
  });

  test("frees all objects and rethrows the error when the function throws", () => {
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

  const makeAll = (): [KvCache, PackedWeights, BlockMask] => [
    heed().createKvCache({ heads: 1, headSize: 2, capacity: 4 }),
    heed().packWeights(heed().ones([2, 2])),
    heed().blockMask(() => true, { queries: 2, keys: 2 }),
  ];
  const ended = (...all: { isDisposed: boolean }[]) => all.map(({ isDisposed }) => isDisposed);

  test("frees caches, packed weights and block masks too, and keeps those that are returned", () => {
    let lost = makeAll();
    for (const each of lost) each.dispose();
    const kept = heed().scope(() => {
      lost = makeAll();
      return makeAll();
    });
    expect(ended(...lost)).toEqual([true, true, true]);
    expect(ended(...kept)).toEqual([false, false, false]);
    for (const each of kept) each.dispose();
    expect(ended(...kept)).toEqual([true, true, true]);
  });

  test("keeps objects in maps, sets and instances of classes", () => {
    class Inner {
      constructor(readonly tensor: Tensor) {}
    }
    class Holder extends Inner {
      #hidden = heed().tensor([3]);
      readonly parts = new Set([new Inner(heed().tensor([1]))]);
      readonly lookUp = () => this.#hidden;
      get computed(): Tensor {
        throw new Error("a getter ran");
      }
    }
    const [map, holder] = heed().scope(() => {
      const holder = new Holder(heed().tensor([2]));
      Object.defineProperty(holder, "own", {
        get: () => holder.computed,
        enumerable: true,
      });
      return [new Map([[heed().tensor([4]), { deep: [heed().tensor([5])] }]]), holder] as const;
    });
    const [[key, { deep }] = expect.fail()] = [...map];
    const [part = expect.fail()] = [...holder.parts];
    const kept = [key, ...deep, holder.tensor, part.tensor];
    expect(ended(...kept)).toEqual([false, false, false, false]);
    expect(holder.lookUp().isDisposed).toBe(true);
    for (const tensor of kept) tensor.dispose();
  });

  test("keeps objects in cycles and at any depth", () => {
    type Link = { tensor?: Tensor; next?: Link };
    const [ring, chain] = heed().scope(() => {
      const ring: Link = { tensor: heed().tensor([1]) };
      ring.next = { next: ring };
      let chain: Link = { tensor: heed().tensor([2]) };
      for (let depth = 0; depth < 100_000; ++depth) chain = { next: chain };
      return [ring, chain];
    });
    let last = chain;
    while (last.next !== undefined) last = last.next;
    expect(ended(ring?.tensor as Tensor, last?.tensor as Tensor)).toEqual([false, false]);
    ring?.tensor?.dispose();
    last?.tensor?.dispose();
  });

  test("keeps a module with its parameters, and a cache of all layers", () => {
    const { model, cache } = heed().scope(() => {
      const model = new nn.TransformerEncoder(heed(), 4, 2, 2, { dimFeedforward: 4 });
      return { model, cache: model.createCache({ capacity: 3 }) };
    });
    const caches = cache.layers.map(({ selfAttn }) => selfAttn);
    expect(new Set(ended(...model.parameters(), ...caches))).toEqual(new Set([false]));
    model.dispose();
    cache.dispose();
    expect(new Set(ended(...model.parameters(), ...caches))).toEqual(new Set([true]));
  });

  test("keeps objects that `keep` removed from it and from all enclosing scopes", () => {
    let packed: PackedWeights | undefined;
    class Lazy extends nn.Module {
      forward(x: Tensor): Tensor {
        packed ??= this.heed.keep(this.heed.packWeights(this.heed.ones([2, 2])));
        return this.heed.linear(x, packed);
      }
    }
    const model = new Lazy(heed());
    for (let call = 0; call < 2; ++call) {
      const result = heed().scope(() => model.forward(heed().tensor([1, 2])).toArray());
      expect(result).toEqual([3, 3]);
    }
    expect(packed?.isDisposed).toBe(false);
    packed?.dispose();
  });

  test("frees a mask that a gradient needed after the gradient was computed", () => {
    const q = heed().ones([1, 1, 2, 2]);
    let blockMask: BlockMask | undefined;
    const { gradients } = valueAndGrad([q], () =>
      heed().scope(() => {
        blockMask = heed().blockMask(({ q, k }) => k <= q, { queries: 2, keys: 2 });
        return heed().sum(heed().attention(q, q, q, { blockMask }).output);
      }),
    );
    expect(gradients[0]?.shape).toEqual([1, 1, 2, 2]);
    expect(blockMask?.isDisposed).toBe(true);
    for (const tensor of [q, ...gradients]) tensor.dispose();
  });

  test("refuses an async function", () => {
    const error = refusal(() => heed().scope(async () => heed().tensor([1]).toArray()));
    expect(error.code).toBe("option");
    expect(error.message).toBe("scope: expected a function that is not async, got a promise");
  });
});

describe("dispose", () => {
  test("ends an engine: every later use is an error", async () => {
    const heed = await load({ threads: 2 });
    const x = heed.tensor([[[[1]]]]);
    const cache = heed.createKvCache({ heads: 1, headSize: 1, capacity: 2 });
    const mask = heed.blockMask(() => true, { queries: 1, keys: 1 });
    const weights = heed.packWeights(heed.ones([1, 1]));
    heed.dispose();
    heed.dispose();
    expect([x, cache, mask, weights].map(({ isDisposed }) => isDisposed)).not.toContain(false);
    const uses: (() => unknown)[] = [
      () => heed.tensor([1]),
      () => heed.attention(x, x, x),
      () => heed.softmax(x),
      () => heed.selfSimilarity(x),
      () => heed.sinusoidalEncoding(1, 1),
      () => heed.attention(x, x, x, { past: cache }),
      () => heed.attention(x, x, x, { blockMask: mask }),
      () => heed.linear(x, x),
      () => heed.linear(x, weights),
      () => heed.memory(),
      () => x.item(),
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
    for (const each of [x, cache, mask, weights]) each.dispose();
  });

  test("leaves other engines running", async () => {
    const [first, second] = await Promise.all([load({ threads: 2 }), load({ threads: 2 })]);
    first.dispose();
    expectWorks(second);
    second.dispose();
  });
});
