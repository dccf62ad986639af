import type { CaptureStage, Tensor, TensorData } from "heed";
import { grad } from "heed/nn";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, variants } from "../engine.js";
import { expectSameBits, expectWorks, Random, upload } from "../values.js";

const stages: readonly CaptureStage[] = ["scores", "masked", "weights"];

describeEngines((heed) => {
  test("gives the Playground's worked example", () => {
    expectWorks(heed());
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
