import { describe, expect, test } from "vitest";
import { stagesOf } from "../../web/src/rooms/steps/stageNames";
import { savedBy } from "./room";
import { Steps } from "./steps";
import { visits } from "./visits";

/** With many threads and with one. Tests that do not depend on the number use many. */
const kinds = [true, false];

const stageNames = stagesOf({ vectors: "example" });
const exampleTokens = ["The", "quick", "brown", "fox", "jumps"];

describe.each(["chrome", "firefox"] as const)("In %s, the page", (name) => {
  const { enter, reenter, it } = visits(Steps, name);
  /** At the scores, where the room does not start to play automatically. */
  const atScores = (more = "") => reenter(`#step=scores${more}`);
  const atScoresOf = (isolated: boolean) =>
    isolated ? atScores() : enter("#step=scores", { isolated });

  test.each(kinds)(
    "opens on the worked example and shows its correct numbers and the number of threads, isolated: %s",
    async (isolated) => {
      const room = await enter("#step=scores", { isolated });
      const cores = await room.page.evaluate(() => navigator.hardwareConcurrency);
      const threads =
        isolated && cores > 1 ? /WebAssembly, [2-9]\d* threads/ : /WebAssembly, 1 thread\b/;
      expect(await room.text("footer")).toMatch(threads);
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

  test.each(kinds)(
    "reads a typed sentence with our language model, which learned a vector for each piece, isolated: %s",
    async (isolated) => {
      const room = await atScoresOf(isolated);
      await room.type("#text", "a man is a man");
      const { score, value, weight, output, total } = await room.untilTable({
        keys: ["start", "a", "man", "is", "a", "man"],
        total: 1,
      });
      expect(await room.text(".sentence-label")).toContain("read by layer 1 of our language model");
      // The first piece has no space before it. Equal pieces have equal values, but their keys are rotated.
      expect(value[2]).toEqual(value[5]);
      expect(value[2]).not.toEqual(value[3]);
      expect(score[2]).not.toBe(score[5]);
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

  it("adds positions, which distinguish equal words", async () => {
    const room = await reenter("#text=a+rose+is+a+rose");
    const before = await room.table();
    await room.click("Add positions");
    await expect.poll(async () => (await room.table()).score).not.toEqual(before.score);
    const { score } = await room.table();
    expect(score[1]).not.toBe(score[4]);
  });

  it("shows the requested number of heads, each with different numbers", async () => {
    const room = await reenter("#text=one+two+three");
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

  it("lets the selected query attend only to itself and the past under the causal mask", async () => {
    const room = await atScores();
    await room.click("decoder");
    const { weight } = await room.untilTable({
      masked: [0.113, 0.424, -Infinity, -Infinity, -Infinity],
      total: 1,
    });
    expect(weight.slice(2)).toEqual([0, 0, 0]);
    await room.click("encoder");
    await room.untilTable({ masked: [0.113, 0.424, 0.735, 1.047, 1.358] });
  });

  it("hides padding and keys outside the window", async () => {
    const room = await atScores();
    await room.click("padding", ".settings");
    await room.untilTable({ masked: [0.113, 0.424, 0.735, -Infinity, -Infinity] });
    await room.click("window", ".settings");
    await room.untilTable({ masked: [0.113, 0.424, 0.735, -Infinity, -Infinity] });
    await room.page.select("select[aria-label^=Query]", "4");
    await room.untilTable({ masked: [-Infinity, -Infinity, -Infinity, 3.338, 4.327] });
  });

  test("paints a cell of the mask, by pointer and by keyboard", async () => {
    const room = await atScores();
    await room.click("painted", ".settings");
    await expect.poll(() => room.text(".settings")).toContain("Hide all");
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

  it("explains that a query sees no key if the mask hides all", async () => {
    const room = await atScores();
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
      "No query may see any key, so every row is zeros",
    );
    await room.click("Show all");
    await room.untilTable({ output: [1.339, 1.439] });
  });

  test("shows a cell's formula with its correct numbers and locks it by a click", async () => {
    const room = await atScores();
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

  test("plays the first score product by product, its row, the other rows, and the next stages", async () => {
    const room = await atScores("&time=1");
    const readout = () => room.text(".readout");
    expect(await readout()).toBe(
      "Scores, “quick” attends to “The” QKᵀ[2, 1] = 0.500 × 0.200, so far 0.100",
    );
    await room.click("Play", ".player");
    await expect.poll(readout).toContain("= 0.500 × 0.200 + 0.600 × 0.100, so far 0.160");
    expect(await room.text(".player .made")).toBe("the first number");
    await expect.poll(() => room.text(".player .made")).toBe("the row of “quick”");
    await expect.poll(() => room.text(".player .made")).toBe("row by row");
    await expect.poll(() => room.text(".transport b")).toBe("Scaled");
    await room.click("Pause", ".player");
    const place = await room.text(".transport-place");
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await room.text(".transport-place")).toBe(place);
  });

  test.each([1024, 1440])(
    "has the words of the moment on the line of its number at %d",
    async (width) => {
      const room = await reenter("#step=scores&time=8", { width });
      const [place, made] = await room.page.$$eval(".player :is(.made, .transport-place)", (all) =>
        all.map((part) => ({
          words: part.textContent,
          bottom: part.getBoundingClientRect().bottom,
        })),
      );
      expect(made?.words).toBe("row by row");
      expect(Math.abs((made?.bottom ?? 0) - (place?.bottom ?? 0))).toBeLessThan(6);
    },
  );

  test("has a formula on one line, also where a browser would break it before a bracket", async () => {
    const room = await reenter("#vectors=random&step=qkv", { width: 1024 });
    const line = await room.page.$eval(".stage-formulas math", (formula) => {
      const page = formula.parentElement as HTMLElement;
      const room = page.getBoundingClientRect().width - formula.getBoundingClientRect().width;
      page.style.width = "1px";
      const letters = [...formula.querySelectorAll("mrow > mi:first-child")];
      const tops = letters.map((letter) => letter.getBoundingClientRect().bottom);
      return { spread: Math.max(...tops) - Math.min(...tops), room };
    });
    expect(line.spread).toBeLessThan(16);
    expect(line.room).toBeGreaterThanOrEqual(0);
  });

  test("steps forward and back through the moments, by buttons, the slider and the arrow keys", async () => {
    const room = await atScores("&time=6");
    const readout = () => room.text(".readout");
    expect(await readout()).toContain("QKᵀ[2, 5] = 0.500 × 1.800 + 0.600 × 1.700 = 1.920");
    await room.click("Next →", ".player");
    await expect.poll(readout).toContain("Scores, “The” The whole row");
    await expect.poll(() => room.link()).toContain("time=7");
    await room.click("← Back", ".player");
    await expect.poll(readout).toContain("QKᵀ[2, 5]");
    await room.page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await room.page.keyboard.press("ArrowLeft");
    await expect.poll(readout).toContain("QKᵀ[2, 4]");
    await room.page.focus(".player .scrub");
    await room.page.keyboard.press("End");
    await expect.poll(() => room.text(".transport-place")).toBe("Moment 82 of 82 Joined");
    await room.page.keyboard.press("Home");
    await expect.poll(() => room.text(".transport-place")).toBe("Moment 1 of 82 Tokens");
    expect(await room.text(".figure-tokens .tokens")).toBe("The 1");
  });

  test("opens at the tokens and plays automatically until a touch, but not if it is entered later", async () => {
    const room = await enter();
    expect(await room.text(".transport .play")).toBe("Pause");
    await expect.poll(() => room.text(".transport b")).toBe("Embedding");
    await expect.poll(() => room.text(".transport b")).toBe("Q, K, V");
    await room.click("Add positions");
    expect(await room.text(".transport .play")).toBe("Play");
    // Following a link ends playing too.
    await room.click("Play", ".player");
    await room.go("#mask=causal&step=masked");
    await expect.poll(() => room.text(".transport .play")).toBe("Play");
    expect(await room.text(".transport b")).toBe("Masked");
    await room.page.click("[data-stage=joined]");
    await expect.poll(() => room.link()).toContain("step=joined");
    await room.page.reload();
    await room.ready();
    expect(await room.text(".transport .play")).toBe("Play");
    expect(await room.text(".transport b")).toBe("Joined");
  });

  it("shows all of a text that is typed while playing, with an empty cell for each pair", async () => {
    const room = await enter();
    expect(await room.text(".transport .play")).toBe("Pause");
    await room.paste("#text", "a b c d");
    const seen = async () => [
      (await room.page.$$(".figure-tokens .token")).length,
      (await room.page.$$(".pairs-ahead rect")).length,
    ];
    // The language model reads a start before the text, and hides later tokens.
    await expect.poll(seen).toEqual([5, 15]);
    await room.click("none");
    await expect.poll(seen).toEqual([5, 25]);
    // Rows of 100 tokens would be lower than their labels.
    await room.paste("#text", Array(99).fill("a").join(" "));
    await expect.poll(seen).toEqual([100, 0]);
  });

  it("plays to the end and stops there, and then starts again", async () => {
    const room = await reenter("#step=joined&time=2");
    await room.click("Play", ".player");
    await expect.poll(() => room.text(".transport-place")).toBe("Moment 82 of 82 Joined");
    await expect.poll(() => room.text(".transport .play")).toBe("Play");
    await room.click("Play", ".player");
    await expect.poll(() => room.text(".transport b")).toBe("Tokens");
    // A completed stage that was selected is played again.
    await room.page.click("[data-stage=output]");
    await room.click("Play", ".player");
    await expect.poll(() => room.text(".readout")).toContain("= 0.098 × 0.300, so far 0.029");
  });

  it("plays a softmax exponential by exponential, then their sum, then the division", async () => {
    const scores = [0.16, 0.6, 1.04, 1.48, 1.92].map((score) => score / Math.SQRT2);
    const sums = scores.map((_, n) =>
      scores.slice(0, n + 1).reduce((sum, score) => sum + Math.exp(score), 0),
    );
    const all = sums[4] as number;
    const room = await reenter("#step=weights&time=1");
    const readout = () => room.text(".readout");
    await room.page.focus(".player .scrub");
    for (const [n, word] of exampleTokens.entries()) {
      const [score, sum] = [scores[n], sums[n]] as [number, number];
      await expect
        .poll(readout)
        .toBe(
          `Exponentials, “quick” attends to “${word}” e^M[2, ${n + 1}] = e^${score.toFixed(3)} ≈ ${Math.exp(score).toFixed(3)}, sum so far ${sum.toFixed(3)}`,
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
    const place = () => room.text(".player .transport-place");
    expect(await place()).toBe("Moment 59 of 82 Weights");
    expect(await room.text("[data-matrix=exponentials]")).toContain(`sum ${all.toFixed(3)}`);
    await room.page.keyboard.press("ArrowLeft");
    await expect.poll(readout).toContain(`sum so far ${all.toFixed(3)}`);
  });

  it("keeps exponentials finite when the scores are large", async () => {
    const room = await reenter("#edits=q.1.2.1:1000&step=weights&time=5");
    await expect.poll(() => room.text(".readout")).toContain("≈ 1.000, sum so far 1.000");
    expect(await room.text("[data-matrix=exponentials]")).toContain(
      "after subtracting the largest score",
    );
  });

  it("shows no sum for a first cell that was edited", async () => {
    const room = await reenter("#edits=q.1.2.1:-2&step=qkv&time=1");
    expect(await room.text(".readout")).toContain("Q[2, 1] = −2.000, set by you");
    // The 82 moments of the example omit three of the four terms of the first entry.
    expect(await room.text(".player .transport-place")).toContain("Moment 11 of 79");
    await room.click("Next →", ".player");
    await expect.poll(() => room.text(".readout")).toContain("= 0.500 × 0.000 + 0.600 × 1.000");
  });

  test("highlights the part of the picture that a word or a letter names", async () => {
    const room = await reenter("#step=output");
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

  test("forgets the cell under the cursor if another stage is shown", async () => {
    const room = await atScores();
    await (await room.canvas("q")).focus();
    await room.page.keyboard.press("ArrowDown");
    await expect.poll(() => room.text(".readout")).toContain("Q[2, 1]");
    await room.go("#step=weights");
    await expect.poll(() => room.text(".readout")).toContain("Point at a cell");
  });

  it("releases a locked cell if another stage is shown", async () => {
    const room = await atScores("&cell=scores.2.4");
    expect(await room.text(".readout")).toContain("kept");
    await room.page.click("[data-stage=scaled]");
    await expect.poll(() => room.text(".readout")).toContain("Point at a cell");
    await expect.poll(() => room.link()).not.toContain("cell=");
  });

  test("does not play with reduced motion, but keeps the steps", async ({ skip }) => {
    if (name === "firefox") skip("Firefox emulates no media features for Puppeteer");
    const room = await enter("#step=joined");
    await room.page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    await expect.poll(() => room.page.$$(".play")).toHaveLength(0);
    await room.page.goto(room.page.url().replace(/#.*/, "#"));
    await room.page.reload();
    await room.ready();
    const place = () => room.text(".transport-place");
    expect(await place()).toBe("Moment 5 of 82 Tokens");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await place()).toBe("Moment 5 of 82 Tokens");
    await room.click("Next →", ".player");
    await expect.poll(place).toBe("Moment 6 of 82 Embedding");
    await room.page.click("[data-stage=scores]");
    expect(await room.page.$$(".traveller")).toEqual([]);
  });

  test("plays from the division to the weights if no mask hides a key", async () => {
    const room = await reenter("#step=scaled&time=8");
    await room.page.evaluate(() => {
      const seen = new Set<string>();
      Object.assign(window, { seen });
      const watch = () => {
        seen.add(document.querySelector(".transport b")?.textContent ?? "");
        requestAnimationFrame(watch);
      };
      watch();
    });
    await room.click("Play", ".player");
    await expect.poll(() => room.text(".transport b")).toBe("Weights");
    await room.click("Pause", ".player");
    const seen = () =>
      room.page.evaluate(() => [...(window as unknown as { seen: string[] }).seen]);
    expect(await seen()).toEqual(["Scaled", "Weights"]);
    // The person still finds the stage.
    await room.page.click("[data-stage=scaled]");
    await room.click("Next →", ".player");
    await expect.poll(() => room.text(".transport b")).toBe("Masked");
  });

  test("returns to the stage before by the browser’s Back, also after a stage is entered by a step", async () => {
    const room = await enter("#step=scores");
    const title = () => room.text(".transport b");
    await room.page.click("[data-stage=weights]");
    await expect.poll(() => room.link()).toBe("#step=weights");
    await room.click("Next →", ".player");
    await expect.poll(title).toBe("Output");
    // Moments of one stage are one entry.
    await room.click("Next →", ".player");
    await expect.poll(() => room.link()).toBe("#step=output&time=2");
    await room.page.evaluate(() => history.back());
    await expect.poll(title).toBe("Weights");
    await room.page.evaluate(() => history.back());
    await expect.poll(title).toBe("Scores");
    await room.page.evaluate(() => history.forward());
    await expect.poll(title).toBe("Weights");
  });

  it("shuffles the words, whose outputs only change places unless positions are added", async () => {
    const room = await atScores();
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

  test("sets an entry of Q or K to another number, marks it, and restores it", async () => {
    const room = await atScores();
    const { x, y } = await room.cell("q", 1, 0, 5, 2);
    await room.page.mouse.click(x, y);
    await room.page.keyboard.type("2");
    // After Enter, the cursor is on the entry, and not on another one.
    await room.page.keyboard.press("Enter");
    await expect
      .poll(() => room.page.evaluate(() => document.activeElement?.tagName))
      .toBe("CANVAS");
    expect(await room.text(".readout")).toContain("Q[2, 1]");
    await expect.poll(() => room.link()).toContain("cell=q.2.1");
    // The query of “quick” is now [2, 0.6].
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
    // The number is above the limit: the last allowed number is kept, however fast the person types.
    await room.type(".edit-cell input", "1e30");
    await expect
      .poll(() => room.text(".field-refused"))
      .toBe("1e30 is not a number from −1000 to 1000; it stays 1000.");
    await expect.poll(() => room.link()).toContain(":1000");
    expect(await room.text(".field-refused")).toContain("it stays 1000");
    await room.click("Undo 2 edits");
    await room.untilTable({ score: [0.16, 0.6, 1.04, 1.48, 1.92] });
    await expect.poll(() => room.link()).not.toContain("edits");
  });

  it("ablates a head, whose part of the joined output becomes zeros", async () => {
    const room = await reenter("#text=one+two+three&heads=2&size=2&step=joined&cell=result.1.1");
    const readout = () => room.text(".readout");
    const before = await readout();
    await room.page.click("[aria-label='Head 2 counts']");
    await expect.poll(readout).not.toBe(before);
    expect(await readout()).toMatch(/( \+ 0\.000 × \S+){2} = /);
    expect(await room.text(".stage-words")).toContain("Head 2 is left out");
    await expect.poll(() => room.link()).toContain("ablate=2");
    await room.page.click("[aria-label='Head 2 counts']");
    await expect.poll(readout).toBe(before);
  });

  test("selects the query whose token is clicked in the lines, and keeps it at a second click", async () => {
    const room = await reenter("#step=weights&query=2");
    const token = await room.page.waitForSelector(".lines >>> .selectable:nth-of-type(4)");
    const chosen = () => room.page.$eval(".lines >>> .selectable.selected", (e) => e.textContent);
    const query = () => new URL(room.page.url()).hash;
    await expect.poll(chosen).toBe("quick");
    for (let click = 0; click < 2; ++click) {
      await token?.click();
      await expect.poll(query).toContain("query=4");
      await room.page.$eval("heed-lines", ({ updateComplete }) => updateComplete);
      await expect.poll(chosen).toBe("fox");
    }
    expect(await room.page.$eval(".lines >>> [part=readout]", (e) => e.textContent)).toMatch(
      /query 4 “fox” attends most to “jumps” \d/,
    );
  });

  test("moves a cell cursor with the arrow keys and announces the cell", async () => {
    const room = await atScores();
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

  it("opens all nine stages by their names, and by the button for the next one", async () => {
    const room = await reenter("#step=tokens&time=5");
    const title = () => room.text(".transport b");
    const titles = ["Tokens", "Embedding", "Q, K, V", "Scores", "Scaled", "Masked", "Weights"];
    titles.push("Output", "Joined");
    expect(await title()).toBe("Tokens");
    await room.click("Next →");
    await expect.poll(title).toBe("Embedding");
    await room.click("← Back");
    await expect.poll(title).toBe("Tokens");
    await room.page.focus("[role=tab][aria-selected=true]");
    for (const expected of titles.slice(1)) {
      await room.page.keyboard.press("ArrowRight");
      await expect.poll(title).toBe(expected);
      expect(await room.text(".player .made")).toBe("complete");
    }
    await room.page.keyboard.press("ArrowLeft");
    await expect.poll(title).toBe("Output");
    await room.page.click("[data-stage=weights]");
    await expect.poll(title).toBe("Weights");
  });

  it("keeps the scores without the division, and sharpens weights at a low temperature", async () => {
    const room = await atScores();
    await room.click("Divide scores by √d = √2");
    await room.untilTable({ scaled: [0.16, 0.6, 1.04, 1.48, 1.92], total: 1 });
    const { weight } = await room.table();
    await room.page.focus(".settings input[type=range]");
    for (let i = 0; i < 3; ++i) await room.page.keyboard.press("ArrowLeft");
    await room.untilTable({ scaled: [0.32, 1.2, 2.08, 2.96, 3.84], total: 1 });
    const sharper = (await room.table()).weight;
    await room.page.click("[data-stage=scaled]");
    const divisor = ".stage-words mfrac > :last-child";
    await expect.poll(() => room.page.$eval(divisor, (part) => part.textContent)).toBe("0.5");
    expect(sharper[4]).toBeGreaterThan(weight[4] as number);
    expect(sharper[0]).toBeLessThan(weight[0] as number);
  });

  it("shows the largest weight and the entropy of the selected row, and the softmax saturating", async () => {
    const room = await reenter("#step=weights");
    // 2.178 is the entropy in bits of the five weights of “quick”; log2(5) = 2.322 would be the entropy of equal
    // weights.
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
    await room.page.focus(".settings input[type=range]");
    await room.page.keyboard.press("Home");
    await room.page.select("select[aria-label^=Query]", "4");
    await expect.poll(() => room.text(".sharpness")).toContain("The softmax is saturated");
    expect(await entropy()).toBeLessThan(0.3);
  });

  it("takes keys and values from the second sentence in cross-attention", async () => {
    const room = await atScores();
    await room.click("encoder-decoder");
    // The numbers of the worked example stay: K of “sleeps” is [1.5, 1.6].
    await room.untilTable({
      keys: ["A", "lazy", "dog", "sleeps"],
      score: [0.39, 0.83, 1.27, 1.71],
    });
    await room.click("encoder");
    await room.untilTable({ keys: exampleTokens, output: [1.339, 1.439] });
    await room.click("encoder-decoder");
    await room.untilTable({ keys: ["A", "lazy", "dog", "sleeps"] });
    await room.paste("#key-text", "no one");
    const { weight } = await room.untilTable({ keys: ["no", "one"], total: 1 });
    expect(weight).toHaveLength(2);
  });

  it("restores the state of a link, and writes the same link", async () => {
    const link =
      "#text=two+fine+words&heads=3&size=2&seed=7&position=on&scale=off&temperature=2&mask=painted&hidden=3:1-2&step=weights&head=2&query=3&range=row&curve=sqrt&mass=70";
    const room = await reenter(link);
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

  it("names invalid parameters of a link and uses the others", async () => {
    const room = await reenter(
      "#heads=99&mask=causal&step=nonsense&cell=a.b&colour=red&hidden=0:1",
    );
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

  it("names the heads of a link that do not exist, and shows the first head", async () => {
    const room = await reenter("#text=one+two&heads=3&head=4&ablate=2,5&step=weights");
    const refused = (key: string, head: number) =>
      `The link's ${key} is “${head}”, but it takes a head that is shown here; it was left out.`;
    await expect
      .poll(() => room.text(".notices"))
      .toBe(`${refused("head", 4)} ${refused("ablate", 5)}`);
    await room.untilTable({ foot: "Sum, the output of head 1" });
    await room.click("3", "fieldset.heads");
    await room.untilTable({ foot: "Sum, the output of head 3" });
    expect(await room.text(".notices")).toBe(refused("ablate", 5));
    // Fewer heads are no mistake of a link.
    await room.page.click(".settings ::-p-text(Heads)");
    await room.page.keyboard.press("ArrowDown");
    await room.untilTable({ foot: "Sum, the output of head 2" });
    expect(await room.text(".notices")).toBe("");
    await expect.poll(() => room.link()).toContain("ablate=2&");
  });

  test("asks for a word if the sentence is empty, and computes again when there is one", async () => {
    const room = await reenter("#text=one+two&step=scores");
    await room.page.waitForSelector(".try-next"); // The part of the page that comes last.
    const sizes = () =>
      room.page.evaluate(() => [
        document.documentElement.scrollHeight,
        ...[...document.querySelectorAll<HTMLInputElement>(".settings [type=number]")].map(
          ({ value }) => Number(value),
        ),
      ]);
    const [height, ...fields] = await sizes();
    expect(fields).toEqual([2, 4]);
    await room.paste("#text", "");
    await expect.poll(() => room.text(".sentence-label")).toContain("empty: type a word");
    // The last pictures stay in their place, in grey, and the sizes stay too.
    for (const part of [".pipeline", ".work"])
      expect(await room.page.$eval(part, ({ classList }) => classList.contains("stale"))).toBe(
        true,
      );
    const [emptyHeight, ...emptyFields] = await sizes();
    expect(emptyFields).toEqual(fields);
    expect(emptyHeight).toBe(height);
    await room.paste("#text", "again");
    const { weight } = await room.untilTable({ keys: ["again"] });
    expect(weight).toEqual([1]);
    expect(await room.text(".sentence-label")).toContain("not trained");
    expect(await room.page.$$(".stale")).toEqual([]);
    await room.paste("#text", "我喜欢猫");
    await expect.poll(async () => (await room.table()).keys.join("")).toBe("我喜欢猫");
    await room.paste("#text", "🙂");
    await room.untilTable({ keys: ["🙂"], total: 1 });
  });

  test("names a refused number, and keeps the previous one", async () => {
    const room = await reenter("#text=one+two&step=scores");
    const label = "::-p-xpath(//label[text()='Head size d']/following-sibling::input)";
    await room.page.click(label, { count: 3 });
    await room.page.keyboard.type("64");
    await expect
      .poll(() => room.text(".field-refused"))
      .toBe("64 is not a whole number from 1 to 16; it stays 6.");
    await room.page.keyboard.press("Tab");
    expect(await room.page.$eval(label, (input) => (input as HTMLInputElement).value)).toBe("6");
    expect(await room.text(".field-refused")).toContain("64 is not");
    await room.page.click(label, { count: 3 });
    await room.page.keyboard.type("8");
    await expect.poll(() => room.page.$$(".field-refused")).toEqual([]);
    // The message also disappears if the value changes elsewhere.
    await room.page.click(label, { count: 3 });
    await room.page.keyboard.type("65");
    await expect.poll(() => room.text(".field-refused")).toContain("it stays 6");
    await room.page.keyboard.press("Tab");
    await room.click("Back to the worked example");
    await expect
      .poll(() => room.page.$eval(label, (input) => (input as HTMLInputElement).value))
      .toBe("2");
    expect(await room.page.$$(".field-refused")).toEqual([]);
  });

  test.each([1024, 1100, 1200, 1280, 1366, 1440])(
    "shows all tabs and no overlapping settings in a window %i pixels wide",
    async (width) => {
      const room = await reenter("#shuffle=1&step=scores", { width });
      const boxes = (selector: string) =>
        room.page.$$eval(selector, (all) =>
          all.map((element) => {
            const { left, right } = element.getBoundingClientRect();
            return { left, right };
          }),
        );
      const [list] = (await boxes("[role=tablist]")) as [{ left: number; right: number }];
      const tabs = await boxes("[role=tab]");
      expect(tabs).toHaveLength(9);
      for (const { left, right } of tabs) {
        expect(left).toBeGreaterThanOrEqual(list.left - 1);
        expect(right).toBeLessThanOrEqual(list.right + 1);
      }
      expect(await room.text(".settings .row-of-buttons")).toContain("Back in order");
      for (const { right } of await boxes(".settings *")) expect(right).toBeLessThan(list.left);
    },
  );

  test("cuts no row of a long table above its sum of any number of lines", async () => {
    const words = Array.from({ length: 20 }, (_, i) => `word${i}`);
    const hidden = `2:1-${words.length}`;
    const room = await reenter(`#text=${words.join("+")}&mask=painted&hidden=${hidden}`);
    const sizes = () =>
      room.page.$eval(".row-table .scroll", (frame) => {
        const table = frame.querySelector("table") as HTMLTableElement;
        const box = (part: Element | null | undefined) =>
          part?.getBoundingClientRect() ?? new DOMRect();
        const row = box(table.tBodies[0]?.rows[0]).height;
        // Uses the cells, because they stay in view and the sections of the table do not.
        const [head, foot] = [table.tHead, table.tFoot].map((part) => box(part?.rows[0]?.cells[0]));
        return {
          lines: (foot?.height ?? 0) / row,
          rows: ((foot?.top ?? 0) - (head?.bottom ?? 0)) / row,
          isLong: frame.scrollHeight > frame.clientHeight,
        };
      });
    await expect.poll(() => room.text(".row-table tfoot")).toContain("may see no key");
    await expect.poll(async () => Math.abs((await sizes()).rows - 15)).toBeLessThan(0.1);
    const { isLong, lines } = await sizes();
    expect(isLong).toBe(true);
    expect(lines).toBeGreaterThan(1.5);
  });

  it("shows all terms of a long sum on demand", async () => {
    const text = Array.from({ length: 12 }, (_, i) => `w${i}`).join("+");
    const room = await reenter(`#text=${text}&step=output&cell=output.1.1`);
    const formula = () => room.text(".readout-formula");
    expect(await formula()).toContain("… 5 more");
    await room.click("+ … 5 more", ".readout");
    await expect.poll(formula).not.toContain("more");
    expect((await formula()).match(/×/g)).toHaveLength(12);
  });

  it("shows the gradient of each score next to its weight, with the division and without", async () => {
    const room = await atScores("&trial=512");
    await room.page.waitForSelector(".why-root .meter");
    const rows = () =>
      room.page.$$eval(".why-root > .scroll tbody tr", (all) =>
        all.map((row) =>
          [...row.querySelectorAll("td")].map(({ textContent }) =>
            Number(textContent?.replaceAll("−", "-")),
          ),
        ),
      );
    const check = async () => {
      const numbers = await rows();
      expect(numbers).toHaveLength(5);
      for (const side of [0, 3]) {
        const weights = numbers.map((row) => row[side + 1] as number);
        expect(weights.reduce((sum, weight) => sum + weight)).toBeCloseTo(1, 1);
        for (const row of numbers) {
          const [weight, gradient] = row.slice(side + 1) as [number, number];
          expect(gradient).toBeCloseTo(weight * (1 - weight), 2);
        }
      }
      return numbers;
    };
    // A weight near 1 has a gradient of 0.00 in two digits.
    const undivided = (await check()).map((row) => row[5] as number);
    expect(Math.max(...undivided)).toBeLessThan(0.01);
    await room.page.focus(".why-root .slider input");
    await room.page.keyboard.press("Home");
    await expect.poll(() => room.link()).toContain("trial=2");
    expect(Math.max(...(await check()).map((row) => row[5] as number))).toBeGreaterThan(0.05);
    expect(await room.text(".why-root")).toContain("Vaswani et al., 2017, section 3.2.1");
  });

  test.each(name === "chrome" ? kinds : [true])(
    "keeps the first 512 of ten thousand pasted words and reports it, isolated: %s",
    async (isolated) => {
      const room = await atScoresOf(isolated);
      await room.paste("#text", Array.from({ length: 10_000 }, (_, i) => `w${i}`).join(" "));
      await expect
        .poll(() => room.text(".row-table"))
        .toContain("The 64 keys with the most weight, of 512");
      await expect.poll(async () => (await room.table()).keys.length).toBe(64);
      expect((await room.table()).total).toBe(1);
      expect(await room.text(".notices")).toContain("Only the first 512 tokens");
      expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
      // The lines of all queries would be a grey area.
      expect(await room.text(".lines")).toContain("The lines of the selected query");
      for (const stage of stageNames) {
        await room.page.click(`[data-stage=${stage}]`);
        await expect.poll(() => room.text(".transport b")).not.toBe("");
        expect(await room.page.$$(".wider"), stage).toEqual([]);
      }
      await room.page.click("[data-stage=weights]");
      await room.page.setViewport({ width: 360, height: 740 });
      await room.page.waitForSelector(".wider");
    },
  );

  test("keeps each emoji whole, and accepts text from right to left", async () => {
    const room = await atScores();
    await room.click("characters");
    await room.paste("#text", "👩‍👩‍👧é🇫🇷");
    await room.untilTable({ keys: ["👩‍👩‍👧", "é", "🇫🇷"], total: 1 });
    await room.click("words");
    await room.paste("#text", "שלום עולם طويل");
    await room.untilTable({ keys: ["שלום", "עולם", "طويل"], total: 1 });
  });

  test("shows all matrices of a step on the first screen of a telephone", async () => {
    const room = await reenter("#step=embedding", { width: 360 });
    const cut = await room.page.$$eval("[data-stage]", (tabs) =>
      tabs.filter((tab) => tab.scrollWidth > tab.clientWidth).map(({ textContent }) => textContent),
    );
    expect(cut).toEqual([]);
    const last = () =>
      room.page.$$eval(".stage [data-matrix] canvas", (all) =>
        Math.max(...all.map((canvas) => canvas.getBoundingClientRect().bottom)),
      );
    const tall = { qkv: 7, scores: 3, scaled: 2, masked: 2, weights: 3, output: 3, joined: 2 };
    for (const [stage, count] of Object.entries(tall)) {
      await room.page.$eval(`[data-stage=${stage}]`, (tab) => (tab as HTMLElement).click());
      await expect
        .poll(async () => (await room.page.$$(".stage [data-matrix] canvas")).length)
        .toBe(count);
      expect.soft(await last(), stage).toBeLessThanOrEqual(740);
    }
    await room.go("#position=on&step=embedding");
    await room.page.waitForSelector(".stage [data-matrix=position] canvas");
    expect(await last()).toBeLessThanOrEqual(740);
    expect(await room.page.evaluate(() => scrollY)).toBe(0);
  });

  test("draws 512 tokens before and after the softmax side by side, and every row of both", async () => {
    // Each token attends only to itself, so each row has one visible cell.
    const text = Array.from({ length: 512 }, (_, i) => `word${i}`).join("+");
    const room = await reenter(`#text=${text}&heads=1&size=4&mask=window&window=0&step=weights`);
    const box = (matrix: string) =>
      room.page.$eval(`.stage [data-matrix=${matrix}] canvas`, (canvas) => {
        const { left, right, top, bottom } = canvas.getBoundingClientRect();
        return { left, right, top: top + scrollY, bottom: bottom + scrollY };
      });
    const [before, after] = [await box("masked"), await box("weights")];
    expect(before.right).toBeLessThan(after.left);
    expect(after.right).toBeLessThanOrEqual(1440);
    expect(Math.abs(after.bottom - before.bottom)).toBeLessThanOrEqual(2);
    const empty = await room.page.$eval(".stage [data-matrix=weights] canvas", (element) => {
      const canvas = element as HTMLCanvasElement;
      const [left, top] = [Number(canvas.dataset.left), Number(canvas.dataset.top)];
      const [width, height] = [canvas.width - left, canvas.height - top];
      const pixels = canvas.getContext("2d")?.getImageData(left, top, width, height).data ?? [];
      const isBlue = (place: number) =>
        (pixels[4 * place + 2] as number) - (pixels[4 * place] as number) > 30;
      // Omits the frame, and the outline of the selected row.
      const rows = Array.from({ length: height - 8 }, (_, row) => row + 4);
      return rows.filter(
        (row) =>
          !Array.from({ length: width }, (_, col) => isBlue(row * width + col)).some(Boolean),
      ).length;
    });
    expect(empty).toBe(0);
  });

  test("fits a window 360 pixels wide at every step, with few tokens and with many", async () => {
    const many = Array.from({ length: 64 }, (_, i) => `word${i}`).join("+");
    const room = await reenter("#step=joined", { width: 360 });
    for (const link of [
      "#",
      `#text=${many}&heads=8&size=16&position=on`,
      "#text=one+two&keys=three+four",
    ]) {
      await room.go(`${link}&step=joined`);
      await expect.poll(() => room.text(".transport b")).toBe("Joined");
      for (const stage of stageNames) {
        await room.page.$eval(`[data-stage=${stage}]`, (tab) => (tab as HTMLElement).click());
        await room.page.waitForSelector(`[data-stage=${stage}][aria-selected=true]`);
        expect(await room.sidewaysOverflow(), `${link.slice(0, 20)}, ${stage}`).toBeLessThanOrEqual(
          0,
        );
      }
    }
  });

  test("saves the numbers of a matrix as CSV", async () => {
    const room = await reenter("#step=scores");
    const savedOf = async (title: string, format: string) => {
      await room.page.$eval(`summary[aria-label='Save ${title}']`, (summary) =>
        (summary as HTMLElement).click(),
      );
      return (await savedBy(room.page, () => room.click(format, ".save[open]"))).text;
    };
    const [header, ...lines] = (await savedOf("Scores", "CSV")).trimEnd().split("\r\n");
    expect(header).toBe('"","The","quick","brown","fox","jumps"');
    expect(lines.map((line) => line.split(",")[0])).toEqual(
      exampleTokens.map((word) => `"${word}"`),
    );
    const quick = lines[1]?.split(",").slice(1).map(Number);
    expect(quick?.map((score) => Number(score.toFixed(5)))).toEqual([0.16, 0.6, 1.04, 1.48, 1.92]);

    // A saved picture names its content and the settings that changed it.
    await room.go("#mask=causal&temperature=2&step=weights");
    await expect.poll(() => room.text(".transport b")).toBe("Weights");
    await room.untilTable({ masked: [0.057, 0.212, -Infinity, -Infinity, -Infinity] });
    for (const [title, ...words] of [
      ["Weights", "Weights (A), temperature 2, causal mask: The quick", "queries attend"],
      ["Exponentials", "Exponentials (e^M), of “quick”, temperature 2, causal mask"],
    ] as const) {
      // Long captions wrap between words.
      const text = (await savedOf(title, "SVG")).replace(/<\/text>\s*<text [^>]*>/g, " ");
      for (const word of words) expect(text).toContain(word);
    }
    // A matrix of one row names its query.
    expect((await savedOf("Exponentials", "CSV")).split("\r\n")[1]).toMatch(/^"quick",/);
  });

  it("follows a suggestion and returns to the worked example", async () => {
    const room = await atScores();
    await room.click("Ask another sentence");
    await room.untilTable({ keys: ["The", "cat", "is", "sleeping", "there"] });
    await room.click("Back to the worked example");
    await room.untilTable({ keys: exampleTokens, output: [1.339, 1.439] });
  });

  test("ends the words of a suggestion with its settings, and not with its step", async () => {
    const room = await atScores();
    await room.click("Hide the future");
    await expect.poll(() => room.text(".tried")).toContain("must not see later words");
    await room.page.click("[data-stage=weights]");
    await expect.poll(() => room.text(".transport b")).toBe("Weights");
    expect(await room.text(".tried")).toContain("must not see later words");
    await room.click("padding", ".settings");
    await expect.poll(() => room.page.$$(".tried")).toEqual([]);
    // It does not come back, because it would scroll the page.
    await room.click("causal", ".settings");
    await room.untilTable({ masked: [0.113, 0.424, -Infinity, -Infinity, -Infinity] });
    expect(await room.page.$$(".tried")).toEqual([]);
  });

  it("keeps the state of every suggestion", async () => {
    const room = await atScores();
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
      if (title === "Leave out √d")
        await expect.poll(() => room.text(".sharpness")).toContain("The softmax is saturated");
      if (title === "Vectors of 512 numbers") {
        await expect.poll(() => room.text(".why-root")).toContain("divided by √512");
        await expect.poll(() => room.text("[data-matrix=trialVectors]")).toContain("6 × 512");
      }
      if (title === "Change one number")
        await expect.poll(() => room.text(".readout")).toContain("−2.000, set by you");
      if (title === "Learned numbers")
        await expect.poll(() => room.text(".row-table")).toContain("the output of head 5");
      if (title === "Leave out a head")
        await expect.poll(() => room.text(".stage-words")).toContain("Head 2 is left out");
      if (title === "512 tokens")
        await expect.poll(() => room.text(".row-table")).toContain("with the most weight, of 512");
      await expect.poll(() => room.link()).not.toBe(seen.at(-1) ?? "#");
      seen.push(await room.link());
    }
    expect(new Set(seen).size).toBe(11);
  });
});
