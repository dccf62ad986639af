/** The whole network of our language model, in a browser; its numbers: network.parts.test.ts. */
import { withoutHeads } from "heed/models";
import { beforeAll, describe, expect, test } from "vitest";
import { causalNetwork } from "../../web/src/network/causal";
import type {
  AttentionNumbers,
  FeedForwardNumbers,
  LayerNumbers,
  Reading,
  StackNumbers,
} from "../../web/src/network/messages";
import { sayings } from "./ablating";
import { explained, lengthsIn, openRows, readingIn } from "./network";
import { visits } from "./visits";
import { LanguageReference, Write } from "./write";

const text = "Call me Ishmael. The whale";
const typed = `&text=${encodeURIComponent(text)}&length=2`;

/** The precision of comparisons: the numbers come from other instructions and other orders of summation. */
const decimals = 2;

let reference: LanguageReference;
let ids: number[];
let wanted: StackNumbers;
beforeAll(async () => {
  reference = await LanguageReference.open();
  ids = reference.ids(text);
  wanted = causalNetwork(reference.model, { ids, layer: 1, head: 2, ablated: [] }, String);
});

class Network extends Write {
  /** Scrolls to the panel, which computes only then. */
  async look(): Promise<this> {
    await this.page.$eval("section.network", (section) => section.scrollIntoView());
    await this.page.waitForSelector(".stack-table");
    return this;
  }

  async press(...keys: ("ArrowUp" | "ArrowDown" | "ArrowRight" | "Enter" | "Escape")[]) {
    for (const key of keys) await this.page.keyboard.press(key);
  }
}

/** The pairs of neighbouring cells whose texts overlap. */
const overlapsIn = (page: Network["page"]) =>
  page.$eval("section.network", (section) => {
    const rows = [".way-head", ".way-row", ".head-list tr", ".row-table tr"].join();
    return [...section.querySelectorAll(rows)].flatMap((row) => {
      const cells = [...row.children].filter(
        (cell) => cell.textContent && getComputedStyle(cell).visibility !== "hidden",
      );
      const ends = cells.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
        const left = Math.min(...boxes.map((box) => box.left));
        return { cell, left, right: Math.max(...boxes.map((box) => box.right)) };
      });
      return ends.flatMap(({ cell, right }, i) => {
        const next = ends[i + 1];
        const isOver = next !== undefined && right > next.left + 0.5;
        return isOver ? [`${cell.textContent} | ${next.cell.textContent}`] : [];
      });
    });
  });

