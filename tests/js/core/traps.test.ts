// WebAssembly that stops in the middle of a call: a defect of the engine, of the browser's compiler, or of the
// computer. No later result of such an engine could be trusted.

import { HeedError, load } from "heed";
import { loadInWorker } from "heed/worker";
import { afterEach, describe, expect, test, vi } from "vitest";
import { isNode, refusal, refusalOf } from "../engine.js";
import { expectWorks } from "../values.js";

// The address is a variable, because a bundler would treat `new URL(..., import.meta.url)` as one of its
// assets.
const here = import.meta.url;
const address = isNode
  ? new URL("../../../dist/heed-simd.mjs", here).href
  : `${location.origin}/dist/heed-simd.mjs`;

/** A module whose function "stop" is one instruction, which traps. */
const bytes = [
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic, version
  ...[0x01, 0x04, 0x01, 0x60, 0x00, 0x00], // one type: () -> ()
  ...[0x03, 0x02, 0x01, 0x00], // one function of that type
  ...[0x07, 0x08, 0x01, 0x04, 0x73, 0x74, 0x6f, 0x70, 0x00, 0x00], // exported as "stop"
  ...[0x0a, 0x05, 0x01, 0x03, 0x00, 0x00, 0x0b], // unreachable
];
const stop = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(bytes))).exports
  .stop as () => never;

type Call = (...args: number[]) => unknown;
type Module = Record<"attention" | "newEngine" | "matmul", Call> & {
  PThread: { runningWorkers: unknown[]; unusedWorkers: unknown[] };
};

/**
 * The script of a thread that stops. "trap": a trap in its first task, because the functions of its table with three
 * arguments, which include tasks, are replaced. "host": an error of the host while the thread waits for a task. A
 * thread asks for the time when it begins to wait.
 */
const stoppingScript = (why: "trap" | "host") =>
  `data:text/javascript,${encodeURIComponent(`
    import ${JSON.stringify(address)};
    const { Instance, Module } = WebAssembly;
    let table;
    WebAssembly.Instance = function (...given) {
      const instance = new Instance(...given);
      table = Object.values(instance.exports).find((one) => one instanceof WebAssembly.Table);
      return instance;
    };
    const { stop } = new Instance(new Module(Uint8Array.from(${JSON.stringify(bytes)}))).exports;
    const now = performance.now.bind(performance);
    performance.now = () => {
      if ("${why}" === "host") throw new Error("no clock");
      for (let i = 1; i < table?.length; ++i) if (table.get(i)?.length === 3) table.set(i, stop);
      return now();
    };`)}`;

/**
 * The options for engines of which some stop in a function.
 *
 * @param stops whether the call of this number stops, in the engine of this number, both counted from 0
 */
async function stopping(name: keyof Module, stops: (engine: number, call: number) => boolean) {
  const { default: factory } = await import(/* @vite-ignore */ address);
  const made: Module[] = [];
  const glue = async (options: never) => {
    const module: Module = await factory(options);
    const engine = made.push(module) - 1;
    const original = module[name] as Call;
    let calls = 0;
    Object.assign(module, {
      [name]: (...args: number[]) => (stops(engine, calls++) ? stop() : original(...args)),
    });
    return module;
  };
  return { made, options: { variant: "simd", glue, workerUrl: address } as const };
}

const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
afterEach(() => warned.mockClear());

describe.each([1, 2])("load with %i threads", (threads) => {
  test.each([
    ["attention", 0],
    ["attention", 2],
    ["newEngine", 0],
  ] as const)("replaces an engine that stops in %s, call %i", async (name, stopsAt) => {
    const { made, options } = await stopping(name, (engine, call) => {
      return engine === 0 && call === stopsAt;
    });
    const heed = await load({ threads, ...options });
    expect(made.length).toBe(2);
    expect(made[0]?.PThread).toMatchObject({ runningWorkers: [], unusedWorkers: [] });
    expect(heed.info).toMatchObject({ threads, reason: null });
    expectWorks(heed);
    expect(heed.memory().tensors.count).toBe(0);
    expect(warned.mock.calls.flat()).toEqual([
      expect.stringMatching(
        /^heed: a new engine stopped in its first calls, so another is loaded: /,
      ),
    ]);
    heed.dispose();
  });

  test("fails if the second engine stops, too", async () => {
    const { made, options } = await stopping("attention", () => true);
    const error = await load({ threads, ...options }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "HeedError", code: "internal" });
    expect((error as HeedError).cause).toBeInstanceOf(WebAssembly.RuntimeError);
    expect(made.map(({ PThread }) => PThread.runningWorkers.length)).toEqual([0, 0]);
  });
});

