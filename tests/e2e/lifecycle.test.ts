/** The long life of a page: reloaded many times, hidden in a minimised window, frozen by the browser. */
import { setTimeout as pass } from "node:timers/promises";
import type { CDPSession } from "puppeteer-core";
import { describe, expect, test } from "vitest";
import { workersOf } from "./browsers";
import { Room } from "./room";
import { visits } from "./visits";

/** The number of reloads; HEED_RELOADS=50 is for runs by hand. */
const reloads = Number(process.env.HEED_RELOADS ?? 6);
/** How long the page is frozen or hidden, in milliseconds. */
const rest = Number(process.env.HEED_SUSPEND ?? 1500);

/** The step of the training that the page shows. */
const stepsOf = async (room: Room): Promise<number> =>
  Number(/step (\d+) of/.exec(await room.text(".transport-place"))?.[1]);

async function heapOf(client: CDPSession): Promise<number> {
  await client.send("HeapProfiler.collectGarbage");
  const { usedSize } = await client.send("Runtime.getHeapUsage");
  return usedSize;
}

describe("In Chromium, the page", () => {
  const { enter } = visits(Room, "chrome");

  test(
    "holds no more memory and has the same number of threads after reloads",
    async ({ annotate }) => {
      const room = await enter("#room=steps");
      const client = await room.page.createCDPSession();
      const seen: { heap: number; workers: number }[] = [];
      for (let i = 0; i < reloads; ++i) {
        await room.page.reload();
        await room.ready();
        await expect.poll(() => room.text("footer")).not.toContain("starting");
        const { length: workers } = await workersOf(room.page);
        seen.push({ heap: await heapOf(client), workers });
      }
      const [second, last] = [seen[1], seen.at(-1)] as [(typeof seen)[0], (typeof seen)[0]];
      const least = Math.min(...seen.map(({ heap }) => heap));
      // The browser frees former pages some time after they are closed.
      const heap = () => heapOf(client);
      await expect.poll(heap, { timeout: 30_000, interval: 500 }).toBeLessThan(1.1 * least + 1e6);
      await annotate(
        `${reloads} reloads: ${least} and ${await heap()} bytes, ${second.workers} and ${last.workers} workers`,
      );
      expect(last.workers).toBe(second.workers);
    },
    60_000 + 5000 * reloads,
  );

  test.each(["frozen", "hidden"])(
    "continues its training after it was %s",
    async (state) => {
      const room = await enter("#room=learn");
      const { page } = room;
      await expect.poll(() => stepsOf(room), { timeout: 30_000 }).toBeGreaterThan(2);
      const first = await stepsOf(room);
      const client = await page.createCDPSession();
      await page.evaluate(() => {
        const tell = (state: string) => {
          document.documentElement.dataset.was = state;
        };
        document.addEventListener("freeze", () => tell("frozen"));
        document.addEventListener("visibilitychange", () => document.hidden && tell("hidden"));
      });
      if (state === "frozen") {
        await client.send("Page.setWebLifecycleState", { state: "frozen" });
        await pass(rest);
        await client.send("Page.setWebLifecycleState", { state: "active" });
      } else {
        const { windowId } = await client.send("Browser.getWindowForTarget");
        const show = (windowState: "minimized" | "normal") =>
          client.send("Browser.setWindowBounds", { windowId, bounds: { windowState } });
        await show("minimized");
        await pass(rest);
        await show("normal");
      }
      expect(await page.$eval("html", ({ dataset }) => dataset.was)).toBe(state);
      // A hidden page continues the training, perhaps to its end.
      const before = state === "hidden" ? first : await stepsOf(room);
      await expect.poll(() => stepsOf(room), { timeout: 30_000 }).toBeGreaterThan(before);
      expect(await workersOf(page)).toEqual(
        expect.arrayContaining([expect.stringContaining("engine.worker")]),
      );
    },
    90_000 + rest,
  );
});
