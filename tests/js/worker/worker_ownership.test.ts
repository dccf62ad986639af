// heed/worker: which handle an object of the worker belongs to, and when the object is freed.

import { loadInWorker, type RemoteTensor } from "heed/worker";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isNode, refusalOf } from "../engine.js";
import { loadWithTasks } from "../workers.js";

let heed: Awaited<ReturnType<typeof loadWithTasks>>;
/** The number of live tensors in the worker. */
const count = async () => (await heed.memory()).tensors.count;

beforeEach(async () => {
  heed = await loadWithTasks();
});
afterEach(() => heed.dispose());

const newLayer = (engine = heed) => engine.nn.Linear(engine, 3, 2, { bias: false });
const newCounter = () => new Int32Array(new SharedArrayBuffer(4));

describe("A property of an object is borrowed:", () => {
  test("it ends with the object", async () => {
    const layer = await newLayer();
    const weight = await layer.weight;
    expect(weight.isDisposed).toBe(false);
    layer.dispose();
    expect(weight.isDisposed).toBe(true);
    expect((await refusalOf(heed.sum(weight))).code).toBe("disposed");
    expect(await count()).toBe(0);
  });

  test("its own dispose() and the end of a scope free nothing", async () => {
    const layer = await newLayer();
    const [parameter] = await layer.parameters();
    await heed.scope(async (scoped) => (await scoped.tasks.twice({ x: await layer.weight })).first);
    for (const weight of [await layer.weight, parameter as RemoteTensor]) {
      weight.dispose();
      expect(weight.isDisposed).toBe(false);
    }
    const x = await heed.ones([1, 3]);
    const y = await layer.forward(x);
    expect(await count()).toBe(3);
    for (const object of [layer, x, y]) object.dispose();
    expect(await count()).toBe(0);
  });

  test.each([
    ["the property", "weight"],
    ["the object", "layer"],
  ] as const)("its object lives until the calls are done that were given %s", async (_, given) => {
    const layer = await newLayer();
    const weight = await layer.weight;
    const ones = await heed.ones([2, 3]);
    const counter = newCounter();
    const request = given === "weight" ? { x: weight } : { x: ones, beside: [layer] };
    const sum = heed.tasks.sumLater({ ...request, counter });
    layer.dispose();
    for (const late of [weight, layer]) {
      const error = await refusalOf(heed.tasks.echo({ late }));
      expect([error.code, error.message]).toEqual([
        "disposed",
        expect.stringMatching(/^tasks\.echo: expected live objects, got Remote.*\(.*disposed\)$/),
      ]);
    }
    expect(await count()).toBe(2);
    Atomics.store(counter, 0, 1);
    expect(await sum).not.toBeNaN();
    expect(await count()).toBe(1);
    ones.dispose();
  });

  test("a scope that returns or keeps it keeps its object", async () => {
    const result = await heed.scope(async (scoped) => {
      const layer = await newLayer(scoped);
      return { layer, weight: await layer.weight };
    });
    const outer = await heed.scope(async (scoped) => {
      const weight = await scoped.scope(async (inner) => (await newLayer(inner)).weight);
      expect((await weight.data).length).toBe(6);
      return [];
    });
    let kept: RemoteTensor | undefined;
    await heed.scope(async (scoped) => {
      kept = scoped.keep(await (await newLayer(scoped)).weight);
    });
    expect(outer).toEqual([]);
    expect((await kept?.data)?.length).toBe(6);
    expect(await count()).toBe(2);
    result.layer.dispose();
    expect(result.weight.isDisposed).toBe(true);
    expect(await count()).toBe(1);
  });
});

test("an object that a result has twice gets one handle", async () => {
  const x = await heed.ones([2]);
  const { first, second } = await heed.tasks.twice({ x });
  expect(first).toBe(second);
  x.dispose();
  expect(first.isDisposed).toBe(true);
});

test("weights that a callback gets belong to the scope of the call", async () => {
  const layer = await heed.nn.MultiHeadAttention(heed, 8, 2);
  const x = await heed.ones([1, 4, 8]);
  const seen: RemoteTensor[] = [];
  const onWeights = (_: string, weights: RemoteTensor) => void seen.push(weights);
  const objects = await count();
  await heed.scope(async (scoped) => {
    await layer.forward(await scoped.add(x, 0), x, x, { onWeights });
    expect(await seen[0]?.item().catch(({ code }) => code)).toBe("shape");
  });
  expect(seen[0]?.isDisposed).toBe(true);
  expect(await count()).toBe(objects);
  for (const object of [layer, x]) object.dispose();
});