test("load ends its engine and its threads if the warm-up fails", async () => {
  const { made, options } = await stopping("attention", () => false);
  const glue = async (given: never) => {
    const module = (await options.glue(given)) as Module;
    module.attention = () => 1; // the status of a refusal, after which an engine works on
    return module;
  };
  const error = await load({ threads: 3, ...options, glue }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(HeedError);
  expect(made.map(({ PThread }) => PThread)).toMatchObject([
    { runningWorkers: [], unusedWorkers: [] },
  ]);
});

test("load says what is missing where there is no WebAssembly", async () => {
  vi.stubGlobal("WebAssembly", undefined);
  const error = await load().catch((error: unknown) => error);
  vi.unstubAllGlobals();
  expect(error).toMatchObject({ name: "HeedError", code: "unsupported" });
});

test("a call that stops ends its engine, and no other", async () => {
  const { made, options } = await stopping("matmul", (engine, call) => engine === 0 && call === 1);
  const [heed, other] = [await load({ threads: 2, ...options }), await load({ threads: 1 })];
  const x = heed.ones([2, 2]);
  expect(Array.from(heed.matmul(x, x).data)).toEqual([2, 2, 2, 2]);
  const error = refusal(() => heed.matmul(x, x));
  expect([error.code, error.message]).toEqual([
    "internal",
    expect.stringMatching(
      /^engine: expected to finish the call, got stopped: .+; this engine has ended, load another$/,
    ),
  ]);
  expect(error.cause).toBeInstanceOf(WebAssembly.RuntimeError);
  expect(made[0]?.PThread.runningWorkers).toEqual([]);
  for (const call of [() => heed.matmul(x, x), () => heed.ones([1]), () => x.data])
    expect(refusal(call).code).toBe("disposed");
  x.dispose();
  expectWorks(other);
  for (const engine of [heed, other]) engine.dispose();
});

test("a scope in which a call stops ends with its error", async () => {
  const { options } = await stopping("matmul", () => true);
  const heed = await load({ threads: 1, ...options });
  const error = refusal(() => heed.scope(() => heed.matmul(heed.ones([2, 2]), heed.ones([2, 2]))));
  expect(error.code).toBe("internal");
  heed.dispose();
});

const stopped =
  /^engine: expected to finish the call, got stopped in another thread: .+; this engine has ended, load another$/;

describe.each(["trap", "host"] as const)("a thread that stops (%s)", (why) => {
  const options = () =>
    ({ threads: 2, variant: "simd", workerUrl: stoppingScript(why), warmUp: false }) as const;

  test("ends its engine in a call that the threads share, and no other", async (context) => {
    const { made, options: counted } = await stopping("matmul", () => false);
    const heed = await load({ ...counted, ...options() });
    if (heed.info.threads === 1) context.skip("no threads here");
    const other = await load({ threads: 2 });
    const small = heed.ones([2, 2]);
    // A small product is computed by one thread.
    expect(Array.from(heed.matmul(small, small).data)).toEqual([2, 2, 2, 2]);
    const x = heed.ones([1, 8, 512, 64]);
    const error = refusal(() => {
      // The calling thread may have done all of a call before the other one awakes.
      for (let call = 0; call < 1000; ++call) heed.attention(x, x, x).output.dispose();
    });
    expect([error.code, error.message]).toEqual(["internal", expect.stringMatching(stopped)]);
    expect(error.cause).toBeInstanceOf(WebAssembly.RuntimeError);
    expect(made[0]?.PThread).toMatchObject({ runningWorkers: [], unusedWorkers: [] });
    for (const call of [() => heed.matmul(x, x), () => heed.ones([1]), () => x.data])
      expect(refusal(call).code).toBe("disposed");
    expectWorks(other);
    const next = await load({ threads: 2 });
    expectWorks(next);
    for (const engine of [heed, other, next]) engine.dispose();
  });

  test("ends the engine of a worker, which can be started again", async (context) => {
    const heed = await loadInWorker(options());
    if (heed.info.threads === 1) context.skip("no threads here");
    const x = await heed.ones([1, 8, 512, 64]);
    const attend = async () => {
      for (let call = 0; call < 1000; ++call) (await heed.attention(x, x, x)).output.dispose();
    };
    const error = await refusalOf(attend());
    expect([error.code, error.message]).toEqual(["internal", expect.stringMatching(stopped)]);
    expect((await refusalOf(heed.ones([1]))).code).toBe("disposed");
    await heed.restart();
    expect(await (await heed.ones([2])).toArray()).toEqual([1, 1]);
    heed.dispose();
  });
});

test("load fails if a thread of the second engine stops, too, and the next load works", async (context) => {
  const one = await load({ threads: 2 });
  if (one.info.threads === 1) context.skip("no threads here");
  one.dispose();
  const options = { threads: 2, variant: "simd", workerUrl: stoppingScript("trap") } as const;
  // The first calls are so small that the calling thread may do all of them.
  const error = await load(options).then(
    (heed) => {
      const x = heed.ones([1, 8, 512, 64]);
      return refusal(() => {
        for (let call = 0; call < 1000; ++call) heed.attention(x, x, x).output.dispose();
      });
    },
    (error: unknown) => error,
  );
  expect(error).toMatchObject({ name: "HeedError", code: "internal" });
  const next = await load({ threads: 2 });
  expectWorks(next);
  next.dispose();
});
