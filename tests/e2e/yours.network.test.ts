/** The whole network of a model that is brought, in a browser; its numbers: network.parts.test.ts. */
import { type Heed, load } from "heed";
import { type CausalLanguageModel, loadModel } from "heed/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { causalNetwork } from "../../web/src/network/causal";
import type { FeedForwardNumbers, LayerNumbers } from "../../web/src/network/messages";
import { bert, filesOf, gpt2 } from "../js/checkpoints";
import { explained, lengthsIn, openRows, readingIn } from "./network";
import { visits } from "./visits";
import { type Files, wordsOf, wordTokenizer, Yours } from "./yours";

const decimals = 2;
const ids = [3, 7, 11, 7, 2];
const tiny: Files = { ...filesOf(gpt2()), "tokenizer.json": wordTokenizer(19) };

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});
afterAll(() => heed.dispose());

describe("In chrome, the whole network of the person's model", () => {
  const { enter } = visits(Yours, "chrome", { start: "#room=yours" });

  test("is as the engine computes it, opens, and is not there for an encoder", async () => {
    const model = (await loadModel(heed, tiny)) as CausalLanguageModel;
    const wanted = causalNetwork(model, { ids, layer: 1, head: 2, ablated: [] }, String);
    const room = await enter(`&text=${wordsOf(ids).replaceAll(" ", "+")}&head=2.3`);
    await room.drop(tiny);
    await room.opened();
    await room.page.$eval("section.network", (section) => section.scrollIntoView());
    await room.page.waitForSelector(".stack-table");
    for (const [i, { added, stream }] of wanted.lengths.entries())
      for (const [column, length] of (await lengthsIn(room, i + 1)).entries())
        expect(length).toBeCloseTo([...added, stream][column] as number, decimals);
    for (const row of [0, 1, 2]) {
      const { ids, winner } = await readingIn(room, row);
      expect(ids[0]).toBe(wanted.readings?.[2 * row]?.ids[0]);
      expect(winner).toBeCloseTo(wanted.readings?.[2 * row]?.winner as number, 3);
    }
    await room.click("Layer 2", ".stack-table");
    await expect.poll(() => room.link()).toContain("layer=2");
    const { parts } = wanted.open as LayerNumbers;
    const { units } = parts[1] as FeedForwardNumbers;
    const { x, y } = await room.cell("feed-forward-units", 1, 5, 2, units.length);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.text(".network-readout")).toContain("Unit 6");
    expect(await explained(room, /\) = (−?[\d.]+)\n/)).toBeCloseTo(units[5] as number, decimals);
    await expect.poll(() => room.link()).toContain("number=feed-forward.unit.6");
    expect(await room.violations()).toEqual([]);
    await room.page.focus('.stack-table [data-row="2"] .opener');
    await room.page.keyboard.press("ArrowDown");
    await expect.poll(() => openRows(room)).toEqual(["Next token"]);
    await room.page.waitForSelector("[data-matrix=end-logits]");

    await room.drop({
      ...filesOf(bert("bert")),
      "tokenizer.json": wordTokenizer(21, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]),
    });
    await room.opened();
    expect(await room.page.$("section.network")).toBeNull();
  });
});
