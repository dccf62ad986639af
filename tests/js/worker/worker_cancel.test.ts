// heed/worker: calls that are cancelled, and tasks.

import type { RemoteHeed } from "heed/worker";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusalOf } from "../engine.js";
import { loadWithTasks, newTestWorker, numbers, type TestTasks } from "../workers.js";

/** Counters that both sides see. */
const newCounter = () => new Int32Array(new SharedArrayBuffer(8));

const tensorsOf = async (heed: RemoteHeed<TestTasks>) => (await heed.memory()).tensors.count;

describe.each([1, 2])("Cancelling with %d threads", (threads) => {
  let heed: RemoteHeed<TestTasks>;
  beforeAll(async () => {
    heed = await loadWithTasks({ threads });
  });
  afterAll(() => heed?.dispose());

  test("stops an operation in its middle, and leaves nothing", async () => {
    expect(heed.isInterruptible).toBe(true);
    const x = await heed.normal([1, 16, 8192, 64], { seed: 1 }); // seconds of work
    const before = await tensorsOf(heed);
    const controller = new AbortController();
    const call = heed.attention(x, x, x, { needLse: true, signal: controller.signal });
    setTimeout(() => controller.abort(new Error("not needed")), 50);
    const error = await refusalOf(call);
    expect([error.code, error.message]).toEqual([
      "cancelled",
      "attention: expected to finish, got an aborted signal",
    ]);
    expect((error.cause as Error).message).toBe("not needed");
    expect(await tensorsOf(heed)).toBeLessThanOrEqual(before);
    const [a, b] = await Promise.all([heed.ones([2]), heed.ones([3])]);
    expect(Array.from(await (await heed.concat([a, b])).data)).toEqual([1, 1, 1, 1, 1]);
    x.dispose();
  });

  test("stops a function that never pauses: its next operations throw, and it counts no further", async () => {
    const x = await heed.normal([1, 8, 512, 64], { seed: 1 });
    const before = await tensorsOf(heed);
    const counter = newCounter();
    const controller = new AbortController();
    const call = heed.tasks.attendForever({ counter, x }, { signal: controller.signal });
    await expect.poll(() => Atomics.load(counter, 0), { timeout: 20_000 }).toBeGreaterThan(1);
    controller.abort();
    expect((await refusalOf(call)).code).toBe("cancelled");
    expect(await tensorsOf(heed)).toBeLessThanOrEqual(before); // answered after the task, which has ended
    const count = Atomics.load(counter, 0);
    await heed.ones([1]);
    expect(Atomics.load(counter, 0)).toBe(count);
    x.dispose();
  });

  test("leaves a cache as it was", async () => {
    const shape = [1, 8, 2048, 64];
    const past = await heed.normal([1, 8, 32, 64], { seed: 1 });
    const next = await heed.normal(shape, { seed: 2 });
    const cache = await heed.createKvCache({ heads: 8, headSize: 64, capacity: 4096 });
    await heed.attention(past, past, past, { past: cache });
    for (let i = 0; i < 3; ++i) {
      const controller = new AbortController();
      const call = heed.attention(next, next, next, { past: cache, signal: controller.signal });
      setTimeout(() => controller.abort(), 5 * i);
      const outcome = await call.then(
        () => "done",
        ({ code }) => code,
      );
      const [length] = await cache.lengths;
      // It may have finished before the signal came.
      expect([outcome, length]).toEqual(outcome === "done" ? ["done", 2080] : ["cancelled", 32]);
      if (outcome === "done") await cache.rewind(2048);
    }
  });
});

