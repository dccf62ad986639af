/** The room "Models" opens models of every kind of a person, and reports the faults of others. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Tokenizer } from "@huggingface/tokenizers";
import { type Heed, load } from "heed";
import {
  CausalLanguageModel,
  classify,
  embed,
  fillMasks,
  loadModel,
  type MaskedLanguageModel,
  type Seq2SeqLanguageModel,
  similarity,
  withoutHeads,
} from "heed/models";
import { nn } from "heed/nn";
import type { ElementHandle } from "puppeteer-core";
import { beforeAll, describe, expect, test } from "vitest";
import { bert, filesOf, gpt2, jsonOf } from "../js/checkpoints";
import { sayings } from "./ablating";
import { visits } from "./visits";
import {
  classifierFiles,
  type Files,
  sentenceFiles,
  shareFiles,
  translatorFiles,
  wordsOf,
  wordTokenizer,
  Yours,
} from "./yours";

/** A token as it is shown; its weight is NaN without a shade. */
interface Piece {
  readonly text: string;
  readonly weight: number;
}

/** The precision of comparisons: the numbers come from other instructions and other orders of summation. */
const decimals = 4;

const tiny: Files = { ...filesOf(gpt2()), "tokenizer.json": wordTokenizer(19) };
const specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const masked: Files = {
  ...filesOf(bert("bert")),
  "tokenizer.json": wordTokenizer(21, specials),
};

let heed: Heed;
beforeAll(async () => {
  heed = await load({ threads: 1 });
});

const idsTensor = (ids: readonly number[]) => heed.tensor(Int32Array.from(ids), [1, ids.length]);

/** The weights of a head, layer and head from 0. */
function weightsOf(
  model: CausalLanguageModel | MaskedLanguageModel,
  ids: readonly number[],
  layer: number,
  head: number,
): number[][] {
  let found: number[][] = [];
  heed.scope(() =>
    nn.captureAttention(
      model,
      (path, { data }) => {
        if (path !== `model.layers.${layer}.self_attn`) return;
        found = ids.map((_, row) => {
          const start = (head * ids.length + row) * ids.length;
          return [...(data as Float32Array).subarray(start, start + ids.length)];
        });
      },
      () => {
        if (model instanceof CausalLanguageModel) model.forward(idsTensor(ids));
        else model.forward(idsTensor(ids));
      },
    ),
  );
  return found;
}

const median = (numbers: readonly number[]) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;

/**
 * Waits until painting stops and clicks. Then counts, for each frame, the calls of putImageData, up to `most` in total.
 */
async function countPainted(selector: string, most: number): Promise<number[]> {
  const frames = new Map<unknown, number>();
  const { prototype } = CanvasRenderingContext2D;
  const { putImageData } = prototype;
  let all = 0;
  prototype.putImageData = function (...given: unknown[]) {
    const time = document.timeline.currentTime;
    frames.set(time, (frames.get(time) ?? 0) + 1);
    ++all;
    return Reflect.apply(putImageData, this, given);
  };
  for (let still = 0, before = all; still < 20; before = all) {
    await new Promise(requestAnimationFrame);
    still = all === before ? still + 1 : 0;
  }
  frames.clear();
  all = 0;
  document.querySelector<HTMLElement>(selector)?.click();
  for (let frame = 0; frame < 100 && all < most; ++frame) await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < 3; ++frame) await new Promise(requestAnimationFrame);
  prototype.putImageData = putImageData;
  return [...frames.values()];
}

