// heed/worker: the engine in a worker. Operations, objects, arrays, errors, the end of the worker.
// worker_cancel.test.ts tests cancelling.

import { load, type Tensor } from "heed";
import { loadInWorker, type RemoteHeed, type RemoteTensor, type WorkerLike } from "heed/worker";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isNode, refusalOf } from "../engine.js";
import { any } from "../refusals/case.js";
import { newNodeWorker, newTestWorker, numbers } from "../workers.js";

/** An engine as JavaScript sees it. */
interface Loose {
  foo(): Promise<void>;
  valueOf(): Promise<void>;
  blockMask(visible: unknown): Promise<void>;
}

describe("An engine in a worker", () => {
  let heed: RemoteHeed;
  beforeAll(async () => {
    heed = await loadInWorker({ threads: 2 });
  });
  afterAll(() => heed?.dispose());

  test("tells what was loaded", () => {
    expect(heed.info.version).toBe("0.1.0");
    expect(heed.info.threads).toBe(2);
    expect(heed.isInterruptible).toBe(isNode || globalThis.crossOriginIsolated);
  });

  test("computes the same numbers as load()", async () => {
    const own = await load({ threads: 2, variant: heed.info.variant });
    const shape = [2, 4, 33, 16];
    const data = [1, 2, 3].map((seed) => numbers(2 * 4 * 33 * 16, seed));
    const abc = data.map((each) => own.tensor(each, shape));
    const want = own.attention(...(abc as [Tensor, Tensor, Tensor]), {
      isCausal: true,
      needWeights: true,
    });
    const sent = await Promise.all(data.map((each) => heed.tensor(each, shape)));
    const got = await heed.attention(...(sent as [RemoteTensor, RemoteTensor, RemoteTensor]), {
      isCausal: true,
      needWeights: true,
    });
    expect(got.output.shape).toEqual(shape);
    expect(await got.output.data).toEqual(want.output.data.slice());
    expect(await got.weights.data).toEqual(want.weights.data.slice());
    expect(got.lse).toBeUndefined();
    own.dispose();
  });

  test("sends options with tensors, lists and booleans, and returns lists", async () => {
    const x = await heed.tensor(numbers(12), [4, 3]);
    const parts = await heed.split(x, [1, 3]);
    expect(parts.map(({ shape }) => shape)).toEqual([
      [1, 3],
      [3, 3],
    ]);
    const bias = await heed.tensor([1, 2]);
    const y = await heed.linear(x, await heed.ones([2, 3]), { bias, activation: "relu" });
    expect(y.shape).toEqual([4, 2]);
    const { values, indices } = await heed.topK(x, 1);
    expect([values.dtype, indices.dtype]).toEqual(["float32", "int32"]);
  });

  test("names a tensor with its type, shape and size, and reads it in all ways", async () => {
    const x = await heed.tensor([[1, 2, 3]], undefined, "int32");
    expect([x.dtype, x.shape, x.size]).toEqual(["int32", [1, 3], 3]);
    expect(await x.data).toEqual(Int32Array.of(1, 2, 3));
    expect(await x.toArray()).toEqual([[1, 2, 3]]);
    expect(await (await heed.sum(await heed.tensor([1, 2]))).item()).toBe(3);
    expect(String(x)).toBe("RemoteTensor(int32, [1, 3])");
    let isRead = false;
    const read = x.data.finally(() => {
      isRead = true;
    });
    expect([(await read).length, isRead]).toEqual([3, true]);
    x.dispose();
    expect(await x.data.catch(({ code }) => code)).toBe("disposed");
    const mask = await heed.tensor([true, false]);
    expect(await mask.toArray()).toEqual([true, false]);
  });

  test("what is read belongs to the page: writing to it changes nothing in the worker", async () => {
    const x = await heed.tensor([1, 2]);
    const first = await x.data;
    first[0] = 100;
    expect(await x.data).toEqual(Float32Array.of(1, 2));
    expect(first.buffer).toBeInstanceOf(ArrayBuffer);
  });

  test("copies arrays by default, and moves their buffers if asked to", async () => {
    const copied = numbers(8);
    await heed.tensor(copied, [8]);
    expect(copied.length).toBe(8);
    const moved = numbers(8);
    const x = await heed.tensor(moved, [8], undefined, { transfer: [moved.buffer] });
    expect(moved.length).toBe(0);
    expect(await x.data).toEqual(numbers(8));
  });

  test("keeps a cache, packed weights and their properties in the worker", async () => {
    const cache = await heed.createKvCache({ heads: 2, headSize: 8, capacity: 16 });
    const x = await heed.tensor(numbers(2 * 3 * 8), [1, 2, 3, 8]);
    await heed.attention(x, x, x, { past: cache, isCausal: true });
    expect(await cache.lengths).toEqual([3]);
    await cache.rewind(1);
    expect(await cache.lengths).toEqual([2]);
    const packed = await heed.packWeights(await heed.ones([4, 8]), { format: "int8" });
    const y = await heed.linear(await heed.ones([1, 8]), packed);
    expect(Array.from(await y.data)).toEqual([8, 8, 8, 8]);
  });

  test("errors arrive with their code and the argument's name", async () => {
    const x = await heed.tensor(numbers(8), [2, 4]);
    const shape = await refusalOf(heed.attention(x, x, x));
    expect(shape.code).toBe("shape");
    expect(shape.message).toBe("q: expected rank 3 or 4, got [2, 4]");
    const option = await refusalOf(heed.attention(x, x, x, { scale: "large" as never }));
    expect([option.code, option.message.slice(0, 16)]).toEqual(["option", "scale: expected "]);
    const dtype = await refusalOf(heed.softmax(3 as never));
    expect(dtype.message).toBe("x: expected a tensor, got 3");
    const name = await refusalOf(any<Loose>(heed).foo());
    expect([name.code, name.message]).toEqual([
      "option",
      "foo: expected a function, got undefined",
    ]);
  });

  test("refuses what a message cannot carry", async () => {
    const { blockMask } = any<Loose>(heed);
    expect((await refusalOf(blockMask(() => true))).code).toBe("unsupported");
    class Strange {
      constructor(readonly run = () => 1) {}
    }
    const strange = await refusalOf(heed.softmax(new Strange() as never));
    expect(strange.code).toBe("option");
    expect(strange.message).toMatch(
      /^softmax: expected arguments that can be sent to a worker, got /,
    );
    const x = await heed.ones([2]);
    const other = await loadInWorker({ threads: 1 });
    expect((await refusalOf(other.softmax(x))).message).toBe(
      "argument: expected an object of this worker, got one of another",
    );
    other.dispose();
    const inherited = await refusalOf(any<Loose>(heed).valueOf());
    expect(inherited.code).toBe("option");
  });

  test("a disposed tensor is refused by its argument's name", async () => {
    const x = await heed.ones([2]);
    const sum = heed.add(x, 1);
    x.dispose();
    expect(x.isDisposed).toBe(true);
    expect(Array.from(await (await sum).data)).toEqual([2, 2]);
    const error = await refusalOf(heed.softmax(x));
    expect([error.code, error.message]).toEqual([
      "disposed",
      "x: expected a live tensor, got a disposed one",
    ]);
  });

  test("calls are answered in their order, however many are made at once", async () => {
    const x = await heed.ones([4]);
    const all = await Promise.all(Array.from({ length: 200 }, (_, i) => heed.multiply(x, i)));
    const sums = await Promise.all(
      all.map(async (each) => (await (await heed.sum(each)).item()) as number),
    );
    expect(sums).toEqual(Array.from({ length: 200 }, (_, i) => 4 * i));
  });

  test("a scope frees what its calls returned, except its result", async () => {
    const heed = await loadInWorker({ threads: 1 });
    const outside = await heed.ones([4, 4]);
    const before = (await heed.memory()).tensors.count;
    const kept = await heed.scope(async (scoped) => {
      const x = await scoped.normal([4, 4], { seed: 1 });
      const y = await heed.add(x, 1); // belongs to the scope of x
      const z = await scoped.matmul(outside, y);
      const inner = await scoped.scope(async (nested) => [
        await nested.add(z, 1),
        await nested.ones([1]),
      ]);
      expect((await heed.memory()).tensors.count).toBe(before + 5);
      return { best: inner[0], others: [z] };
    });
    expect((await heed.memory()).tensors.count).toBe(before + 2);
    expect(kept.best?.isDisposed).toBe(false);
    expect(outside.isDisposed).toBe(false);
    await expect(
      heed.scope(async (scoped) => {
        await scoped.ones([3]);
        throw new Error("fails");
      }),
    ).rejects.toThrow("fails");
    expect((await heed.memory()).tensors.count).toBe(before + 2);
    heed.dispose();
  });
});

