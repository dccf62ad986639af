/**
 * The appearance of every room: no overflow, sufficient contrast of all texts, and screenshots in build/screenshots.
 */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { rooms } from "../../web/src/app/rooms";
import { Room } from "./room";
import { visits } from "./visits";

const folder = fileURLToPath(new URL("../../build/screenshots", import.meta.url));

/**
 * Every room in its initial state, and the first one with many tokens and heads. `until` selects an element to wait
 * for.
 */
const views = [
  ...rooms.map(({ id }) => ({ view: id as string, link: id === "steps" ? "" : `#room=${id}` })),
  {
    view: "sentence",
    link: "#text=The+animal+did+not+cross+the+street+because+it+was+too+tired&heads=4&size=8&mask=causal&step=weights&query=9",
  },
];

/** A 4K screen, an ordinary screen, and a telephone. */
const looks = [
  { width: 3840, height: 2160, theme: "light" },
  { width: 1440, height: 900, theme: "light" },
  { width: 1440, height: 900, theme: "dark" },
  { width: 360, height: 740, theme: "light" },
  { width: 360, height: 740, theme: "dark" },
];

/** The sum of all layout shifts. */
function shift(): Promise<number> {
  return new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        sum += (entry as PerformanceEntry & { value: number }).value;
    }).observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
  });
}

/** Waits until the page's height has not changed for some frames. */
async function settled(): Promise<void> {
  const { scrollHeight } = document.documentElement;
  for (let frame = 0; frame < 12; ++frame) await new Promise(requestAnimationFrame);
  if (document.documentElement.scrollHeight !== scrollHeight) await settled();
}

/** The texts of the page that have too little contrast with their background. */
function faintTexts(): string[] {
  const rgb = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (colour: string) => {
    const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r = 0, g = 0, b = 0] = rgb(colour).map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element: Element | null): string => {
    if (!element) return "rgb(255, 255, 255)";
    const colour = getComputedStyle(element).backgroundColor;
    return rgb(colour)[3] === 0 ? behind(element.parentElement) : colour;
  };
  const faint = [];
  for (const element of document.querySelectorAll<HTMLElement>("#page *")) {
    const own = [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
    );
    // Disabled elements need no contrast, and folded elements are not visible.
    if (!own || element.matches("option, :disabled") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [
      luminance(element instanceof SVGElement ? style.fill : style.color),
      luminance(behind(element)),
    ];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.push(`${contrast.toFixed(2)}: ${element.textContent?.slice(0, 40)}`);
  }
  return faint;
}

describe("The page", () => {
  const { enter } = visits(Room, "chrome");
  beforeAll(async () => {
    await mkdir(folder, { recursive: true });
  });

  test.each(views)("keeps every part in its place, and nothing overflows: $view", async (view) => {
    const room = await enter(view.link);
    const { page } = room;
    if (view.view === "learn") {
      await page.waitForFunction(
        () => Number(document.querySelector<HTMLElement>("[data-step]")?.dataset.step) > 100,
      );
      await room.click("Pause training");
    }
    expect.soft(await page.evaluate(shift)).toBeLessThan(0.01);
    for (const { width, height, theme } of looks) {
      const look = `${view.view}-${width}-${theme}`;
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.setViewport({ width, height });
      const openClassLink = (open: boolean) =>
        page.$eval(
          ".class-link",
          (details, open) => {
            (details as HTMLDetailsElement).open = open;
          },
          open,
        );
      await openClassLink(false);
      await page.evaluate(settled);
      await page.screenshot({ path: `${folder}/${look}.png`, fullPage: true });
      await openClassLink(true);
      expect.soft(await room.sidewaysOverflow(), look).toBeLessThanOrEqual(0);
      expect.soft(await page.evaluate(faintTexts), look).toEqual([]);
      expect.soft(await room.violations(), look).toEqual([]);
    }
  });

  test("remembers a chosen theme", async () => {
    const room = await enter();
    const page = () =>
      room.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await room.click("dark", "header");
    await expect.poll(page).toBe("rgb(27, 28, 31)");
    await room.page.reload();
    await room.ready();
    expect(await page()).toBe("rgb(27, 28, 31)");
    await room.click("light", "header");
    await expect.poll(page).toBe("rgb(255, 255, 255)");
  });
});
