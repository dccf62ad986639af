import { type Heed, HeedError, type LoadOptions, load, type Variant } from "heed";
import { expect, test } from "vitest";
import { version } from "../../../package.json";
import { hasRelaxedSimd, isNode, variants } from "../engine.js";
import { expectWorks } from "../values.js";

const MiB = 2 ** 20;
// A variable, because a bundler would treat `new URL(..., import.meta.url)` as one of its assets.
const here = import.meta.url;

async function failure(loading: Promise<unknown>): Promise<HeedError> {
  const error = await loading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HeedError);
  return error as HeedError;
}

test("info describes what was loaded", async () => {
  const heed = await load({ threads: 2 });
  expect(heed.info).toEqual({
    version,
    variant: hasRelaxedSimd ? "relaxed" : "simd",
    threads: 2,
    crossOriginIsolated: !isNode,
    reason: null,
  });
  expect(Object.isFrozen(heed.info)).toBe(true);
  heed.dispose();
});

test("the version is the same in package.json and in the module", async () => {
  for (const variant of variants) {
    const heed = await load({ variant, threads: 1 });
    expect(heed.info.version).toBe(version);
    heed.dispose();
  }
});

test.each(variants)("the %s binary can be requested", async (variant) => {
  const heed = await load({ variant, threads: 1 });
  expect(heed.info.variant).toBe(variant);
  expectWorks(heed);
  heed.dispose();
});

test.each([1, 2, 3, 5])("%i threads can be requested", async (threads) => {
  const heed = await load({ threads });
  expect(heed.info.threads).toBe(threads);
  expect(heed.info.reason).toBeNull();
  expectWorks(heed);
  heed.dispose();
});

test("there are as many threads as cores by default, 8 at most", async () => {
  const heed = await load();
  const cores = isNode
    ? (await import("node:os")).availableParallelism()
    : navigator.hardwareConcurrency;
  expect(heed.info.threads).toBe(Math.min(cores, 8));
  heed.dispose();
});

test("undefined options count as missing", async () => {
  const heed = await load({ threads: 1, variant: undefined } as unknown as LoadOptions);
  expect(heed.info.variant).toBe(variants[0]);
  heed.dispose();
});

const refused: [name: string, value: unknown, expected: string, got: string][] = [
  ["threads", 0, "a whole number from 1 to 1024", "0"],
  ["threads", -1, "a whole number from 1 to 1024", "-1"],
  ["threads", 1.5, "a whole number from 1 to 1024", "1.5"],
  ["threads", "2", "a whole number from 1 to 1024", '"2"'],
  ["threads", 1025, "a whole number from 1 to 1024", "1025"],
  ["variant", "avx", '"wide" or "relaxed" or "simd"', '"avx"'],
  ["wasmUrl", 3, "an address", "3"],
  ["wasmUrl", "http://[", "an address", '"http://["'],
  ["wasmUrl", "mailto:heed", "an address", '"mailto:heed"'],
  ["wasm", 3, "bytes, a response, a WebAssembly.Module or an address", "3"],
  ["wasm", [0], "bytes, a response, a WebAssembly.Module or an address", "[0]"],
  ["wasm", "http://[", "an address", '"http://["'],
  [
    "glue",
    "heed-simd.mjs",
    "the default export of heed-simd.mjs or heed-relaxed.mjs",
    '"heed-simd.mjs"',
  ],
  ["maxMemory", 1024, "a whole number from 16777216 to 4294967296", "1024"],
  ["maxMemory", 5 * 1024 * MiB, "a whole number from 16777216 to 4294967296", "5368709120"],
  ["warmUp", 1, "true or false", "1"],
  ["waitForThreads", "no", "true or false", '"no"'],
  ["debug", {}, "true or false", "an Object"],
  ["debug", new Uint8Array(1), "true or false", "a Uint8Array"],
  ["workerUrl", 3, "an address", "3"],
  ["workerUrl", "http://[", "an address", '"http://["'],
  ["maxMemory", null, "a whole number from 16777216 to 4294967296", "null"],
  [
    "thread",
    2,
    "an option of load (threads, variant, wasmUrl, wasm, glue, workerUrl, waitForThreads, maxMemory, warmUp, debug)",
    "an unknown one",
  ],
];

test.each(refused)("load refuses %s: %j", async (name, value, expected, got) => {
  const error = await failure(load({ [name]: value } as LoadOptions));
  expect(error.code).toBe("option");
  expect(error.message).toBe(`${name}: expected ${expected}, got ${got}`);
});

test("load refuses options that are not an object", async () => {
  const error = await failure(load(2 as unknown as LoadOptions));
  expect(error.message).toBe("options: expected an object, got 2");
});

test("several engines work side by side", async () => {
  const heeds = await Promise.all([
    load({ threads: 1 }),
    load({ threads: 2 }),
    ...variants.map((variant: Variant) => load({ threads: 2, variant })),
  ]);
  for (const heed of heeds) expectWorks(heed);
  for (const heed of heeds.reverse()) heed.dispose();
});

