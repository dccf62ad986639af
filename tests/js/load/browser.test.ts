// Tests of features that only browsers have.

import { type Heed, load } from "heed";
import { expect, test } from "vitest";
import { variants } from "../engine.js";
import { expectWorks } from "../values.js";

const isChromium = /Chrome/.test(navigator.userAgent);

test("Chromium runs the binaries of 128 bits and WebKit one, so these are tested here", () => {
  expect(variants).toEqual(isChromium ? ["relaxed", "simd"] : ["simd"]);
});

test("these tests run on an isolated page, with threads", async () => {
  expect(globalThis.crossOriginIsolated).toBe(true);
  const heed = await load({ threads: 4 });
  expect(heed.info).toMatchObject({ threads: 4, crossOriginIsolated: true, reason: null });
  heed.dispose();
});

test("a Windows path is refused as an address in a page", async () => {
  for (const wasmUrl of ["C:\\files", "c:/files"])
    await expect(load({ wasmUrl })).rejects.toMatchObject({
      name: "HeedError",
      code: "option",
      message: `wasmUrl: expected an address, got ${JSON.stringify(wasmUrl)}`,
    });
});

test("wasmUrl may be relative to the page", async () => {
  for (const wasmUrl of ["/dist/", "/dist"]) {
    const heed = await load({ threads: 2, wasmUrl });
    expectWorks(heed);
    heed.dispose();
  }
});

/** Runs a function with properties of global objects replaced, to simulate another browser. */
async function withReplaced(
  replaced: [target: object, name: string, value: unknown][],
  run: () => Promise<void>,
): Promise<void> {
  const before = replaced.map(([target, name]) => Object.getOwnPropertyDescriptor(target, name));
  try {
    for (const [target, name, value] of replaced)
      Object.defineProperty(target, name, { value, configurable: true, writable: true });
    await run();
  } finally {
    replaced.forEach(([target, name], i) => {
      Object.defineProperty(target, name, before[i] as PropertyDescriptor);
    });
  }
}

/** Simulates a postMessage that rejects shared memory, as WebKit's does even on an isolated page. */
function refusesSharedMemory(original: (...args: never[]) => void) {
  return function (this: unknown, ...args: unknown[]): void {
    const holdsMemory = (value: unknown): boolean =>
      value instanceof WebAssembly.Memory ||
      (Object.getPrototypeOf(value ?? 0) === Object.prototype &&
        Object.values(value as object).some(holdsMemory));
    if (holdsMemory(args[0])) throw new DOMException("not cloned", "DataCloneError");
    original.apply(this, args as never[]);
  };
}

test("an engine on an isolated page without shared memory has one thread, and info says why", async () => {
  const posting = [MessagePort, Worker].map(({ prototype }): [object, string, unknown] => [
    prototype,
    "postMessage",
    refusesSharedMemory(prototype.postMessage),
  ]);
  const without: [object, string, unknown][] = [
    ...posting,
    [globalThis, "SharedArrayBuffer", undefined],
  ];
  for (const [replaced, obstacle] of [
    [posting, "this browser does not share memory with workers"],
    [without, "this browser has no SharedArrayBuffer"],
  ] as const) {
    await withReplaced(replaced, async () => {
      const heed = await load({ threads: 4 });
      expectWorks(heed);
      expect(heed.info).toMatchObject({
        threads: 1,
        crossOriginIsolated: true,
        reason: `1 thread, because ${obstacle}, although the page is cross-origin isolated`,
      });
      heed.dispose();
    });
  }
});

test("an engine whose workers cannot start has one thread, and info says why", async () => {
  await withReplaced([[globalThis, "Worker", undefined]], async () => {
    const heed = await load({ threads: 2 });
    expectWorks(heed);
    expect(heed.info).toMatchObject({
      threads: 1,
      reason: "1 thread, because workers cannot be started here, for example in a service worker",
    });
    heed.dispose();
  });
});

/** A constructor of memories that refuses the first ones, as a page does that has no more addresses. */
function refusesMemories(count: number): typeof WebAssembly.Memory {
  let left = count;
  return class extends WebAssembly.Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      if (descriptor.initial !== 0 && left-- > 0) throw new RangeError("could not allocate memory");
      super(descriptor);
    }
  };
}

test("an engine gets less memory at once, or its memory when other engines have ended", async () => {
  const reason = "at most 2048 MiB of memory, because the system refused more";
  for (const [refusals, expected] of [
    [1, reason],
    [5, "at most 1024 MiB of memory, because the system refused more"], // in the second round of three sizes
    [6, null],
    [124, "at most 256 MiB of memory, because the system refused more"], // after 40 rounds
  ] as const) {
    await withReplaced([[WebAssembly, "Memory", refusesMemories(refusals)]], async () => {
      const heed = await load({ threads: 1, warmUp: false });
      expectWorks(heed);
      expect(heed.info.reason).toBe(expected);
      heed.dispose();
    });
  }
});

test("load says that there is no room for another engine", async () => {
  await withReplaced([[WebAssembly, "Memory", refusesMemories(Infinity)]], async () => {
    await expect(load()).rejects.toMatchObject({
      code: "memory",
      message: "maxMemory: expected room for 16 MiB or more, got none",
    });
  });
});

// WebKit frees memory only when it collects garbage, which a page cannot ask for.
test.runIf(isChromium).each([1, 2])(
  "150 engines with %i threads, one after another, leave no memory behind",
  async (threads) => {
    // A page has room for about 125 engines at the same time, because each memory reserves 4 GiB of addresses.
    const disposed: Heed[] = [];
    for (let turn = 0; turn < 150; ++turn) {
      const heed = await load({ threads, warmUp: false });
      heed.ones([4, 256, 1024]);
      heed.dispose();
      disposed.push(heed);
    }
    expect(disposed.every((heed) => heed.info.threads === threads)).toBe(true);
  },
  120_000,
);
