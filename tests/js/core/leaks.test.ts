// The reports of `load({ debug: true })` about objects that nothing disposed of. vitest.config.ts exposes the
// garbage collector to these tests.

import { type AllocationSite, type Heed, type LoadOptions, load, type Tensor } from "heed";
import { type Architecture, evaluate, type Task, taskOf } from "heed/models";
import { nn } from "heed/nn";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { tinyTask, tinyTraining } from "../tiny_training.js";

/** Runs the garbage collector, and the tasks in which the engine frees collected objects. */
async function collect(): Promise<void> {
  for (let round = 0; round < 4; ++round) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve));
  }
}

const warn = vi.spyOn(console, "warn").mockImplementation(() => {});

/** Starts an engine on one thread. */
const start = (options: LoadOptions) => load({ threads: 1, ...options });

describe("with debug: true", () => {
  let heed: Heed;
  const warnings = () => warn.mock.calls.map(([text]) => String(text));
  const sites = (): readonly AllocationSite[] => heed.memory().sites ?? expect.fail("no sites");
  beforeEach(async () => {
    warn.mockClear();
    heed = await start({ debug: true });
  });
  afterEach(() => heed.dispose());

  test("a leak is reported once for each place, with the number of objects", async () => {
    const leakRows = (count: number) => {
      for (let i = 0; i < count; ++i) heed.ones([4, 8]);
    };
    const leakColumn = () => void heed.ones([4, 1]);
    await collect();
    for (const [leak, count] of [
      [leakRows, 3] as const,
      [leakRows, 2] as const,
      [leakColumn, 1] as const,
    ]) {
      leak(count);
      await collect();
    }
    const advice = "Use `dispose()`, `using` or `heed.scope`. Made at:\n";
    expect(warnings().map((text) => text.slice(0, text.indexOf("\n") + 1))).toEqual([
      "heed: the garbage collector freed 3 objects, such as Tensor(float32, [4, 8]), of 384 bytes, " +
        `because nothing disposed of them. ${advice}`,
      "heed: the garbage collector freed Tensor(float32, [4, 1]) of 16 bytes, " +
        `because nothing disposed of it. ${advice}`,
    ]);
    const stacks = warnings().map((text) => text.split("\n").slice(1));
    expect(stacks.map(([first]) => /leak\w+/.exec(first ?? "")?.[0])).toEqual([
      "leakRows",
      "leakColumn",
    ]);
    for (const frame of stacks.flat()) {
      expect(frame).toMatch(/:\d+/);
      expect(frame).not.toMatch(/dist\/(core|ops|heed)/);
    }
    expect(sites().map(({ leaked }) => leaked)).toEqual([
      { count: 5, bytes: 640 },
      { count: 1, bytes: 16 },
    ]);
  });

  test("a leak of each kind is reported with its final size", async () => {
    const x = heed.ones([1, 2, 3, 8]);
    const expected = [
      (() => {
        const cache = heed.createKvCache({ heads: 2, headSize: 8, capacity: 300 });
        cache.append(x, x);
        const label = "KvCache(float32, batch 1, heads 2, headSize 8, capacity 300)";
        return `${label} of ${cache.bytes} bytes`;
      })(),
      (() => {
        using weight = heed.ones([4, 2]);
        const packed = heed.packWeights(weight);
        return `PackedWeights(float32, [4, 2], ${packed.bytes} bytes) of ${packed.bytes} bytes`;
      })(),
      (() => {
        heed.blockMask(({ q, k }) => k <= q, { queries: 2, keys: 2 });
        const label = "BlockMask(batch 1, heads 1, queries 2, keys 2, 100 % of blocks computed)";
        return `${label} of ${heed.memory().blockMasks.bytes} bytes`;
      })(),
    ];
    await collect();
    const reported = warnings().map((text) => /freed (.*), because/.exec(text)?.[1]);
    expect(reported.sort()).toEqual(expected.sort());
    expect(x.isDisposed).toBe(false);
  });

  test("objects that are disposed of, or alive, are not reported", async () => {
    const alive: Tensor[] = [];
    const make = () => heed.ones([2]);
    (() => {
      make().dispose();
      using x = make();
      heed.scope(() => alive.push(heed.keep(make()), heed.add(make(), x)));
      for (let i = 0; i < 3000; ++i) alive.push(make());
    })();
    await collect();
    for (const tensor of alive.splice(1000)) tensor.dispose();
    await collect();
    expect(warnings()).toEqual([]);
    expect(alive.every((tensor) => tensor.size === 2)).toBe(true);
  });

  test("objects that end with their engine are not reported", async () => {
    const other = await start({ debug: true });
    const abandon = () => void [other.ones([2]), other.packWeights(other.ones([2, 2]))];
    abandon();
    other.dispose();
    await collect();
    expect(warnings()).toEqual([]);
  });

  test("memory() lists the places of live objects, those with most bytes first", () => {
    const makeSmall = () => heed.ones([16]);
    const makeLarge = () => heed.ones([1024]);
    const makeCache = () => heed.createKvCache({ heads: 1, headSize: 8, capacity: 8 });
    const small = Array.from({ length: 5 }, makeSmall);
    const [large, cache] = [makeLarge(), makeCache()];
    const seen = () =>
      sites().map(({ stack, ...site }) => ({ place: /make\w+/.exec(stack)?.[0], ...site }));
    const leaked = { count: 0, bytes: 0 };
    const smallSite = { place: "makeSmall", example: "Tensor(float32, [16])", leaked };
    const largeSite = { place: "makeLarge", example: "Tensor(float32, [1024])", leaked };
    const cacheSite = { place: "makeCache", leaked, count: 1 };
    expect(seen()).toMatchObject([
      { ...largeSite, count: 1, bytes: 4096 },
      { ...smallSite, count: 5, bytes: 320 },
      { ...cacheSite, bytes: 0 },
    ]);
    large.dispose();
    small.pop()?.dispose();
    heed.scope(() => cache.append(heed.ones([1, 1, 8, 8]), heed.ones([1, 1, 8, 8])));
    expect(seen()).toMatchObject([
      { ...cacheSite, bytes: cache.bytes },
      { ...smallSite, count: 4, bytes: 256 },
    ]);
  });

  test("objects made deep within modules are traced to the calls outside the package", () => {
    const makeModel = () => new nn.Transformer(heed, { dModel: 4, heads: 2 });
    const limit = Reflect.get(Error, "stackTraceLimit");
    const model = makeModel();
    expect(Reflect.get(Error, "stackTraceLimit")).toBe(limit);
    const found = sites();
    expect(found.map(({ count }) => count)).toEqual([model.parameters().length]);
    expect(found[0]?.stack.split("\n")[0]).toContain("makeModel");
  });

  test.each<[architecture: Architecture, task: Task]>([
    ["transformer", tinyTask],
    ["bahdanau", tinyTask],
    ["encoder", taskOf("series")],
  ])("training and answers of %s leave nothing to the garbage collector", async (...given) => {
    const [architecture, task] = given;
    const run = async () => {
      const trainer = tinyTraining(heed, { architecture, task, recipe: { steps: 6 } });
      while (!trainer.finished) trainer.step();
      const examples = [task.generate(new nn.Generator(7), "test")];
      await evaluate(trainer.model, examples);
      await trainer.model.answer(examples);
      trainer.dispose();
      trainer.model.dispose();
    };
    await run();
    await collect();
    expect(warnings()).toEqual([]);
    expect(heed.memory().tensors.count).toBe(0);
  });
});

test("without debug nothing is reported, and memory() has no sites", async () => {
  warn.mockClear();
  const heed = await start({});
  const abandon = () => void heed.ones([2]);
  abandon();
  await collect();
  expect(heed.memory().tensors.count).toBe(0);
  expect(warn).not.toHaveBeenCalled();
  expect(heed.memory()).not.toHaveProperty("sites");
  heed.dispose();
});
