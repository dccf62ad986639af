/** The whole Transformer of dates in a browser. recurrent.network.parts.test.ts tests its numbers. */
import { describe, expect, test } from "vitest";
import type { AttentionNumbers } from "../../web/src/network/messages";
import { transformerNetwork } from "../../web/src/network/transformer";
import { explained, lengthsIn, openRows, readingIn } from "./network";
import { example, greedyAfter, models, Recurrent } from "./recurrent";
import { visits } from "./visits";

const decimals = 2;
const step = 9;
const place = 4;

describe("In chrome, the whole Transformer", () => {
  const { open, enter } = visits(Recurrent, "chrome", { start: "#room=recurrent" });
  const panel = "details.network";

  test("is folded, then shows both stacks as the engine computes them, and opens", async () => {
    const room = await enter();
    await room.click("The whole Transformer", panel);
    await expect.poll(() => room.link()).toContain("network=open");
    await room.page.waitForSelector("[data-stack=decoder] .stack-table");
    const wanted = transformerNetwork(models.transformer as never, {
      ...{ source: [...example], place, head: 1, open: { stack: "decoder", layer: 1 } },
      written: greedyAfter("transformer", example, []).slice(0, step),
    });
    for (const stack of ["encoder", "decoder"] as const)
      for (const [i, { added, stream }] of wanted[stack].lengths.entries()) {
        const shown = await lengthsIn(room, i + 1, `[data-stack=${stack}]`);
        expect(shown).toHaveLength(added.length + 1);
        for (const [column, length] of shown.entries())
          expect(length).toBeCloseTo([...added, stream][column] as number, decimals);
      }
    for (const row of [0, 1, 2]) {
      const { ids, winner } = await readingIn(room, row, "[data-stack=decoder]");
      const reading = wanted.decoder.readings?.[3 * row];
      expect(ids).toEqual([reading?.ids[0]]);
      expect(winner).toBeCloseTo(reading?.winner as number, 3);
    }
    // Lengths are named as such, because they do not add up as their vectors do.
    const heads = await room.text("[data-stack=decoder] .way-head");
    for (const part of ["attention", "cross-attention", "feed-forward"])
      expect(heads).toContain(`length of what ${part} adds`);
    expect(heads).toContain("length of the stream");
    expect(await room.text("[data-stack=decoder] tbody")).not.toContain("+");
    expect(await openRows(room)).toEqual([]);

    await room.click("Layer 2", "[data-stack=decoder]");
    await expect.poll(() => room.link()).toContain("network=decoder.2");
    await room.page.waitForSelector("[data-matrix=cross-maps-4]");
    const cross = wanted.decoder.open?.parts[1] as AttentionNumbers;
    const shown = await room.page.$$eval(".head-list:last-of-type", (lists) =>
      lists.map((list) =>
        [...list.querySelectorAll<HTMLElement>("[data-most]")].map(({ dataset }) =>
          Number(dataset.most),
        ),
      ),
    );
    expect(shown.at(-1)).toEqual([...cross.most]);
    const { x, y } = await room.cell("cross-maps-3", step, place, step + 1, example.length);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.link()).toContain("number=cross.map.");
    const weight = cross.maps?.weights[(2 * (step + 1) + step) * example.length + place];
    expect(await explained(room, /= ([\d.]+)/)).toBeCloseTo(weight as number, decimals);
    await room.page.keyboard.press("Escape");
    await expect.poll(() => room.link()).not.toContain("number=");
    expect(await room.violations()).toEqual([]);

    // Opens both ends by keyboard.
    await room.page.focus('[data-stack=encoder] [data-row="2"] .opener');
    await room.page.keyboard.press("ArrowDown");
    await room.page.keyboard.press("Enter");
    await expect.poll(() => openRows(room)).toEqual(["To the decoder"]);
    await expect.poll(() => room.link()).toContain("network=encoder.3");
    await room.page.select("[aria-label='Step of the answer']", "0");
    await expect.poll(() => room.text("[data-stack=decoder] h3")).toContain("“start”");
  });

  test("is open if it is shown alone", async () => {
    const room = await open("&embed=network&lock=on");
    await room.page.waitForSelector("main.embedded [data-stack=decoder] .stack-table");
    await expect.poll(() => room.link()).toContain("network=open");
    await room.click("The whole Transformer", panel);
    await expect.poll(() => room.page.$(".stack-table")).toBeNull();
  });

  test("fits a telephone, where a link opens it", async () => {
    const hash = "&network=decoder.1&number=cross.key.4.3";
    const room = await enter(hash, { width: 390 });
    await room.page.waitForSelector(".network-readout .readout-name");
    const readout = await room.text(".network-readout");
    expect(readout).toMatch(/Key of “.”, entry 3 · kept/);
    expect(readout).toMatch(/from the encoder’s end: W_K row 19 · input = .* × .* \+ bias/);
    expect(await room.sidewaysOverflow()).toBe(0);
    expect(await room.violations()).toEqual([]);
  });
});
