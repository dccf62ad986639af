// The engine's files that the caller provides: a binary in every form, and the glue code.

import { type LoadOptions, load, type Variant } from "heed";
import { beforeAll, describe, expect, test } from "vitest";
import { version } from "../../../package.json";
import { isNode, variants } from "../engine.js";
import { expectWorks } from "../values.js";

// The address is a variable, because a bundler would treat `new URL(..., import.meta.url)` as one of its
// assets.
const here = import.meta.url;
const addressOf = (name: string) =>
  isNode ? new URL(`../../../dist/${name}`, here).href : `${location.origin}/dist/${name}`;

const bytes = {} as Record<Variant, Uint8Array<ArrayBuffer>>;

beforeAll(async () => {
  for (const variant of ["simd", "relaxed", "wide"] as const) {
    const address = new URL(addressOf(`heed-${variant}.wasm`));
    bytes[variant] = isNode
      ? new Uint8Array(await (await import("node:fs/promises")).readFile(address))
      : new Uint8Array(await (await fetch(address)).arrayBuffer());
  }
});

async function failure(options: LoadOptions): Promise<{ code: string; message: string }> {
  return load({ threads: 1, ...options }).then(
    () => expect.fail("expected load to fail"),
    ({ code, message }) => ({ code, message }),
  );
}

function part(variant: Variant): Uint8Array {
  const larger = new Uint8Array(bytes[variant].length + 3);
  larger.set(bytes[variant], 2);
  return larger.subarray(2, -1);
}

const wasm = { "Content-Type": "application/wasm" };
const forms: [string, (variant: Variant) => LoadOptions["wasm"] | Promise<LoadOptions["wasm"]>][] =
  [
    ["an ArrayBuffer", (variant) => bytes[variant].buffer],
    ["a Uint8Array", (variant) => bytes[variant]],
    ["a part of a larger buffer", part],
    ["a module", (variant) => WebAssembly.compile(bytes[variant])],
    ["a response", (variant) => new Response(bytes[variant])],
    ["a response of its own type", (variant) => new Response(bytes[variant], { headers: wasm })],
    ["an address", (variant) => addressOf(`heed-${variant}.wasm`)],
    ["a URL", (variant) => new URL(addressOf(`heed-${variant}.wasm`))],
  ];

describe.each(forms)("the binary given as %s", (_, form) => {
  test.each(variants)("computes, and tells that it is %s", async (variant) => {
    const given = await form(variant);
    if (given === undefined) expect.fail("no form");
    const heed = await load({ threads: 2, wasm: given });
    expect(heed.info).toMatchObject({ variant, threads: 2, reason: null });
    expectWorks(heed);
    heed.dispose();
  });
});

test("a binary of another variant is refused", async () => {
  expect(await failure({ variant: "simd", wasm: addressOf("heed-simd.mjs") })).toMatchObject({
    code: "load",
    message: expect.stringMatching(/heed-simd\.mjs: expected to load the engine, got /),
  });
  if (variants.length === 1) return; // cannot be compiled here
  expect(await failure({ variant: "simd", wasm: bytes.relaxed })).toEqual({
    code: "load",
    message: `wasm: expected the simd binary of heed ${version}, got the relaxed binary of heed ${version}`,
  });
  expect(await failure({ variant: "relaxed", wasm: bytes.wide })).toMatchObject({
    message: `wasm: expected the relaxed binary of heed ${version}, got the wide binary of heed ${version}`,
  });
});

test("a binary of another version is refused", async () => {
  const text = new TextDecoder("latin1").decode(bytes.simd);
  const at = text.indexOf(`heed${version} simd`);
  expect(at).toBeGreaterThan(0);
  const older = bytes.simd.slice();
  older.set(new TextEncoder().encode("0.0.9"), at + 4);
  expect(await failure({ wasm: older })).toEqual({
    code: "load",
    message: `wasm: expected the simd, relaxed or wide binary of heed ${version}, got the simd binary of heed 0.0.9`,
  });
});

test("anything but a binary of this package is refused", async () => {
  const empty = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);
  expect(await failure({ wasm: empty })).toEqual({
    code: "load",
    message: `wasm: expected the simd, relaxed or wide binary of heed ${version}, got another module`,
  });
  for (const given of [new Uint8Array(8), new ArrayBuffer(0), new Response("<!doctype html>")])
    expect(await failure({ wasm: given })).toMatchObject({
      code: "load",
      message: expect.stringMatching(/^wasm: expected to load the engine, got /),
    });
  expect(await failure({ wasm: new Response("", { status: 404 }) })).toMatchObject({
    code: "load",
    message: expect.stringMatching(/^wasm: expected to load the engine, got 404/),
  });
  const nowhere = addressOf("heed-nowhere.wasm");
  const { code, message } = await failure({ wasm: nowhere });
  expect(code).toBe("load");
  expect(message.startsWith(`${nowhere}: expected to load the engine, got `)).toBe(true);
});

// The address is a variable for the same reason as above.
const glueOf = async (name: string) =>
  (await import(/* @vite-ignore */ addressOf(name))).default as NonNullable<LoadOptions["glue"]>;

test.each(["heed-simd.mjs", "heed-relaxed.mjs"])(
  "%s may be given, for one thread",
  async (name) => {
    const glue = await glueOf(name);
    for (const variant of variants) {
      const heed = await load({ threads: 1, variant, glue });
      expect(heed.info).toMatchObject({ variant, threads: 1, reason: null });
      expectWorks(heed);
      heed.dispose();
    }
  },
);

test("an engine with a given glue has one thread, and info says why", async () => {
  const heed = await load({ threads: 2, glue: await glueOf("heed-simd.mjs"), wasm: bytes.simd });
  expect(heed.info).toMatchObject({
    variant: "simd",
    threads: 1,
    reason:
      "1 thread, because the address of the given glue is not known, and no workerUrl is given",
  });
  expectWorks(heed);
  heed.dispose();
});

test("an engine with a given glue and workerUrl has threads", async () => {
  const glue = await glueOf("heed-simd.mjs");
  const workerUrl = addressOf("heed-simd.mjs");
  const heed = await load({ threads: 2, glue, wasm: bytes.simd, workerUrl });
  expect(heed.info).toMatchObject({ threads: 2, reason: null });
  expectWorks(heed);
  heed.dispose();
});
