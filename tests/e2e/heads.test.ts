import type { ComparedVectors, LabelledWeights } from "heed/models";
import { beforeAll, describe, expect, test } from "vitest";
import { Heads, Reference, reportOf } from "./heads";
import { visits } from "./visits";

const first = "Alice helped Clara because she was kind.";
/** The positions of the pronoun and of the name that it means. */
const [she, alice] = [4, 0];

/**
 * The precision of comparisons, in decimals. Displayed numbers have three, and other instruction sets round
 * differently.
 */
const decimals = 2.7;

describe.each(["chrome", "firefox"] as const)("In %s, the heads", (name) => {
  const { open, enter, reenter, it } = visits(Heads, name, {
    start: "#room=models&model=pronouns",
  });
  let reference: Reference;
  beforeAll(async () => {
    reference = await Reference.of("pronouns-encoder");
  });

  const numberIn = (text: string) => Number(text.replace("−", "-"));
  const numbersIn = (text: string) => (text.match(/\d\.\d+/g) ?? []).map(Number);
  const measures = (room: Heads) => room.click("Measures and colours");

  test("open with the pronoun selected, and explain what it means", async () => {
    const room = await enter();
    expect(await room.text(".one-head .transport-place")).toBe("Row 5 of 8 “she”");
    const alices = await reference.probability(first, she, "Alice");
    expect((await room.candidates()).map(({ token }) => token)).toEqual(["Alice", "Clara"]);
    expect((await room.candidates())[0]?.model).toBeCloseTo(alices, decimals);
    expect(await room.text(".saying")).toMatch(/^“she” means Alice probability \d/);
    expect(numbersIn(await room.text(".saying"))[0]).toBeCloseTo(alices, decimals);
    expect(await room.text(".head-words")).toMatch(/^“she” attends most to “Alice”: \d\.\d+\./);
    await expect.poll(() => room.link()).toBe("#room=models&model=pronouns");
  });

  test.each([
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ])(
    "fit the first screen with the answer and the button that changes it: $width",
    async (size) => {
      const room = await reenter("", size);
      const seen = [".saying", ".ablate-needed", "[data-matrix=weights] canvas"];
      if (size.width > 1000) seen.push(".all-heads li:last-of-type canvas");
      for (const selector of seen) {
        const ends = await room.page.$$eval(selector, (all) =>
          all.map((element) => element.getBoundingClientRect().bottom),
        );
        expect(Math.max(...ends), selector).toBeLessThanOrEqual(size.height);
      }
    },
  );

  it("stop playing their rows when a row is clicked", async () => {
    const room = await reenter("&row=1");
    const place = () => room.text(".one-head .transport-place");
    await room.click("Play", ".one-head");
    await expect.poll(place).toMatch(/^Row [2-7] of 8/);
    const { x, y } = await room.cell("weights", 0, 3, 8, 8);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.text(".one-head .play")).toBe("Play");
    await expect.poll(place).toMatch(/^Row 1 of 8/);
  });

  it("have a dot in small cells for numbers that round to zero, and explain it", async () => {
    const room = await enter("", { width: 390, height: 844 });
    await room.page.evaluate(() => {
      const { fillText } = CanvasRenderingContext2D.prototype;
      const texts: string[] = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...more) {
        texts.push(text);
        document.body.dataset.drawn = texts.join(" ");
        fillText.call(this, text, ...more);
      };
    });
    await room.page.click(`${room.head("encoder.1.2")} canvas`);
    const drawn = () => room.page.evaluate(() => document.body.dataset.drawn ?? "");
    await expect.poll(drawn).toMatch(/0\.[1-9]/);
    expect(await drawn()).toContain("·");
    expect(await drawn()).not.toMatch(/\b0\.0+\b/);
    expect(await room.text(".one-head .legend")).toMatch(/· less than 0\.0+5/);
  });

  it("show below each head the number that the engine computes", async () => {
    const room = await reenter();
    const weights = reference.weights(first);
    const mean = (numbers: number[]) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
    const entropy = (row: number[]) =>
      row.reduce((sum, w) => (w > 0 ? sum - w * Math.log2(w) : sum), 0);
    const expectedMeasures: Record<string, (rows: number[][]) => number> = {
      "answer positions, here": (rows) => rows[she]?.[alice] ?? Number.NaN,
      entropy: (rows) => mean(rows.map(entropy)),
      "largest weight": (rows) => mean(rows.map((row) => Math.max(...row))),
      "previous token": (rows) => mean(rows.slice(1).map((row, i) => row[i] as number)),
      "first token": (rows) => mean(rows.slice(1).map((row) => row[0] as number)),
      diagonal: (rows) => mean(rows.map((row, i) => row[i] as number)),
    };
    await room.click("Measures and colours");
    for (const [words, measure] of Object.entries(expectedMeasures)) {
      await room.click(words, ".settings");
      const expected = weights.flatMap((heads, layer) =>
        heads.map((rows, h) => ({ head: `encoder.${layer + 1}.${h + 1}`, value: measure(rows) })),
      );
      const shown = await room.numbers();
      expect(shown.map(({ head }) => head)).toEqual(expected.map(({ head }) => head));
      for (const [i, { value }] of expected.entries())
        expect(numberIn(shown[i]?.text ?? ""), `${words} ${i}`).toBeCloseTo(value, decimals);
    }
  });

  it("show below each head the report's number for held-out examples", async () => {
    const room = await reenter("&measure=heldOut");
    const shown = await room.numbers();
    const report = reportOf("pronouns-encoder");
    expect(shown).toHaveLength(report.length);
    for (const [i, { mass }] of report.entries())
      expect(numberIn(shown[i]?.text ?? "")).toBeCloseTo(mass, decimals);
  });

  it("of the model of shapes are drawn on its picture", async () => {
    const room = await reenter("#room=models&model=shapes");
    const [shape] = await room.candidates();
    expect(await room.text(".all-answers p")).toBe(`right: ${shape?.token}`);
    expect(await room.text(".all-answers thead")).toMatch(/^which shape probability/);
    const { x, y } = await room.cell("patches", 2, 1, 6, 6);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.link()).toContain("row=15");
    expect(await room.text(".patches")).toContain("What patch 2,1 attends to");
    await room.click("Select the class token");
    await expect.poll(() => room.link()).toMatch(/row=1$/);
  });

  it("are sorted by the measure", async () => {
    const room = await reenter("&measure=entropy");
    await measures(room);
    await room.click("by this measure", ".settings");
    const values = (await room.numbers()).map(({ text }) => numberIn(text));
    expect(values).toHaveLength(12);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    await expect.poll(() => room.link()).toContain("order=measure");
    // A link that hides explanations keeps the words without which the list says nothing.
    await reenter("#room=models&model=dates&measure=entropy&order=measure&hide=text");
    expect(await room.text(".measured")).toBe(
      "below: entropy, the largest first; enc: encoder, dec: decoder, e-d: encoder-decoder",
    );
  });

  const wordsOf = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text);

  it("are saved as one picture and one array, with the model, the sentence and the ablated heads", async () => {
    const room = await reenter("&ablate=encoder.1.1");
    const picture = await room.saved(".all-heads", "SVG");
    expect(picture.name).toBe("heed-all-heads-pronouns.svg");
    expect(wordsOf(picture.text).join(" ")).toContain(
      `All heads, pronouns, without layer 1, head 1: ${first} One row for each layer. Below each head: its number, and answer positions, here. 1 1 `,
    );
    const weights = reference.weights(first);
    const [layers, heads] = [weights.length, weights[0]?.length ?? 0];
    expect(picture.text.split("<image").length - 1).toBe(layers * heads);
    const array = await room.saved(".all-heads", "NPY");
    expect(array.name).toBe("heed-all-heads-pronouns.npy");
    expect(array.text).toContain(`'shape': (${layers}, ${heads}, 8, 8)`);
  });

  it("of several kinds of attention are saved in the order of the page, each with its own mask", async () => {
    const room = await reenter("#room=models&model=reverse&measure=entropy");
    const titles = wordsOf((await room.saved(".all-heads", "SVG")).text);
    expect(titles).toEqual(expect.arrayContaining(["encoder 1", "decoder 1", "encoder-decoder 1"]));
    await measures(room);
    await room.click("by this measure", ".settings");
    const shown = await room.page.$$eval(".thumbnail-words span:first-child", (all) =>
      all.map(({ textContent }) => textContent),
    );
    const { text } = await room.saved(".all-heads", "SVG");
    const isLabel = (words = "") => /^(enc|dec|e-d) \d\.\d$/.test(words);
    expect(wordsOf(text).filter(isLabel)).toEqual(shown);
    const masked = shown.filter((label) => label?.startsWith("dec "));
    const hatched = text.split('width="68" height="68" fill="url(#hidden)"');
    expect(hatched.length - 1).toBe(masked.length);
    expect(masked.length).toBeGreaterThan(0);
    const formats = await room.page.$$eval(".all-heads .save button", (all) =>
      all.map(({ textContent }) => textContent),
    );
    expect(formats).toEqual(["PNG", "SVG"]);
  });

  it("are described to screen readers by the weights that are not hidden", async () => {
    const room = await reenter("#room=models&model=reverse&head=decoder.1.3");
    const { text } = await room.saved("[data-matrix=weights]", "CSV");
    const rows = text.trim().split("\r\n").slice(1);
    const seen = rows.flatMap((row, i) =>
      row
        .split(/,(?=[^"]*$)/)
        .slice(1, i + 2)
        .map(Number),
    );
    const [low, high] = [Math.min(...seen), Math.max(...seen)].map((value) => value.toFixed(3));
    expect(low).not.toBe("0.000");
    const label = await (await room.canvas("weights")).evaluate(({ ariaLabel }) => ariaLabel);
    const size = `${rows.length} rows and ${rows.length} columns`;
    expect(label).toContain(`Weights, ${size}, from ${low} to ${high}.`);
  });

  test("explain each weight, and show their rows as tables", async () => {
    const room = await reenter("&head=encoder.1.1&compare=encoder.9.9&ablate=cross.1.1");
    await expect
      .poll(() => room.text(".notices"))
      .toMatch(/^The link's compare is “encoder\.9\.9”.* The link's ablate is “cross\.1\.1”/);
    const { x, y } = await room.cell("weights", she, 2, 8, 8);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.text(".readout")).toContain("“she” attends to “Clara”");
    const [attention] = reference.attentions(first);
    const { rows, columns, weights, compared } = attention as LabelledWeights;
    const { query, key } = compared as ComparedVectors;
    const size = query.length / (rows * 4);
    const dots = Array.from({ length: columns }, (_, j) =>
      key
        .slice(j * size, (j + 1) * size)
        .reduce((sum, k, d) => sum + k * (query[she * size + d] as number), 0),
    );
    const { dot, score, weight } = await room.formula();
    expect(dot).toBeCloseTo(dots[2] as number, 2);
    expect(score).toBeCloseTo((dots[2] as number) / Math.sqrt(size), decimals);
    expect(weight).toBeCloseTo(weights[she * columns + 2] as number, decimals);
    await room.page.click(".row-details summary");
    const cells = (column: string) =>
      room.page.$$eval(`.row-table [data-column=${column}]`, (all) =>
        all.map(({ textContent }) => Number(textContent?.replace("−", "-"))),
      );
    await expect.poll(async () => (await cells("weight")).length).toBe(columns);
    for (const [j, score] of (await cells("score")).entries())
      expect(score).toBeCloseTo((dots[j] as number) / Math.sqrt(size), decimals);
    for (const [j, weight] of (await cells("weight")).entries())
      expect(weight).toBeCloseTo(weights[she * columns + j] as number, decimals);
  });

  it("are compared by a signed difference, shown where it is selected", async () => {
    const room = await reenter();
    await room.click("Compare two heads", ".try-next");
    await room.canvas("difference");
    for (const name of ["weights", "other", "difference"]) {
      const bottom = () =>
        room.page.$eval(
          `[data-matrix=${name}] canvas`,
          (canvas) => canvas.getBoundingClientRect().bottom,
        );
      await expect.poll(bottom, { message: name }).toBeLessThanOrEqual(900);
    }
    const { x, y } = await room.cell("difference", she, alice, 8, 8);
    await room.page.mouse.click(x, y);
    const weights = reference.weights(first);
    const [a, b] = [3, 0].map((h) => weights[2]?.[h]?.[she]?.[alice] as number) as [number, number];
    await expect
      .poll(() => room.text(".readout-formula"))
      .toMatch(/^layer 3, head 4 less layer 3, head 1: /);
    const [, ...numbers] =
      /: ([\d.]+) − ([\d.]+) = (−?[\d.]+)/.exec(await room.text(".readout-formula")) ?? [];
    for (const [i, value] of [a, b, a - b].entries())
      expect(numberIn(numbers[i] ?? "")).toBeCloseTo(value, decimals);
    await expect.poll(() => room.link()).toContain("cell=5.1");
    await room.page.select(".compare-field select", "encoder.3.2");
    await expect.poll(() => room.link()).toContain("compare=encoder.3.2");
    // Without a comparison the head has its single picture again.
    await room.page.select(".compare-field select", "");
    await room.page.waitForSelector(".one-head [data-matrix=weights] canvas");
  });

  test("are greyed and stay in place while a text cannot be read, and a similar one is offered", async () => {
    const room = await reenter();
    const top = () =>
      room.page.$eval(
        "[data-matrix=weights]",
        (element) => element.getBoundingClientRect().top + scrollY,
      );
    const before = await top();
    const marked = () =>
      room.page.$$eval(".unread mark", (all) => all.map(({ textContent }) => textContent));
    await room.paste("#heads-text", "Zoe helped the president because she was kind 😀.");
    await expect.poll(marked).toEqual(["Zoe", "president", "😀"]);
    expect(await top()).toBe(before);
    const opacity = () =>
      room.page.$eval(".heads-seen", (element) => Number(getComputedStyle(element).opacity));
    expect(await opacity()).toBeLessThan(0.5);
    expect(await room.page.$eval(".heads-seen", (element) => element.matches("[inert]"))).toBe(
      true,
    );
    for (const [text, marks] of [
      ["", []],
      ["你好", ["你好"]],
    ] as const) {
      await room.paste("#heads-text", text);
      await expect.poll(marked).toEqual(marks);
      expect(await top()).toBe(before);
    }
    await room.paste("#heads-text", "Zoe helped Clara because she was kind.");
    await expect.poll(marked).toEqual(["Zoe"]);
    await room.page.click(".unread button");
    await expect.poll(() => room.text(".saying")).toMatch(/^“she” means /);
    expect(await top()).toBe(before);
    await expect.poll(opacity).toBe(1);
    // A long text stays in the field as it was pasted, and is refused with a message.
    const long = "Alice helped Clara because she was kind. ".repeat(60);
    await room.paste("#heads-text", long);
    await expect.poll(() => room.text(".unread-why")).toContain("The text has 2,460 characters");
    expect(
      await room.page.$eval("#heads-text", (field) => (field as HTMLTextAreaElement).value),
    ).toBe(long);
    await room.paste("#heads-text", "Bob wrote a poem.");
    await expect.poll(() => room.text(".saying")).toContain("has no pronoun");
  });

  test("of all kinds have one tab stop, and the arrow keys move among them", async () => {
    const room = await reenter("#room=models&model=dates&head=decoder.2.3");
    await room.page.waitForSelector(".thumbnail");
    expect(await room.page.$$(".all-heads [tabindex='0']")).toHaveLength(1);
    await room.page.focus(".all-heads [tabindex='0']");
    const label = () =>
      room.page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    expect(await label()).toMatch(/layer 2, head 3/i);
    const reached: (string | undefined)[] = [];
    for (const key of [
      "ArrowDown",
      "ArrowLeft",
      "Home",
      "ArrowUp",
      "ArrowUp",
      "ArrowUp",
      "End",
    ] as const) {
      await room.page.keyboard.press(key);
      reached.push(
        await room.page.evaluate(() => document.activeElement?.closest("li")?.dataset.head),
      );
    }
    const [first, second] = [reached.slice(0, 3), reached.slice(3)];
    expect(first).toEqual(["cross.1.3", "cross.1.2", "cross.1.1"]);
    expect(second).toEqual(["decoder.2.1", "decoder.1.1", "encoder.2.1", "encoder.2.4"]);
    expect(await room.page.$$(".all-heads [tabindex='0']")).toHaveLength(1);
  });

  test("can be reached by keyboard, cell by cell", async () => {
    const room = await reenter();
    await room.page.focus("[data-matrix=weights] canvas");
    await room.page.keyboard.press("ArrowRight");
    await expect
      .poll(() => room.page.$eval("[aria-live=polite]", (element) => element.textContent))
      .toContain("attends to “helped”");
    await room.page.keyboard.press("Enter");
    await expect.poll(() => room.link()).toContain("cell=1.2");
    await room.page.keyboard.press("Escape");
    await expect.poll(() => room.link()).not.toContain("cell=");
  });

  test("fit a window 360 pixels wide, for every model", async () => {
    const room = await reenter("", { width: 360 });
    expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
    const [, yours] = await room.page.$$eval(".chooser label", (labels) =>
      labels.map((label) => [label.textContent, label.getBoundingClientRect().right] as const),
    );
    expect(yours?.[0]).toBe("open yours");
    expect(yours?.[1]).toBeLessThan(360);
    // The controls for one head are on one line.
    const tops = await room.page.$$eval(
      ".head-bar :is(h2, label:not(:has(select)), select)",
      (parts) =>
        parts.map((part) => part.getBoundingClientRect()).map(({ top, bottom }) => top + bottom),
    );
    for (const top of tops) expect(Math.abs(top - (tops[0] as number))).toBeLessThan(16);
    const cut = await room.page.$$eval(".head-bar select", (selects) =>
      selects.flatMap((select) => {
        const { font, appearance, paddingLeft, paddingRight } = getComputedStyle(select);
        const context = new OffscreenCanvas(1, 1).getContext(
          "2d",
        ) as OffscreenCanvasRenderingContext2D;
        context.font = font;
        const words = (select as HTMLSelectElement).selectedOptions[0]?.text ?? "";
        // The browser's own arrow takes about 20 pixels.
        const arrow = appearance === "none" ? 0 : 20;
        const room =
          select.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
        return context.measureText(words).width > room - arrow ? [words] : [];
      }),
    );
    expect(cut).toEqual([]);
    // If the field grows with its text, a long sentence is visible as a whole.
    await room.paste("#heads-text", "Alice helped Clara because she was kind. Alice left.");
    await expect.poll(() => room.text(".saying")).toMatch(/^“she” means /);
    const hidden = await room.page.$eval("#heads-text", (field) =>
      CSS.supports("field-sizing: content") ? field.scrollHeight - field.clientHeight : 0,
    );
    expect(hidden).toBeLessThanOrEqual(1);
    // An unknown word is scrolled into view, even at the end of a long text.
    await room.paste(
      "#heads-text",
      `${"Alice helped Clara because she was kind. ".repeat(3)}Zorg left.`,
    );
    await room.page.waitForSelector(".unread mark");
    const right = await room.page.$eval(".unread mark", (m) => m.getBoundingClientRect().right);
    expect(right).toBeLessThanOrEqual(360);
    const others = {
      ...{ dates: ".answers", sort: ".answers", reverse: ".answers", shapes: ".patches" },
      brackets: ".candidates[data-asked='8']",
    };
    for (const [model, shown] of Object.entries(others)) {
      await room.go(`#room=models&model=${model}`);
      await room.page.waitForSelector(shown);
      expect(await room.sidewaysOverflow(), model).toBeLessThanOrEqual(0);
    }
  });

  it("can be inspected but not changed under a teacher's lock", async () => {
    const room = await reenter("&lock=on");
    await room.page.click(`${room.head("encoder.2.1")} button`);
    await expect.poll(() => room.link()).toContain("head=encoder.2.1");
    const fields = ".input :enabled, .ablate-head:enabled, .switch :enabled";
    expect(await room.page.$$(fields)).toEqual([]);
    expect(await room.text(".answer-more")).toBe("Ablating layer 1, head 1 changes the answer.");
    await measures(room);
    await room.click("entropy", ".settings");
    await expect.poll(() => room.link()).toContain("measure=entropy");
  });

  test("are embedded alone in another page's frame", async () => {
    const room = await open("&embed=heads&lock=on");
    await room.page.waitForSelector(".thumbnail");
    expect(await room.page.$$(".answer, .one-head, .input .sentence-field, footer")).toEqual([]);
  });
});
