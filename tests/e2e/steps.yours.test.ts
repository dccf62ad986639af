/** “Step by step” on a layer of a model that the person opened in the room Models, or of a task's model. */
import { type Heed, load } from "heed";
import { type CausalLanguageModel, loadModel, type MaskedLanguageModel } from "heed/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { format } from "#parts";
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
  expect(await room.page.evaluate(() => scrollY)).toBe(0);
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
    await expect.poll(() => models.pieces()).toEqual(ids.map((id) => `w${id}`));
    expect(await models.card()).toMatchObject({ layers: "2" });
    model.dispose();
  });

  it("takes turns with a layer of ours, and is replaced by it after a reload", async () => {
    const room = await enter(`${inModels}&head=2.1`);
    await walk(room, filesFor(checkpoints.llama));
    await room.click("our language model", ".settings");
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

  test("is opened in an encoder, which hides no token and normalises the sums", async () => {
    const specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
    const tokenizer = wordTokenizer(21, specials, true);
    const files = { ...filesOf(bert("bert")), "tokenizer.json": tokenizer };
    const model = (await loadModel(heed, files)) as MaskedLanguageModel;
    const { weights, joined, after } = computedBy(model, [2, 7, 11, 7, 5, 3], 1);
    const room = await enter("#room=models&model=yours&text=w7+w11+w7+w5&head=2.2");
    await walk(room, files);
    await expect.poll(() => room.link()).toContain("vectors=learned&model=yours&layer=2");
    expect(await room.link()).not.toContain("mask=");
    const keys = ["[CLS]", "w7", "w11", "w7", "w5", "[SEP]"];
    const { weight, output } = await room.untilTable({ keys });
    const row = Number(/query=(\d+)/.exec(await room.link())?.[1]) - 1;
    for (const [col, own] of weight.entries())
      expect(own).toBeCloseTo(weights[(6 + row) * 6 + col] as number, 2.7);
    for (const [i, own] of output.entries())
      expect(own).toBeCloseTo(joined[row * 12 + 6 + i] as number, 2);
    await room.page.$eval("[data-stage=addnorm]", (tab) => (tab as HTMLElement).click());
    await expect.poll(() => room.text(".stage-words")).toContain("The sum is normalised");
    const parts = () => room.text(".stage-figure.network");
    await expect.poll(parts).toContain("Norm of the sum The sum, minus its mean");
    await room.page.$eval("[data-stage=embedding]", (tab) => (tab as HTMLElement).click());
    await expect.poll(() => room.text(".stage-words")).toContain("reads it as it is");
    // Chromium's text has the italic letters of mathematics, and spaces.
    const formula = async () => (await room.text(".stage-formulas")).normalize("NFKC");
    await expect.poll(formula).toMatch(/^X ?= ?E$/);
    await room.page.$eval("[data-stage=addnorm2]", (tab) => (tab as HTMLElement).click());
    await expect.poll(() => room.text(".stage-words")).toContain("The model’s answer");
    await room.page.waitForSelector(".stage-figure.network [data-matrix] canvas");
    const { x, y } = await room.cell("next-norm", 3, 5, 4, 12);
    await room.page.mouse.move(x, y);
    await expect.poll(() => room.text(".stage .readout")).toContain("The stream after the feed-");
    expect(await room.text(".stage .readout")).toContain(format(after[row * 12 + 5] as number));
    expect(await room.violations()).toEqual([]);
    await room.click("causal", ".settings");
    await expect.poll(() => room.text(".settings")).toContain("The model itself hides no tokens");
    // The model has the mask of its kind when it is chosen again.
    await room.click("our language model", ".settings");
    await expect.poll(() => room.link()).not.toContain("model=");
    await room.click("chosen files", ".settings");
    await expect.poll(() => room.link()).not.toContain("mask=");
    model.dispose();
  });

  it("is not offered if its steps differ, with the reason", async () => {
    const room = await enter(inModels);
    const models = new Yours(room.page);
    await models.drop(filesFor({ own: llama({ attn_logit_softcapping: 30 }), size: 23 }));
    await models.opened();
    expect(await room.text(".no-steps")).toMatch(/^Not shown step by step: it limits its scores/);
  });
});

describe.each(["chrome", "firefox"] as const)("In %s, a layer of a task’s model", (name) => {
  const { enter, it } = visits(Steps, name);

  test("is opened at a head of the room Models, which has the same weights", async () => {
    const room = await enter("#room=models&model=pronouns&head=encoder.3.4");
    await room.click("“she” as a table");
    await room.page.waitForSelector(".row-table");
    const models = await room.page.$$eval(".row-table [data-column=weight]", (cells) =>
      cells.map(({ textContent }) => Number(textContent)),
    );
    expect(models.length).toBeGreaterThanOrEqual(8);
    await room.click("Compute this head step by step");
    await expect.poll(() => room.text(".sentence-label")).toContain("the model “pronouns”");
    for (const part of ["model=pronouns", "layer=3", "head=4", "query=5"])
      expect(await room.link()).toContain(part);
    const keys = ["Alice", "helped", "Clara", "because", "she", "was", "kind", "."];
    const { weight } = await room.untilTable({ keys });
    expect(weight).toEqual(models.slice(0, 8));
    await room.page.$eval("[data-stage=addnorm2]", (tab) => (tab as HTMLElement).click());
    await expect.poll(() => room.text(".stage-words")).toContain("then the answer of the model");
    expect(await room.violations()).toEqual([]);
    await room.click("All its layers");
    await expect.poll(() => room.link()).toContain("room=models");
    await expect.poll(() => room.text("main")).toContain("“she” means Alice");
  });

  it("opens on its first text if the link has none", async () => {
    const room = await enter("#vectors=learned&model=sort");
    await room.untilTable({ keys: [..."attention"] });
    await expect.poll(() => room.link()).toContain("text=attention");
  });

  it("says which words it does not know, and goes on with words that it knows", async () => {
    const room = await enter("#vectors=learned&model=pronouns&text=Alice+helped+Clara.");
    await room.paste("#text", "Alice helped Zaphod.");
    await expect.poll(() => notices(room)).toBe("The model does not know “Zaphod”.");
    expect(await room.text(".sentence-label")).not.toContain("empty");
    await room.paste("#text", "Bob helped Clara because she was tired.");
    await room.untilTable({
      keys: ["Bob", "helped", "Clara", "because", "she", "was", "tired", "."],
    });
    expect(await notices(room)).toBe("");
    await room.click("brackets", ".settings");
    await room.untilTable({ keys: ["start", ..."([]{()}"] });
    await expect.poll(() => room.link()).toContain("mask=causal");
    await room.click("our language model", ".settings");
    await expect.poll(() => room.link()).not.toContain("model=");
  });
});
