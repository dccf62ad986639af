/** “Step by step” after attention: Add & Norm and the feed-forward network of our language model. */
import { beforeAll, describe, expect, test } from "vitest";
import { causalNetwork } from "../../web/src/network/causal";
import type {
  AttentionNumbers,
  FeedForwardNumbers,
  LayerNumbers,
} from "../../web/src/network/messages";
import { listen, serve } from "./browsers";
import { Steps } from "./steps";
import { visits } from "./visits";
import { LanguageReference } from "./write";

const text = "The old man looked at the sea";
const learned = `#text=${encodeURIComponent(text)}&vectors=learned&position=on&mask=causal`;
/** The last token, in the second layer. */
const atLast = `${learned}&layer=2&query=8`;

let parts: readonly [AttentionNumbers, FeedForwardNumbers];
let count: number;
beforeAll(async () => {
  const reference = await LanguageReference.open();
  const ids = reference.ids(text);
  count = ids.length;
  const { open } = causalNetwork(reference.model, { ids, layer: 1, head: 0, ablated: [] }, String);
  parts = (open as LayerNumbers).parts as unknown as typeof parts;
});

class Block extends Steps {
  async shows(stage: string): Promise<void> {
    await this.page.waitForSelector(`[data-stage=${stage}][aria-selected=true]`);
    await this.page.waitForSelector(".stage-figure.network [data-matrix] canvas");
  }

  /** The number at the end of a line of the formula of the cell that a person points at. */
  async pointed(matrix: string, row: number, col: number, rows: number, cols: number) {
    const { x, y } = await this.cell(matrix, row, col, rows, cols);
    await this.page.mouse.move(x, y);
    await this.page.waitForSelector(".stage .readout-formula");
    const formula = await this.page.$eval(
      ".stage .readout-formula",
      ({ textContent }) => textContent ?? "",
    );
    return { formula, value: Number(/= (−?[\d.]+)(\n|$)/.exec(formula)?.[1]?.replace("−", "-")) };
  }
}

/** A server of the page that sends half of our language model, and the rest after `goOn`. */
async function halfway() {
  const whole = await serve();
  let goOn = () => {};
  const rest = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const half = await listen("localhost", async ({ url = "/" }, response) => {
    const answer = await fetch(new URL(url, whole.url));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const names = ["content-type", "content-length"].concat(
      ["opener", "embedder", "resource"].map((what) => `cross-origin-${what}-policy`),
    );
    for (const name of names) response.setHeader(name, answer.headers.get(name) ?? "");
    response.writeHead(answer.status);
    const isModel = url.endsWith("model.safetensors");
    const end = isModel ? Math.floor(bytes.length / 2) : bytes.length;
    response.write(bytes.subarray(0, end));
    if (isModel) await rest;
    response.end(bytes.subarray(end));
  });
  const stop = () => {
    half.stop();
    whole.stop();
  };
  return { url: half.url, goOn, stop };
}