describe("In chrome, the whole network", () => {
  const { enter } = visits(Network, "chrome", { start: "#room=models" });

  test.each([1440, 1024, 360])("has no texts that overlap at a width of %d", async (width) => {
    const room = await enter(`${typed}&place=${ids.length}&layer=3`, { width });
    await room.look();
    await room.page.waitForSelector(".inside .head-list");
    await room.page.waitForSelector(".inside .row-table");
    expect(await overlapsIn(room.page)).toEqual([]);
    expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
    // Only the head of the whole table stays in view: it would cover the heads of tables in it.
    const sticky = await room.page.$$eval(".inside :is(thead, tfoot) :is(th, td)", (cells) =>
      cells.map((cell) => getComputedStyle(cell).position),
    );
    expect(new Set(sticky)).toEqual(new Set(["static"]));
    await room.page.$eval(".inside .head-list", (list) => list.scrollIntoView());
    const end = (part: string, side: "top" | "bottom") =>
      room.page.$eval(part, (cell, side) => cell.getBoundingClientRect()[side], side);
    const below = await end(".head-list tbody th", "top");
    expect(await end(".head-list thead th", "bottom")).toBeLessThanOrEqual(below + 1);
    expect(await room.text(".network .curve-legend")).toContain("after layer 3");
  });

  test("is as the engine computes it, in view or not, and opens", async () => {
    const room = await enter(`${typed}&place=${ids.length}&head=2.3`);
    // It is computed before it is in view, because the page may be printed.
    await room.page.waitForSelector(".stack-table");
    expect(await room.page.evaluate(() => scrollY)).toBe(0);
    await room.look();
    const [attention, feedForward] = (wanted.open as LayerNumbers).parts as [
      AttentionNumbers,
      FeedForwardNumbers,
    ];
    for (const [i, { added, stream }] of wanted.lengths.entries()) {
      const expected = [...added, stream];
      for (const [column, length] of (await lengthsIn(room, i + 1)).entries())
        expect(length).toBeCloseTo(expected[column] as number, decimals);
    }
    for (const row of [0, 3, 6]) {
      const reading = wanted.readings?.[2 * row] as Reading;
      const shown = await readingIn(room, row);
      expect(shown.ids[0]).toBe(reading.ids[0]);
      expect(shown.ids).toHaveLength(3);
      expect(shown.winner).toBeCloseTo(reading.winner, 4);
    }
    expect(await readingIn(room, 7)).toEqual(await readingIn(room, 6));

    const { text: csv } = await room.saved(".way-choice", "CSV");
    const [, first, ...layers] = csv.trimEnd().split("\r\n");
    // No part of a layer adds to the first row.
    expect(first).toMatch(/^"whale",,,\d/);
    for (const [i, line] of layers.entries()) {
      const [name, ...numbers] = line.split(",");
      expect(name).toBe(`"Layer ${i + 1}"`);
      const { added, stream } = wanted.lengths[i] as StackNumbers["lengths"][number];
      const exact = [...added, stream, wanted.readings?.[2 * (i + 1)]?.winner ?? 0];
      for (const [column, number] of numbers.entries())
        expect(Number(number)).toBeCloseTo(exact[column] as number, decimals);
    }

    await room.click("Layer 2", ".stack-table");
    expect(await openRows(room)).toEqual(["Layer 2"]);
    await expect.poll(() => room.link()).toContain("layer=2");
    const { x, y } = await room.cell("feed-forward-units", 2, 5, 3, 432);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.text(".network-readout")).toContain("Unit 6");
    expect(await explained(room, /up = .* = (−?[\d.]+)\n/)).toBeCloseTo(
      feedForward.units[5] ?? 0,
      decimals,
    );
    await expect.poll(() => room.link()).toContain("number=feed-forward.unit.6");
    await room.press("Escape");
    await expect.poll(() => room.link()).not.toContain("number=");
    // Its weights have arrived, so every term is shown.
    const cell = await room.cell("attention-keys", ids.length, 4, ids.length + 1, 32);
    await room.page.mouse.move(cell.x, cell.y);
    await expect.poll(() => room.text(".network-readout")).toMatch(/W_Q row 69 · input = .* × /);
    const query = attention.head.shares.queries[4] ?? 0;
    expect(await explained(room, /= (−?[\d.]+)$/)).toBeCloseTo(query, decimals);
    await room.click("5", ".head-list");
    await expect.poll(() => room.link()).toContain("head=2.5");
    await expect.poll(() => room.text(".head-inside h4")).toBe("Inside of head 5");

    // The words describe the numbers next to them, and the formula of an ablated head's sum is correct.
    const [words, numbers] = [".way-choice .faint", ".stack-table [data-length]"];
    const ablating = async (head: string) => {
      await room.choose(head);
      return sayings(room, { click: ".ablate-head", words, numbers });
    };
    expect(await ablating("2.5")).toEqual({
      ...{ former: ["nothing"], now: "without 1 ablated head" },
    });
    expect(await ablating("1.1")).toEqual({
      ...{ former: ["without 1 ablated head"], now: "without 2 ablated heads" },
    });
    expect(await room.text(".head-list tbody tr:nth-child(5) th")).toBe("5 ablated");
    await room.choose("2.5");
    await expect.poll(() => room.text(".head-inside h4")).toMatch(/^Inside of head 5/);
    const sum = await room.cell("attention-values", ids.length, 4, ids.length + 1, 32);
    await room.page.mouse.move(sum.x, sum.y);
    await expect.poll(() => room.text(".network-readout")).toContain("the head is ablated");
    // The output of the head, if only the other head were ablated.
    const others = [{ path: "model.layers.0.self_attn", head: 0 }];
    const { open } = await withoutHeads(reference.model, others, () =>
      causalNetwork(reference.model, { ids, layer: 1, head: 4, ablated: [] }, String),
    );
    const { headOutputs } = (open as LayerNumbers).parts[0] as AttentionNumbers;
    const exact = headOutputs[4 * 32 + 4] as number;
    expect(await explained(room, /= (−?[\d.]+)\n/)).toBeCloseTo(exact, decimals);
    expect(await room.violations()).toEqual([]);
  });

  test("is reached by keyboard, and fits a telephone without motion", async () => {
    const room = await enter(`${typed}&place=4`, { width: 390 });
    await room.page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    await room.look();
    await room.page.focus('.stack-table [data-row="5"] .opener');
    await room.press("ArrowDown");
    expect(await openRows(room)).toEqual([]);
    await room.press("Enter");
    expect(await openRows(room)).toEqual(["Layer 6"]);
    await room.page.waitForSelector("[data-matrix=attention-values]");
    expect(await room.sidewaysOverflow()).toBe(0);
    await room.press("ArrowDown");
    await expect.poll(() => openRows(room)).toEqual(["Next token"]);
    await expect.poll(() => room.link()).toContain("layer=7");
    await room.press("ArrowDown");
    await room.page.focus("[data-matrix=end-logits] canvas");
    await room.press("ArrowDown");
    await expect.poll(() => room.text(".network-readout")).toContain("Logit of");
    expect(await room.sidewaysOverflow()).toBe(0);
    await room.page.focus('.stack-table [data-row="7"] .opener');
    await room.press("Enter");
    await expect.poll(() => openRows(room)).toEqual([]);
    expect(await room.violations()).toEqual([]);
  });
});
