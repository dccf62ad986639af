/** The whole network in the room "Write", in a browser; its numbers: write.network.parts.test.ts. */
import { beforeAll, describe, expect, test } from "vitest";
import { lengthOf } from "../../web/src/rooms/write/network/explain";
import type { NetworkAnswer, Reading } from "../../web/src/rooms/write/network/messages";
import { networkOf } from "../../web/src/rooms/write/network/solve";
import { visits } from "./visits";
import { LanguageReference, Write } from "./write";

const text = "Call me Ishmael. The whale";
const typed = `&text=${encodeURIComponent(text)}&length=2`;

/** Numbers by other instructions, and in other orders of summation. */
const decimals = 2;

let reference: LanguageReference;
let ids: number[];
let wanted: NetworkAnswer;
beforeAll(async () => {
  reference = await LanguageReference.open();
  ids = reference.ids(text);
  wanted = networkOf(reference.model, { ids, head: { layer: 1, head: 2 } });
});

class Network extends Write {
  /** Scrolls to the panel, which computes only then. */
  async look(): Promise<this> {
    await this.page.$eval("section.network", (section) => section.scrollIntoView());
    await this.page.waitForSelector(".way");
    return this;
  }

  /** The exact lengths that a row shows. */
  lengths(row: number): Promise<number[]> {
    return this.page.$$eval(`.way [data-row="${row}"] [data-length]`, (all) =>
      all.map((each) => Number((each as HTMLElement).dataset.length)),
    );
  }

  /** The most likely tokens of a row, and the probability of the one that wins in the end. */
  reading(row: number): Promise<{ ids: number[]; winner: number }> {
    return this.page.$eval(`.way [data-row="${row}"]`, (row) => ({
      ids: [...row.querySelectorAll<HTMLElement>("[data-said]")].map(({ dataset }) =>
        Number(dataset.said),
      ),
      winner: Number(row.querySelector<HTMLElement>("[data-winner]")?.dataset.winner),
    }));
  }

  openRows(): Promise<string[]> {
    return this.page.$$eval(".way [aria-expanded=true]", (all) =>
      all.map(({ textContent }) => textContent ?? ""),
    );
  }

  /** A number of the formula that is shown. */
  explained(number: RegExp): Promise<number> {
    return this.page.$eval(
      ".network-readout .readout-formula",
      ({ textContent }, [source]) =>
        Number(new RegExp(source as string).exec(textContent ?? "")?.[1]?.replace("−", "-")),
      [number.source],
    );
  }

  async press(...keys: ("ArrowUp" | "ArrowDown" | "ArrowRight" | "Enter" | "Escape")[]) {
    for (const key of keys) await this.page.keyboard.press(key);
  }
}

describe("In chrome, the whole network", () => {
  const { enter } = visits(Network, "chrome", { start: "#room=write" });

  test("is computed once it is in view, as the engine computes it, and opens", async () => {
    const room = await enter(`${typed}&place=${ids.length}&head=2.3`);
    await room.page.waitForSelector("section.network");
    expect(await room.page.$(".way")).toBeNull();
    await room.look();
    for (const [i, layer] of wanted.layers.entries()) {
      const expected = [layer.attention, layer.feedForward, layer.output].map(lengthOf);
      for (const [column, length] of (await room.lengths(i + 1)).entries())
        expect(length).toBeCloseTo(expected[column] as number, decimals);
    }
    for (const row of [0, 3, 6]) {
      const reading = wanted.readings[2 * row] as Reading;
      const shown = await room.reading(row);
      expect(shown.ids[0]).toBe(reading.ids[0]);
      expect(shown.ids).toHaveLength(3);
      expect(shown.winner).toBeCloseTo(reading.winner, 4);
    }
    expect(await room.reading(7)).toEqual(await room.reading(6));

    await room.click("Layer 2", ".way");
    expect(await room.openRows()).toEqual(["Layer 2"]);
    await expect.poll(() => room.link()).toContain("layer=2");
    const { x, y } = await room.cell("units", 2, 5, 3, 432);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.text(".network-readout")).toContain("Unit 6");
    const [layer] = wanted.layers.slice(1);
    expect(await room.explained(/up = .* = (−?[\d.]+)\n/)).toBeCloseTo(
      layer?.units[5] ?? 0,
      decimals,
    );
    await room.press("Escape");
    // Its weights have come, so that every term is there.
    const cell = await room.cell("keys", ids.length, 4, ids.length + 1, 32);
    await room.page.mouse.move(cell.x, cell.y);
    await expect.poll(() => room.text(".network-readout")).toMatch(/W_Q row 69 · input = .* × /);
    const query = wanted.head?.shares.queries[4] ?? 0;
    expect(await room.explained(/= (−?[\d.]+)$/)).toBeCloseTo(query, decimals);
    await room.click("5", ".head-list");
    await expect.poll(() => room.link()).toContain("head=2.5");
    await expect.poll(() => room.text(".head-inside h4")).toBe("Inside of head 5");
    expect(await room.violations()).toEqual([]);
  });

  test("is reached by keyboard, and fits a telephone without motion", async () => {
    const room = await enter(`${typed}&place=4`, { width: 390 });
    await room.page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    await room.look();
    await room.page.focus('.way [data-row="5"] .opener');
    await room.press("ArrowDown");
    expect(await room.openRows()).toEqual([]);
    await room.press("Enter");
    expect(await room.openRows()).toEqual(["Layer 6"]);
    await room.page.waitForSelector("[data-matrix=values]");
    expect(await room.sidewaysOverflow()).toBe(0);
    await room.press("ArrowDown");
    await expect.poll(() => room.openRows()).toEqual(["Next token"]);
    await expect.poll(() => room.link()).toContain("layer=7");
    await room.press("ArrowDown");
    await room.page.focus("[data-matrix=logits] canvas");
    await room.press("ArrowDown");
    await expect.poll(() => room.text(".network-readout")).toContain("Logit of");
    expect(await room.sidewaysOverflow()).toBe(0);
    await room.page.focus('.way [data-row="7"] .opener');
    await room.press("Enter");
    await expect.poll(() => room.openRows()).toEqual([]);
    expect(await room.violations()).toEqual([]);
  });
});