// WebKit does not offer to collect garbage.
const collects = isNode || /Chrome/.test(navigator.userAgent);
describe.runIf(collects)("When the page's garbage collector finds a handle,", () => {
  /** Waits until the worker holds this number of tensors. */
  const expectAfterCollection = (tensors: number) =>
    expect
      .poll(() => {
        gc?.();
        return count();
      })
      .toBe(tensors);

  test("its object is freed, but no other one", async () => {
    const kept = await heed.ones([16]);
    const make = async () => {
      for (let i = 0; i < 399; ++i) await heed.ones([16]);
    };
    await make();
    await expectAfterCollection(1);
    expect((await kept.data).length).toBe(16);
    kept.dispose();
  });

  test("its object lives until the calls are done that were given it", async () => {
    const counter = newCounter();
    const sum = (async () => heed.tasks.sumLater({ x: await heed.tensor([1, 2, 3]), counter }))();
    for (let round = 0; round < 5; ++round) {
      gc?.();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(await count()).toBe(1);
    Atomics.store(counter, 0, 1);
    expect(await sum).toBe(6);
    await expectAfterCollection(0);
  });

  test("a module lives as long as the handle of a weight of it, or of its optimiser", async () => {
    const read = async () => (await newLayer()).weight;
    let weight: RemoteTensor | undefined = await read();
    const optimise = async () => heed.optim.Adam(await newLayer(), { learningRate: 0.1 });
    let adam: Awaited<ReturnType<typeof optimise>> | undefined = await optimise();
    await expectAfterCollection(4); // two weights, and two averages of the optimiser
    expect((await weight.data).length).toBe(6);
    await adam.step([await heed.ones([2, 3])]);
    weight = undefined;
    await expectAfterCollection(3);
    adam = undefined;
    await expectAfterCollection(0);
  });

  test("an optimiser is freed without its module", async () => {
    const layer = await newLayer();
    await (async () => void (await heed.optim.Adam(layer, { learningRate: 0.1 })))();
    await expectAfterCollection(1);
    expect((await (await layer.weight).data).length).toBe(6);
    layer.dispose();
  });

  test("its object stays if a task made it a part of another one", async () => {
    const layer = await newLayer();
    await (async () =>
      heed.tasks.setWeight({ layer: layer as never, weight: await heed.ones([2, 3]) }))();
    await expectAfterCollection(1);
    const weight = await layer.weight;
    expect(await weight.data).toEqual(new Float32Array(6).fill(1));
    layer.dispose();
    expect(await count()).toBe(0);
  });

  test.each([
    ["at once", false],
    ["after a pause", true],
  ])("a tensor that a task returned %s is freed if the task made it", async (_, pauses) => {
    const own = await heed.tasks.tensorOf({ isNew: false, pauses: false });
    const use = async () => {
      for (const isNew of [true, false]) await heed.tasks.tensorOf({ isNew, pauses });
    };
    await use();
    expect(await count()).toBe(2);
    await expectAfterCollection(1);
    expect(await own.data).toEqual(Float32Array.of(1, 1));
  });

  test("the weights that a callback got are freed", async () => {
    const layer = await heed.nn.MultiHeadAttention(heed, 8, 2);
    const x = await heed.ones([1, 4, 8]);
    const objects = await count();
    const onWeights = (_: string, weights: RemoteTensor) => void weights.shape;
    await (async () => void (await layer.forward(x, x, x, { onWeights })))();
    await expectAfterCollection(objects);
    for (const object of [layer, x]) object.dispose();
  });

  test("there is room for new tensors, also if nothing else makes it run", async () => {
    const small = await loadInWorker({ threads: 1, maxMemory: 128 * 2 ** 20 });
    for (let i = 0; i < 400; ++i) await small.zeros([2 ** 18]);
    expect((await small.memory()).tensors.count).toBeLessThan(128);
    small.dispose();
  });
});

test("an error of memory tells what is alive, and how to free it", async () => {
  const small = await loadInWorker({ threads: 1, maxMemory: 64 * 2 ** 20 });
  const kept = [await small.zeros([2 ** 22]), await small.zeros([2 ** 20])];
  const error = await refusalOf(small.zeros([2 ** 24]));
  expect([error.code, error.message]).toEqual([
    "memory",
    "memory: expected 67108864 more bytes, got none; live tensors: 2, of 20971520 bytes; " +
      "free tensors that you no longer need with dispose() or heed.scope",
  ]);
  expect(kept.map(({ isDisposed }) => isDisposed)).toEqual([false, false]);
  small.dispose();
});
