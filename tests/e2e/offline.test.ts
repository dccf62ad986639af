/** The purpose of the service worker: a host that sends no headers, and a page without a network. */
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, type Server, serve } from "./browsers";
import { Steps } from "./steps";

const built = fileURLToPath(new URL("../../build/web", import.meta.url));

describe.each(["chrome", "firefox"] as const)("In %s, after the first visit, the page", (name) => {
  let browser: Browser;
  let server: Server;
  let folder: string;
  let room: Steps;
  beforeAll(async () => {
    // In a folder below the root, as on a shared host.
    folder = await mkdtemp(join(tmpdir(), "heed-site-"));
    await cp(built, join(folder, "some", "place"), { recursive: true });
    await mkdir(join(folder, "some", "place", "models"), { recursive: true });
    await writeFile(join(folder, "some", "place", "models", "tiny.json"), "[1]");
    [server, browser] = await Promise.all([serve("--no-isolation", "--dir", folder), launch(name)]);
    room = await Steps.open(browser, `${server.url}some/place/`, { serviceWorker: true });
  });
  afterAll(async () => {
    await browser?.close();
    server?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  /** Works even if the page reloads during the evaluation. */
  const isIsolated = () => room.page.evaluate(() => window.crossOriginIsolated).catch(() => false);
  const loads = () =>
    room.page.evaluate(() => performance.getEntriesByType("navigation").length).catch(() => 0);
  const fetched = (path: string) =>
    room.page.evaluate(async (path) => (await fetch(path)).text().catch(String), path);

  /** Firefox reports a request without its address if it aborts it, as when it leaves a page that still loads. */
  const complaints = () => room.complaints.filter((each) => !each.includes("Failed to load ‘’."));
  async function leaveFor(address: string): Promise<void> {
    await room.page.goto("about:blank");
    await room.page.goto(`${server.url}some/place/${address}`);
    await room.ready();
  }

  test("is isolated and computes with several threads", async () => {
    await expect.poll(isIsolated).toBe(true);
    await expect.poll(loads).toBe(1);
    await room.ready();
    const cores = await room.page.evaluate(() => navigator.hardwareConcurrency);
    expect(await room.text("footer")).toMatch(
      cores > 1 ? /WebAssembly, [2-9]\d* threads/ : /WebAssembly, 1 thread\b/,
    );
  });

  test("opens and computes without a network, at any link, with cached models", async () => {
    expect(await fetched("models/tiny.json")).toBe("[1]");
    const kept = () =>
      room.page.evaluate(async () => {
        const name = (await caches.keys()).find((name) => name.includes(" models "));
        return name ? (await (await caches.open(name)).keys()).length : 0;
      });
    // The model above, and the models of every room except the language model. The page fetches them when it is idle.
    const models = (
      await readdir(join(built, "models"), { recursive: true, withFileTypes: true })
    ).filter((entry) => entry.isFile() && basename(entry.parentPath) !== "write");
    await expect.poll(kept).toBe(models.length + 1);
    server.stop();
    await leaveFor("?from=afar#mask=causal");
    await room.untilTable({ masked: [0.113, 0.424, -Infinity, -Infinity, -Infinity], total: 1 });
    expect(await isIsolated()).toBe(true);
    expect(await fetched("models/tiny.json")).toBe("[1]");
    expect(complaints()).toEqual([]);
  });

  test.each([
    "models&model=pronouns",
    "learn",
    "recurrent",
    "beyond",
    "beyond&show=series",
    "speed",
  ])("opens the room %s for the first time without a network", async (link) => {
    await leaveFor(`#room=${link}`);
    expect(complaints()).toEqual([]);
  });
});

describe("The service worker", () => {
  test("does not change a page that its host isolates", async () => {
    const [server, browser] = await Promise.all([serve(), launch("chrome")]);
    try {
      const room = await Steps.open(browser, server.url, { serviceWorker: true });
      let navigations = 0;
      room.page.on("domcontentloaded", () => {
        ++navigations;
      });
      await room.ready();
      await room.page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
      await expect
        .poll(() => room.page.evaluate(() => navigator.serviceWorker.controller !== null))
        .toBe(true);
      expect(navigations).toBe(0);
    } finally {
      await browser.close();
      server.stop();
    }
  });

  test("is not registered for a page in a frame", async () => {
    const [server, browser] = await Promise.all([serve(), launch("chrome")]);
    try {
      const room = await Steps.open(browser, "about:blank", { serviceWorker: true });
      const frame = '<iframe src="./#embed=lines" width="600" height="400"></iframe>';
      await room.openHostOf(server.url, frame);
      const drawn = () => room.countInFrame(`${server.url}#embed=lines`, "heed-lines >>> svg");
      await expect.poll(drawn).toBeGreaterThan(0);
      const count = () =>
        room.page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
      expect(await count()).toBe(0);
    } finally {
      await browser.close();
      server.stop();
    }
  });
});
