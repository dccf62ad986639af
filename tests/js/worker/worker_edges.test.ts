// heed/worker: errors, late cancels and unusual data must not stop a worker, reach another call, or change the data.

import { loadInWorker, type RemoteHeed, type RemoteTensor } from "heed/worker";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { refusalOf } from "../engine.js";
import { loadWithTasks, newTestWorker, numbers, type TestTasks } from "../workers.js";

const newCounter = () => new Int32Array(new SharedArrayBuffer(8));
const rest = () => new Promise((resolve) => setTimeout(resolve, 30));

let heed: RemoteHeed<TestTasks>;
/** The live tensors of the worker. */
const count = async () => (await heed.memory()).tensors.count;
/** A tensor that is left would be freed at any time, and change the counts of later tests. */
async function expectAnswer(): Promise<void> {
  const x = await heed.ones([2]);
  expect(x.shape).toEqual([2]);
  x.dispose();
}
beforeAll(async () => {
  heed = await loadWithTasks();
});
afterAll(() => heed?.dispose());

describe("A task that pauses", () => {
  test("is cancelled also after it has waited for something else", async () => {
    const counter = newCounter();
    const { signal, abort } = controller();
    const call = heed.tasks.pauseAfter({ counter, after: "timer" }, { signal });
    await expect.poll(() => Atomics.load(counter, 0)).toBeGreaterThan(2);
    abort();
    expect((await refusalOf(call)).code).toBe("cancelled");
    await expectAnswer(); // after the task's last pause
    const count = Atomics.load(counter, 0);
    await rest();
    expect(Atomics.load(counter, 0)).toBe(count);
  });

  test("is not cancelled with another one that waited for the same", async () => {
    const counters = [newCounter(), newCounter()] as const;
    const [first, second] = [controller(), controller()];
    const calls = [first, second].map(({ signal }, i) =>
      heed.tasks.pauseAfter(
        { counter: counters[i] as Int32Array<SharedArrayBuffer>, after: "shared" },
        { signal },
      ),
    );
    const refusals = calls.map(refusalOf);
    for (const counter of counters)
      await expect.poll(() => Atomics.load(counter, 0)).toBeGreaterThan(2);
    first.abort();
    expect((await refusals[0])?.code).toBe("cancelled");
    const count = Atomics.load(counters[1], 0);
    await expect.poll(() => Atomics.load(counters[1], 0)).toBeGreaterThan(count + 2);
    second.abort();
    expect((await refusals[1])?.code).toBe("cancelled");
  });
});

describe("A worker goes on after", () => {
  test("a call that was cancelled while it started again", async () => {
    const own = await loadWithTasks();
    const again = own.restart();
    const controller = new AbortController();
    const early = refusalOf(own.ones([3], { signal: controller.signal }));
    let isReady = false;
    void again.then(() => {
      isReady = true;
    });
    controller.abort();
    expect((await early).code).toBe("cancelled");
    expect(isReady).toBe(false);
    await again;
    expect((await own.memory()).tensors.count).toBe(0);
    own.dispose();
  });

  test("a callback that throws, whose call gets the error", async () => {
    const counter = newCounter();
    const onProgress = () => {
      throw new RangeError("mine");
    };
    const call = heed.tasks.pauseForever({ counter }, { onProgress });
    await expect(call).rejects.toThrow(new RangeError("mine"));
    await expect.poll(() => Atomics.load(counter, 1)).toBe(1);
    await expectAnswer();
  });

  test("a call that was made while it started again", async () => {
    const own = await loadWithTasks();
    const again = own.restart();
    const early = own.ones([3]);
    await again;
    expect((await early).shape).toEqual([3]);
    own.dispose();
  });

  test("an error that cannot be printed", async () => {
    const error = await heed.tasks.throwNothingReadable({}).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Error);
    await expectAnswer();
  });

  test("an object whose end fails", async () => {
    const fragile = await heed.tasks.fragile({});
    fragile.dispose();
    await expectAnswer();
  });
});

