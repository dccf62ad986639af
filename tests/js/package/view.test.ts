// heed view as installed: its page opens from a file, without a network, in Chromium and Firefox.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright";
import type { Page as FirefoxPage } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launchChromium } from "../../harness/chromium.mjs";
import { launchFirefox } from "../../harness/firefox.mjs";
import { run } from "../child.js";
import { npy, npz } from "../zipped.js";
import { recipesOf } from "./examples.js";
import { writeFiles } from "./places.js";
import { serve } from "./serve.js";

const { project } = inject("installed");
const program = join(project, "node_modules/.bin/heed");
const folder = mkdtempSync(join(tmpdir(), "heed-view-"));
const [layers, heads, length] = [2, 3, 5];
const words = ["The", " cat", " sat", " on", "</script>"];

/** Causal weights in rows that add up to one. */
const weights = Float32Array.from({ length: layers * heads * length ** 2 }, (_, i) => {
  const [row, col] = [Math.floor(i / length) % length, i % length];
  return col > row ? 0 : 1 / (row + 1);
});

const addressOf = (name: string) => pathToFileURL(join(folder, name)).href;

beforeAll(async () => {
  const array = npy([layers, 1, heads, length, length], weights);
  writeFileSync(join(folder, "gpt.npz"), npz({ attentions: array }));
  writeFileSync(join(folder, "tokens.json"), JSON.stringify(words));
  const parts = ["view", "gpt.npz", "--tokens", "tokens.json", "--mask", "causal"];
  const { status, errors } = await run(program, parts, { cwd: folder });
  expect({ status, errors }).toEqual({ status: 0, errors: "" });
});
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * The contents of the page after its pictures are drawn. The function is a text, because the policy forbids eval in
 * Firefox.
 */
async function shown() {
  const element = document.querySelector("heed-heads") as HTMLElement & {
    error: Error | null;
    updateComplete: Promise<void>;
    csv(): string;
  };
  await element.updateComplete;
  const root = element.shadowRoot as ShadowRoot;
  const canvas = root.querySelector(".thumbnail canvas") as HTMLCanvasElement;
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext("2d", { willReadFrequently: true });
  context?.drawImage(canvas, 0, 0);
  const pixels = context?.getImageData(0, 0, canvas.width, canvas.height).data;
  return {
    title: document.title,
    error: element.error?.message ?? null,
    thumbnails: root.querySelectorAll(".thumbnail").length,
    colours: new Set(new Uint32Array(pixels?.buffer ?? [])).size,
    csv: element.csv(),
    page: getComputedStyle(document.body).backgroundColor,
  };
}

const expected = {
  ...{ title: "gpt", error: null, thumbnails: layers * heads },
  csv: expect.stringContaining("</script>"),
};

describe("In Chromium the page of heed view", () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let told: string[] = [];
  let asked: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    context = await browser.newContext({ acceptDownloads: true });
    await context.setOffline(true);
  });
  afterAll(() => browser.close());

  const open = async (name: string) => {
    await page?.close();
    page = await context.newPage();
    [told, asked] = [[], []];
    page.on("console", (message) => told.push(message.text()));
    page.on("pageerror", (error) => told.push(String(error)));
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(addressOf(name));
  };

  test("shows all heads without a network, light and dark, on a phone and on paper", async () => {
    await open("gpt.html");
    await page.waitForSelector("heed-heads .thumbnail canvas");
    const light = await page.evaluate(shown);
    expect(light).toMatchObject({ ...expected, page: "rgb(255, 255, 255)" });
    expect(light.colours).toBeGreaterThan(3);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await page.evaluate(shown)).toMatchObject({ ...expected, page: "rgb(27, 28, 31)" });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await page.evaluate(shown)).toMatchObject({ ...expected, page: "rgb(255, 255, 255)" });
    await page.emulateMedia({ media: "screen", colorScheme: "light" });
    await page.setViewportSize({ width: 360, height: 740 });
    await page.evaluate(() => new Promise(requestAnimationFrame));
    const { scrollWidth } = await page.evaluate(() => ({
      ...document.documentElement,
      scrollWidth: document.documentElement.scrollWidth,
    }));
    expect(scrollWidth).toBe(360);
    expect(told).toEqual([]);
    expect(asked.filter((url) => !url.startsWith("blob:"))).toEqual([addressOf("gpt.html")]);
  });

  test("gives the weights back", async () => {
    await open("gpt.html");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.click("text=Save the weights"),
    ]);
    expect(download.suggestedFilename()).toBe("gpt.npz");
    const back = join(folder, "back.npz");
    await download.saveAs(back);
    await run(program, ["view", "back.npz", "--out", "again.html", "--title", "gpt"], {
      cwd: folder,
    });
    const block = (name: string) =>
      /class="weights">([^<]*)/.exec(readFileSync(join(folder, name), "utf8"))?.[1];
    expect(block("again.html")).toBe(block("gpt.html"));
  });

  test("says that it is damaged, if it is", async () => {
    const whole = readFileSync(join(folder, "gpt.html"), "utf8");
    const damaged = whole.replace(/(class="weights">.{160})....(.*?<)/s, "$1AAAA$2");
    expect(damaged).not.toBe(whole);
    writeFileSync(join(folder, "damaged.html"), damaged);
    await open("damaged.html");
    const alert = await page.waitForSelector("[role=alert]");
    expect(await alert.textContent()).toMatch(/^This file is damaged: zip: attentions\.npy: /);
    expect(told).toEqual([]);
  });
});

test("the guide's page shows the files that heed view reads", async () => {
  const recipes = recipesOf(join(project, "node_modules/heed"), "web/guides/gpt2.md");
  writeFiles(project, { "heads.html": recipes["gpt2/saved.html"] as string });
  for (const [from, to] of [
    ["gpt.npz", "attentions.npz"],
    ["tokens.json", "tokens.json"],
  ] as const)
    cpSync(join(folder, from), join(project, to));
  const served = await serve(project, {});
  const browser = await launchChromium();
  try {
    const opened = await browser.newPage();
    await opened.goto(`${served.url}heads.html`);
    await opened.waitForSelector("heed-heads .thumbnail canvas");
    expect(await opened.evaluate(shown)).toMatchObject({ ...expected, title: "Attention" });
  } finally {
    await browser.close();
    served.close();
  }
});

test("In Firefox the page of heed view shows all heads without a network", async () => {
  const browser = await launchFirefox();
  try {
    const page: FirefoxPage = await browser.newPage();
    const told: string[] = [];
    page.on("console", (message) => told.push(message.text()));
    page.on("pageerror", (error) => told.push(String(error)));
    await page.goto(addressOf("gpt.html"));
    await expect
      .poll(
        () =>
          page.evaluate(
            () =>
              document
                .querySelector("heed-heads")
                ?.shadowRoot?.querySelectorAll(".thumbnail canvas").length,
          ),
        { timeout: 20_000 },
      )
      .toBe(layers * heads);
    expect(await page.evaluate(shown)).toMatchObject(expected);
    expect(told).toEqual([]);
  } finally {
    await browser.close();
  }
});
