/** Figures differ from run to run, so the tests compare how figures are related, never how fast anything is. */
import { describe, expect, test } from "vitest";
import { threeDigits } from "../../web/src/rooms/speed/units";
import { savedBy } from "./room";
import { type Line, Speed } from "./speed";
import { visits } from "./visits";

describe.each(["chrome", "firefox"] as const)("In %s, the room “Speed”", (name) => {
  const { open, it } = visits(Speed, name, { start: "#room=speed" });

  /** The figures of a line must agree with one another, within rounding. */
  function checkLine(line: Line, all: readonly Line[]): void {
    const { time, spread, speed, share, ratio, difference } = line.cells;
    const milliseconds = Number(time);
    expect(milliseconds).toBeGreaterThan(0);
    expect((Number(speed) * milliseconds * 1e6) / line.operations).toBeCloseTo(1, 1);
    const [least, most] = (spread ?? "").split("–").map(Number) as [number, number];
    expect(least).toBeLessThanOrEqual(milliseconds);
    expect(most).toBeGreaterThanOrEqual(milliseconds);
    if (line.contender === "javascript") {
      expect(ratio).toBe("1.00");
      expect(difference).toBe("");
      return;
    }
    expect(Number(difference)).toBeLessThan(1e-4);
    expect(share).toMatch(/^\d+ %$/);
    const plain = all.find((other) => other.case === line.case && other.contender === "javascript");
    if (plain?.cells.time) expect(ratio).toBe(threeDigits(Number(plain.cells.time) / milliseconds));
  }

  test.each([true, false])(
    "measures automatically, and its figures agree, isolated: %s",
    async (isolated) => {
      const room = await open("", { isolated });
      // Nothing moves while results arrive.
      const height = () => room.page.evaluate(() => document.documentElement.scrollHeight);
      await room.page.waitForSelector("progress");
      const before = await height();
      await room.rested();
      expect(await height()).toBe(before);
      const lines = await room.lines();
      const lengths = ["64", "128", "256", "512"];
      expect([...new Set(lines.map((line) => line.case))]).toEqual([...lengths, "decode"]);
      // 4 heads: one product with every key, and one with every value, of 64 multiplications and additions each.
      for (const { case: length, operations } of lines)
        if (length !== "decode") expect(operations).toBe(4 * 2 * 2 * 64 * Number(length) ** 2);
      const contenders = lines.slice(0, lines.length / 5).map((line) => line.contender);
      const cores = await room.page.evaluate(() => navigator.hardwareConcurrency);
      const threads = isolated && cores > 1;
      expect(contenders[0]).toMatch(
        threads ? /^(wide|relaxed|simd)-[2-9]/ : /^(wide|relaxed|simd)-1$/,
      );
      expect(contenders.at(-1)).toBe("javascript");
      expect(new Set(contenders).size).toBe(contenders.length);
      for (const line of lines) if (!line.cells.reason) checkLine(line, lines);
      // Only plain JavaScript may be too slow, and from some length on.
      const leftOut = lines.filter((line) => line.cells.reason);
      for (const { contender, cells } of leftOut)
        expect(`${contender}: ${cells.reason}`).toMatch(
          /^javascript: left out: a call would take about [\d.]+ s$/,
        );
      const tooLong = leftOut.map((line) => line.case).filter((name) => name !== "decode");
      expect(tooLong).toEqual(lengths.slice(lengths.length - tooLong.length));
      const [first] = lines as [Line];
      const result = await room.text(".run-result");
      const [, ours, theirs, times] =
        /^Attention over \d+ tokens takes ([\d.]+) ms here, and ([\d.]+) ms in plain JavaScript: ([\d.]+) times as long\.$/.exec(
          result,
        ) ?? [];
      expect(times).toBe(threeDigits(Number(theirs) / Number(ours)));
      // Our language model, in words; only their order is known.
      const [, cached, inWords, uncached] =
        /^Our language model writes ([\d.]+) tokens a second here, about ([\d.]+) words\. Without its cache it writes ([\d.]+), over \d+ tokens\.$/.exec(
          await room.text(".run-writing"),
        ) ?? [];
      expect(Number(cached)).toBeGreaterThan(Number(uncached));
      expect(Number(cached)).toBeGreaterThan(Number(inWords));
      // Operations a second are behind a click.
      expect(await room.text("main")).not.toContain("GFLOP");
      await room.click("Operations a second, and what limits them");
      expect(await room.text(".operations")).toMatch(
        /^4 heads of 64 numbers, \d+ tokens, computed by \w+, \d+ threads?: [\d.]+ billion operations/,
      );
      await room.click("All figures");
      expect(await room.text("[data-limits]")).toMatch(
        /arithmetic, \w+, \d+ threads?: [\d.]+ GFLOP/,
      );
      const isTimed = ({ cells }: Line) => !cells.reason;
      const marks = () => room.page.$$eval(".roofline-chart g > .mark", (all) => all.length);
      expect(await marks()).toBe(
        lines.filter((line) => isTimed(line) && line.case !== "decode").length,
      );
      await room.click("operations per byte");
      await expect.poll(marks).toBe(lines.filter(isTimed).length);
      const caseName = await room.page.$eval(".case-name", ({ textContent }) => textContent);
      expect(caseName).toBe("decode");
      const roofs = await room.page.$$eval(".roof", (all) =>
        all.map((roof) => roof.querySelectorAll("path, text").length),
      );
      expect(roofs.every((count) => count === 2)).toBe(true);
      expect(first.cells.memory).toMatch(/MiB$/);
      // 4 heads of 64 numbers: four tensors of this size, one number for each query, and one for each pair.
      const callMemories = await room.page.$$eval("[data-call-memory]", (rows) =>
        rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)),
      );
      const kibibytes = (numbers: number) => `${threeDigits((4 * numbers) / 1024)} KiB`;
      expect(callMemories).toEqual(
        [64, 128, 256, 512].map((length) =>
          [4 * 4 * 64 * length, 4 * length, 4 * length * length].map(kibibytes),
        ),
      );
      if (threads) expect(await room.text(".run-facts")).toMatch(/Speedup of \d+ threads over one/);
      for (const line of lines)
        if (line.cells.share)
          expect(Number.parseInt(line.cells.share, 10)).toBeLessThanOrEqual(100);
      await room.click("Threads, and how to get more");
      const words = await room.text(".threads");
      expect(words).toContain("Cross-Origin-Opener-Policy: same-origin");
      expect(words).toContain(
        isolated
          ? "This page is isolated"
          : "1 thread, because the page is not cross-origin isolated",
      );
    },
  );

  it("counts only pairs that a mask and a window leave, and measures again when they change", async () => {
    const room = await (await open("&heads=2&size=16&causal=on&window=8")).rested();
    const pairs = (length: number) =>
      Array.from({ length }, (_, query) => Math.min(query, 8) + 1).reduce((a, b) => a + b);
    const operationsOf = async () => (await room.lines())[0]?.operations;
    expect(await operationsOf()).toBe(2 * 4 * 16 * pairs(64));
    await room.click("Causal mask");
    await expect.poll(operationsOf).toBe(2 * 4 * 16 * (2 * pairs(64) - 64));
    await room.rested();
    for (const line of await room.lines())
      if (line.contender !== "javascript") expect(Number(line.cells.difference)).toBeLessThan(1e-4);
    await expect.poll(() => room.link()).toBe("#room=speed&heads=2&size=16&window=8");
  });

  test("measures at length, can be cancelled, and leaves nothing running", async () => {
    const room = await (await open("&heads=1&size=16&longest=512")).rested();
    await room.click("Measure at length");
    await room.page.waitForSelector("progress");
    await room.click("Cancel");
    expect(await room.page.$("progress")).toBeNull();
    expect(await room.text(".notices")).toContain("Cancelled");
    await room.click("Measure at length");
    await room.page.waitForSelector("progress");
    expect(await room.page.$$eval(".notices p", (all) => all.length)).toBe(0);
    await room.rested(50_000);
    const lines = await room.lines();
    expect([...new Set(lines.map((line) => line.case))]).toEqual([
      ...["64", "128", "256", "512"],
      ...["decode", "layer"],
    ]);
    for (const line of lines) if (!line.cells.reason) checkLine(line, lines);
    // The page's own engine continues. The engine of the run ends with all its threads, which may take seconds.
    await expect.poll(() => room.runWorkers()).toBe(0);
  });

  test("can be cancelled before anything is measured, and nothing moves on a telephone", async () => {
    const room = await open("&heads=1&size=8", { width: 360 });
    await room.page.waitForSelector(".run");
    await room.click("Models", "nav.rooms");
    await room.page.waitForSelector("main:not(:has(.run))");
    await room.page.evaluate(() => {
      const cancel = () => {
        const button = document.querySelector<HTMLElement>("button:has(+ progress)");
        if (button) observer.disconnect();
        button?.click();
      };
      const observer = new MutationObserver(cancel);
      observer.observe(document.body, { childList: true, subtree: true });
      location.hash = "room=speed&heads=1&size=8";
    });
    await expect.poll(() => room.text("main")).toContain("Cancelled before anything was measured.");
    expect(await room.text(".run-result")).toBe("Attention has not been measured yet.");
    await room.click("Measure again");
    await room.page.waitForSelector("progress");
    const height = () => room.page.evaluate(() => document.documentElement.scrollHeight);
    const before = await height();
    expect(await room.text(".run-result")).toBe("Attention is being measured in this browser …");
    await room.rested();
    expect(await height()).toBe(before);
  });

  test("copies the measurements, moves between marks by keyboard, and ends a run when the room is left", async () => {
    const room = await (await open("&heads=1&size=8")).rested();
    await room.click("All figures");
    await room.page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => {
        document.body.dataset.copied = text;
      };
    });
    await room.click("Copy result", ".figures");
    const copied = await room.page.waitForSelector("body[data-copied]");
    const text = await copied?.evaluate((body) => (body as HTMLElement).dataset.copied);
    expect(text).toMatch(/^\*\*Attention measured/);
    const parts = [
      "Heed 0",
      "core",
      "UTC",
      "Limits:",
      "GFLOP/s",
      "\n| 64 tokens |",
      "plain JavaScript",
    ];
    for (const part of parts) expect(text).toContain(part);
    await room.click("Operations a second, and what limits them");
    await room.click("save", ".roofline-chart");
    const { text: picture } = await savedBy(room.page, () => room.click("SVG", ".roofline-chart"));
    expect(picture).toMatch(/^<svg/);
    for (const part of ["1 head of 8 numbers", "plain JavaScript", "limit in", "logarithmic"])
      expect(picture).toContain(part);
    // Paper shows the chart, also if it is folded.
    const isSeen = () =>
      room.page.$eval(".roofline-chart svg[viewBox] .mark", (mark) => mark.checkVisibility());
    await room.click("Operations a second, and what limits them");
    await expect.poll(isSeen).toBe(false);
    const fire = (name: string) =>
      room.page.evaluate((name) => dispatchEvent(new Event(name)), name);
    await fire("beforeprint");
    expect(await isSeen()).toBe(true);
    await fire("afterprint");
    await expect.poll(isSeen).toBe(false);
    await room.click("Operations a second, and what limits them");
    const { text: csv } = await savedBy(room.page, () => room.click("Save CSV", ".figures"));
    expect(csv).toMatch(/^\ufeff?"case"/);
    expect(csv.trim().split("\r\n").length).toBe(1 + (await room.lines()).length);
    await room.page.focus(".roofline-chart [tabindex]");
    await room.page.keyboard.press("ArrowRight");
    const [first] = (await room.lines()) as [Line];
    expect(await room.text(".roofline-words")).toContain(
      `64 tokens, ${first.cells.by}: ${first.cells.time} ms`,
    );
    await room.click("Measure at length");
    await room.page.waitForSelector("progress");
    await room.click("Step by step", "nav.rooms");
    await room.ready();
    await expect.poll(() => room.runWorkers()).toBe(0);
    expect(await room.text("footer")).not.toContain("measured");
  });
});