describe("A worker that ends", () => {
  test("rejects what is pending and what comes, until it is started again", async () => {
    const heed = await loadInWorker({ threads: 1 });
    const x = await heed.normal([1, 8, 2048, 64], { seed: 1 });
    const running = refusalOf(heed.attention(x, x, x));
    const waiting = refusalOf(heed.add(x, 1));
    heed.dispose();
    expect((await running).code).toBe("worker");
    expect((await waiting).message).toContain("dispose() was called");
    expect(x.isDisposed).toBe(true);
    expect((await refusalOf(heed.ones([1]))).code).toBe("worker");
    await heed.restart();
    const y = await heed.ones([2]);
    expect(Array.from(await y.data)).toEqual([1, 1]);
    expect((await refusalOf(heed.add(y, x))).code).toBe("disposed");
    expect((await heed.memory()).tensors.count).toBe(1);
    heed.dispose();
  });

  test("leaves its memory to the next, also in a browser with room for 16 engines", async () => {
    const heed = await loadInWorker({ threads: 1, warmUp: false });
    for (let turn = 0; turn < 20; ++turn) {
      await heed.restart();
      // While the browser ends the last workers, there may be less.
      if (heed.info.reason !== null) expect(heed.info.reason).toMatch(/^at most (2048|1024) MiB/);
    }
    heed.dispose();
  });

  test("is noticed when somebody else terminates it", async () => {
    let worker: WorkerLike | undefined;
    const heed = await loadInWorker({
      threads: 1,
      worker: () => {
        worker = newTestWorker();
        return worker;
      },
    });
    const x = await heed.normal([1, 8, 2048, 64], { seed: 1 });
    const running = refusalOf(heed.attention(x, x, x));
    worker?.terminate();
    expect((await running).code).toBe("worker");
    await heed.restart();
    expect((await heed.ones([2])).shape).toEqual([2]);
    heed.dispose();
  });

  test("is told when its script cannot be loaded or does not start", async () => {
    const nowhere = new URL("./no-such-worker.js", import.meta.url);
    const missing = await refusalOf(
      loadInWorker({
        worker: () => (isNode ? newNodeWorker(nowhere) : new Worker(nowhere, { type: "module" })),
      }),
    );
    expect(missing.code).toBe("worker");
    const failing = await refusalOf(
      loadInWorker({
        worker: () => {
          throw new TypeError("no workers here");
        },
      }),
    );
    expect([failing.code, failing.message]).toEqual([
      "worker",
      "worker: expected to start a worker, got no workers here",
    ]);
    const option = await refusalOf(loadInWorker({ threads: -1 }));
    expect([option.code, option.message.slice(0, 8)]).toEqual(["option", "threads:"]);
    const unknown = await refusalOf(loadInWorker({ thraeds: 2 } as never));
    expect(unknown.code).toBe("option");
  });

  // Only a page watches its policy while a worker starts.
  test.skipIf(isNode)("releases its script if the start is aborted at once", async () => {
    const removed = vi.spyOn(globalThis, "removeEventListener");
    const controller = new AbortController();
    const start = refusalOf(loadInWorker({ threads: 1, signal: controller.signal }));
    controller.abort();
    expect((await start).code).toBe("cancelled");
    const events = removed.mock.calls.map(([event]) => event);
    removed.mockRestore();
    expect(events).toContain("securitypolicyviolation");
  });
});

test("four workers compute at once, each with its own memory", async () => {
  const all = await Promise.all([1, 2, 3, 4].map(() => loadInWorker({ threads: 1 })));
  const sums = await Promise.all(
    all.map(async (heed, i) => (await heed.sum(await heed.uniform([1000], { seed: i }))).item()),
  );
  expect(new Set(sums).size).toBe(4);
  expect(await Promise.all(all.map(async (heed) => (await heed.memory()).tensors.count))).toEqual([
    2, 2, 2, 2,
  ]);
  for (const heed of all) heed.dispose();
});
