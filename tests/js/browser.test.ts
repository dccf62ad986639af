// What only a browser has.

import { load } from "heed";
import { expect, test } from "vitest";
import { variants } from "./engine.js";
import { expectWorks } from "./values.js";

test("Chromium has both binaries, so both are tested here", () => {
  expect(variants).toEqual(["relaxed", "simd"]);
});

test("these tests run isolated, so with threads", async () => {
  expect(globalThis.crossOriginIsolated).toBe(true);
  const heed = await load({ threads: 4 });
  expect(heed.info).toMatchObject({ threads: 4, crossOriginIsolated: true, reason: null });
  heed.dispose();
});

test("wasmUrl may be relative to the page", async () => {
  for (const wasmUrl of ["/dist/", "/dist"]) {
    const heed = await load({ threads: 2, wasmUrl });
    expectWorks(heed);
    heed.dispose();
  }
});