describe("Cancelling", () => {
  let heed: RemoteHeed<TestTasks>;
  beforeAll(async () => {
    heed = await loadWithTasks();
  });
  afterAll(() => heed?.dispose());

  test("a signal that is aborted already sends nothing", async () => {
    const signal = AbortSignal.abort("before");
    const error = await refusalOf(heed.ones([2], { signal }));
    expect([error.code, error.cause]).toEqual(["cancelled", "before"]);
    expect(await tensorsOf(heed)).toBe(0);
    const wrong = await refusalOf(heed.ones([2], { signal: 3 as never }));
    expect([wrong.code, wrong.message]).toEqual([
      "option",
      "signal: expected an AbortSignal, got 3",
    ]);
  });

  test("a call that waits is never begun, and those around it go on", async () => {
    const x = await heed.normal([1, 4, 1024, 64], { seed: 1 });
    const controller = new AbortController();
    const counter = newCounter();
    const first = heed.attention(x, x, x);
    const second = heed.tasks.pauseForever({ counter }, { signal: controller.signal });
    const third = heed.sum(x);
    controller.abort();
    expect((await refusalOf(second)).code).toBe("cancelled");
    expect((await first).output.shape).toEqual([1, 4, 1024, 64]);
    expect((await third).shape).toEqual([]);
    expect(Array.from(counter)).toEqual([0, 0]);
  });

  test("a task that pauses ends at its next pause, and frees what it holds", async () => {
    const before = await tensorsOf(heed);
    const counter = newCounter();
    const controller = new AbortController();
    const news: number[] = [];
    const call = heed.tasks.pauseForever(
      { counter },
      { signal: controller.signal, onProgress: (step) => void news.push(step) },
    );
    await expect.poll(() => news.length).toBeGreaterThan(2);
    // Other calls run meanwhile.
    expect((await heed.ones([2])).shape).toEqual([2]);
    controller.abort();
    expect((await refusalOf(call)).code).toBe("cancelled");
    await expect.poll(() => Atomics.load(counter, 1)).toBe(1);
    const count = Atomics.load(counter, 0);
    const heard = news.length;
    await heed.ones([1]);
    expect(Atomics.load(counter, 0)).toBe(count);
    expect(news).toEqual(Array.from({ length: heard }, (_, i) => i));
    // The two other calls, of `ones`, made one tensor each.
    expect(await tensorsOf(heed)).toBeLessThanOrEqual(before + 2);
  });

  test("at any time leaves no tensor and no wrong result", async () => {
    const x = await heed.normal([1, 4, 512, 64], { seed: 1 }); // milliseconds of work
    const want = await (await heed.attention(x, x, x)).output.data;
    const before = await tensorsOf(heed);
    const codes = new Set<string>();
    for (let round = 0; round < 24; ++round) {
      const controller = new AbortController();
      const { signal } = controller;
      const calls = [1, 2, 3].map((_, i) =>
        heed.attention(x, x, x, i === 1 ? { signal } : {}).then(
          async ({ output }) => {
            const got = await output.data;
            expect(got.every((number, at) => number === want[at])).toBe(true);
            output.dispose();
            return "done";
          },
          ({ code }) => code as string,
        ),
      );
      setTimeout(() => controller.abort(), 3 * (round % 6));
      const [first, second, third] = await Promise.all(calls);
      expect([first, third]).toEqual(["done", "done"]);
      codes.add(second as string);
    }
    expect(codes).toContain("cancelled");
    await expect.poll(() => tensorsOf(heed)).toBeLessThanOrEqual(before);
  });
});

test("without shared memory the call ends for its caller, and its result is freed", async () => {
  const worker = () => {
    const started = newTestWorker();
    const post = started.postMessage.bind(started);
    // As a page that is not isolated, which cannot send memory.
    started.postMessage = (message: object, ...others) =>
      post({ ...message, reserved: undefined }, ...others);
    return started;
  };
  const heed = await loadWithTasks({ worker });
  expect(heed.isInterruptible).toBe(false);
  const x = await heed.normal([1, 8, 1024, 64], { seed: 1 });
  const controller = new AbortController();
  const call = heed.attention(x, x, x, { signal: controller.signal });
  setTimeout(() => controller.abort());
  expect((await refusalOf(call)).code).toBe("cancelled");
  await expect.poll(() => tensorsOf(heed)).toBe(1);
  heed.dispose();
});

describe("Tasks", () => {
  let heed: RemoteHeed<TestTasks>;
  beforeAll(async () => {
    heed = await loadWithTasks();
  });
  afterAll(() => heed?.dispose());

  test("get a request, tell their progress and return arrays, each buffer once", async () => {
    const rows = numbers(6);
    const parts: number[][] = [];
    const request = { rows, shape: [3, 2] };
    const { whole, same, shape } = await heed.tasks.scale(request, {
      onProgress: ({ done, part }) => void parts.push([done, ...part]),
    });
    const want = rows.map((x) => 2 * x);
    expect(whole).toEqual(want);
    expect(same.buffer).toBe(whole.buffer);
    expect(shape).toEqual([3, 2]);
    expect(parts).toEqual([0, 2, 4].map((at) => [at + 2, ...want.subarray(at, at + 2)]));
    expect(await tensorsOf(heed)).toBe(0);
  });

  test("get and return objects of the engine, and copies of its memory", async () => {
    const x = await heed.tensor([1, 2]);
    const { tensor, view } = await heed.tasks.double({ x });
    expect([Array.from(view), Array.from(await tensor.data)]).toEqual([
      [1, 2],
      [2, 4],
    ]);
    expect(await (await heed.sum(tensor)).item()).toBe(6);
  });

  test("throw errors that keep their name and message", async () => {
    const error = await heed.tasks.fail("too large").catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Error);
    expect(`${error}`).toBe("RangeError: too large");
    expect((error as Error).stack).toContain("worker_tasks");
  });
});

test("a worker that closes itself or breaks down rejects what is pending", async () => {
  for (const end of ["leave", "breakDown"] as const) {
    const heed = await loadWithTasks();
    const counter = newCounter();
    const pending = refusalOf(heed.tasks.pauseForever({ counter }));
    await expect.poll(() => Atomics.load(counter, 0)).toBeGreaterThan(0);
    void heed.tasks[end]({}).catch(() => {});
    const error = await pending;
    expect(error.code).toBe("worker");
    if (end === "breakDown") expect(error.message).toContain("broken down");
    await heed.restart();
    expect((await heed.ones([2])).shape).toEqual([2]);
    heed.dispose();
  }
});