describe("What cannot be sent is refused, and the worker goes on:", () => {
  test("a buffer that was transferred before", async () => {
    const a = numbers(4);
    const { buffer } = a;
    (await heed.tensor(a, [4], undefined, { transfer: [buffer] })).dispose();
    const again = await refusalOf(heed.tensor(a, [4], undefined, { transfer: [buffer] }));
    expect([again.code, again.message]).toEqual([
      "option",
      "transfer: expected buffers that can be transferred, got one that is detached",
    ]);
    const copied = await refusalOf(heed.tensor(a, [4]));
    expect([copied.code, copied.message]).toEqual([
      "option",
      expect.stringMatching(/^tensor: expected arguments that can be sent to a worker, got /),
    ]);
  });

  test("a function that changes its argument", async () => {
    const x = await heed.ones([2, 2]);
    const none = { logitsProcessor: undefined } as never;
    (await heed.linear(x, x, none)).dispose();
    const options = { logitsProcessor: () => {} };
    const error = await refusalOf(heed.linear(x, x, options as never));
    expect([error.code, error.message]).toEqual([
      "unsupported",
      "logitsProcessor: expected a call in a task, got one from outside",
    ]);
    x.dispose();
  });

  test.each([
    [
      "a function",
      () => ({
        bias: new (class {
          run = () => 1;
        })(),
      }),
    ],
    ["a symbol", () => ({ bias: Symbol("bias") })],
    ["a promise", () => ({ bias: Promise.resolve(1) })],
    [
      "a getter that throws",
      () =>
        Object.defineProperty({}, "bias", {
          enumerable: true,
          get: () => {
            throw new RangeError("no bias");
          },
        }),
    ],
    [
      "the same buffer twice",
      () => {
        const { buffer } = numbers(1);
        return { transfer: [buffer, buffer] };
      },
    ],
    ["no buffer", () => ({ transfer: [3] })],
  ])("%s", async (_, options) => {
    const x = await heed.ones([2, 2]);
    const error = await refusalOf(heed.linear(x, x, options() as never));
    expect([error.code, error.message]).toEqual(["option", expect.stringMatching(/^linear: /)]);
    x.dispose();
  });

  test("an array of a task that has moved before", async () => {
    const news: Float32Array[] = [];
    const call = heed.tasks.moveTwice({}, { onProgress: (part) => void news.push(part) });
    const error = await refusalOf(call);
    expect([error.code, error.message]).toEqual([
      "option",
      "tasks.moveTwice: expected buffers that can be transferred, got one that is detached",
    ]);
    expect(news).toEqual([Float32Array.of(1, 2)]);
  });

  afterEach(expectAnswer);
});

test("options that cannot be sent are refused", async () => {
  const silent = vi.spyOn(console, "error").mockImplementation(() => {});
  const threads = (() => 1) as unknown as number;
  const error = await refusalOf(loadInWorker({ worker: () => newTestWorker(), threads }));
  expect([error.code, error.message]).toEqual(["option", expect.stringMatching(/^options: /)]);
  silent.mockRestore();
});

describe("Data arrives as it was sent", () => {
  test("a request whose fields have the names of options", async () => {
    const request = { signal: numbers(3), transfer: 2, onProgress: "yes" };
    expect(await heed.tasks.echo(request)).toEqual(request);
  });

  test("an error, and an object that contains itself", async () => {
    const { error } = (await heed.tasks.answer("error")) as { error: Error };
    expect([error instanceof Error, error.message]).toEqual([true, "as data"]);
    const { circle, numbers } = (await heed.tasks.answer("circle")) as Record<string, unknown>;
    expect((circle as { circle: unknown }).circle).toBe(circle);
    expect(numbers).toEqual(Float32Array.of(1, 2));
  });

  test("a view of memory that has grown since, as a copy", async () => {
    const x = await heed.ones([4]);
    const { data } = await heed.tasks.grow({ x, floats: 2 ** 25 });
    x.dispose();
    expect(Array.from(data)).toEqual([1, 1, 1, 1]);
    expect(data.buffer.byteLength).toBe(16);
  });
});

