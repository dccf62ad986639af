import type { AttentionOptions, CaptureStage, Tensor, TensorData } from "heed";
import { grad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { expectAsOracle } from "../compare.js";
import { describeEngines, engine, variants } from "../engine.js";
import { expectClose, expectSameBits, expectWorks, Random, sizeOf, upload } from "../values.js";

const stages: readonly CaptureStage[] = ["scores", "masked", "weights"];

describeEngines((heed) => {
  test("gives the Playground's worked example", () => {
    expectWorks(heed());
  });

  test("hides the false entries of a boolean mask", () => {
    heed().scope(() => {
      const q = heed().tensor([[[[1], [1]]]]);
      const k = heed().tensor([[[[0], [0], [0]]]]);
      const v = heed().tensor([[[[1], [2], [4]]]]);
      const mask = heed().tensor([
        [true, true, false],
        [false, false, true],
      ]);
      const { output } = heed().attention(q, k, v, { mask });
      expect(output.toArray()).toEqual([[[[1.5], [4]]]]);
    });
  });

  test("adds a float mask to the scores after the scale", () => {
    heed().scope(() => {
      const q = heed().tensor([[[[4]]]]);
      const k = heed().tensor([[[[1], [0]]]]);
      const mask = heed().tensor([Math.log(3), 2 + Math.log(1)]);
      const { weights, capture } = heed().attention(q, k, k, {
        mask,
        scale: 0.5,
        needWeights: true,
        capture: "masked",
      });
      expectClose(capture, [1, 1, 1, 2], [2 + Math.log(3), 2], 1e-6);
      expectClose(weights, [1, 1, 1, 2], [0.75, 0.25], 1e-6);
    });
  });

  test("broadcasts masks like numpy, on every axis", () => {
    const random = new Random(7);
    const [B, H, L, S] = [2, 3, 4, 5];
    for (let axes = 0; axes < 16; ++axes) {
      const shape = [B, H, L, S].map((size, axis) => ((axes >> axis) & 1 ? 1 : size));
      for (const leading of [0, 1, 2, 3]) {
        const isBool = (axes + leading) % 2 === 0;
        const kept = shape.slice(leading);
        expectAsOracle(heed(), {
          q: random.array([B, H, L, 4]),
          k: random.array([B, H, S, 4]),
          v: random.array([B, H, S, 4]),
          mask: { ...(isBool ? random.bools(kept) : random.array(kept)), isBool },
        });
      }
    }
  });

  test("accepts key lengths as a list and as a tensor", () => {
    const random = new Random(9);
    heed().scope(() => {
      const q = upload(heed(), random.array([3, 2, 4, 8]));
      const k = upload(heed(), random.array([3, 2, 6, 8]));
      const list = heed().attention(q, k, k, { kvLengths: [6, 0, 3] });
      const lengths = heed().tensor(Int32Array.of(6, 0, 3));
      const tensor = heed().attention(q, k, k, { kvLengths: lengths });
      expectSameBits(tensor.output.data, list.output.data);
      expect(lengths.toArray()).toEqual([6, 0, 3]);
      expect(list.output.data.subarray(64, 128).every((x) => x === 0)).toBe(true);
      expect(list.output.data.subarray(128).every((x) => x !== 0)).toBe(true);
    });
  });

  test("returns only the requested results", () => {
    heed().scope(() => {
      const x = heed().tensor([[[[1, 2], [3, 4]]]]); // biome-ignore format: one matrix
      const plain = heed().attention(x, x, x);
      expect(plain.weights).toBeUndefined();
      expect(plain.lse).toBeUndefined();
      expect(plain.capture).toBeUndefined();
      const denied = heed().attention(x, x, x, { needWeights: false, needLse: false, capture: [] });
      expect(denied.weights).toBeUndefined();
      expect(denied.lse).toBeUndefined();
      expect(denied.capture).toEqual({});
    });
  });

  test("returns one captured stage as a tensor, and several under their names", () => {
    heed().scope(() => {
      const random = new Random(11);
      const x = upload(heed(), random.array([1, 2, 5, 4]));
      const all = heed().attention(x, x, x, { isCausal: true, capture: stages });
      expect(Object.keys(all.capture).sort()).toEqual([...stages].sort());
      for (const stage of stages) {
        const one = heed().attention(x, x, x, { isCausal: true, capture: stage });
        expect(one.capture.shape).toEqual([1, 2, 5, 5]);
        expectSameBits(one.capture.data, all.capture[stage].data);
        expect(one.weights).toBeUndefined();
      }
      const two = heed().attention(x, x, x, { capture: ["weights", "scores"] });
      expect(Object.keys(two.capture).sort()).toEqual(["scores", "weights"]);
    });
  });

  test("gives zeros, and -Infinity for lse, to a query that sees no key", () => {
    heed().scope(() => {
      const random = new Random(12);
      const q = upload(heed(), random.array([1, 1, 3, 4]));
      const k = upload(heed(), random.array([1, 1, 4, 4]));
      const hideAll = heed().tensor([false, false, false, false]);
      const minusInfinity = heed().tensor(new Float32Array(4).fill(-Infinity));
      const hidden: AttentionOptions[] = [
        { mask: hideAll },
        { mask: minusInfinity },
        { kvLengths: [0] },
      ];
      for (const options of hidden) {
        const result = heed().attention(q, k, k, {
          ...options,
          needWeights: true,
          needLse: true,
          capture: "masked",
        });
        expect(result.output.data).toEqual(new Float32Array(12));
        expect(result.weights.data).toEqual(new Float32Array(12));
        expect(result.lse.data).toEqual(new Float32Array(3).fill(-Infinity));
        expect(result.capture.data).toEqual(new Float32Array(12).fill(-Infinity));
      }
    });
  });

  test("gives the same bits for any hidden value", () => {
    const random = new Random(18);
    const [L, S, D] = [70, 200, 20];
    const isHidden = (j: number) => j % 3 === 1;
    const hiding = Uint8Array.from({ length: S }, (_, j) => Number(!isHidden(j)));
    // The last query sees the keys that are hidden from the others.
    const fromOthers = Uint8Array.from({ length: L * S }, (_, n) =>
      n < (L - 1) * S ? (hiding[n % S] as number) : 1,
    );
    const inputs = [L, S, S].map((rows) => random.array([1, 1, rows, D]));
    const given = random.array([1, 1, L, D]);
    const run = (poison?: number) =>
      heed().scope(() => {
        const [q, k, v] = inputs.map((x, n) => {
          const tensor = upload(heed(), x);
          for (let i = 0; n > 0 && poison !== undefined && i < tensor.size; ++i)
            if (isHidden(Math.floor(i / D))) tensor.data[i] = poison;
          return tensor;
        }) as [Tensor, Tensor, Tensor];
        const mask = heed().tensor(hiding, [1, S], "bool");
        const { output } = heed().attention(q, k, v, { mask });
        const gradients = grad([q, k, v], () =>
          heed().sum(
            heed().multiply(heed().attention(q, k, v, { mask }).output, upload(heed(), given)),
          ),
        );
        const partly = heed().tensor(fromOthers, [L, S], "bool");
        const { data } = heed().attention(q, k, v, { mask: partly }).output;
        const last = (L - 1) * D;
        expect(data.subarray(last).every(Number.isNaN)).toBe(poison !== undefined);
        return [...[output, ...gradients].map((x) => x.data.slice()), data.slice(0, last)];
      });
    const wanted = run();
    for (const poison of [Number.NaN, Infinity, -Infinity])
      for (const [i, got] of run(poison).entries()) expectSameBits(got, wanted[i] as Float32Array);
  });

  test("never reads the keys beyond a sequence's length", () => {
    const random = new Random(14);
    heed().scope(() => {
      const q = upload(heed(), random.array([1, 1, 2, 4]));
      const k = random.array([1, 1, 6, 4]);
      const clean = heed().attention(q, upload(heed(), k), upload(heed(), k), { kvLengths: [4] });
      k.data.fill(Number.NaN, 16);
      const tail = heed().attention(q, upload(heed(), k), upload(heed(), k), { kvLengths: [4] });
      expectSameBits(tail.output.data, clean.output.data);
    });
  });

  test("stays finite for scores outside the range of exp", () => {
    heed().scope(() => {
      const q = heed().tensor([[[[1000]]]]);
      const k = heed().tensor([[[[1000], [999], [-1000]]]]);
      const v = heed().tensor([[[[1], [2], [3]]]]);
      const { output, weights, lse } = heed().attention(q, k, v, {
        scale: 1,
        needWeights: true,
        needLse: true,
      });
      expect(weights.toArray()).toEqual([[[[1, 0, 0]]]]);
      expect(output.toArray()).toEqual([[[[1]]]]);
      expect(lse.toArray()).toEqual([[[1e6]]]);
    });
  });

  test("accepts sizes of 0", () => {
    heed().scope(() => {
      const empty = (...shape: number[]) => heed().tensor(new Float32Array(sizeOf(shape)), shape);
      const noQueries = heed().attention(empty(1, 2, 0, 4), empty(1, 2, 3, 4), empty(1, 2, 3, 5));
      expect(noQueries.output.shape).toEqual([1, 2, 0, 5]);
      const noBatch = heed().attention(empty(0, 2, 3, 4), empty(0, 2, 3, 4), empty(0, 2, 3, 5));
      expect(noBatch.output.shape).toEqual([0, 2, 3, 5]);
      const noKeys = heed().attention(empty(1, 1, 2, 4), empty(1, 1, 0, 4), empty(1, 1, 0, 2), {
        needLse: true,
      });
      expect(noKeys.output.toArray()).toEqual([[[[0, 0], [0, 0]]]]); // biome-ignore format: one matrix
      expect(noKeys.lse.toArray()).toEqual([[[-Infinity, -Infinity]]]);
    });
  });

  test("leaves its inputs unchanged", () => {
    heed().scope(() => {
      const random = new Random(15);
      const values = [1, 2, 3].map(() => random.array([1, 2, 60, 8]));
      const [q, k, v] = values.map((x) => upload(heed(), x)) as [Tensor, Tensor, Tensor];
      const mask = random.bools([60, 60]);
      const allowed = upload(heed(), mask);
      heed().attention(q, k, v, { mask: allowed, isCausal: true });
      for (const [i, tensor] of [q, k, v].entries()) expect(tensor.data).toEqual(values[i]?.data);
      expect(allowed.data).toEqual(mask.data);
    });
  });
});

describe.each(variants)("the %s binary", (variant) => {
  const one = engine({ variant, threads: 1 });
  const two = engine({ variant, threads: 2 });

  test("gives the same bits with 1 and 2 threads", () => {
    const random = new Random(16);
    const q = random.array([1, 4, 300, 32]);
    const k = random.array([1, 2, 500, 32]);
    const v = random.array([1, 2, 500, 24]);
    const mask = random.bools([300, 500], 0.9);
    const results = [one(), two()].map((heed) =>
      heed.scope(() => {
        const { output, weights, lse } = heed.attention(
          upload(heed, q),
          upload(heed, k),
          upload(heed, v),
          {
            mask: upload(heed, mask),
            isCausal: true,
            window: [200, -1],
            softcap: 3,
            alibiSlopes: [0.1, 0.2, 0.3, 0.4],
            sinks: [1, 2, 3, 4],
            dropout: 0.1,
            needWeights: true,
            needLse: true,
          },
        );
        return [output, weights, lse].map((tensor) => tensor.data.slice());
      }),
    ) as [TensorData[], TensorData[]];
    expect(two().info.threads).toBe(2);
    for (const [i, tensor] of results[0].entries()) expectSameBits(results[1][i], tensor);
  });
});
