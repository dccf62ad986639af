// The binary that load chooses in a page, for each answer of the measurement and each time of the answer.

import { type Heed, type LoadOptions, load } from "heed";
import { afterEach, beforeEach, expect, test } from "vitest";
import { version } from "../../../package.json";
import { hasRelaxedSimd } from "../engine.js";
import { expectWorks } from "../values.js";

if (!hasRelaxedSimd) throw new Error("these tests need relaxed SIMD");

/** The state that all copies of the package share: see bindings/js/core/copies.ts. */
const common = (globalThis as unknown as Record<symbol, { probe?: unknown }>)[
  Symbol.for(`heed ${version}`)
] as { probe?: { answer: boolean | undefined; run?(): Promise<boolean | undefined> } };
const cacheName = "heed";
const address = "https://heed.invalid/variant";
const { fetch } = globalThis;

let fetched: string[];
/** Answers for the files of these names, in place of the server's. */
let answers: Record<string, (signal: AbortSignal | undefined) => Promise<Response>>;

const today = () => Math.floor(Date.now() / 86_400_000);
const textOf = (variant: string, day = today()) => `${variant} ${day} ${navigator.userAgent}`;
const kept = async () => (await caches.match(address, { cacheName }))?.text();
const answered = () => textOf(common.probe?.answer ? "wide" : "relaxed");
const keep = async (text: string) =>
  (await caches.open(cacheName)).put(address, new Response(text));

beforeEach(async () => {
  delete common.probe;
  await caches.delete(cacheName);
  fetched = [];
  answers = {};
  globalThis.fetch = (address, init) => {
    const name = String(address).replace(/.*\//, "");
    if (!name.endsWith(".wasm")) return fetch(address, init);
    fetched.push(name);
    return answers[name]?.(init?.signal ?? undefined) ?? fetch(address, init);
  };
});

afterEach(async () => {
  globalThis.fetch = fetch;
  delete common.probe;
  await caches.delete(cacheName);
});

async function loaded(options: LoadOptions = {}): Promise<Heed["info"]> {
  const heed = await load({ threads: 2, warmUp: false, ...options });
  expectWorks(heed);
  heed.dispose();
  return heed.info;
}

const missing = async () => new Response("", { status: 404 });
const never = () => new Promise<never>(() => {});

/** A measurement whose answer the test gives. */
function asked(): (answer: boolean | undefined) => void {
  let give: (answer: boolean | undefined) => void = () => {};
  const given = new Promise<boolean | undefined>((resolve) => {
    give = resolve;
  });
  const probe = {
    answer: undefined as boolean | undefined,
    run: () => given,
  };
  common.probe = probe;
  return (answer) => {
    probe.answer = answer;
    give(answer);
  };
}

test("nothing is measured where the caller chooses", async () => {
  const bytes = await (await fetch("/dist/heed-relaxed.wasm")).arrayBuffer();
  for (const options of [
    { variant: "relaxed" },
    { variant: "simd" },
    { variant: "wide" },
    { wasm: bytes },
  ] as const) {
    await loaded(options);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(common.probe).toBeUndefined();
  }
});

test("nothing is measured in other engines and on phones", async () => {
  const { userAgent } = navigator;
  try {
    for (const other of [
      "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0",
      "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/156.0.0.0 Mobile Safari/537.36",
    ]) {
      delete common.probe;
      Object.defineProperty(navigator, "userAgent", { value: other, configurable: true });
      expect(await loaded()).toMatchObject({ variant: "relaxed" });
      expect(common.probe).toMatchObject({ answer: false });
      expect(await kept()).toBeUndefined();
    }
  } finally {
    Reflect.deleteProperty(navigator, "userAgent");
  }
  expect(navigator.userAgent).toBe(userAgent);
});

test("an answer that is known decides, and nothing else is fetched", async () => {
  for (const [answer, variant] of [
    [true, "wide"],
    [false, "relaxed"],
  ] as const) {
    common.probe = { answer, run: never };
    fetched = [];
    expect(await loaded()).toMatchObject({ variant, threads: 2, reason: null });
    expect(fetched).toEqual([`heed-${variant}.wasm`]);
  }
});

test("an answer that comes before the relaxed binary decides, and ends its download", async () => {
  const give = asked();
  let isAborted = false;
  answers["heed-relaxed.wasm"] = (signal) =>
    new Promise((_, reject) => {
      signal?.addEventListener("abort", () => {
        isAborted = true;
        reject(signal.reason);
      });
      setTimeout(() => give(true), 20);
    });
  expect(await loaded()).toMatchObject({ variant: "wide", threads: 2, reason: null });
  expect(isAborted).toBe(true);
  expect(fetched).toEqual(["heed-relaxed.wasm", "heed-wide.wasm"]);
  await expect.poll(kept).toBe(textOf("wide"));
});

test("an answer that comes after the relaxed binary is for the next load", async () => {
  const give = asked();
  expect(await loaded()).toMatchObject({ variant: "relaxed" });
  expect(fetched).toEqual(["heed-relaxed.wasm"]);
  give(true);
  expect(await loaded()).toMatchObject({ variant: "wide" });
  expect(fetched).toEqual(["heed-relaxed.wasm", "heed-wide.wasm"]);
});

test("the real measurement ends after load, and its answer is kept for later pages", async () => {
  await loaded();
  await expect.poll(kept, { timeout: 10_000 }).toBeTruthy();
  expect(await kept()).toBe(answered());
});

test("an answer that an earlier page kept decides, also if the relaxed binary is at hand", async () => {
  const bytes = await (await fetch("/dist/heed-relaxed.wasm")).arrayBuffer();
  answers["heed-relaxed.wasm"] = async () => new Response(bytes.slice());
  for (const variant of ["wide", "relaxed"])
    for (const age of [0, 7]) {
      delete common.probe;
      await keep(textOf(variant, today() - age));
      expect(await loaded()).toMatchObject({ variant });
      expect(common.probe).toMatchObject({ answer: variant === "wide" });
      expect(await kept()).toBe(textOf(variant, today() - age));
    }
});

test("an answer that is old, from the future or from another browser is replaced", async () => {
  for (const text of [
    textOf("wide", today() - 8),
    textOf("wide", today() + 2),
    `wide ${today()} another browser`,
    textOf("faster"),
    "wide",
    "",
  ]) {
    delete common.probe;
    await keep(text);
    await loaded();
    await expect.poll(kept, { timeout: 10_000 }).not.toBe(text);
    expect(await kept()).toBe(answered());
  }
});

test("a worker uses the answer that a page kept", async () => {
  await keep(textOf("wide"));
  const script = `
    import { load } from "${location.origin}/dist/index.js";
    import glue from "${location.origin}/dist/heed-relaxed.mjs";
    const heed = await load({ glue, threads: 1, warmUp: false });
    postMessage(heed.info.variant);`;
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(url, { type: "module" });
  try {
    const variant = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
    expect(variant).toBe("wide");
  } finally {
    worker.terminate();
    URL.revokeObjectURL(url);
  }
});

test("a browser without a storage, or that refuses it, or hangs in it, loads an engine", async () => {
  const described = Object.getOwnPropertyDescriptor(globalThis, "caches") as object;
  const refuse = () => Promise.reject(new DOMException("storage is off", "SecurityError"));
  try {
    for (const value of [
      undefined,
      { match: refuse, open: refuse },
      { match: never, open: never },
    ]) {
      Object.defineProperty(globalThis, "caches", { value, configurable: true });
      delete common.probe;
      await loaded();
      await expect.poll(() => common.probe?.answer, { timeout: 10_000 }).toBeDefined();
      delete common.probe;
      const give = asked();
      answers["heed-relaxed.wasm"] = (signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason));
          give(true);
        });
      expect(await loaded()).toMatchObject({ variant: "wide" });
      answers = {};
    }
  } finally {
    Object.defineProperty(globalThis, "caches", described);
  }
});