describe.each(["chrome", "firefox"] as const)("In %s, a layer of our language model", (name) => {
  const { open, enter, reenter, it } = visits(Block, name);

  test("goes on after attention by keyboard, with the numbers of the whole network", async () => {
    const room = await enter(`${atLast}&step=joined`);
    expect(count).toBe(8);
    const [attention, feedForward] = parts;
    await room.page.keyboard.press("ArrowRight");
    await room.shows("addnorm");
    await expect.poll(() => room.link()).toContain("step=addnorm");
    const sum = await room.pointed("attention-add", 7, 2, 8, 192);
    expect(sum.formula).toContain("stream + what each head adds");
    expect(sum.value).toBeCloseTo(attention.output[2] as number, 2);
    const norm = await room.pointed("feed-forward-norm", 2, 100, 3, 192);
    expect(norm.value).toBeCloseTo(feedForward.norm.result[100] as number, 2);

    await room.page.keyboard.press("ArrowRight");
    await room.shows("feedforward");
    const unit = await room.pointed("feed-forward-units", 2, 5, 3, 432);
    expect(unit.formula).toContain("SiLU(gate) × up");
    expect(unit.value).toBeCloseTo(feedForward.units[5] as number, 2);
    const added = await room.pointed("feed-forward-add", 0, 5, 1, 192);
    expect(added.value).toBeCloseTo(feedForward.added[5] as number, 2);
    // A click locks a number, and Escape releases it.
    await room.page.mouse.down();
    await room.page.mouse.up();
    await expect.poll(() => room.link()).toContain("number=feed-forward.added.6");
    await room.page.keyboard.press("Escape");
    await expect.poll(() => room.link()).not.toContain("number=");

    await room.page.focus("[data-stage=feedforward]");
    await room.page.keyboard.press("ArrowRight");
    await room.shows("addnorm2");
    const end = await room.pointed("feed-forward-add", 2, 191, 3, 192);
    expect(end.value).toBeCloseTo(feedForward.output[191] as number, 2);
    expect(await room.text(".stage")).toContain("Layer 3 begins with the norm of it");
    expect(await room.violations()).toEqual([]);
  });

  test("is played through its last stages", async () => {
    const room = await reenter(`${atLast}&step=addnorm`);
    await room.shows("addnorm");
    await room.click("Play");
    await room.shows("feedforward");
    await room.shows("addnorm2");
    await expect.poll(() => room.text(".transport .play")).toBe("Play");
    expect(await room.text(".transport")).toMatch(/Moment (\d+) of \1 Add & Norm/);
  });

  it("opens at a locked number, for the token, the layer and the heads of the link", async () => {
    const room = await reenter(`${atLast}&step=addnorm&number=attention.head.3.5&ablate=3`);
    await room.shows("addnorm");
    await expect.poll(() => room.text(".stage .readout")).toContain("the head is ablated = 0");
    await room.page.click("[aria-label='Head 3 counts']");
    await expect.poll(() => room.text(".stage .readout")).toMatch(/W_O row 5 · its sum = .*\s×\s/);
    await room.page.select(".token-choice select", "2");
    await expect.poll(() => room.link()).toContain("query=3");
  });

  it("is opened by the worked example, which ends before it", async () => {
    const room = await reenter("#step=joined");
    expect(await room.page.$$("[role=tab]")).toHaveLength(9);
    expect(await room.text(".stage-words")).toContain("In a trained model, Add & Norm and a feed-");
    await room.click("Add & Norm and a feed-forward network", ".stage-words");
    await room.shows("addnorm");
    expect(await room.page.$$("[role=tab]")).toHaveLength(12);
    // Other vectors have no later stages.
    await room.click("random");
    await room.page.waitForSelector("[data-stage=joined][aria-selected=true]");
    await expect.poll(() => room.link()).toContain("step=joined");
  });

  test.each([
    [1440, 900],
    [360, 740],
  ])("has every matrix of a step on the first screen, %i × %i", async (width, height) => {
    const room = await reenter(`${atLast}&step=qkv`, { width, height });
    const ends = (selector: string) =>
      room.page.$$eval(selector, (all) => {
        const boxes = all.map((each) => each.getBoundingClientRect());
        return {
          bottom: Math.max(...boxes.map((box) => box.bottom)),
          right: Math.max(...boxes.map((box) => box.right)),
        };
      });
    for (const stage of ["qkv", "joined", "feedforward", "addnorm2"]) {
      await room.page.$eval(`[data-stage=${stage}]`, (tab) => (tab as HTMLElement).click());
      await room.page.waitForSelector(`[data-stage=${stage}][aria-selected=true]`);
      const canvas = ".stage-figure [data-matrix] canvas";
      await room.page.waitForSelector(canvas);
      expect(await room.sidewaysOverflow(), stage).toBeLessThanOrEqual(0);
      const formulas = await ends(".stage-formulas math");
      expect.soft(formulas.bottom, `the formula of ${stage}`).toBeLessThanOrEqual(height);
      if (stage !== "qkv" && stage !== "joined") continue;
      const { bottom, right } = await ends(canvas);
      expect.soft(bottom, stage).toBeLessThanOrEqual(height);
      expect.soft(right, stage).toBeLessThanOrEqual(width);
    }
    expect(await room.page.evaluate(() => scrollY)).toBe(0);
  });

  test("waits for the model with progress and a way to cancel", async () => {
    const { url, goOn, stop } = await halfway();
    try {
      const room = await open(`${url}${atLast}`);
      const loaded = () =>
        room.page
          .$eval("[data-loaded]", (words) => Number((words as HTMLElement).dataset.loaded))
          .catch(() => 0);
      await expect.poll(loaded).toBeGreaterThan(2_000_000);
      expect(await room.text(".loading")).toMatch(/^Our language model: 2\.\d+ MB of 5\.\d+ MB/);
      await room.click("Cancel");
      await room.ready();
      await expect.poll(() => room.link()).not.toContain("learned");
      await room.click("learned", ".settings");
      await expect.poll(loaded).toBeGreaterThan(2_000_000);
      goOn();
      await room.page.waitForSelector("[data-stage=addnorm]");
      expect(await room.page.$(".loading")).toBeNull();
    } finally {
      stop();
    }
  });
});
