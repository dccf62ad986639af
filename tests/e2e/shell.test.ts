/** The parts that all rooms share: navigation, links for a class, playing, accessibility, and the size of the code. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { rooms } from "../../web/src/app/rooms";
import { Steps } from "./steps";
import { visits } from "./visits";

const built = fileURLToPath(new URL("../../build/web", import.meta.url));

describe("The shell", () => {
  const { open, enter, reenter } = visits(Steps, "chrome");
  const isThere = async (room: Steps, selector: string) => (await room.page.$(selector)) !== null;

  test("shows the whole room, with a notice, if a link names a panel that it has not", async () => {
    const room = await enter("#embed=nothing");
    expect(await room.text(".notices")).toContain("The room has no panel “nothing”");
    expect(await room.text("h1")).toBe("Attention, step by step");
  });

  test("shows in forced colours what is chosen, and bars in their colours", async () => {
    const room = await open("#room=models&length=0");
    await room.page.waitForSelector(".share-bar");
    const media = { features: [{ name: "forced-colors", value: "active" }] };
    await (await room.page.createCDPSession()).send("Emulation.setEmulatedMedia", media);
    const styles = (selector: string, property: string) =>
      room.page.$$eval(
        selector,
        (all, property) => all.map((each) => getComputedStyle(each).getPropertyValue(property)),
        property,
      );
    const choices = await styles(".choice label", "outline-style");
    const chosen = await styles(".choice label:has(:checked)", "outline-style");
    expect(new Set(chosen)).toEqual(new Set(["solid"]));
    expect(choices.filter((style) => style === "solid")).toHaveLength(chosen.length);
    expect(await styles(".rooms [aria-current]", "outline-style")).toEqual(["solid"]);
    expect(new Set(await styles(".share-bar > span", "forced-color-adjust"))).toEqual(
      new Set(["none"]),
    );
  });

  test("lists the rooms, marks the current one, and leads to each", async () => {
    const room = await enter();
    for (const { id, name } of [...rooms].reverse()) {
      await room.click(name, "nav.rooms");
      await expect.poll(() => room.text("nav.rooms [aria-current=page]")).toBe(name);
      await room.page.waitForSelector(`main.${id}`);
      const title = await room.text("h1");
      await expect.poll(() => room.page.title()).toBe(`${title} · Heed`);
    }
  });

  test("ends each room with the question of the next one, and the last with the documentation", async () => {
    const room = await reenter();
    expect(await room.text(".lead")).toContain("Attention lets each word take");
    for (const { id, name, question } of rooms.slice(1)) {
      expect(await room.text(".next-room")).toBe(`Next: ${name} ${question}`);
      await room.page.click(".next-room a");
      await room.page.waitForSelector(`main.${id}`);
      await expect.poll(() => room.page.evaluate(() => window.scrollY)).toBe(0);
    }
    expect(await room.text(".next-room")).toContain("Next: documentation");
    const address = await room.page.$eval(
      ".next-room a",
      (link) => (link as HTMLAnchorElement).href,
    );
    expect(new URL(address).pathname).toBe("/docs/");
  });

  test("scrolls the current room into view on a narrow page", async () => {
    const room = await reenter("", { width: 360 });
    for (const { id } of [...rooms].reverse()) {
      await room.go(`#room=${id}`);
      await room.page.waitForSelector(`main.${id}`);
      const isInView = () =>
        room.page.$eval("nav.rooms [aria-current]", (link) => {
          const { left, right } = link.getBoundingClientRect();
          return left >= 0 && right <= window.innerWidth;
        });
      await expect.poll(isInView, { message: id }).toBe(true);
    }
  });

  test("explains a followed suggestion in view, and lets the person scroll away from it", async () => {
    const room = await reenter();
    const scrolled = () => room.page.evaluate(() => window.scrollY);
    await room.click("Hide the future", ".try-next");
    await expect
      .poll(() => room.text(".tried"))
      .toMatch(/^Hide the future\. .*each row ends at its own\. Close$/);
    await expect.poll(scrolled).toBeLessThan(200);
    const bottom = await room.page.evaluate(() => {
      window.scrollTo(0, document.body.scrollHeight);
      return window.scrollY;
    });
    expect(bottom).toBeGreaterThan(300);
    await room.page.select("select[aria-label^=Query]", "4");
    await expect.poll(() => room.link()).toContain("query=5");
    expect(await scrolled()).toBe(bottom);
  });

  test("opens the first room if a link names an unknown one", async () => {
    const room = await reenter("#room=cellar&mask=causal");
    expect(await room.text(".notices")).toContain("The link's room is “cellar”, but it takes");
    await expect.poll(() => room.link()).toBe("#mask=causal");
  });

  test("hides the parts that a teacher's link names", async () => {
    const room = await reenter("#hide=nav,text,controls,table,try");
    for (const selector of [
      ".rooms",
      ".next-room",
      ".lead",
      ".settings",
      ".row-table",
      ".try-next",
    ])
      expect(await isThere(room, selector), selector).toBe(false);
    for (const selector of ["h1", ".sentence", ".pipeline", ".stage", ".lines", "footer"])
      expect(await isThere(room, selector), selector).toBe(true);
    expect(await room.page.$$(".stage-words p")).toEqual([]);
  });

  test("locks everything but playing, pointing and choosing a view", async () => {
    const room = await reenter("#mask=painted&step=scores&lock=on");
    expect(await room.page.$$(".settings :enabled, .sentences :enabled")).toEqual([]);
    expect(await isThere(room, ".class-link")).toBe(false);
    const { x, y } = await room.cell("scores", 1, 3, 5, 5);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.link()).toContain("cell=scores.2.4");
    await room.page.click("[data-stage=masked]");
    await expect.poll(() => room.text(".transport b")).toBe("Masked");
    // A click that would paint the mask now only locks the cell.
    const masked = await room.cell("masked", 1, 3, 5, 5);
    await room.page.mouse.click(masked.x, masked.y);
    await expect.poll(() => room.link()).toContain("cell=masked.2.4");
    expect(await room.link()).not.toContain("hidden=");
    expect(await room.link()).toContain("lock=on");
  });

  test.each(Object.entries({ picture: ".stage", lines: "heed-lines", table: ".row-table" }))(
    "shows only the panel %s in a frame",
    async (panel, selector) => {
      const room = await open(`#embed=${panel}`, { width: 400 });
      await room.page.waitForSelector(`main.embedded ${selector}`);
      for (const other of ["header", "footer", ".settings", ".class-link", ".pipeline"])
        expect(await isThere(room, other), other).toBe(false);
      expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
    },
  );

  test("explains a technical term in place", async () => {
    const room = await reenter("#room=models");
    const open = () => room.page.$$(".definition:popover-open");
    await room.page.waitForSelector(".lead .term");
    expect(await open()).toHaveLength(0);
    await room.page.focus(".lead .term");
    await room.page.keyboard.press("Enter");
    await expect
      .poll(() => room.text(".lead .definition"))
      .toContain("head One attention with its own queries");
    expect(await room.violations()).toEqual([]);
    await room.page.keyboard.press("Escape");
    expect(await open()).toHaveLength(0);
    expect(await room.page.$eval(":focus", ({ textContent }) => textContent)).toBe("head");
  });

  test("is larger on a wide screen, with sharp pictures that react like elsewhere", async () => {
    const room = await reenter("#step=scores", { width: 2560, height: 1440 });
    const canvas = await room.canvas("scores");
    const sizes = await canvas.evaluate((element) => {
      const { width, offsetWidth } = element as HTMLCanvasElement;
      return { width, offsetWidth, seen: element.getBoundingClientRect().width };
    });
    expect(sizes.seen / sizes.offsetWidth).toBeCloseTo(1.5, 2);
    expect(sizes.width / sizes.seen).toBeCloseTo(1, 2);
    const { x, y } = await room.cell("scores", 1, 3, 5, 5);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.link()).toContain("cell=scores.2.4");
  });

  test("writes “tap” if there is no mouse", async () => {
    const room = await enter("#step=scaled");
    expect(await room.text(".readout")).toMatch(/^Point at a cell/);
    await room.page.setViewport({ width: 390, height: 780, isMobile: true, hasTouch: true });
    await room.ready();
    await expect.poll(() => room.text(".readout")).toMatch(/^Tap a cell/);
  });

  test.each([
    ["#room=beyond&show=points", ".plot-field"],
    ["#room=learn", ".curve svg.draggable"],
  ])("scrolls under a finger, and can be enlarged, also on a chart: %s", async (link, chart) => {
    const room = await enter(link);
    await room.page.setViewport({ width: 390, height: 780, isMobile: true, hasTouch: true });
    await room.ready();
    const { x, y, actions } = await room.page.$eval(chart, (element) => {
      document.body.style.paddingBlock = "2000px";
      element.scrollIntoView({ block: "center" });
      const { left, top, width, height } = element.getBoundingClientRect();
      const actions: string[] = [];
      for (let each: Element | null = element; each; each = each.parentElement)
        actions.push(getComputedStyle(each).touchAction);
      return { x: left + width / 2, y: top + height / 2, actions };
    });
    for (const action of actions) expect(action).toMatch(/auto|manipulation|pinch-zoom/);
    const scrolled = () => room.page.evaluate(() => scrollY);
    const before = await scrolled();
    const finger = await room.page.touchscreen.touchStart(x, y);
    for (let moved = 20; moved <= 200; moved += 20) await finger.move(x, y - moved);
    await finger.end();
    await expect.poll(scrolled).toBeGreaterThan(before + 100);
  });

  test("plays on, pauses at a touch, and only steps with reduced motion", async () => {
    const room = await enter("#step=output&time=10");
    await room.click("Play", ".transport");
    expect(await room.text(".transport .play")).toBe("Pause");
    await expect.poll(() => room.text(".transport b")).toBe("Joined");
    await expect.poll(() => room.text(".transport .play")).toBe("Play");
    await room.page.focus(".transport .scrub");
    for (let i = 0; i < 3; ++i) await room.page.keyboard.press("ArrowLeft");
    await expect.poll(() => room.text(".transport")).toContain("Moment 79 of 82 Joined");
    await room.page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    await expect.poll(() => isThere(room, ".transport .play")).toBe(false);
    await room.click("Next →");
    await expect.poll(() => room.text(".transport")).toContain("Moment 80 of 82 Joined");
  });

  test("has no file that imports a worker's entry, which WebKit would evaluate twice", () => {
    const assets = join(built, "assets");
    const names = readdirSync(assets).filter((name) => name.endsWith(".js"));
    expect(names.filter((name) => name.includes(".worker-")).length).toBeGreaterThan(0);
    const importers = names.filter((name) =>
      /(?:from|import)\s*\(?\s*["'`][^"'`]*\.worker-/.test(
        readFileSync(join(assets, name), "utf8"),
      ),
    );
    expect(importers).toEqual([]);
  });

  test("loads less than 120 KB of JavaScript, gzipped, for the first room", () => {
    const assets = join(built, "assets");
    const named = (start: string) => {
      const found = readdirSync(assets).find(
        (name) => name.startsWith(start) && name.endsWith(".js"),
      );
      if (!found) throw new Error(`there is no ${start} in ${assets}`);
      return found;
    };
    // The files that the page loads: its entry, the room, the worker with its solver, and all their static imports.
    const entry = /src="\.\/assets\/([^"]+\.js)"/.exec(
      readFileSync(join(built, "index.html"), "utf8"),
    )?.[1] as string;
    const worker = named("worker-");
    // Each room has a solver, and the file names differ only in a hash.
    const solver = /\bsteps:\(\)=>import\(.\.\/(solve-[\w-]+\.js)/.exec(
      readFileSync(join(assets, worker), "utf8"),
    )?.[1] as string;
    const files = new Set([entry, named("steps-"), named("engine.worker-"), worker, solver]);
    for (const file of files) {
      const code = readFileSync(join(assets, file), "utf8");
      for (const [, name] of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g))
        files.add(name as string);
    }
    const sizes = [...files].map((file) => gzipSync(readFileSync(join(assets, file))).length);
    const total = sizes.reduce((all, size) => all + size, 0);
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(120_000);
  });
});