describe("Objects in maps", () => {
  test("go to the worker and come back, beside data and copies of the engine's memory", async () => {
    const key = { of: "an object" };
    const named = new Map<unknown, RemoteTensor>([
      ["a", await heed.tensor([1, 2])],
      [key, await heed.tensor([[3]])],
    ]);
    const { doubled, sizes, views } = await heed.tasks.doubleNamed({ named });
    expect([...doubled.keys()]).toEqual(["a", key]);
    expect([...doubled.values()].map(({ shape }) => shape)).toEqual([[2], [1, 1]]);
    expect(await doubled.get("a")?.data).toEqual(Float32Array.of(2, 4));
    expect([...sizes.values()]).toEqual([2, 1]);
    expect([...views.values()]).toEqual([Float32Array.of(1, 2), Float32Array.of(3)]);
    for (const x of [...named.values(), ...doubled.values()]) x.dispose();
  });

  test("stay after the scope that returns them, and end with it otherwise", async () => {
    const x = await heed.ones([2]);
    const before = await count();
    const kept = await heed.scope(async (scoped) => {
      await scoped.tasks.doubleNamed({ named: new Map([["lost", await scoped.ones([3])]]) });
      return (await scoped.tasks.doubleNamed({ named: new Map([["x", x]]) })).doubled;
    });
    expect(await count()).toBe(before + 1);
    expect(await kept.get("x")?.data).toEqual(Float32Array.of(2, 2));
    for (const tensor of [x, ...kept.values()]) tensor.dispose();
  });

  test("are refused in a set and as keys, in both directions", async () => {
    const x = await heed.ones([1]);
    const before = await count();
    const calls = {
      "tasks.echo: .*, got one in a set": heed.tasks.echo(new Set([x])),
      "tasks.echo: .*, got one as the key of a map": heed.tasks.echo(new Map([[x, 1]])),
      "tasks.wrapped: .*, got one in a set": heed.tasks.wrapped({ x, where: "set" }),
      "tasks.wrapped: .*, got one as the key of a map": heed.tasks.wrapped({ x, where: "key" }),
    };
    for (const [message, call] of Object.entries(calls)) {
      const error = await refusalOf(call);
      expect([error.code, error.message]).toEqual([
        "unsupported",
        expect.stringMatching(new RegExp(`^${message}$`)),
      ]);
    }
    expect(await count()).toBe(before);
    x.dispose();
  });
});

describe("An object that is disposed of while a task uses it", () => {
  test("lives until the last task that was given it before is done", async () => {
    const counters = [newCounter(), newCounter()] as const;
    const before = await count();
    const x = await heed.tensor([1, 2, 3]);
    const sums = counters.map((counter) => heed.tasks.sumLater({ x, counter }));
    x.dispose();
    expect(x.isDisposed).toBe(true);
    const late = await refusalOf(heed.tasks.sumLater({ x, counter: counters[0] }));
    expect(late.code).toBe("disposed");
    Atomics.store(counters[0], 0, 1);
    expect(await sums[0]).toBe(6);
    expect(await count()).toBe(before + 1);
    Atomics.store(counters[1], 0, 1);
    expect(await sums[1]).toBe(6);
    expect(await count()).toBe(before);
  });

  test("is freed when the task has ended because of its signal", async () => {
    const before = await count();
    const x = await heed.tensor([1, 2, 3]);
    const { signal, abort } = controller();
    const call = heed.tasks.sumLater({ x, counter: newCounter() }, { signal });
    x.dispose();
    abort();
    expect((await refusalOf(call)).code).toBe("cancelled");
    await expect.poll(count).toBe(before);
  });
});

test("a scope keeps what it returns beside a function", async () => {
  const { x, run } = await heed.scope(async (scoped) => {
    const x = await scoped.ones([2]);
    return { x, run: () => scoped.sum(x) };
  });
  expect(Array.from(await x.data)).toEqual([1, 1]);
  expect(await (await run()).item()).toBe(2);
  x.dispose();
});

test("a layer's cache is as before when its call is cancelled", async () => {
  const layer = await heed.nn.MultiHeadAttention(heed, 64, 4);
  const cache = await layer.createCache({ capacity: 20_000 });
  const first = await heed.normal([1, 8, 64], { seed: 1 });
  await layer.forward(first, first, first, { cache });
  const rows = await heed.normal([1, 9000, 64], { seed: 2 });
  for (const wait of [1, 4, 16, 64, 128]) {
    const { signal, abort } = controller();
    const call = layer.forward(rows, rows, rows, { cache, signal });
    setTimeout(abort, wait);
    const isDone = await call.then(
      () => true,
      () => false,
    );
    expect(await cache.lengths).toEqual([isDone ? 9008 : 8]);
    if (isDone) break;
  }
});

function controller(): { signal: AbortSignal; abort: () => void } {
  const made = new AbortController();
  return { signal: made.signal, abort: () => made.abort() };
}
