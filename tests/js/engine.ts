// The engines that the tests run on.

import { type Heed, HeedError, type LoadOptions, load, type Variant } from "heed";
import { afterAll, beforeAll, describe } from "vitest";

export const isNode = typeof process === "object" && process.versions?.node !== undefined;

/** Whether this runtime supports relaxed SIMD, determined without the library. Node 20 does not. */
export const hasRelaxedSimd = WebAssembly.validate(
  Uint8Array.of(
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b], // a type () -> v128
    ...[0x03, 0x02, 0x01, 0x00], // a function of that type, and its body:
    ...[0x0a, 0x13, 0x01, 0x11, 0x00],
    ...[0x41, 0x00, 0xfd, 0x0f, 0x41, 0x00, 0xfd, 0x0f, 0x41, 0x00, 0xfd, 0x0f], // three zeros
    ...[0xfd, 0x85, 0x02, 0x0b], // f32x4.relaxed_madd
  ),
);

/** Whether this is the project "wide": Node with a V8 that merges vectors, for which the binary wide is written. */
const isWide = isNode && process.execArgv.includes("--experimental-wasm-revectorize");

const narrow: readonly Variant[] = hasRelaxedSimd ? ["relaxed", "simd"] : ["simd"];

/** The binaries that run here. */
export const variants: readonly Variant[] = isWide ? ["wide"] : narrow;

/** The binary of the long suites. Node and Chromium both run V8: one tests simd, the other relaxed. */
const longest = variants.at(isNode ? -1 : 0) as Variant;

/** The files that the package ships for the binaries. */
export const engineFiles = [
  ...["heed-simd.mjs", "heed-simd.wasm", "heed-relaxed.mjs", "heed-relaxed.wasm"],
  "heed-wide.wasm",
];

/** Runs the suite with one thread and with two. `heed()` returns the engine while the tests run. */
export function describeEngines(suite: (heed: () => Heed) => void): void {
  for (const threads of [1, 2]) {
    describe(`${longest}, ${threads} ${threads === 1 ? "thread" : "threads"}`, () => {
      suite(engine({ variant: longest, threads }));
    });
  }
}

/** Loads an engine for the tests of the enclosing suite. The result returns it while the tests run. */
export function engine(options: LoadOptions): () => Heed {
  let heed: Heed | undefined;
  beforeAll(async () => {
    heed = await load(options);
  });
  afterAll(() => heed?.dispose());
  return () => {
    if (heed === undefined) throw new Error("the engine is there only while tests run");
    return heed;
  };
}

/** Returns the HeedError that a call throws. */
export function refusal(call: () => unknown): HeedError {
  try {
    call();
  } catch (error) {
    if (error instanceof HeedError) return error;
    throw error;
  }
  throw new Error("expected a HeedError, but the call went through");
}

/** Returns the HeedError with which a promise is rejected. */
export async function refusalOf(call: Promise<unknown>): Promise<HeedError> {
  const error = await call.then(
    () => new Error("expected a HeedError, but the call went through"),
    (error: unknown) => error,
  );
  if (error instanceof HeedError) return error;
  throw error;
}