/** Records the position of the second layer of the next model, from its first appearance on. */
function notePlaces(): void {
  const places: string[] = [];
  Object.assign(window, { places });
  const open = () => document.querySelector<HTMLElement>(".model-card")?.dataset.model;
  const before = open();
  new MutationObserver(() => {
    if (open() === before) return;
    const [first, second] = document.querySelectorAll<HTMLElement>(".layers .layer");
    if (!first || !second || first.parentElement?.offsetWidth === 0) return;
    places.push(`${second.offsetLeft - first.offsetLeft} ${second.offsetTop - first.offsetTop}`);
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
}

describe("In chrome, a model of the person", () => {
  const { open, enter } = visits(Yours, "chrome", { start: "#room=models&model=yours" });

  test("offers the ways to open one, and opens none by itself", async () => {
    const room = await enter();
    expect(await room.text("[data-footnote]")).toContain("no model is open");
    expect(await room.page.$$(".model-card, .thumbnail")).toEqual([]);
    expect(await room.page.$$(".way")).toHaveLength(2);
    await expect.poll(() => room.link()).toBe("#room=models&model=yours");
    expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
    expect(await room.violations()).toEqual([]);
  });

  test("takes a model that is dropped while another one is shown, and goes back to that", async () => {
    const room = await open("");
    await room.go("#room=models&text=Call+me&length=0");
    await expect.poll(() => room.pieces()).toEqual(["start", "C", "all", " me"]);
    await room.drop(tiny);
    expect(await room.opened()).toMatchObject({ layers: "2" });
    expect(await room.page.$eval(".chooser :checked", (input) => input.getAttribute("value"))).toBe(
      "yours",
    );
    await room.page.click(".chooser label:has([value=language])");
    await expect.poll(() => room.pieces()).toEqual(["start", "C", "all", " me"]);
    await room.page.click(".chooser label:has([value=yours])");
    await expect.poll(() => room.card()).toMatchObject({ layers: "2" });
  });

  test("shows 144 heads on one screen, each square while the text is written", async () => {
    const files = filesOf(gpt2({ n_layer: 12, n_head: 12, n_embd: 48 }));
    const ids = [3, 7, 11, 7, 2, 4, 5, 9, 1, 8];
    const room = await enter(`&text=${wordsOf(ids).replaceAll(" ", "+")}&length=0`);
    await room.drop({ ...files, "tokenizer.json": wordTokenizer(19) });
    await room.opened();
    const heads = () =>
      room.page.$$eval(".thumbnail", (all) => {
        all[0]?.closest(".layers")?.scrollIntoView({ block: "start", behavior: "instant" });
        const ends = all.map((head) => head.getBoundingClientRect());
        const isWithin = ({ top, bottom }: DOMRect) => top >= 0 && bottom <= innerHeight;
        return { count: all.length, within: ends.filter(isWithin).length };
      });
    await expect.poll(heads).toEqual({ count: 144, within: 144 });
    await room.page.evaluate(() => {
      const seen = { playing: 0, odd: [] as string[] };
      Object.assign(window, { seen });
      const look = () => {
        if (document.querySelector(".written-text.playing")) seen.playing += 1;
        for (const canvas of document.querySelectorAll(".thumbnail canvas")) {
          const { width, height } = canvas.getBoundingClientRect();
          if (width === 0 || Math.abs(width - height) > 0.01) seen.odd.push(`${width} × ${height}`);
        }
        requestAnimationFrame(look);
      };
      look();
    });
    await room.click("Write on");
    // The model reads 16 tokens at most.
    await expect.poll(async () => (await room.pieces()).length).toBe(16);
    await expect.poll(() => room.text(".transport .play")).toBe("Play");
    const seen = await room.page.evaluate(
      () => (window as unknown as { seen: { playing: number; odd: string[] } }).seen,
    );
    expect(seen.playing).toBeGreaterThan(0);
    expect(seen.odd).toEqual([]);
    expect(await heads()).toEqual({ count: 144, within: 144 });
  });

  test("prints all heads in one size, without a second frame to draw them, and no blank part", async () => {
    const room = await enter("#room=models&length=0");
    const sides = () =>
      room.page.$$eval(".thumbnail canvas", (all) => [
        ...new Set(all.map((canvas) => (canvas as HTMLElement).style.width)),
      ]);
    await expect.poll(async () => (await sides()).length).toBe(1);
    const before = await sides();
    await room.page.evaluate(() => {
      globalThis.requestAnimationFrame = () => 0;
    });
    await room.page.emulateMediaType("print");
    await room.page.setViewport({ width: 300, height: 900 });
    await expect.poll(sides).not.toEqual(before);
    expect(await sides()).toHaveLength(1);
    // No part is blank: the network is there or a sentence about it, and a comparison only with a second text.
    const blank = await room.page.$eval("section.network", (section) => {
      const last = section.lastElementChild as Element;
      return section.getBoundingClientRect().bottom - last.getBoundingClientRect().bottom;
    });
    expect(blank).toBeLessThan(8);
    expect(await room.page.$eval(".comparison", (part) => part.checkVisibility())).toBe(false);
  });

  test("loads not even our model by itself where the person saves data", async () => {
    const room = await open("", { width: 390 });
    await room.page.evaluateOnNewDocument(() => {
      Object.defineProperty(Navigator.prototype, "connection", { value: { saveData: true } });
    });
    const asked: string[] = [];
    room.page.on("request", (request) => asked.push(request.url()));
    await room.go("#room=models");
    await room.page.reload();
    await room.ready();
    expect(await room.text("[data-footnote]")).toContain("no model is open");
    expect(asked.filter((url) => url.includes("models/write"))).toEqual([]);
    await room.click("Open our language model, 6 MB");
    await room.page.waitForSelector(".one-head canvas");
  });

  test("reads with a GPT-2 that is dropped, shows its numbers, and writes", async () => {
    const model = (await loadModel(heed, tiny)) as CausalLanguageModel;
    const ids = [3, 7, 11, 7, 2];
    const room = await enter(`&text=${wordsOf(ids).replaceAll(" ", "+")}&head=2.3`);
    await room.page.evaluate(notePlaces);
    await room.drop(tiny);
    const card = await room.opened();
    expect(card).toMatchObject({
      ...{ architecture: "GPT-2, predicts the next token", layers: "2", context: "16 tokens" },
      ...{ memory: expect.stringContaining("as float32"), vocabulary: "19 tokens" },
    });
    const parameters = model.parameters().reduce((sum, { data }) => sum + data.length, 0);
    expect(card.parameters).toBe(parameters.toLocaleString("en"));
    expect(await room.pieces()).toEqual(ids.map((id) => `w${id}`));

    // Every head is there; the selected one has the engine's numbers, plain and weighted by |v|.
    const heads = await room.page.$$eval(".thumbnail", (all) =>
      all.map((one) => (one as HTMLElement).dataset.head),
    );
    expect(heads).toEqual(["1.1", "1.2", "1.3", "2.1", "2.2", "2.3"]);
    // They arrived layer by layer, each in its reserved place.
    const places = await room.page.evaluate(() => (window as { places?: string[] }).places);
    expect(new Set(places).size).toBe(1);
    const weights = weightsOf(model, ids, 1, 2);
    expect(await room.keep(3, 1, ids.length)).toBeCloseTo(weights[3]?.[1] as number, 2.7);
    const expected = weights.slice(1).reduce((sum, row, i) => sum + (row[i] as number), 0) / 4;
    const shown = await room.text(".measures [data-measure=previous]");
    expect(Number(shown)).toBeCloseTo(expected, 3);
    expect(await room.text(".readout")).toMatch(/weight × \|v\| = [\d.]+ × [\d.]+ = [\d.]+/);
    await expect.poll(() => room.link()).toContain("cell=4.2");

    // Candidates of the last token, then of the kept row's; one of them is taken.
    await expect.poll(async () => (await room.candidates(3)).length).toBe(10);
    const probabilities = heed.scope(() =>
      heed
        .softmax(model.forward(idsTensor(ids.slice(0, 4)), { onlyLast: true }).logits)
        .data.slice(),
    ) as Float32Array;
    for (const { id, model } of await room.candidates(3))
      expect(model).toBeCloseTo(probabilities[id] as number, decimals);
    await room.page.click(".written-text .piece:last-child");
    await expect.poll(async () => (await room.candidates(4)).length).toBe(10);
    // Without a head other tokens come; then it is restored.
    await room.page.click(".one-head .ablate-head");
    const instead = () => room.page.$$("[data-place='4'] tbody [data-column=instead] [data-share]");
    await expect.poll(async () => (await instead()).length).toBe(10);
    await expect.poll(() => room.link()).toContain("ablate=2.3");
    expect(await room.page.$("[data-head='2.3'].ablated")).not.toBeNull();
    const [words, numbers] = [
      "[data-place='4'] thead th:nth-child(3)",
      "[data-place='4'] [data-column=instead] [data-share]",
    ];
    await room.page.click("[data-head='1.1'] button");
    await expect.poll(() => room.text(".one-head h2")).toMatch(/^Layer 1, head 1/);
    const click = ".one-head .ablate-head";
    expect(await sayings(room, { click, words, numbers })).toEqual({
      ...{ former: ["without 1 head"], now: "without 2 heads" },
    });
    await room.click("Restore them", ".all-heads");
    await expect.poll(async () => (await instead()).length).toBe(0);

    // A new look is drawn in two frames. Each draws one layer and one map: its cells and its mask.
    const painted = await room.page.evaluate(countPainted, 'input[value="log"]', 16);
    expect(Math.max(...painted)).toBeLessThanOrEqual(8);
    expect(painted.reduce((sum, count) => sum + count, 0)).toBe(16);
    const second = (await room.candidates(4))[1]?.id as number;
    await room.page.click(`[data-token="${second}"] button`);
    await expect.poll(() => room.pieces()).toEqual([...ids, second].map((id) => `w${id}`));
    await room.click("Remove what was written");
    await expect.poll(async () => (await room.pieces()).length).toBe(ids.length);
    await room.click("Write on");
    const [more = []] = await model.generate([ids], { maxLength: 16 - ids.length });
    await expect.poll(() => room.pieces()).toEqual([...ids, ...more].map((id) => `w${id}`));
    expect(await room.violations()).toEqual([]);

    // A text that is too long is refused with this reason, and the former text stays.
    await room.paste("#language-text", wordsOf(Array(20).fill(1)));
    const notice = () => room.text(".text .notices");
    await expect.poll(notice).toContain("20 tokens, and the model reads 16 at most");
    expect((await room.pieces()).length).toBe(16);
    const opacities = () =>
      room.page.$$eval(".text textarea, .written-text, .all-heads, .next", (all) =>
        all.map((one) => getComputedStyle(one).opacity),
      );
    expect(await opacities()).toEqual(["1", "0.3", "0.3", "0.3"]);
    await room.paste("#language-text", "");
    await expect.poll(notice).toContain("the text has no token");
    await room.paste("#language-text", wordsOf([1, 2]));
    await expect.poll(opacities).toEqual(["1", "1", "1", "1"]);
    model.dispose();
  });

  test("fills masks with a BERT, compares two texts, and orders its heads", async () => {
    const model = (await loadModel(heed, masked)) as MaskedLanguageModel;
    const [mask, text] = [4, "w7 [MASK] w9 w8 [MASK]"];
    const ids = [7, mask, 9, 8, mask];
    const room = await enter(`&text=${encodeURIComponent(text)}&head=1.2`);
    await room.drop(masked);
    const card = await room.opened();
    expect(card.architecture).toBe("BERT, sees both sides");
    await expect.poll(async () => (await room.candidates(4)).length).toBe(10);
    const tokenizer = {
      encode: () => ({ ids }),
      decode: ([id]: number[]) => `w${id}`,
      token_to_id: (token: string) => (token === "[MASK]" ? mask : undefined),
      id_to_token: () => undefined,
    };
    const filled = fillMasks(model, tokenizer, text, { count: 10 });
    for (const [i, place] of [1, 4].entries())
      for (const [rank, { id, model }] of (await room.candidates(place)).entries()) {
        const word = filled[i]?.[rank];
        expect(id).toBe(word?.token);
        expect(model).toBeCloseTo(word?.probability ?? Number.NaN, decimals);
      }
    // A token of the text, as if it were hidden.
    await room.clickToken(2);
    await expect.poll(async () => (await room.candidates(2)).length).toBe(10);
    expect(await room.text("[data-place='2']")).toContain("The text has “w9”: rank");

    await room.click("Measures and colours");
    await room.click("by this measure");
    const values = () =>
      room.page.$$eval(".thumbnail [data-measure]", (all) =>
        all.map(({ textContent }) => Number(textContent)),
      );
    await expect
      .poll(async () => (await values()).every((x, i, all) => i === 0 || x <= (all[i - 1] ?? 0)))
      .toBe(true);
    const other = "w7 [MASK] w12 w8 [MASK]";
    await room.click("Compare");
    await room.paste("#language-other", other);
    await expect.poll(() => room.text(".compare-words")).toContain("4 tokens are in both texts");
    const { x, y } = await room.cell("difference", 2, 0, 4, 4);
    await room.page.mouse.move(x, y);
    const [mine, theirs] = [ids, [7, mask, 12, 8, mask]].map((ids) => weightsOf(model, ids, 0, 1));
    const difference = (mine?.[3]?.[0] as number) - (theirs?.[3]?.[0] as number);
    const said = async () =>
      Number(/= ([−\d.]+)$/.exec(await room.text(".compare-words"))?.[1]?.replace("−", "-"));
    await expect.poll(said).toBeCloseTo(difference, 3.7);
    expect(median(await values())).toBeGreaterThan(0);
    model.dispose();
  });

  test("shows the labels of an encoder that classifies, and what they are without a head", async () => {
    const files = classifierFiles("Sequence");
    const model = (await loadModel(heed, files)) as MaskedLanguageModel;
    const ids = [7, 9, 8];
    const texts = { encode: () => ids, decode: () => "" };
    const scores = async () => (await classify(model, texts, [""]))[0]?.scores ?? [];
    const head = { path: "model.layers.0.self_attn", head: 1 };
    const all = { model: await scores(), instead: await withoutHeads(model, [head], scores) };
    const room = await enter(`&text=${wordsOf(ids).replaceAll(" ", "+")}&ablate=1.2`);
    await room.drop(files);
    await room.opened();
    expect(await room.text(".next h3")).toBe("The label of the text");
    const rows = () =>
      room.page.$$eval(".candidates tbody tr", (rows) =>
        rows.map((row) => {
          const cells = row.querySelectorAll<HTMLElement>("[data-share]");
          const shares = [...cells].map(({ dataset }) => Number(dataset.share));
          return { label: row.querySelector("th")?.textContent ?? "", shares };
        }),
      );
    await expect.poll(async () => (await rows())[0]?.shares.length).toBe(2);
    const labels = ["very bad", "neither", "good"];
    const found = await rows();
    expect(found.map(({ label }) => label).sort()).toEqual([...labels].sort());
    for (const { label, shares } of found)
      for (const [i, wanted] of [all.model, all.instead].entries())
        expect(shares[i]).toBeCloseTo(wanted[labels.indexOf(label)] as number, decimals);
    expect(await room.page.$(".candidates tfoot")).toBeNull();
    expect(await room.text(".candidates thead")).toContain("without 1 head");
    expect(await room.violations()).toEqual([]);
    model.dispose();
  });

  test("says how similar two texts are to an encoder of sentences", async () => {
    const files = sentenceFiles();
    const shared = await shareFiles({ sentences: files });
    try {
      const { model, tokenizer } = await loadModel(heed, files, { tokenizer: Tokenizer });
      const [text, other] = ["w7 w9 w8", "w7 w12 w8 w20"];
      const room = await enter(`&text=${text.replaceAll(" ", "+")}`);
      await room.loadAddress(`${shared.url}/sentences`);
      await room.opened();
      expect(await room.text(".next")).toContain("It computes a vector for each text");
      await room.click("Compare");
      const said = async () =>
        Number(await room.page.$eval(".similarity b", (b) => b.dataset.similarity));
      await expect.poll(said).toBeCloseTo(1, decimals);
      await room.paste("#language-other", other);
      const vectors = await embed(model, tokenizer, [text, other]);
      const wanted = similarity(model, vectors, vectors).data[1] as number;
      await expect.poll(said).toBeCloseTo(wanted, decimals);
      expect(await room.text(".similarity")).toContain("Cosine similarity");
      // The kept files of its folders belong to one model.
      await room.closeModel();
      await expect.poll(() => room.kept()).toEqual([`${shared.url}/sentences`]);
      await room.click("Delete", ".kept-models");
      await expect.poll(() => room.kept()).toEqual([]);
      expect(await room.violations()).toEqual([]);
      model.dispose();
    } finally {
      shared.stop();
    }
  });

  test("shows the three attentions of an encoder and a decoder, and what a branch writes", async () => {
    const files = translatorFiles();
    const model = (await loadModel(heed, files)) as Seq2SeqLanguageModel;
    const source = [2, 7, 9, 8, 11, 3];
    const [written = []] = await model.generate([source], { maxLength: 40 });
    const target = [0, ...written];
    const paths = { encoder: "model.encoder", decoder: "model.decoder", cross: "model.decoder" };
    /** The weights of the first head of the first layer, row by row. */
    const weightsOf = (name: keyof typeof paths, target: readonly number[]) =>
      heed.scope(() => {
        let found: number[][] = [];
        const path = `${paths[name]}.layers.0.${name === "cross" ? "cross" : "self"}_attn`;
        const receive: nn.ReceiveWeights = (own, { data, shape }) => {
          const [rows = 0, columns = 0] = shape.slice(-2);
          const row = (_: unknown, i: number) => [...data.slice(i * columns, (i + 1) * columns)];
          if (own === path) found = Array.from({ length: rows }, row);
        };
        nn.captureAttention(model, receive, () =>
          model.forward(idsTensor(source), idsTensor(target)),
        );
        return found;
      });
    const room = await enter("&text=w7+w9+w8+w11&head=cross.1.1&place=8");
    await room.drop(files);
    await room.opened();
    const [input, answer] = [0, 1].map(
      (i) => async () =>
        (await room.page.$$(".written-text"))[i]?.$$eval(".piece", (pieces) =>
          pieces.map((piece) => ({
            text: piece.textContent,
            weight: Number((piece as HTMLElement).dataset.weight ?? Number.NaN),
          })),
        ),
    ) as [() => Promise<Piece[]>, () => Promise<Piece[]>];
    const texts = async (of: () => Promise<Piece[]>) => (await of()).map(({ text }) => text);
    await expect.poll(() => texts(input)).toEqual(["[CLS]", "w7", "w9", "w8", "w11", "[SEP]"]);
    expect(await texts(answer)).toHaveLength(target.length);
    expect(await room.page.$$eval(".all-heads h3", (all) => all.map((h) => h.textContent))).toEqual(
      [
        "Encoder self-attention input to itself",
        "Decoder self-attention answer to itself",
        "Encoder-decoder attention answer to input",
      ],
    );
    expect(await room.text(".no-network")).toBe(
      "The whole network is not shown: it has an encoder and a decoder.",
    );
    const expectShades = async (of: () => Promise<Piece[]>, wanted: readonly number[]) => {
      await expect
        .poll(async () => (await of())[0]?.weight)
        .toBeCloseTo(wanted[0] as number, decimals);
      for (const [i, { weight }] of (await of()).slice(0, wanted.length).entries())
        expect(weight).toBeCloseTo(wanted[i] as number, decimals);
    };
    const row = 8 - source.length - 1;
    const crossed = weightsOf("cross", target)[row] as number[];
    await expectShades(input, crossed);
    // A token of the input is a key: it shows how its weight came about.
    await room.clickToken(2);
    await expect
      .poll(async () => (await room.formula()).weight)
      .toBeCloseTo(crossed[2] as number, 2.7);
    await room.page.focus('[aria-label^="The input"]');
    await room.page.keyboard.press("ArrowRight");
    await expect.poll(() => room.link()).toContain(`cell=${row + 1}.4`);
    await expect
      .poll(async () => (await room.formula()).weight)
      .toBeCloseTo(crossed[3] as number, 2.7);
    await room.choose("decoder.1.1");
    await expectShades(answer, (weightsOf("decoder", target)[row] as number[]).slice(0, row + 1));
    await room.choose("encoder.1.1");
    await expectShades(input, weightsOf("encoder", target).at(-1) as number[]);

    // The model continues after another token in the answer.
    await room.choose("cross.1.1");
    const ahead = async () => {
      await room.clickToken(source.length);
      return (await room.candidates(source.length)).length;
    };
    await expect.poll(ahead).toBe(10);
    const others = (await room.candidates(source.length)).map(({ id }) => id);
    const other = others.find((id) => id !== written[0] && id !== 1) as number;
    await room.page.click(`[data-token="${other}"] button`);
    const options = { startTokens: [0, other], maxLength: 39 };
    const [after = []] = await model.generate([source], options);
    await expect.poll(() => texts(answer)).toHaveLength(2 + after.length);
    const branch = weightsOf("cross", [0, other, ...after])[1] as number[];
    await expectShades(input, branch);
    await room.click("Ablate this head");
    await expect.poll(() => room.text(".candidates thead")).toContain("without 1 head");
    for (const absent of [".cache", ".comparison", ".network", ".languages"])
      expect(await room.page.$(absent)).toBeNull();
    expect(await room.violations()).toEqual([]);
    model.dispose();
  });

  test("translates from and to the chosen languages", async () => {
    const room = await enter("&text=w9+w8&to=tlh_Latn");
    await room.drop(translatorFiles({}, ["eng_Latn", "deu_Latn"]));
    await room.opened();
    expect(await room.text(".notices")).toContain("the token of a language of this model");
    const pieces = () =>
      room.page.$$eval(".written-text .piece", (all) => all.map((each) => each.textContent));
    const chosen = () =>
      room.page.$$eval(".languages select", (all) =>
        all.map(({ selectedOptions }) => selectedOptions[0]?.textContent),
      );
    expect(await chosen()).toEqual(["English", "not said"]);
    const [from, to] = await room.page.$$(".languages select");
    await to?.select("eng_Latn");
    expect(await chosen()).toEqual(["English", "English"]);
    const begin = (...languages: string[]) => ["w9", "w8", "[SEP]", "start", ...languages];
    await expect.poll(async () => (await pieces()).slice(1, 6)).toEqual(begin("eng_Latn"));
    // A branch belongs to its language.
    await room.clickToken(5);
    await expect.poll(async () => (await room.candidates(5)).length).toBe(10);
    const [, second] = await room.candidates(5);
    await room.page.click(`[data-token="${second?.id}"] button`);
    await room.page.waitForSelector(".branches button");
    await from?.select("deu_Latn");
    await expect.poll(async () => (await pieces())[0]).toBe("deu_Latn");
    expect(await room.page.$(".branches")).toBeNull();
    expect(await chosen()).toEqual(["German", "English"]);
    await expect.poll(() => room.link()).toContain("from=deu_Latn&to=eng_Latn");
    expect(await room.violations()).toEqual([]);
  });

  test("loads from addresses, in fewer bits, with progress and a way to cancel", async () => {
    const [shared, slow, closed] = await Promise.all([
      shareFiles({ tiny, empty: {} }),
      shareFiles({ tiny }, { slowly: true }),
      shareFiles({ tiny }, { permits: false }),
    ]);
    try {
      const room = await enter("&dtype=int8");
      await room.loadAddress(`${shared.url}/tiny`);
      const card = await room.opened();
      expect(card.memory).toMatch(/as int8$/);
      const link = async () => decodeURIComponent(await room.link());
      await expect.poll(link).toContain(`model=${shared.url}/tiny`);
      const read = await room.pieces();
      const isThere = async () => {
        expect(await room.card()).toEqual(card);
        expect(await room.pieces()).toEqual(read);
      };

      // Files to be kept arrive in parts that are larger than this model.
      await room.showWays();
      await room.page.click(".way .switch input");
      await room.loadAddress(`${slow.url}/tiny`);
      await room.page.waitForSelector(".loading progress");
      await expect.poll(() => room.text(".loading")).toMatch(/^tiny: [\d.]+ \w+ of [\d.]+ KB/);
      await expect.poll(() => room.text(".loading")).toMatch(/Nothing has come for \d+ s\./);
      // A screen reader announces the message once, and not again for each second.
      const heard = () => room.text(".loading [aria-live]");
      const seconds = async () => Number(/(\d+) s\./.exec(await room.text(".loading"))?.[1]);
      const [before, since] = [await heard(), await seconds()];
      expect(before).toContain("Nothing comes");
      await expect.poll(seconds).toBeGreaterThan(since);
      expect(await heard()).toBe(before);
      await room.click("Cancel");
      await room.page.waitForFunction(() => !document.querySelector(".loading"));
      await isThere();

      await room.loadAddress(`${shared.url}/empty`);
      await expect.poll(() => room.notices()).toMatch(/There is no tokenizer.json at .*empty/);
      await room.loadAddress("not an address");
      await expect.poll(() => room.notices()).toContain("That is not an address");
      await room.loadAddress(`${closed.url}/tiny`);
      await expect.poll(() => room.notices()).toContain("does not permit other pages");
      await isThere();

      // The model stays open in other rooms, and is gone once it is closed.
      await room.click("Learn", "nav.rooms");
      await room.page.waitForSelector("main.learn");
      await room.click("Models", "nav.rooms");
      await room.page.waitForSelector(".model-card");
      expect(await room.card()).toEqual(card);
      await room.closeModel();
      await expect.poll(() => room.page.$(".model-card")).toBeNull();

      // A kept model opens without its server, until it is deleted.
      shared.stop();
      await expect.poll(() => room.kept()).toEqual([`${shared.url}/tiny`]);
      await room.click(`${shared.url}/tiny`, ".kept-models");
      expect(await room.opened()).toEqual(card);
      expect(await room.pieces()).toEqual(read);
      await room.showWays();
      await room.click("Delete", ".kept-models");
      await expect.poll(() => room.kept()).toEqual([]);
      // Its button is gone, and the keyboard goes on from the address.
      const focused = () => room.page.evaluate(() => document.activeElement?.id);
      await expect.poll(focused).toBe("model-address");
    } finally {
      for (const server of [shared, slow, closed]) server.stop();
    }
  });

  test("has the tokenizers of the hub in files of their own: in the worker, and for Step by step", () => {
    const assets = fileURLToPath(new URL("../../build/web/assets/", import.meta.url));
    const files = readdirSync(assets).filter((name) =>
      readFileSync(assets + name, "utf8").includes("WhitespaceSplit"),
    );
    expect(files).toEqual(
      ["ourModel", "readableTokenizer"].map((name) => expect.stringMatching(`^${name}-`)),
    );
  });

  test("shows one head of our model alone, locked and framed", async () => {
    const link = "text=Call+me&length=0&head=3.2&place=2&lock=on&embed=head";
    const room = await open(`#room=models&${link}`, { width: 390 });
    await room.page.waitForSelector(".one-head canvas");
    expect(await room.text(".one-head h2")).toMatch(/^Layer 3, head 2/);
    expect(await room.page.$(".named-model, .model-card, .text")).toBeNull();
    expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
    expect(await room.violations()).toEqual([]);
    await expect.poll(() => room.link()).toMatch(/^#room=models&text=Call\+me&length=0/);
  });

  test("opens another model that a link names once it is asked to, locked or framed too", async () => {
    const shared = await shareFiles({ tiny });
    try {
      const model = encodeURIComponent(`${shared.url}/tiny`);
      const room = await open(`#room=models&model=${model}&text=w3+w7&head=2.2&lock=on&embed=head`);
      await room.page.waitForSelector(".named-model button");
      expect(await room.text("main")).toBe(`The link names ${shared.url}/tiny. Open it`);
      await room.click("Open it");
      await room.page.waitForSelector(".one-head canvas");
      expect(await room.text(".one-head h2")).toBe("Layer 2, head 2");
      expect(await room.page.$(".named-model, .model-card, .text")).toBeNull();
    } finally {
      shared.stop();
    }
  });

  test("says what is wrong with files, and keeps the model that is open", async () => {
    const room = await enter();
    await room.drop(tiny);
    const card = await room.opened();
    const { "config.json": config, "model.safetensors": weights } = tiny;
    const { "tokenizer.json": tokenizer } = tiny;
    const t5 = jsonOf({ ...gpt2().config, model_type: "bloom" });
    const larger = jsonOf({ ...gpt2().config, n_layer: 3 });
    const odd = jsonOf({ model: { type: "WordLevel", vocab: {} }, added_tokens: [] });
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ weights, tokenizer }, /model\.safetensors and tokenizer\.json found, config\.json is not/],
      [{ config, tokenizer }, /config\.json and tokenizer\.json found, model\.safetensors is not/],
      [{ config: t5, weights, tokenizer }, /The architecture "bloom" is not one .*"gpt2"/],
      [
        { config: larger, weights, tokenizer },
        /\d+ missing: .*h\.2\.ln_1\.weight.*h\.2\.mlp\.c_proj\.bias/,
      ],
      [{ config, weights, tokenizer: odd }, /The tokenizer in tokenizer\.json is of a kind/],
      [{ config, weights: weights?.slice(0, -9), tokenizer }, /model\.safetensors/],
    ];
    const names = {
      ...{ config: "config.json", weights: "model.safetensors", tokenizer: "tokenizer.json" },
    } as const;
    for (const [files, words] of wrong) {
      const named = Object.entries(files as Record<keyof typeof names, Uint8Array>).map(
        ([name, bytes]) => [names[name as keyof typeof names], bytes] as const,
      );
      await room.drop(Object.fromEntries(named));
      await expect.poll(() => room.notices()).toMatch(words);
      expect(await room.card()).toEqual(card);
    }
    // A folder and files that are chosen, as by the browser's own dialogue.
    const folder = await mkdtemp(join(tmpdir(), "heed-tiny-"));
    try {
      const paths = Object.keys(tiny).map((name) => join(folder, name));
      for (const path of paths) await writeFile(path, tiny[basename(path)] as Uint8Array);
      const choose = async (name: string, paths: readonly string[]) => {
        const input = await room.page.$(`input[name=${name}]`);
        await (input as ElementHandle<HTMLInputElement>).uploadFile(...paths);
      };
      await choose("files", paths.slice(0, 2));
      await expect.poll(() => room.notices()).toContain("tokenizer.json is not.");
      await choose("files", paths);
      await room.opened();
      await choose("folder", [folder]);
      await room.opened();
      expect(await room.text(".model-card h2")).toBe(basename(folder));
    } finally {
      await rm(folder, { recursive: true });
    }
    // A tokenizer with more tokens than the model knows.
    await room.drop({ ...tiny, "tokenizer.json": wordTokenizer(40) });
    await room.page.waitForFunction(() => document.querySelector("[data-model='4']"));
    await room.paste("#language-text", "w30");
    const notice = () => room.text(".text .notices");
    await expect.poll(notice).toContain("it gives token 30, and the model knows 19");
  });
});
