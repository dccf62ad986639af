/** “Step by step” on a layer of a model that the person opened in the room Models. */
import { type Heed, load } from "heed";
import { type CausalLanguageModel, loadModel } from "heed/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bert, filesOf, gpt2, llama } from "../js/checkpoints";
import { computedBy } from "./layers";
import { Steps } from "./steps";
import { visits } from "./visits";
import { type Files, wordsOf, wordTokenizer, Yours } from "./yours";

const ids = [3, 7, 11, 7, 2];
const text = wordsOf(ids);
const inModels = `#room=models&model=yours&text=${text.replaceAll(" ", "+")}`;

const checkpoints = { llama: { own: llama(), size: 23 }, gpt2: { own: gpt2(), size: 19 } };
const filesFor = ({ own, size }: (typeof checkpoints)[keyof typeof checkpoints]): Files => ({
  ...{ ...filesOf(own), "tokenizer.json": wordTokenizer(size) },
});

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});
afterAll(() => heed.dispose());

/** Opens a model in Models, and follows the link of a head. */
async function walk(room: Steps, files: Files): Promise<void> {
  const models = new Yours(room.page);
  await models.drop(files);
  await models.opened();
  await room.click("Compute this head step by step");
  await expect.poll(() => room.text(".sentence-label")).toContain("of chosen files");
}

const notices = (room: Steps) => room.text(".sentences .notices");

describe.each(["chrome", "firefox"] as const)("In %s, a layer of the person's model", (name) => {
  const { enter, it } = visits(Steps, name);

  test("is opened at a head, with the model's own weights and outputs", async () => {
    const files = filesFor(checkpoints.llama);
    const model = (await loadModel(heed, files)) as CausalLanguageModel;
    const { weights, joined } = computedBy(model, ids, 1);
    const room = await enter(`${inModels}&head=2.3`);
    await walk(room, files);
    await expect.poll(() => room.link()).toContain("vectors=learned&model=yours&layer=2");
    const link = await room.link();
    for (const part of ["head=3", "query=5", "mask=causal", "position=on"])
      expect(link).toContain(part);
    const { keys, ...table } = await room.untilTable({ keys: ids.map((id) => `w${id}`) });
    for (const col of ids.keys())
      expect(table.weight[col]).toBeCloseTo(weights[(2 * 5 + 4) * 5 + col] as number, 2.7);
    for (const [i, value] of table.output.entries())
      expect(value).toBeCloseTo(joined[4 * 16 + 2 * 4 + i] as number, 1);
    expect(await room.text(".sentence-label")).toContain("read by layer 2 of");
    expect(await room.page.$$(".heads [name=head]")).toHaveLength(4);
    expect(await room.violations()).toEqual([]);
    // Another text, and another layer.
    await room.paste("#text", "w5 w6 w8 w9 w1 w2");
    await room.untilTable({ keys: ["w5", "w6", "w8", "w9", "w1", "w2"] });
    await expect.poll(() => room.link()).toContain("text=w5+w6+w8+w9+w1+w2");
    await room.page.$eval("[data-stage=feedforward]", (tab) => (tab as HTMLElement).click());
    await expect.poll(() => room.text(".stage-words")).toContain("Each of the 24 units");
    model.dispose();
  });

  it("goes on after attention in GPT-2, and back to the whole model", async () => {
    const files = filesFor(checkpoints.gpt2);
    const model = (await loadModel(heed, files)) as CausalLanguageModel;
    const { weights } = computedBy(model, ids, 0);
    const room = await enter(`${inModels}&head=1.2`);
    await walk(room, files);
    const { weight } = await room.untilTable({ keys: ids.map((id) => `w${id}`) });
    for (const [col, own] of weight.entries())
      expect(own).toBeCloseTo(weights[(5 + 4) * 5 + col] as number, 2.7);
    expect(
      await room.page.$$eval(".settings label", (all) => `${all.map((x) => x.textContent)}`),
    ).not.toContain("RoPE");
    await room.page.$eval("[data-stage=feedforward]", (tab) => (tab as HTMLElement).click());
    await expect.poll(() => room.text(".stage-words")).toContain("after the activation GELU");
    await room.page.waitForSelector(".stage-figure.network [data-matrix] canvas");
    await room.click("All its layers");
    const models = new Yours(room.page);
    await expect.poll(() => models.tokens()).toEqual(ids.map((id) => `w${id}`));
    expect(await models.card()).toMatchObject({ layers: "2" });
    model.dispose();
  });

  it("takes turns with a layer of ours, and is replaced by it after a reload", async () => {
    const room = await enter(`${inModels}&head=2.1`);
    await walk(room, filesFor(checkpoints.llama));
    await room.click("ours", ".settings");
    await expect.poll(() => room.link()).not.toContain("model=");
    await expect.poll(() => room.page.$$eval(".heads [name=head]", ({ length }) => length)).toBe(6);
    await room.click("chosen files", ".settings");
    await expect.poll(() => room.link()).toContain("model=yours");
    await expect.poll(() => room.page.$$eval(".heads [name=head]", ({ length }) => length)).toBe(4);
    await room.page.reload();
    await room.ready();
    await expect.poll(() => notices(room)).toContain("The model of the link is not open");
    await expect.poll(() => room.link()).not.toContain("model=");
    await expect.poll(() => room.page.$$eval(".heads [name=head]", ({ length }) => length)).toBe(6);
    expect(await room.text(".sentence-label")).toContain("of our language model");
  });

  it("is not offered for an encoder, with the reason", async () => {
    const room = await enter(inModels);
    const models = new Yours(room.page);
    const specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
    await models.drop({ ...filesOf(bert("bert")), "tokenizer.json": wordTokenizer(21, specials) });
    await models.opened();
    expect(await room.text(".no-steps")).toMatch(/^Not shown step by step: it is an encoder/);
  });
});