test("a folder without the wide binary gives the relaxed one", async () => {
  answers["heed-wide.wasm"] = missing;
  common.probe = { answer: true, run: never };
  expect(await loaded()).toMatchObject({ variant: "relaxed", threads: 2, reason: null });
  expect(fetched).toEqual(["heed-wide.wasm", "heed-relaxed.wasm"]);
  // The next load does not request it again.
  expect(await loaded()).toMatchObject({ variant: "relaxed" });
  expect(fetched).toEqual(["heed-wide.wasm", "heed-relaxed.wasm", "heed-relaxed.wasm"]);
  const give = asked();
  answers["heed-relaxed.wasm"] = (signal) => {
    delete answers["heed-relaxed.wasm"];
    give(true);
    return new Promise((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  };
  expect(await loaded()).toMatchObject({ variant: "relaxed", threads: 2, reason: null });
  await expect(load({ variant: "wide" })).rejects.toMatchObject({
    code: "load",
    message: expect.stringMatching(/heed-wide\.wasm: expected to load the engine, got 404/),
  });
});

test("a failure of the measurement is no failure of load", async () => {
  const failing = { answer: undefined, run: () => Promise.reject(new Error("no modules here")) };
  common.probe = failing;
  expect(await loaded()).toMatchObject({ variant: "relaxed" });
  expect(failing.answer).toBe(false);
});

test("a folder without any binary is refused while the measurement goes on", async () => {
  asked();
  answers["heed-relaxed.wasm"] = missing;
  await expect(load()).rejects.toMatchObject({
    code: "load",
    message: expect.stringMatching(/heed-relaxed\.wasm: expected to load the engine, got 404/),
  });
});
