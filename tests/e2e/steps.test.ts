import { describe, expect, test } from "vitest";
import { Steps } from "./steps";
import { visits } from "./visits";

/** With many threads and with one; what does not depend on that is tried with many. */
const kinds = [true, false];

const exampleTokens = ["The", "quick", "brown", "fox", "jumps"];

describe.each(["chrome", "firefox"] as const)("In %s, the page", (name) => {
  const { enter } = visits(Steps, name);

  test.each(kinds)(
    "opens on the worked example and shows its true numbers, isolated: %s",
    async (isolated) => {
      const room = await enter("", { isolated });
      expect(await room.table()).toEqual({
        keys: exampleTokens,
        score: [0.16, 0.6, 1.04, 1.48, 1.92],
        scaled: [0.113, 0.424, 0.735, 1.047, 1.358],
        masked: [0.113, 0.424, 0.735, 1.047, 1.358],
        weight: [0.098, 0.133, 0.182, 0.248, 0.339],
        value: [
          [0.3, 0.4],
          [0.7, 0.8],
          [1.1, 1.2],
          [1.5, 1.6],
          [1.9, 2],
        ],
        contribution: [
          [0.029, 0.039],
          [0.093, 0.107],
          [0.2, 0.218],
          [0.372, 0.397],
          [0.644, 0.678],
        ],
        total: 1,
        output: [1.339, 1.439],
        foot: "Sum, the output",
      });
    },
  );

  test.each(kinds)("says how many threads compute, isolated: %s", async (isolated) => {
    const room = await enter("", { isolated });
    const cores = await room.page.evaluate(() => navigator.hardwareConcurrency);
    const threads =
      isolated && cores > 1 ? /WebAssembly, [2-9]\d* threads/ : /WebAssembly, 1 thread\b/;
    expect(await room.text("footer")).toMatch(threads);
  });

  test.each(kinds)(
    "computes a typed sentence, giving the same word the same vector, isolated: %s",
    async (isolated) => {
      const room = await enter("", { isolated });
      await room.type("#text", "a rose is a rose");
      const { score, value, weight, output, total } = await room.untilTable({
        keys: ["a", "rose", "is", "a", "rose"],
      });
      expect(score[1]).toBe(score[4]);
      expect(score[1]).not.toBe(score[2]);
      expect(value[0]).toEqual(value[3]);
      expect(total).toBe(1);
      for (const [d, entry] of output.entries()) {
        const sum = weight.reduce(
          (all, share, j) => all + share * (value[j]?.[d] ?? Number.NaN),
          0,
        );
        expect(sum).toBeCloseTo(entry, 2);
      }
    },
  );

  test("adds positions, which tell the same word apart by its place", async () => {
    const room = await enter("#text=a+rose+is+a+rose");
    const before = await room.table();
    await room.click("Add positions");
    await expect.poll(async () => (await room.table()).score).not.toEqual(before.score);
    const { score } = await room.table();
    expect(score[1]).not.toBe(score[4]);
  });

  test("shows as many heads as are asked for, each with numbers of its own", async () => {
    const room = await enter("#text=one+two+three");
    await room.page.click(".settings ::-p-text(Heads)");
    await room.page.keyboard.press("ArrowUp");
    await room.page.keyboard.press("ArrowUp");
    await expect
      .poll(() => room.page.$$eval("fieldset.heads label", (heads) => heads.length))
      .toBe(4);
    await room.untilTable({ foot: "Sum, the output of head 1" });
    const first = await room.table();
    await room.click("3", "fieldset.heads");
    const third = await room.untilTable({ foot: "Sum, the output of head 3" });
    expect(third.weight).not.toEqual(first.weight);
    expect(third.total).toBe(1);
  });

  test("lets the selected query attend only to itself and the past under the causal mask", async () => {
    const room = await enter();
    await room.click("decoder: causal");
    const { weight } = await room.untilTable({
      masked: [0.113, 0.424, -Infinity, -Infinity, -Infinity],
      total: 1,
    });
    expect(weight.slice(2)).toEqual([0, 0, 0]);
    await room.click("encoder: all see all");
    await room.untilTable({ masked: [0.113, 0.424, 0.735, 1.047, 1.358] });
  });

  test("hides padding and what lies outside the window", async () => {
    const room = await enter();
    await room.click("padding", ".settings");
    await room.untilTable({ masked: [0.113, 0.424, 0.735, -Infinity, -Infinity] });
    await room.click("window", ".settings");
    await room.untilTable({ masked: [0.113, 0.424, 0.735, -Infinity, -Infinity] });
    await room.page.select("select[aria-label^=Query]", "4");
    await room.untilTable({ masked: [-Infinity, -Infinity, -Infinity, 3.338, 4.327] });
  });

  test("takes paint on a cell of the mask, by pointer and by keyboard", async () => {
    const room = await enter();
    await room.click("painted", ".settings");
    const { x, y } = await room.cell("masked", 1, 3, 5, 5);
    await room.page.mouse.click(x, y);
    await room.untilTable({ masked: [0.113, 0.424, 0.735, -Infinity, 1.358], total: 1 });

    const canvas = await room.canvas("masked");
    await canvas.focus();
    await room.page.mouse.move(0, 0);
    for (const key of [
      "Home",
      "ArrowUp",
      "ArrowUp",
      "ArrowUp",
      "ArrowUp",
      "ArrowUp",
      "ArrowDown",
    ] as const) {
      await room.page.keyboard.press(key);
    }
    await room.page.keyboard.press(" ");
    await room.untilTable({ masked: [-Infinity, 0.424, 0.735, -Infinity, 1.358], total: 1 });
    await room.page.keyboard.press(" ");
    await room.untilTable({ masked: [0.113, 0.424, 0.735, -Infinity, 1.358] });
    await expect.poll(() => room.link()).toContain("hidden=2:4");
  });

  test("says in words that a query sees nothing when the mask hides everything", async () => {
    const room = await enter();
    await room.click("painted", ".settings");
    await room.click("Hide all");
    await room.untilTable({
      masked: exampleTokens.map(() => -Infinity),
      weight: [0, 0, 0, 0, 0],
      total: 0,
      output: [0, 0],
      foot: "“quick” may see no key: its weights and its output are zeros.",
    });
    expect(await room.text(".stage-words")).toContain(
      "no query may see any key, so every row is zeros",
    );
    await room.click("Show all");
    await room.untilTable({ output: [1.339, 1.439] });
  });

  test("shows a cell's formula with its true numbers and keeps it after a click", async () => {
    const room = await enter();
    const { x, y } = await room.cell("scores", 1, 3, 5, 5);
    await room.page.mouse.move(x, y);
    const formula =
      "Scores, “quick” attends to “fox” QKᵀ[2, 4] = 0.500 × 1.400 + 0.600 × 1.300 = 1.480";
    await expect.poll(() => room.text(".readout")).toBe(formula);
    await room.page.mouse.click(x, y);
    await room.page.mouse.move(5, 5);
    await expect.poll(() => room.text(".readout")).toContain("0.600 × 1.300 = 1.480");
    expect(await room.text(".readout")).toContain("kept");
    await expect.poll(() => room.link()).toContain("cell=scores.2.4");
    await room.page.keyboard.press("Escape");
    await expect.poll(() => room.text(".readout")).toContain("Point at a cell");
  });

  test("plays a cell's computation product by product, and stops there for the person", async () => {
    const room = await enter();
    const readout = () => room.text(".readout");
    await room.click("Play", ".computation");
    await expect
      .poll(readout)
      .toBe("Scores, “quick” attends to “The” QKᵀ[2, 1] = 0.500 × 0.200, so far 0.100");
    await expect
      .poll(() => room.text(".computation .made"))
      .toBe("How these numbers are computed: the first cell; Play continues");
    expect(await room.text(".computation .play")).toBe("Play");
    expect(await readout()).toContain("= 0.500 × 0.200 + 0.600 × 0.100, so far 0.160");
    await room.click("Play", ".computation");
    await expect
      .poll(() => room.text(".computation .made"))
      .toBe("How these numbers are computed: the first row; Play continues");
    expect(await readout()).toContain("QKᵀ[2, 5] = 0.500 × 1.800 + 0.600 × 1.700 = 1.920");
    await room.click("Next →", ".computation");
    await expect.poll(readout).toContain("Scores, “The” The whole row");
    await expect.poll(() => room.link()).toContain("time=7");
    await room.click("← Back", ".computation");
    await expect.poll(readout).toContain("QKᵀ[2, 5]");
  });

  test("plays a softmax exponential by exponential, then their sum, then the division", async () => {
    const scores = [0.16, 0.6, 1.04, 1.48, 1.92].map((score) => score / Math.SQRT2);
    const sums = scores.map((_, n) =>
      scores.slice(0, n + 1).reduce((sum, score) => sum + Math.exp(score), 0),
    );
    const all = sums[4] as number;
    const room = await enter("#step=weights");
    const readout = () => room.text(".readout");
    await room.page.focus(".computation .scrub");
    await room.page.keyboard.press("Home");
    for (const [n, word] of exampleTokens.entries()) {
      const [score, sum] = [scores[n], sums[n]] as [number, number];
      await expect
        .poll(readout)
        .toBe(
          `Exponentials, “quick” attends to “${word}” e^M[2, ${n + 1}] = e^${score.toFixed(3)} = ${Math.exp(score).toFixed(3)}, sum so far ${sum.toFixed(3)}`,
        );
      expect(await room.text("[data-matrix=exponentials]")).toContain(
        `of “quick”, sum so far ${sum.toFixed(3)}`,
      );
      await room.page.keyboard.press("ArrowRight");
    }
    const first = Math.exp(scores[0] as number);
    await expect
      .poll(readout)
      .toContain(`= ${first.toFixed(3)} ÷ ${all.toFixed(3)} = ${(first / all).toFixed(3)}`);
    const place = () => room.text(".computation .transport-place");
    expect(await place()).toBe("Part 6 of 14");
    await room.page.keyboard.press("ArrowLeft");
    await expect.poll(readout).toContain(`sum so far ${all.toFixed(3)}`);
    await room.click("Play", ".computation");
    await expect.poll(place).toBe("Part 6 of 14");
    expect(await room.text("[data-matrix=exponentials]")).toContain(`sum ${all.toFixed(3)}`);
  });

  test("keeps exponentials finite when the scores are large", async () => {
    const room = await enter("#edits=q.1.2.1:1000&step=weights&time=5");
    await expect.poll(() => room.text(".readout")).toContain("= 1.000, sum so far 1.000");
    expect(await room.text("[data-matrix=exponentials]")).toContain(
      "after subtracting the largest score",
    );
  });

  test("adds up nothing in a first cell that was set by hand", async () => {
    const room = await enter("#edits=q.1.2.1:-2&step=qkv&time=1");
    expect(await room.text(".readout")).toContain("Q[2, 1] = −2.000, set by you");
    // Two matrices are left of the 19 parts of the example, less three of the four terms.
    expect(await room.text(".computation .transport-place")).toContain("Part 1 of 16");
    await room.click("Next →", ".computation");
    await expect.poll(() => room.text(".readout")).toContain("= 0.500 × 0.000 + 0.600 × 1.000");
  });

  test("highlights the part of the picture that a word or a letter speaks of", async () => {
    const room = await enter("#step=output");
    const drawn = (matrix: string) =>
      room.page.$eval(`.stage [data-matrix=${matrix}] canvas`, (canvas) =>
        (canvas as HTMLCanvasElement).toDataURL(),
      );
    const [values, weights] = [await drawn("v"), await drawn("weights")];
    await room.page.focus(".stage-words .role-v");
    await expect.poll(() => drawn("v")).not.toBe(values);
    expect(await drawn("weights")).toBe(weights);
    await room.page.hover(".stage-words math [data-highlights=weights]");
    await expect.poll(() => drawn("weights")).not.toBe(weights);
    await expect.poll(() => drawn("v")).toBe(values);
  });

  test("lets go of a kept cell where another stage is shown", async () => {
    const room = await enter("#cell=scores.2.4");
    expect(await room.text(".readout")).toContain("kept");
    await room.click("Next →");
    await expect.poll(() => room.text(".readout")).toContain("Point at a cell");
    await expect.poll(() => room.link()).not.toContain("cell=");
  });

  test("leaves out Play for those who want less motion, and keeps the steps", async ({ skip }) => {
    if (name === "firefox") skip("Firefox emulates no media features for Puppeteer");
    const room = await enter();
    await room.page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    await expect.poll(() => room.page.$$(".play")).toHaveLength(0);
    await room.page.focus(".computation .scrub");
    await room.page.keyboard.press("Home");
    await expect.poll(() => room.text(".readout")).toContain("so far 0.100");
  });

  test("shuffles the words, whose outputs only change places unless positions are added", async () => {
    const room = await enter();
    const output = async () => (await room.table()).output;
    const before = await output();
    await room.click("Shuffle the words");
    await expect.poll(() => room.text(".shuffled")).toContain("only change places");
    await expect.poll(() => room.link()).toContain("shuffle=1");
    const { keys } = await room.table();
    expect(keys).not.toEqual(exampleTokens);
    expect(keys.toSorted()).toEqual(exampleTokens.toSorted());
    await room.page.select("select[aria-label^=Query]", String(keys.indexOf("quick")));
    await expect.poll(output).toEqual(before);
    const shift = () =>
      room.page.$eval(".shuffled .number", ({ textContent }) => textContent ?? "");
    expect(await shift()).toMatch(/^(0|\d\.\d × 10−[678])$/);
    await room.click("Add positions");
    await expect.poll(() => room.text(".shuffled")).toContain("gives other outputs");
    expect(Number(await shift())).toBeGreaterThan(0.01);
    await room.click("Back in order");
    await expect.poll(async () => (await room.table()).keys).toEqual(exampleTokens);
  });

  test("takes another number for an entry of Q or K, marks it, and takes it back", async () => {
    const room = await enter();
    const { x, y } = await room.cell("q", 1, 0, 5, 2);
    await room.page.mouse.click(x, y);
    await room.page.keyboard.type("2");
    // “quick” has now the query [2, 0.6].
    await room.untilTable({ score: [0.46, 1.5, 2.54, 3.58, 4.62], total: 1 });
    expect(await room.text(".readout")).toContain("set by you");
    await expect.poll(() => room.link()).toContain("edits=q.1.2.1:2");
    await room.page.keyboard.press("Escape");

    await (await room.canvas("k")).focus();
    await room.page.keyboard.press("Home");
    await room.page.keyboard.press("Enter");
    await room.page.keyboard.type("-1");
    // K of “The” was [0.2, 0.1].
    await expect.poll(async () => (await room.table()).score[0]).toBe(-1.94);
    await room.click("Undo 2 edits");
    await room.untilTable({ score: [0.16, 0.6, 1.04, 1.48, 1.92] });
    await expect.poll(() => room.link()).not.toContain("edits");
  });

  test("leaves out a head, whose part of the joined output becomes zeros", async () => {
    const room = await enter("#text=one+two+three&heads=2&size=2&step=joined&cell=result.1.1");
    const readout = () => room.text(".readout");
    const before = await readout();
    await room.page.click("[aria-label='Head 2 counts']");
    await expect.poll(readout).not.toBe(before);
    expect(await readout()).toMatch(/( \+ 0\.000 × \S+){2} = /);
    expect(await room.text(".stage-words")).toContain("Head 2 is left out");
    await expect.poll(() => room.link()).toContain("drop=2");
    await room.page.click("[aria-label='Head 2 counts']");
    await expect.poll(readout).toBe(before);
  });

  test("moves a cell cursor with the arrow keys and speaks the cell", async () => {
    const room = await enter();
    await (await room.canvas("scores")).focus();
    await room.page.keyboard.press("ArrowDown");
    await room.page.keyboard.press("ArrowRight");
    await room.page.keyboard.press("End");
    await expect
      .poll(() => room.text("[aria-live]"))
      .toBe(
        "Scores, “quick” attends to “jumps”: QKᵀ[2, 5] = 0.500 × 1.800 + 0.600 × 1.700 = 1.920",
      );
    await room.page.keyboard.press("Enter");
    await expect.poll(() => room.link()).toContain("cell=scores.2.5");
  });

  test("goes through all nine steps with Next, Back and the arrow keys", async () => {
    const room = await enter("#step=tokens");
    const titles = [];
    for (let step = 0; step < 9; ++step) {
      titles.push(await room.text(".transport b"));
      if (step < 8) await room.click("Next →");
    }
    expect(titles).toEqual([
      "Tokens",
      "Embedding",
      "Q, K, V",
      "Scores",
      "Scaled",
      "Masked",
      "Weights",
      "Output",
      "Joined",
    ]);
    await room.click("← Back");
    await expect.poll(() => room.text(".transport b")).toBe("Output");
    await room.page.focus("[role=tab][aria-selected=true]");
    await room.page.keyboard.press("ArrowLeft");
    await expect.poll(() => room.text(".transport b")).toBe("Weights");
  });

  test("leaves the scores as they are without the division, and sharpens weights at a low temperature", async () => {
    const room = await enter();
    await room.click("Divide scores by √d = √2");
    await room.untilTable({ scaled: [0.16, 0.6, 1.04, 1.48, 1.92], total: 1 });
    const { weight } = await room.table();
    await room.page.focus("input[type=range]");
    for (let i = 0; i < 3; ++i) await room.page.keyboard.press("ArrowLeft");
    await room.untilTable({ scaled: [0.32, 1.2, 2.08, 2.96, 3.84], total: 1 });
    const sharper = (await room.table()).weight;
    expect(sharper[4]).toBeGreaterThan(weight[4] as number);
    expect(sharper[0]).toBeLessThan(weight[0] as number);
  });

  test("shows the largest weight and the entropy of the selected row, and the softmax saturating", async () => {
    const room = await enter("#step=weights");
    // 2.178 is the entropy in bits of the five weights of “quick”, and 2.322 = log2(5) that of equal ones.
    await expect
      .poll(() => room.text(".sharpness"))
      .toMatch(
        /^Largest weight of “quick” 0\.339 on “jumps” Its entropy 2\.1\d\d bits of at most 2\.322 /,
      );
    const entropyOf = (weights: readonly number[]) =>
      weights.reduce((sum, share) => sum - share * Math.log2(share), 0);
    const entropy = async () =>
      Number(/entropy ([\d.]+) bits/.exec(await room.text(".sharpness"))?.[1]);
    expect(await entropy()).toBeCloseTo(entropyOf((await room.table()).weight), 1);
    await room.page.focus("input[type=range]");
    await room.page.keyboard.press("Home");
    await room.page.select("select[aria-label^=Query]", "4");
    await expect.poll(() => room.text(".sharpness")).toContain("The softmax is saturated");
    expect(await entropy()).toBeLessThan(0.3);
  });

  test("takes keys and values from the second sentence in cross-attention", async () => {
    const room = await enter();
    await room.click("encoder-decoder: two sentences");
    await room.untilTable({ keys: ["A", "lazy", "dog", "sleeps"] });
    await room.paste("#key-text", "no one");
    const { weight } = await room.untilTable({ keys: ["no", "one"], total: 1 });
    expect(weight).toHaveLength(2);
  });

  test("restores everything that a link says, and writes it back", async () => {
    const link =
      "#text=two+fine+words&heads=3&size=2&seed=7&position=on&scale=off&temperature=2&mask=painted&hidden=3:1-2&step=weights&head=2&query=3&range=row&curve=sqrt&mass=70";
    const room = await enter(link);
    const table = await room.untilTable({
      keys: ["two", "fine", "words"],
      foot: "Sum, the output of head 2",
    });
    expect(table.masked.slice(0, 2)).toEqual([-Infinity, -Infinity]);
    expect(table.weight).toEqual([0, 0, 1]);
    expect(await room.text(".transport b")).toBe("Weights");
    await room.page.select("select[aria-label^=Query]", "0");
    await expect.poll(() => room.link()).toBe(link.replace("&query=3", "&query=1"));
    await room.page.reload();
    await room.ready();
    expect(await room.text(".transport b")).toBe("Weights");
    expect((await room.table()).foot).toBe("Sum, the output of head 2");
  });

  test("names what is wrong in a link and goes on with the rest", async () => {
    const room = await enter("#heads=99&mask=causal&step=nonsense&cell=a.b&colour=red&hidden=0:1");
    const notices = await room.text(".notices");
    expect(notices).toContain(
      "The link's heads is “99”, but it takes a whole number from 1 to 8; it was left out.",
    );
    expect(notices).toContain("The link's step is “nonsense”");
    expect(notices).toContain("The link's cell is “a.b”");
    expect(notices).toContain("The link's hidden is “0:1”");
    expect(notices).toContain("“colour” that this page does not know");
    await room.untilTable({ masked: [0.113, 0.424, -Infinity, -Infinity, -Infinity] });
  });

  test("asks for a word when the sentence is empty, and computes again once there is one", async () => {
    const room = await enter();
    await room.paste("#text", "");
    await expect.poll(() => room.text(".notices")).toContain("Type a word");
    await room.paste("#text", "again");
    const { weight } = await room.untilTable({ keys: ["again"] });
    expect(weight).toEqual([1]);
    expect(await room.text(".notices")).toBe("");
  });

  test.each(kinds)(
    "keeps the first 512 of ten thousand pasted words and says so, isolated: %s",
    async (isolated) => {
      const room = await enter("", { isolated });
      await room.paste("#text", Array.from({ length: 10_000 }, (_, i) => `w${i}`).join(" "));
      await expect
        .poll(() => room.text(".row-table"))
        .toContain("The 64 keys with the most weight, of 512");
      await expect.poll(async () => (await room.table()).keys.length).toBe(64);
      expect((await room.table()).total).toBe(1);
      expect(await room.text(".notices")).toContain("Only the first 512 tokens");
      expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
    },
  );

  test("keeps emoji whole as characters, and takes text that runs from right to left", async () => {
    const room = await enter();
    await room.click("characters");
    await room.paste("#text", "👩‍👩‍👧é🇫🇷");
    await room.untilTable({ keys: ["👩‍👩‍👧", "é", "🇫🇷"], total: 1 });
    await room.click("words");
    await room.paste("#text", "שלום עולם طويل");
    await room.untilTable({ keys: ["שלום", "עולם", "طويل"], total: 1 });
  });

  test("fits a window 360 pixels wide at every step, with few tokens and with many", async () => {
    const many = Array.from({ length: 64 }, (_, i) => `word${i}`).join("+");
    const room = await enter("", { width: 360 });
    for (const link of [
      "#",
      `#text=${many}&heads=8&size=16&position=on`,
      "#text=one+two&keys=three+four",
    ]) {
      await room.page.evaluate((link) => {
        location.hash = link;
      }, `${link}&step=tokens`);
      for (let step = 0; step < 9; ++step) {
        await expect.poll(() => room.text(".transport")).toContain(`Step ${step + 1} of 9`);
        expect(
          await room.sidewaysOverflow(),
          `${link.slice(0, 20)}, step ${step + 1}`,
        ).toBeLessThanOrEqual(0);
        if (step < 8) await room.click("Next →");
      }
    }
  });

  test("saves the numbers of a matrix as CSV", async () => {
    const room = await enter();
    await room.page.evaluate(() => {
      const make = URL.createObjectURL.bind(URL);
      URL.createObjectURL = (blob) => {
        void (blob as Blob).text().then((text) => Object.assign(window, { saved: text }));
        return make(blob);
      };
    });
    await room.page.$eval("summary[aria-label='Save Scores']", (summary) =>
      (summary as HTMLElement).click(),
    );
    await room.click("CSV", ".save[open]");
    const saved = () => room.page.evaluate(() => (window as { saved?: string }).saved ?? "");
    await expect.poll(saved).not.toBe("");
    const [header, ...lines] = (await saved()).trimEnd().split("\r\n");
    expect(header).toBe('"","The","quick","brown","fox","jumps"');
    expect(lines.map((line) => line.split(",")[0])).toEqual(
      exampleTokens.map((word) => `"${word}"`),
    );
    const quick = lines[1]?.split(",").slice(1).map(Number);
    expect(quick?.map((score) => Number(score.toFixed(5)))).toEqual([0.16, 0.6, 1.04, 1.48, 1.92]);
  });

  test("follows a suggestion and comes back to the worked example", async () => {
    const room = await enter();
    await room.click("Ask another sentence");
    await room.untilTable({ keys: ["The", "cat", "is", "sleeping", "there"] });
    await room.click("Back to the worked example");
    await room.untilTable({ keys: exampleTokens, output: [1.339, 1.439] });
  });

  test("keeps what every suggestion says", async () => {
    const room = await enter();
    const words = await room.page.$$eval(".try-next a", (all) =>
      all.map(({ textContent }) => textContent ?? ""),
    );
    const seen: string[] = [];
    for (const title of words) {
      await room.click(title, ".try-next");
      await expect.poll(() => room.text(".tried")).toContain(title);
      expect(await room.text(".notices"), title).toBe("");
      if (title === "Shuffle the words")
        await expect.poll(() => room.text(".shuffled")).toContain("only change places");
      if (title === "Shuffle them with positions")
        await expect.poll(() => room.text(".shuffled")).toContain("gives other outputs");
      if (title === "Leave out the division by √d")
        await expect.poll(() => room.text(".sharpness")).toContain("The softmax is saturated");
      if (title === "Change one number of a query or a key")
        await expect.poll(() => room.text(".readout")).toContain("−2.000, set by you");
      if (title === "Leave out a head")
        await expect.poll(() => room.text(".stage-words")).toContain("Head 2 is left out");
      if (title === "512 tokens at once")
        await expect.poll(() => room.text(".row-table")).toContain("with the most weight, of 512");
      await expect.poll(() => room.link()).not.toBe(seen.at(-1) ?? "#");
      seen.push(await room.link());
    }
    expect(new Set(seen).size).toBe(9);
  });
});