test("engines compute on their own threads while others come and go", async () => {
  const compute = async (heed: Heed) => {
    const x = heed.ones([1, 4, 512, 32]);
    for (let turn = 0; turn < 10; ++turn) {
      const { output } = heed.attention(x, x, x, { isCausal: true });
      expect(output.data.every((value) => Math.abs(value - 1) < 1e-5)).toBe(true);
      expect(heed.info).toMatchObject({ threads: 2, reason: null });
      output.dispose();
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  const [variant, other] = [variants.at(0), variants.at(-1)] as [Variant, Variant];
  const [first, second] = await Promise.all([
    load({ threads: 2, variant }),
    load({ threads: 2, variant: other }),
  ]);
  await compute(first);
  const computing = compute(second);
  first.dispose();
  const third = await load({ threads: 2, variant });
  await Promise.all([computing, compute(third)]);
  third.dispose();
  await compute(second);
  second.dispose();
});

test("threads run when load is done, before the caller yields", async () => {
  for (const threads of [2, 3]) {
    const heed = await load({ threads, warmUp: false });
    expect(heed.info.threads).toBe(threads); // counted by the threads themselves
    heed.dispose();
  }
});

test("threads that load does not wait for join while the caller is idle", async () => {
  const heed = await load({ threads: 3, waitForThreads: false });
  expectWorks(heed);
  while (heed.info.threads < 3) {
    expect(heed.info.reason).toMatch(
      /^(1 thread|2 threads), because the others have not begun yet$/,
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(heed.info).toMatchObject({ threads: 3, reason: null });
  expectWorks(heed);
  heed.dispose();
});

test("a disposed engine still has its info, and refuses everything else", async () => {
  const heed = await load({ threads: 2 });
  const tensor = heed.ones([2]);
  const { info } = heed;
  heed.dispose();
  heed.dispose();
  expect(heed.info).toEqual(info);
  tensor.dispose();
  for (const call of [() => heed.ones([2]), () => heed.tensor([1]), () => tensor.data])
    expect(call).toThrow(HeedError);
});

test("the warm-up is optional, and takes only moments", async () => {
  const time = async (options: LoadOptions) => {
    const started = performance.now();
    const heed = await load({ threads: 1, ...options });
    const taken = performance.now() - started;
    expectWorks(heed);
    heed.dispose();
    return taken;
  };
  await time({});
  const [cold, warm] = [await time({ warmUp: false }), await time({ warmUp: true })];
  expect(warm - cold).toBeLessThan(500);
});

test("an engine can be disposed of before its threads have begun", async () => {
  for (let round = 0; round < 3; ++round) {
    const heed = await load({ threads: 4, warmUp: false });
    heed.dispose();
  }
});

test("maxMemory limits the memory of an engine, which works on at the limit", async () => {
  const heed = await load({ threads: 2, maxMemory: 64 * MiB });
  const kept = heed.tensor(new Float32Array(4 * MiB).fill(1));
  const call = () => heed.tensor(new Float32Array(16 * MiB));
  expect(call).toThrow(HeedError);
  expect(call).toThrow(
    /^memory: expected \d+ more bytes, got none; live tensors: 1, of 16777216 bytes; free tensors that you no longer need with dispose\(\) or heed\.scope$/,
  );
  expect(kept.data.at(-1)).toBe(1);
  expectWorks(heed);
  heed.dispose();
});

test("a folder without the module is refused with the name of the missing file", async () => {
  const folder = new URL("./nowhere/", here);
  for (const wasmUrl of [folder, folder.href, folder.href.slice(0, -1)]) {
    const error = await failure(load({ threads: 1, variant: "simd", wasmUrl }));
    expect(error.code).toBe("load");
    expect(error.message).toMatch(
      /^\S*\/nowhere\/heed-simd\.mjs: expected to load the engine, got .*; heed-simd\.mjs, heed-simd\.wasm, heed-relaxed\.mjs, heed-relaxed\.wasm and heed-wide\.wasm of the package's dist folder must be in \S*\/nowhere\/ or in the folder of wasmUrl$/s,
    );
    expect(error.cause).toBeInstanceOf(Error);
  }
});

test("the module can be in any folder", async () => {
  let folder: URL;
  if (isNode) {
    const [{ copyFileSync, mkdtempSync }, { tmpdir }, { pathToFileURL }] = await Promise.all([
      import("node:fs"),
      import("node:os"),
      import("node:url"),
    ]);
    folder = pathToFileURL(`${mkdtempSync(`${tmpdir()}/heed-module-`)}/`);
    for (const name of ["heed-simd.mjs", "heed-simd.wasm"])
      copyFileSync(new URL(`../../../dist/${name}`, here), new URL(name, folder));
  } else {
    folder = new URL("/dist/", location.origin);
  }
  for (const wasmUrl of [folder, folder.href]) {
    const heed = await load({ threads: 2, variant: "simd", wasmUrl });
    expectWorks(heed);
    heed.dispose();
  }
});
