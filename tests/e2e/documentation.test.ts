/** Every page of the documentation, under the site's content security policy, in any folder, narrow and wide. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HeedMatrix } from "heed/view";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { borrow, complaintsOf, giveBack, type Server, serve } from "./browsers";
import { Room } from "./room";

const built = fileURLToPath(new URL("../../build/web", import.meta.url));
const pages = readdirSync(join(built, "docs")).filter((name) => name.endsWith(".html"));

/** One page of each kind, for the slower browser. */
const forms = [
  "index.html",
  "tutorial.html",
  "package.html",
  "package-training.html",
  "pytorch.html",
  "reference-heed.html",
  "reference-cpp.html",
];

test("The service worker keeps no page of the documentation", () => {
  const [files] = readFileSync(join(built, "service-worker.js"), "utf8").split("\n");
  expect(files).toContain('"./"');
  expect(files).not.toContain("docs/");
});

describe.each(["chrome", "firefox"] as const)("In %s the documentation", (name) => {
  let browser: Browser;
  let server: Server;
  let folder: string;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "heed-docs-"));
    cpSync(built, join(folder, "some/place"), { recursive: true });
    [server, browser] = await Promise.all([serve("--dir", folder), borrow(name)]);
    page = await browser.newPage();
    complaints = complaintsOf(page);
  });
  afterAll(async () => {
    await giveBack(browser);
    server?.stop();
    if (folder) rmSync(folder, { recursive: true });
  });

  const open = (file: string) => page.goto(`${server.url}some/place/docs/${file}`);

  test("is linked from the Playground, and links back", async () => {
    const room = await Room.open(browser, `${server.url}some/place/`);
    await room.page.waitForSelector(".documentation a");
    const link = (selector: string) =>
      room.page.$eval(selector, (element) => (element as HTMLAnchorElement).href);
    const address = await link(".documentation a");
    expect(address).toBe(`${server.url}some/place/docs/`);
    await room.page.goto(address);
    expect(await room.page.$eval("h1", (heading) => heading.textContent)).toBe("Heed");
    expect(await link(".playground a")).toBe(`${server.url}some/place/`);
    await room.page.close();
  });

  test.each([360, 1440])(
    "is readable at a width of %d pixels, with an empty console",
    async (width) => {
      await page.setViewport({ width, height: 800 });
      complaints.length = 0;
      for (const file of name === "chrome" ? pages : forms) {
        await open(file);
        const [over, title, family] = await page.evaluate(() => [
          document.documentElement.scrollWidth - document.documentElement.clientWidth,
          document.querySelector("main h1")?.textContent ?? "",
          getComputedStyle(document.body).fontFamily,
        ]);
        expect([file, over, title === "", String(family).includes("system-ui")]).toEqual([
          file,
          0,
          false,
          true,
        ]);
      }
      expect(complaints).toEqual([]);
    },
  );

  test("finds a section of any page", async () => {
    await page.setViewport({ width: 1440, height: 800 });
    await open("memory.html");
    const found = () =>
      page.$$eval(".found:not([hidden]) li", (items) =>
        items.map((item) => item.querySelector("a")?.getAttribute("href") ?? item.textContent),
      );
    await page.type("[data-search]", "RopeOptions");
    await expect.poll(async () => (await found())[0]).toBe("reference-heed.html#heed.RopeOptions");
    await page.keyboard.press("Escape");
    expect(await found()).toEqual([]);
    await page.type("[data-search]", "zzqxv");
    await expect.poll(found).toEqual(["No section has these words."]);
    await page.keyboard.press("Escape");
    await page.type("[data-search]", "cross-origin isolation headers");
    await expect.poll(async () => (await found()).join()).toContain("hosting.html#");
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    expect(page.url()).toContain("#");
  });

  test("shows a picture on the first page, and the tutorial's with its numbers", async () => {
    const drawings = (tag: string) =>
      page.$eval(tag, ({ shadowRoot }) => shadowRoot?.querySelectorAll("canvas").length);
    complaints.length = 0;
    await open("index.html");
    await expect.poll(() => drawings("heed-steps")).toBeGreaterThan(2);
    await open("tutorial.html");
    await expect.poll(() => drawings("heed-matrix")).toBeGreaterThan(0);
    const csv = await page.$eval("heed-matrix", (element) => (element as HeedMatrix).csv());
    expect(csv).toContain('"sees",0.3775,0.6225,0\r\n');
    expect(complaints).toEqual([]);
  });

  test("leads an old address of a heading to its new page", async () => {
    await open("package.html#threads");
    await expect.poll(() => page.url()).toContain("/docs/package-where-it-runs.html#threads");
  });

  test("copies a block of code", async () => {
    await open("tutorial.html");
    const copied = await page.evaluate(async () => {
      let text = "";
      const clipboard = {
        async writeText(code: string) {
          text = code;
        },
      };
      Object.defineProperty(navigator, "clipboard", { value: clipboard, configurable: true });
      document.querySelector<HTMLButtonElement>(".copy")?.click();
      await Promise.resolve();
      return [text, document.querySelector("pre.code")?.textContent];
    });
    expect(copied[0]).toBe(copied[1]);
    expect(copied[0]).toContain("npm install heed");
    await expect.poll(() => page.$eval(".copy", (button) => button.textContent)).toBe("Copied");
  });

  test("is larger on a wide screen", async () => {
    await open("memory.html");
    const sizes = async (width: number) => {
      await page.setViewport({ width, height: 1440 });
      return page.evaluate(() => [
        document.documentElement.scrollWidth - document.documentElement.clientWidth,
        getComputedStyle(document.querySelector("main p") as Element).fontSize,
      ]);
    };
    expect(await sizes(1440)).toEqual([0, "16px"]);
    expect(await sizes(2560)).toEqual([0, "24px"]);
    expect(await sizes(3840)).toEqual([0, "36px"]);
  });

  test("has the theme that was chosen in the Playground", async () => {
    await page.evaluate(() => localStorage.setItem("heed-theme", "dark"));
    await open("memory.html");
    const background = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    expect(await background()).toBe("rgb(27, 28, 31)");
    await page.evaluate(() => localStorage.removeItem("heed-theme"));
  });
});
