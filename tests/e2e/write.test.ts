import { withoutHeads } from "heed/models";
import { beforeAll, describe, expect, test } from "vitest";
import { referenceText } from "../../web/src/rooms/models/language/state";
import { sayings } from "./ablating";
import { meanOutput } from "./means";
import { visits } from "./visits";
import { LanguageReference, Write } from "./write";

const text = "Call me Ishmael. The whale";
const typed = `&text=${encodeURIComponent(text)}`;

/** The precision of comparisons: the numbers come from other instructions and other orders of summation. */
const decimals = 4;

let reference: LanguageReference;
let ids: number[];
beforeAll(async () => {
  reference = await LanguageReference.open();
  ids = reference.ids(text);
});

/** Compares the candidates shown after the typed text with the engine's probabilities. */
async function expectTrueCandidates(room: Write): Promise<void> {
  const probabilities = reference.next(ids);
  const shown = await room.candidates();
  expect(shown).toHaveLength(10);
  const order = [...probabilities.keys()].sort(
    (a, b) => (probabilities[b] as number) - (probabilities[a] as number),
  );
  expect(shown[0]?.id).toBe(order[0]);
  for (const { id, model } of shown)
    expect(model).toBeCloseTo(probabilities[id] as number, decimals);
  for (const column of ["model", "drawn"] as const)
    expect(sum(shown.map((each) => each[column])) + (await room.others(column))).toBeCloseTo(1, 5);
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
const at = (place: number) => `&place=${place}`;

describe("In chrome, our language model", () => {
  const { open, enter, reenter } = visits(Write, "chrome", { start: "#room=models" });
  /** The room still, at the last token of the typed text. */
  const enterStill = (more = "") => reenter(`${typed}${at(ids.length)}${more}`);

  test("writes a line by itself, and one more where asked", async () => {
    const room = await open();
    await room.page.waitForSelector("[data-footnote]");
    const { count } = await room.place();
    await expect.poll(async () => (await room.place()).token).toBeGreaterThan(count - 38);
    expect(await room.text(".transport .play")).toBe("Pause");
    await room.click("Pause", ".transport");
    const { token } = await room.place();
    await expect.poll(() => room.link()).toContain(`place=${token}`);
    const piece = (await room.pieces())[token - 1] ?? "";
    expect(await room.text("[aria-selected=true]")).toBe(piece.replace(/\s+/g, " ").trim());
    await room.click("Write on");
    await expect.poll(async () => (await room.place()).token).toBeGreaterThan(count);
    expect((await room.place()).count).toBe(count + 40);
    await room.page.click(".model-card summary");
    await expect.poll(() => room.text(".model-card")).toContain("texts in the public domain");
  });

  test("has what it writes within the first screen of a telephone, and the candidates before the heads", async () => {
    const room = await reenter("", { width: 360 });
    const parts = [".written-text", ".text-foot button", ".candidates", ".all-heads canvas"];
    for (const part of parts) await room.page.waitForSelector(part);
    await room.page.evaluate(() => document.fonts.ready);
    const ends = await room.page.evaluate(
      (parts) => parts.map((part) => document.querySelector(part)?.getBoundingClientRect().bottom),
      parts,
    );
    expect(ends).toEqual([...ends].sort((a, b) => Number(a) - Number(b)));
    expect(ends[0]).toBeLessThanOrEqual(740);
    expect(await room.page.evaluate(() => scrollY)).toBe(0);
    expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
    expect(await room.saveButtonsOutside()).toEqual([]);
  });

  test.each([1440, 360])(
    "marks the current token without covering its neighbours at %d",
    async (width) => {
      const room = await reenter(`${typed}${at(3)}`, { width });
      await room.page.waitForSelector(".piece.current");
      const marks = await room.page.$eval(".piece.current", (piece) => {
        const { boxShadow, outlineStyle } = getComputedStyle(piece);
        // The lines, without the comma within a colour.
        const lines = boxShadow
          .split(/,(?![^(]*\))/)
          .map((line) => line.match(/-?[\d.]+px/g) ?? []);
        const box = piece.getBoundingClientRect();
        const reach = Math.max(...lines.map(([, y = ""]) => Math.abs(Number.parseFloat(y))));
        const others = [...document.querySelectorAll(".written-text .piece:not(.current)")];
        const covered = others.filter((other) => {
          const range = document.createRange();
          range.selectNodeContents(other);
          return [...range.getClientRects()].some(
            ({ left, right, top, bottom }) =>
              right > box.left + 0.5 &&
              left < box.right - 0.5 &&
              bottom > box.top - reach &&
              top < box.bottom + reach,
          );
        });
        const texts = covered.map(({ textContent }) => textContent);
        return { outlineStyle, count: others.length, texts, aside: lines.map(([x]) => x) };
      });
      // Lines above and below, which reach to no side.
      expect(marks).toEqual({
        ...{ outlineStyle: "none", count: expect.any(Number), texts: [], aside: ["0px", "0px"] },
      });
      expect(marks.count).toBeGreaterThan(20);
    },
  );

  test("moves nothing when its model has come, on a telephone", async () => {
    const room = await open("", { width: 360 });
    const top = () =>
      room.page.$eval(".work", (work) => Math.round(work.getBoundingClientRect().top));
    await room.page.waitForSelector(".loading");
    const before = await top();
    await room.ready();
    expect(await top()).toBe(before);
  });

  test("shows what the engine finds likely, and draws among as many as top-k says", async () => {
    const room = await enterStill("&temperature=1&topp=1&topk=3");
    await expectTrueCandidates(room);
    const shown = await room.candidates();
    const all = sum(shown.slice(0, 3).map(({ model }) => model));
    for (const [rank, { model, drawn }] of shown.entries())
      expect(drawn).toBeCloseTo(rank < 3 ? model / all : 0, decimals);
    expect(await room.page.$eval("[data-choices]", (b) => b.textContent)).toBe("3");
  });

  test("writes what the model generates with the same seed, and something else with another", async () => {
    const room = await enterStill("&seed=7");
    const [expected] = await reference.model.generate([ids], {
      ...{ maxLength: 40, temperature: 0.8, topP: 0.95, seed: 7 },
    });
    const decoded = reference.tokenizer.decode(expected as number[]);
    const written = async () =>
      (await room.pieces()).slice(ids.length).join("").replaceAll("↵\n", "\n");
    // After a near tie, other instructions may draw another token.
    expect((await written()).slice(0, 20)).toBe(decoded.slice(0, 20));
    const before = await written();
    await room.click("Another seed");
    await expect.poll(written).not.toBe(before);
    await expect.poll(() => room.link()).toContain("seed=8");
  });

  test("takes a candidate as a branch, and the former one again", async () => {
    const room = await enterStill();
    const before = await room.pieces();
    const [first, second] = await room.candidates();
    const isFirst =
      (await room.page.$eval(
        ".candidates .taken",
        (row) => (row as HTMLTableRowElement).rowIndex,
      )) === 1;
    const other = isFirst ? second : first;
    await room.page.click(`[data-token="${other?.id}"] button`);
    await expect.poll(async () => (await room.place()).token).toBe(ids.length + 1);
    await expect.poll(() => room.link()).toContain(`kept=${other?.id}`);
    const branch = await room.pieces();
    expect(branch.slice(0, ids.length)).toEqual(before.slice(0, ids.length));
    expect(branch).toHaveLength(before.length);
    await expect.poll(() => room.pieces()).not.toEqual(before);
    await room.page.click(".branches button");
    await expect.poll(() => room.pieces()).toEqual(before);
    expect(await room.page.$$(".branches button")).toHaveLength(1);
  });

  test("shades the text by the weights of the selected head, and shows how each came about", async () => {
    const room = await enterStill("&head=2.3");
    await expect.poll(async () => (await room.shades()).length).toBe(ids.length);
    const expected = reference.row(ids, 2, 3, ids.length - 1);
    for (const [i, weight] of (await room.shades()).entries())
      expect(weight).toBeCloseTo(expected[i] as number, decimals);
    const { count } = await room.place();
    const { x, y } = await room.cell("weights", ids.length - 1, 1, count, count);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.text(".readout")).toContain("attends to");
    expect((await room.formula()).weight).toBeCloseTo(expected[1] as number, 2.7);
    await expect.poll(() => room.link()).toContain(`cell=${ids.length}.2`);
  });

  test("finds heads by measures, computes again without one, and restores it", async () => {
    const room = await enterStill("&head=77.1&ablate=88.2");
    expect(await room.page.$(".instead")).toBeNull();
    expect(await room.text(".notices")).toMatch(/head is “77\.1”.* a head of .*ablate is “88\.2”/s);
    for (const kind of ["previous", "first", "induction"]) {
      const { head, value } = await room.found(kind);
      expect(value).toBeGreaterThan(0);
      expect(value).toBeLessThanOrEqual(1);
      await room.page.click(`.found [data-kind=${kind}] td button`);
      await expect.poll(() => room.link()).toContain(`head=${head}`);
      await room.page.waitForSelector(`[data-head="${head}"] [aria-pressed=true]`);
    }
    const before = await room.candidates();
    await room.choose("1.2");
    await room.click("Ablate this head");
    await expect.poll(async () => (await room.candidates())[0]?.instead ?? null).not.toBeNull();
    const expected = await reference.nextWithout(ids, 1, 2);
    const shown = await room.candidates();
    for (const { id, instead } of shown)
      expect(instead).toBeCloseTo(expected[id] as number, decimals);
    expect(shown.map(({ model }) => model)).toEqual(before.map(({ model }) => model));
    const changes = await room.page.$$eval(".candidates tbody [data-change]", (cells) =>
      cells.map((cell) => Number((cell as HTMLElement).dataset.change)),
    );
    for (const [i, { model, instead }] of shown.entries())
      expect(changes[i]).toBeCloseTo((instead ?? 0) - model, 6);
    expect(shown.some(({ model, instead }) => Math.abs(model - (instead ?? 0)) > 1e-6)).toBe(true);
    await expect.poll(() => room.link()).toMatch(/ablate=[\d.,]*\b1\.2\b/);
    // The heading of the numbers without one head stays until the numbers without two heads arrive.
    const numbers = "[data-column=instead] [data-share]";
    const words = ".candidates thead th:nth-child(3)";
    await room.choose("2.2");
    expect(await sayings(room, { click: ".ablate-head", words, numbers })).toEqual({
      ...{ former: ["without 1 head"], now: "without 2 heads" },
    });
    // Means are computed over the reference text, and give other probabilities than zeros.
    const zeros = (await room.candidates()).map(({ instead }) => instead);
    await room.page.select(".ablate select", "mean");
    await expect.poll(() => room.text(words)).toBe("without 2 heads (mean)");
    const path = (layer: number) => `model.layers.${layer - 1}.self_attn`;
    const read = () => void reference.next(reference.ids(referenceText));
    const heads = [1, 2].map((layer) => ({ path: path(layer), head: 1 }));
    const outputs = heads.map((head) => ({
      ...head,
      output: meanOutput(reference.model, head, read),
    }));
    const wanted = await withoutHeads(reference.model, outputs, () => reference.next(ids));
    const means = await room.candidates();
    for (const { id, instead } of means)
      expect(instead).toBeCloseTo(wanted[id] as number, decimals);
    expect(means.map(({ instead }) => instead)).not.toEqual(zeros);
    await expect.poll(() => room.link()).toContain("ablation=mean");
    expect(await room.text(".ablation-help")).toContain("of a reference text");
    await room.page.select(".ablate select", "zero");
    await expect.poll(() => room.text(words)).toBe("without 2 heads");
    await room.click("restore them");
    await expect.poll(async () => (await room.candidates())[0]?.instead).toBeNull();
  });

  test("shows of a later head what it attends to without an ablated one", async () => {
    const room = await enterStill("&length=0&head=4.4");
    const at = ids.length - 1;
    const shown = async () => (await room.shades()).slice(0, ids.length);
    const expectRow = async (row: readonly number[]) => {
      await expect
        .poll(async () => Math.abs(((await shown())[at] ?? 0) - (row[at] as number)))
        .toBeLessThan(1e-4);
      for (const [i, weight] of (await shown()).entries())
        expect(weight).toBeCloseTo(row[i] as number, decimals);
    };
    const whole = reference.row(ids, 4, 4, at);
    await expectRow(whole);
    const head = { path: "model.layers.0.self_attn", head: 1 };
    const without = await withoutHeads(reference.model, [head], () => reference.row(ids, 4, 4, at));
    expect(without.some((each, i) => Math.abs(each - (whole[i] as number)) > 1e-3)).toBe(true);
    await room.go(`${await room.link()}&ablate=1.2`);
    await expectRow(without);
  });

  test("reads any script, and counts what the cache holds", async () => {
    const own = "鯨は海に住む。 Ὁμήρου 🐳\n";
    const room = await enter();
    // Until the new text is read, the results of the former text are marked as outdated.
    await room.page.evaluate(() => {
      const work = document.querySelector("main > .work") as Element;
      const seen: string[] = [];
      Object.assign(window, { seen });
      new MutationObserver(() => seen.push(work.className)).observe(work, { attributes: true });
    });
    await room.paste("#language-text", own);
    const expected = reference.ids(own);
    await expect.poll(async () => (await room.place()).count).toBe(expected.length + 40);
    const seen = await room.page.evaluate(() => (window as unknown as { seen: string[] }).seen);
    expect(seen).toEqual(["work column writes stale-text", "work column writes"]);
    const pieces = await room.pieces();
    const [start, ...shown] = pieces.slice(0, expected.length);
    expect(start).toBe("start");
    expect(shown.join("").replaceAll("·", "").replace("↵", "")).toBe(own);
    await room.page.focus(".written-text");
    await room.page.keyboard.press("ArrowRight");
    const { token } = await room.place();
    const bytes = reference.bytesPerToken();
    const number = (name: string) =>
      room.page.$eval(
        `.cache-numbers [data-${name}]`,
        (b, name) => Number(b.getAttribute(`data-${name}`)),
        name,
      );
    expect(await number("written")).toBe(bytes);
    await expect.poll(() => number("read")).toBeGreaterThanOrEqual(token * bytes);
    // A long text is refused, and not cut without a word.
    const { context } = reference.model.config;
    const many = own.repeat(30);
    await room.paste("#language-text", many);
    const over = reference.ids(many).length - context;
    await expect.poll(() => room.text(".text .notices")).toContain(`leave out ${over}`);
    await room.paste("#language-text", own.repeat(300));
    await expect.poll(() => room.text(".text .notices")).toContain("characters, and this room");
  });

  test("saves the probability of every token of its vocabulary", async () => {
    const room = await enterStill();
    await room.page.waitForSelector(".candidates");
    const { name, text } = await room.saved(".next", "CSV");
    expect(name).toBe(`heed-next-${ids.length}.csv`);
    // A line for each token, the likeliest first. A text may contain line breaks, commas and quotes.
    const rows = [...text.matchAll(/^(\d+),"((?:[^"]|"")*)",(.*)\r$/gm)];
    expect(text).toMatch(
      /^"token","text","logit","probability","after temperature, top-k and top-p"\r\n/,
    );
    const wanted = reference.next(ids);
    expect(rows).toHaveLength(wanted.length);
    expect(new Set(rows.map(([, id]) => id)).size).toBe(wanted.length);
    let last = Number.POSITIVE_INFINITY;
    let drawn = 0;
    for (const [, id, , numbers] of rows) {
      const [logit = 0, probability, share = 0] = (numbers as string).split(",").map(Number);
      expect(logit).toBeLessThanOrEqual(last);
      expect(probability).toBeCloseTo(wanted[Number(id)] as number, decimals);
      last = logit;
      drawn += share;
    }
    expect(drawn).toBeCloseTo(1, 4);
    expect(await room.text(".candidates thead")).toContain("after temperature, top-k and top-p");
    const [shown] = await room.candidates();
    expect(rows[0]?.[1]).toBe(String(shown?.id));
    expect(rows[0]?.[2]).toBe(reference.tokenizer.decode([shown?.id as number]));
  });

  test("saves all heads as one picture, with the model, the text and the ablated heads", async () => {
    const room = await enterStill("&ablate=2.3");
    await room.page.waitForSelector(".all-heads .ablated canvas");
    const saved = await room.saved(".all-heads", "SVG");
    expect(saved.name).toBe("heed-all-heads.svg");
    const words = [...saved.text.matchAll(/<text[^>]*>([^<]*)/g)].map(([, each]) => each).join(" ");
    expect(words).toContain(`All heads, Our language model, without layer 2, head 3: ${text}`);
    const { layers, heads } = reference.model.config;
    expect(saved.text.split("<image").length - 1).toBe(layers * heads);
  });

  test("saves the keys and the values that its cache holds for a head, up to the current token", async () => {
    const place = 3;
    const room = await reenter(`${typed}${at(place)}&head=2.3`);
    await room.page.waitForSelector(".cache .save-vectors");
    const wanted = reference.vectors(ids.slice(0, place), 2, 3);
    for (const [which, name] of ["key", "value"].entries()) {
      const scope = `.cache .save-vectors > :nth-child(${which + 1})`;
      const file = await room.saved(scope, "CSV");
      expect(file.name).toBe(`heed-${name}s-cache-2.3.csv`);
      const lines = file.text.trimEnd().split("\r\n").slice(1);
      expect(lines).toHaveLength(place);
      const numbers = lines.flatMap((line) => line.split(",").slice(1).map(Number));
      const exact = wanted[name as "key" | "value"];
      expect(numbers).toHaveLength(exact.length);
      for (const [i, number] of numbers.entries())
        expect(number).toBeCloseTo(exact[i] as number, 2);
    }
  });

  test("has steps in place of motion, and writes on at the end", async () => {
    const room = await enter(`${typed}${at(ids.length)}&length=2`);
    await room.page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    await room.go(`#room=models&length=2${typed}`);
    await room.page.reload();
    await room.ready();
    expect(await room.place()).toEqual({ token: ids.length, count: ids.length + 2 });
    expect(await room.page.$(".transport .play")).toBeNull();
    await room.click("Next →");
    await expect.poll(async () => (await room.place()).token).toBe(ids.length + 1);
    await room.click("← Back");
    await room.click("Write on");
    await expect.poll(async () => (await room.place()).count).toBe(ids.length + 42);
  });
});

describe("In firefox, our language model", () => {
  const { enter } = visits(Write, "firefox", { start: "#room=models" });

  test("shows what the engine finds likely, with sums of 1", async () => {
    const room = await enter(`${typed}${at(ids.length)}`);
    await expectTrueCandidates(room);
    await expect.poll(async () => (await room.shades()).length).toBe(ids.length);
    expect(sum(await room.shades())).toBeCloseTo(1, 5);
  });
});
