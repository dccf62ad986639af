/** The address is the state: a change of one never overwrites a newer change of the other. */
import { setTimeout as pass } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Steps } from "./steps";
import { visits } from "./visits";

describe.each(["chrome", "firefox"] as const)("In %s, a link", (name) => {
  // High enough that no element must be scrolled into view.
  const { enter } = visits(Steps, name);

  test("is followed even while a change is about to be written to the address", async () => {
    const room = await enter("", { height: 3000 });
    const { page } = room;
    // It is loaded later, and moves the links below it.
    await page.waitForSelector(".why-root .meter");
    const links = [
      { words: "Ask another sentence", first: "The", second: "cat" },
      { words: "Hide the future", first: "The", second: "quick" },
    ];
    // The page writes a change to the address after 200 ms.
    for (let wait = 140; wait <= 230; wait += 10) {
      const [link] = links as [(typeof links)[0]];
      links.reverse();
      await page.focus(".switch ::-p-text(Add positions)");
      await page.keyboard.press(" ");
      const pressed = performance.now();
      const { x, y, href } = await page.$eval(`.try-next ::-p-text(${link.words})`, (element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return {
          x: left + width / 2,
          y: top + height / 2,
          href: (element as HTMLAnchorElement).hash,
        };
      });
      await pass(wait - (performance.now() - pressed));
      await page.mouse.click(x, y);
      const second = async () => (await room.table()).keys[1];
      await expect.poll(second, { message: `after ${wait} ms` }).toBe(link.second);
      expect(await room.link(), `after ${wait} ms`).toBe(href);
    }
  });
});
