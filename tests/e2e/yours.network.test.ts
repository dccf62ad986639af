/** The whole network of a model that is brought, in a browser; its numbers: network.parts.test.ts. */
import { type Heed, load } from "heed";
import { loadModel, type MaskedLanguageModel } from "heed/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoderNetwork } from "../../web/src/network/encoder";
import type { LayerNumbers, NormNumbers } from "../../web/src/network/messages";
import { bert, filesOf } from "../js/checkpoints";
import { explained, lengthsIn } from "./network";
import { visits } from "./visits";
import { wordsOf, wordTokenizer, Yours } from "./yours";

const decimals = 2;

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});
afterAll(() => heed.dispose());

describe("In chrome, the whole network of the person's model", () => {
  const { enter } = visits(Yours, "chrome", { start: "#room=models&model=yours" });

  test("of an encoder has a norm after each sum, and every number of a token that sees both sides", async () => {
    const files = {
      ...filesOf(bert("bert")),
      "tokenizer.json": wordTokenizer(21, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]),
    };
    const model = (await loadModel(heed, files)) as MaskedLanguageModel;
    const words = [7, 9, 8, 12];
    const asked = { ids: words, place: 1, layer: 1, head: 0, ablated: [] };
    const wanted = encoderNetwork(model, asked);
    const room = await enter(`&text=${wordsOf(words).replaceAll(" ", "+")}&head=2.1&place=2`);
    await room.drop(files);
    await room.opened();
    await room.page.$eval("section.network", (section) => section.scrollIntoView());
    await room.page.waitForSelector(".stack-table");
    for (const [i, { added, stream }] of wanted.lengths.entries())
      for (const [column, length] of (await lengthsIn(room, i + 1)).entries())
        expect(length).toBeCloseTo([...added, stream][column] as number, decimals);
    expect(await room.page.$$(".stack-table [data-said]")).toEqual([]);
    await room.click("Layer 2", ".stack-table");
    await room.page.waitForSelector("[data-matrix=next-norm]");
    const { next } = wanted.open as LayerNumbers;
    const { input, result } = next as NormNumbers;
    const { x, y } = await room.cell("next-norm", 3, 5, 4, input.length);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.text(".network-readout")).toContain("The stream after");
    expect(await explained(room, /\) = (−?[\d.]+)\n|= (−?[\d.]+)\nmean/)).toBeCloseTo(
      result[5] as number,
      decimals,
    );
    await room.page.focus('.stack-table [data-row="1"] .opener');
    await room.page.keyboard.press("ArrowUp");
    await room.page.click('.stack-table [data-row="0"] .opener');
    await room.page.waitForSelector("[data-matrix=start-norm]");
    expect(await room.text(".network .part")).toContain("first segment");
    expect(await room.violations()).toEqual([]);
    model.dispose();
  });
});
