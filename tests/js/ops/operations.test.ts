import type { Heed, Tensor, TensorData } from "heed";
import { describe, expect, test } from "vitest";
import { describeEngines, engine, variants } from "../engine.js";
import { activations } from "../operations/layers.js";
import { made } from "../operations/operation.js";
import { entriesOf, operations } from "../operations/table.js";
import { expectSameBits, Random, upload } from "../values.js";

describeEngines((heed) => {
  for (const [title, [call, result]] of entriesOf("results"))
    test(`${title} gives what is computed by hand`, () => {
      expect(heed().scope(() => call(heed()).toArray())).toEqual(result);
    });

  test.each(entriesOf("calls"))("%s leaves its inputs unchanged", (_, [taken, call]) => {
    const random = new Random(52);
    heed().scope(() => {
      const inputs = Object.entries(taken).map(([name, one]) => [name, made(heed(), one)] as const);
      for (const [, { data, dtype, shape }] of inputs)
        if (dtype === "float32") data.set(random.array(shape).data);
      const before = inputs.map(([, { data }]) => data.slice());
      call(heed(), Object.fromEntries(inputs));
      for (const [i, [, { data }]] of inputs.entries())
        expectSameBits(data, before[i] as TensorData);
    });
  });

  test("fromTorchMask turns true where a key may not be seen into true where it may", () => {
    heed().scope(() => {
      const torch = heed().tensor([
        [true, false, false],
        [false, true, false],
      ]);
      const mask = heed().fromTorchMask(torch);
      expect(mask.dtype).toBe("bool");
      expect(mask.toArray()).toEqual([
        [false, true, true],
        [true, false, true],
      ]);
      expect(heed().fromTorchMask(mask).toArray()).toEqual(torch.toArray());
    });
  });
});

describe("the table of operations", () => {
  const heed = engine({ threads: 1 });
  /** Methods that make an object which is no tensor, or that compute nothing. */
  const others = ["constructor", "blockMask", "createKvCache", "fromTorchMask"];

  test("has a row for each operation, and no other", () => {
    const printed = Object.getPrototypeOf(Object.getPrototypeOf(heed()));
    const methods = Object.getOwnPropertyNames(printed).filter((name) => !others.includes(name));
    expect(Object.keys(operations).sort()).toEqual(methods.sort());
  });

  test("has gradients, or says that there are none, where a float32 tensor goes in and comes out", () => {
    const silent = Object.values(operations).filter(
      ({ gradients }) => gradients !== "none" && Object.keys(gradients).length === 0,
    );
    heed().scope(() => {
      for (const [taken, call] of silent.flatMap(({ calls }) => Object.values(calls))) {
        if (Object.keys(taken).length === 0) continue;
        const given = Object.entries(taken).map(([name, tensor]) => [name, made(heed(), tensor)]);
        const result = call(heed(), Object.fromEntries(given)) as Partial<Tensor>;
        expect(result.dtype).not.toBe("float32");
      }
    });
  });

  test("has titles that begin with the operation's name", () => {
    for (const [name, operation] of Object.entries(operations)) {
      const { calls, gradients, keepsShape, ofNothing, anyRank, results } = operation;
      const rows = { ...calls, ...keepsShape, ...ofNothing, ...anyRank, ...results };
      const titles = Object.keys(gradients === "none" ? rows : { ...rows, ...gradients });
      const names = name === "activate" ? [name, ...activations] : [name];
      for (const title of titles) expect(names).toContain(title.split(/[ ,]/)[0]);
    }
  });
});

describe.each(variants)("the %s binary", (variant) => {
  const one = engine({ variant, threads: 1 });
  const two = engine({ variant, threads: 2 });

  test("gives the same bits with 1 and 2 threads in large operations", () => {
    const random = new Random(61);
    const x = random.array([2, 100, 64]);
    const weights = [random.array([192, 64]), random.array([64, 64])] as const;
    const large = random.array([500, 700], 10);
    const results = [one(), two()].map((heed: Heed): TensorData[] =>
      heed.scope(() => {
        const t = upload(heed, x);
        const [inProjWeight, outProjWeight] = [upload(heed, weights[0]), upload(heed, weights[1])];
        const parameters = { inProjWeight, outProjWeight };
        return [
          heed.multiHeadAttention(t, t, t, parameters, { heads: 4, isCausal: true }).output,
          heed.linear(t, inProjWeight),
          heed.softmax(upload(heed, large)),
          heed.selfSimilarity(t).output,
        ].map((tensor) => tensor.data.slice());
      }),
    ) as [TensorData[], TensorData[]];
    for (const [i, tensor] of results[0].entries()) expectSameBits(results[1][i], tensor);
  });
});
