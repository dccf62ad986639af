/** What one sees: nothing sticks out, every text stands out, and pictures of it all in build/screenshots. */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { Steps } from "./steps";
import { visits } from "./visits";

const folder = fileURLToPath(new URL("../../build/screenshots", import.meta.url));

const links = {
  default: "",
  sentence:
    "#text=The+animal+did+not+cross+the+street+because+it+was+too+tired&heads=4&size=8&mask=causal&step=weights&query=9",
};

/** The texts of the page that have too little contrast with what lies behind them. */
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
    // What cannot be used need not stand out, and what is folded away is not seen.
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
  const { open, enter } = visits(Steps, "chrome");
  beforeAll(async () => {
    await mkdir(folder, { recursive: true });
  });

  const cases = (["light", "dark"] as const).flatMap((theme) =>
    ([1440, 360, 3840] as const).flatMap((width) =>
      (["default", "sentence"] as const).map((link) => ({ theme, width, link })),
    ),
  );

  test.each(cases)(
    "stands out and fits: $theme, $width pixels wide, $link",
    async ({ theme, width, link }) => {
      const room = await open("", { width });
      await room.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await room.page.evaluate((link) => {
        location.hash = link;
      }, links[link]);
      await room.ready();
      await expect
        .poll(() => room.text(".transport b"))
        .toBe(link === "default" ? "Scores" : "Weights");
      expect(await room.page.evaluate(faintTexts)).toEqual([]);
      expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
      await room.page.screenshot({
        path: `${folder}/${link}-${theme}-${width}.png`,
        fullPage: true,
      });
    },
  );

  test("keeps every part in its place while the first answer is on its way", async () => {
    const room = await enter();
    const shift = await room.page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries())
              sum += (entry as PerformanceEntry & { value: number }).value;
          }).observe({ type: "layout-shift", buffered: true });
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
        }),
    );
    expect(shift).toBeLessThan(0.01);
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
