import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { borrow, giveBack, type Server, serve } from "./browsers";
import { Steps } from "./steps";

const built = fileURLToPath(new URL("../../build/web", import.meta.url));

/** A copy of the built page with one change. */
async function brokenPage(change: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "heed-page-"));
  await cp(built, folder, { recursive: true });
  await change(folder);
  return folder;
}

describe.each(["chrome", "firefox"] as const)("In %s, a page whose engine is broken", (name) => {
  let browser: Browser;
  let folder: string;
  let server: Server;
  beforeAll(async () => {
    browser = await borrow(name);
  });
  afterAll(() => giveBack(browser));

  test.each([
    ["is missing", (folder: string) => rm(join(folder, "heed"), { recursive: true })],
    [
      "is no WebAssembly",
      (folder: string) =>
        Promise.all(
          ["simd", "relaxed", "wide"].map((variant) =>
            writeFile(join(folder, "heed", `heed-${variant}.wasm`), "?"),
          ),
        ),
    ],
  ])("that %s says so and keeps its layout", async (_, change) => {
    folder = await brokenPage(change);
    server = await serve("--dir", folder);
    try {
      const room = await Steps.open(browser, server.url);
      await expect.poll(() => room.text("#page")).toContain("The engine could not start: ");
      expect(await room.text("footer")).toBe("The engine is not running.");
      expect(await room.page.$$eval("[role=tab]", (tabs) => tabs.length)).toBe(9);
      expect((await room.table()).keys).toEqual(["The", "quick", "brown", "fox", "jumps"]);
      await room.close();
    } finally {
      server.stop();
      await rm(folder, { recursive: true });
    }
  });
});
