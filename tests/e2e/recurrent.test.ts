/** The room "RNN, Bahdanau, self-attention" in a browser. Its numbers must equal the engine's. */
import { TransformerModel, tasks, Vocabulary } from "heed/models";
import { describe, expect, test } from "vitest";
import { placesOf } from "../../web/src/rooms/recurrent/align";
import { gradientLengths } from "../../web/src/rooms/recurrent/gradients";
import { costsOf, lengthOf, stationsOf } from "../../web/src/rooms/recurrent/journey";
import { initialState, read, type State, write } from "../../web/src/rooms/recurrent/state";
import { explainUntaught } from "../../web/src/rooms/recurrent/untaught";
import { testLink } from "./links";
import {
  example,
  exampleOf,
  fileOf,
  greedyAfter,
  heed,
  likeliestAfter,
  massesOf,
  models,
  type Name,
  Recurrent,
  shown,
} from "./recurrent";
import { visits } from "./visits";

describe.each(["chrome", "firefox"] as const)("In %s, the room of three models", (name) => {
  const { open, enter, reenter, it } = visits(Recurrent, name, { start: "#room=recurrent" });

  test("opens on a date that three models write, with the engine's numbers and the reports' scores", async () => {
    const room = await enter();
    const { target } = exampleOf(example);
    for (const model of shown) {
      const written = greedyAfter(model, example, []);
      const said = likeliestAfter(model, example, written);
      const tokens = await room.answer(model);
      expect(tokens.map(({ token }) => token)).toEqual(said.map(({ token }) => token));
      for (const [place, { token, sign, probability }] of tokens.entries()) {
        expect(sign).toBe(token === (target[place] ?? "end") ? "✓" : "✗");
        expect(Math.abs(probability - (said[place]?.probability ?? 2))).toBeLessThan(0.006);
      }
    }
    for (const model of ["bahdanau", "transformer"] as const) {
      const expected = massesOf(model, example, greedyAfter(model, example, []));
      const masses = await room.masses(model);
      for (const [row, mass] of expected.entries()) {
        if (mass === null) expect(masses[row]).toBe("–");
        else expect(Math.abs(Number(masses[row]) - mass)).toBeLessThan(0.006);
      }
    }
    expect(await room.text("[data-matrix=rnn]")).toContain("22 characters kept in 64 numbers");
    // The formula explains the step that is shown.
    expect(await room.text(".transport")).toContain("Step 10 of 11");
    expect(await room.text(".maps .readout")).toContain("(character 10), it attends");
    await room.click("Unseen dates");
    for (const model of [...shown, "dot"] as const) {
      const report = JSON.parse(fileOf(model, "report.json").toString());
      const row = await room.text(`.scores tr[data-model=${model}]`);
      expect(row).toContain(report.parameters.toLocaleString("en"));
      const shares = [report.heldOut, report.probes["short forms"], report.probes["long forms"]];
      for (const { exact } of shares) expect(row).toContain(`${(100 * exact).toFixed(1)} %`);
    }
  });

  it("answers typed text, and explains why a text has no right answer", async () => {
    const room = await reenter();
    const text = "12/25/1999";
    await room.type("#date", text);
    await expect
      .poll(() => room.written("transformer"))
      .toBe(`${greedyAfter("transformer", text, []).join("")}end`);
    await expect.poll(() => room.link()).toContain("date=12%2F25%2F1999");
    const message = () => room.text(".date-message");
    const isGrey = () => room.page.$eval(".answers", (part) => part.closest(".stale") !== null);
    expect(await message()).toBe("");
    await room.click("31/12/1999");
    await expect.poll(message).toContain("there is no month 31. Day first, it is 31 December 1999");
    // The form was not taught, and has one right answer all the same.
    const signs = async () => (await room.answer("transformer")).map(({ sign }) => sign).join("");
    const written = [...greedyAfter("transformer", "31/12/1999", []), "end"];
    const right = [..."1999-12-31", "end"];
    expect(await signs()).toBe(
      written.map((token, i) => (token === right[i] ? "✓" : "✗")).join(""),
    );
    expect((await room.lane("rnn", "taught"))[0]).toBe("start 1 9 9 9 - 1 2 - 3 1");
    await room.type("#date", "3-4-2021");
    await expect.poll(message).toContain("two readings");
    expect(await signs()).toBe("");
    expect(await room.page.$eval(".lanes [data-way=taught]", (lane) => lane.textContent)).toContain(
      "no teacher forcing",
    );
    await room.type("#date", "3 März 2021");
    await expect.poll(message).toContain("No model has a token for “ä”, “z”.");
    expect(await isGrey()).toBe(true);
    await room.click("Try 3.3.2021");
    await expect.poll(isGrey).toBe(false);
    expect(await message()).toBe("");
    expect((await room.answer("transformer"))[0]?.sign).toBe("✓");
    await room.paste("#date", "二〇二一 🎂");
    await expect.poll(message).toContain("“二”, “〇”, “一”, “🎂”");
    await room.paste("#date", "");
    await expect.poll(message).toContain("Type a date.");
    expect(await isGrey()).toBe(true);
  });

  test("highlights a cell in every picture, with its weight and its path, by pointer and by keyboard", async () => {
    const room = await reenter();
    const { x, y } = await room.cell("bahdanau", 3, 21, 11, 22);
    await room.page.mouse.move(x, y);
    const written = greedyAfter("bahdanau", example, []);
    const found = models.bahdanau.weights([{ ...exampleOf(example), target: written }]);
    const weight = found[0]?.[0]?.weights[3 * 22 + 21] as number;
    await expect.poll(() => room.text(".maps .readout")).toContain("α[4, 22]");
    expect(await room.text(".maps .readout")).toContain("minus the row’s maximum");
    const said = /= (\d\.\d{3})/.exec(await room.text(".maps .readout"))?.[1];
    expect(Math.abs(Number(said) - weight)).toBeLessThan(0.002);
    expect(await room.page.$$eval(".said-token.lit", (lit) => lit.length)).toBe(3);
    // The last of 22 characters is at the end of the encoder: one step into the vector, and four more.
    expect(await room.counts("rnn")).toEqual([5, 21, 22, 11, 11]);
    expect(await room.counts("bahdanau")).toEqual([1, 21, 22, 11, 11]);
    expect(await room.counts("transformer")).toEqual([1, 1, 2, 2, 22]);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.link()).toContain("says=4&from=22");
    await expect.poll(() => room.text(".transport")).toContain("Step 4 of 11");

    await (await room.canvas("transformer")).focus();
    await room.page.keyboard.press("Home");
    await room.page.keyboard.press("ArrowUp");
    await expect.poll(() => room.text("main > [aria-live]")).toContain("α[1, 1]");
    await room.page.keyboard.press("ArrowDown");
    await room.page.keyboard.press("End");
    await expect.poll(() => room.text("main > [aria-live]")).toContain("α[2, 22]");
    await room.page.keyboard.press("Enter");
    await expect.poll(() => room.link()).toContain("says=2&from=22");
  });

  test("has one tab stop for each answer, and arrow keys for its characters", async () => {
    const room = await reenter();
    const stops = await room.page.$$eval(".said-token", (all) =>
      all.flatMap((token, i) => ((token as HTMLElement).tabIndex === 0 ? [i] : [])),
    );
    expect(stops).toEqual([9, 20, 31]);
    const focused = () =>
      room.page.evaluate(() => document.activeElement?.textContent?.trim().slice(0, 3));
    await room.page.focus(".said-token[tabindex='0']");
    await room.page.keyboard.press("ArrowRight");
    await expect.poll(focused).toBe("11:");
    await room.page.keyboard.press("Home");
    await expect.poll(focused).toBe("1: ");
    await room.page.keyboard.press("Enter");
    await expect.poll(() => room.link()).toContain("says=1");
    await room.page.keyboard.down("Shift");
    await room.page.keyboard.press("Tab");
    await room.page.keyboard.up("Shift");
    await room.page.keyboard.press("Enter");
    await expect
      .poll(() => room.page.evaluate(() => document.activeElement?.id))
      .toBe("maps-title");
  });

  it("explains a weight, and shows the selected row as a table", async () => {
    const room = await reenter("&head=mean");
    const { x, y } = await room.cell("transformer", 9, 4, 11, 22);
    await room.page.mouse.move(x, y);
    await expect.poll(() => room.text(".maps .readout")).toMatch(/= \(.* \+ .*\) ÷ 4 = /);
    // Not with the pointer, which points at the cell.
    await room.page.$eval("[data-head='2.2'] button", (button) =>
      (button as HTMLButtonElement).click(),
    );
    await expect
      .poll(() => room.text(".maps .readout"))
      .toMatch(/score = .*weight = e\^.*α\[10, 5\] = /);
    const found = models.transformer.weights([
      { ...exampleOf(example), target: greedyAfter("transformer", example, []) },
    ]);
    const { rows = 0, columns = 0, weights = new Float32Array() } = found[0]?.at(-1) ?? {};
    const table = await room.page.$$eval(
      ".maps .row-details td[data-column=transformer]",
      (cells) => cells.map(({ textContent }) => Number(textContent)),
    );
    expect(table).toHaveLength(22);
    for (const [col, weight] of table.entries())
      expect(Math.abs(weight - (weights[(rows + 9) * columns + col] as number))).toBeLessThan(
        0.002,
      );
  });

  test("keeps the player above the maps on a narrow page, and nothing overflows", async () => {
    const room = await reenter("&step=4&says=4", { width: 360 });
    expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
    expect(await room.saveButtonsOutside()).toEqual([]);
    const [bar, map] = await room.page.evaluate(() => {
      const map = document.querySelector("[data-matrix=transformer] canvas") as Element;
      map.scrollIntoView({ block: "end" });
      const box = (element: Element | null) => {
        const { left, right, top, bottom } = (element as Element).getBoundingClientRect();
        return { left, right, top, bottom };
      };
      return [box(document.querySelector(".step-bar")), box(map)] as const;
    });
    // A message appears in its reserved space, so nothing moves.
    const answers = () =>
      room.page.$eval(".answers", (part) => part.getBoundingClientRect().top + scrollY);
    const before = await answers();
    for (const text of ["31/12/1999", "hello", "二〇二一 🎂", "", "2021-03-03"]) {
      await room.paste("#date", text);
      await expect.poll(() => room.text(".date-message")).not.toBe("");
      expect(await answers(), text).toBe(before);
    }
    expect(bar.top).toBeGreaterThanOrEqual(0);
    expect(bar.bottom).toBeLessThanOrEqual(map.top);
    expect(map.left).toBeGreaterThanOrEqual(0);
    expect(map.right).toBeLessThanOrEqual(360);
  });

  it("shows each head of each layer, and the other attention", async () => {
    const room = await reenter("&layer=1&head=3");
    expect(await room.text("[data-matrix=transformer] .matrix-name")).toContain("layer 1, head 3");
    const mean = await room.masses("transformer");
    await room.click("mean", ".settings");
    await expect.poll(() => room.masses("transformer")).not.toEqual(mean);
    await room.click("dot product", ".settings");
    await room.page.waitForSelector("[data-matrix=dot]");
    await expect
      .poll(async () => (await room.answer("dot")).map(({ token }) => token))
      .toEqual(
        likeliestAfter("dot", example, greedyAfter("dot", example, [])).map(({ token }) => token),
      );
  });

  it("continues from a wrong character like the engine, autoregressively and with teacher forcing", async () => {
    const room = await reenter("&slip=5:0");
    const { target } = exampleOf(example);
    const taught = target.map((token, place) => (place === 4 ? "0" : token));
    const ways = await room.page.$$eval(".lane h4", (titles) => titles.map((h4) => h4.textContent));
    expect(new Set(ways)).toEqual(
      new Set(["It gets the right answer (teacher forcing)", "It gets its own output"]),
    );
    for (const model of shown) {
      const outOf = (given: readonly string[]) =>
        likeliestAfter(model, example, given)
          .map(({ token }) => token)
          .join(" ");
      expect(await room.lane(model, "taught")).toEqual([
        `start ${taught.join(" ")}`,
        outOf(taught),
      ]);
      const begun = greedyAfter(model, example, []).slice(0, 4);
      const alone = greedyAfter(model, example, [...begun, "0"]);
      expect(await room.lane(model, "alone")).toEqual([`start ${alone.join(" ")}`, outOf(alone)]);
    }
    // One character too many is one mark, not a mark for all that follow.
    expect(await room.lane("bahdanau", "alone", ".mark")).toEqual([
      " ✓ ✓ ✓ ✓ ✗ ✓ ✓ ✓ ✓ ✓ ✓",
      [...Array(12)].fill("✓").join(" "),
    ]);
    await room.page.select(".slip-fields select", "");
    await expect
      .poll(() => room.lane("transformer", "taught"))
      .toEqual([`start ${target.join(" ")}`, `${target.join(" ")} end`]);
  });

  it("steps through inputs and outputs", async () => {
    const room = await reenter("&step=1&says=1");
    expect(await room.lane("rnn", "alone")).toEqual(["start", "2"]);
    expect((await room.likeliest("rnn", "alone"))[0]).toMatch(/^2.*[01]\.\d{3}$/);
    expect((await room.masses("bahdanau")).slice(1).every((mass) => mass === "–")).toBe(true);
    await room.click("Next →");
    await expect.poll(() => room.lane("rnn", "alone")).toEqual(["start 2", "2 0"]);
    await expect.poll(() => room.link()).toContain("step=2&says=2");
    await room.click("← Back");
    await expect.poll(() => room.lane("rnn", "alone")).toEqual(["start", "2"]);
    await room.click("Play");
    await expect.poll(() => room.lane("rnn", "taught")).toEqual(["start 2 0", "2 0 2"]);
    await room.click("Pause");
  });

  it("plays from the first step if all are visible", async () => {
    const room = await reenter();
    await room.click("Play");
    await expect.poll(() => room.link()).toContain("step=2&says=2");
    await room.click("Pause");
  });

  test("shows the gradient over the path length as the engine computes it", async () => {
    const room = await enter();
    const { source, target } = exampleOf(example);
    const shownMeans = async (weights: string) => {
      await room.page.waitForSelector(`.gradients[data-weights=${weights}] tbody tr`);
      return room.page.$$eval(".gradients tbody tr", (rows) =>
        rows.map((row) =>
          [...row.children].map(({ textContent }) => Number(textContent?.replace("−", "-"))),
        ),
      );
    };
    const initial = await shownMeans("initial");
    const [first, last] = [initial[0], initial.at(-1)] as [number[], number[]];
    expect([first[0], last[0]]).toEqual([2, 22]);
    expect(await room.text(".gradients .curve-legend")).toContain("at 22 steps in the RNN");
    // The logarithms: the RNN keeps a ten-thousandth of its gradient at most, attention a quarter at least.
    expect((last[1] as number) - (first[1] as number)).toBeLessThan(-4);
    for (const model of [2, 3])
      expect((last[model] as number) - (first[model] as number)).toBeGreaterThan(-0.6);
    await room.click("after training", ".gradients");
    const trained = await shownMeans("trained");
    // Two steps lead from either end of the date, through the vector, to the first character of the answer.
    for (const [i, name] of shown.entries()) {
      const lengths = gradientLengths(heed, models[name], { source, written: target }, 0);
      const mean = ((lengths[0] as number) + (lengths.at(-1) as number)) / 2;
      expect(trained[0]?.[i + 1]).toBeCloseTo(Math.log10(mean), 1);
    }
    await expect.poll(() => room.link()).toContain("weights=trained");
  });

  test("keeps the answers in print", async ({ skip }) => {
    if (name === "firefox") skip("Firefox emulates no media for Puppeteer");
    const room = await enter();
    await room.page.emulateMediaType("print");
    const [token] = await room.page.$$eval(".said-token", (all) =>
      all.map((each) => each.getBoundingClientRect().height),
    );
    expect(token).toBeGreaterThan(0);
    // Paper that is narrower than the window scales a drawing.
    const drawings = await room.page.$$eval("main svg[width]", (all) =>
      all.map((svg) => {
        const page = svg.parentElement as HTMLElement;
        page.style.width = "200px";
        const { width, height } = svg.getBoundingClientRect();
        page.style.width = "";
        const sides = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
        return { width, height, whole: sides as [number, number] };
      }),
    );
    const wide = drawings.filter(({ width, whole: [wide] }) => width > 0 && wide > 300);
    expect(wide.length).toBeGreaterThan(2);
    for (const { width, height, whole } of wide) {
      expect(width).toBeLessThanOrEqual(200);
      expect(height).toBeCloseTo((whole[1] * width) / whole[0], 0);
    }
  });

  it("obeys a teacher's lock, and shows one panel alone", async () => {
    const room = await reenter("&lock=on");
    expect(await room.page.$eval("#date", (field) => field.matches(":disabled"))).toBe(true);
    await room.click("← Back");
    await expect.poll(() => room.link()).toContain("step=9&says=9");
    const alone = await open("&embed=paths");
    await alone.page.waitForSelector("main.embedded .paths svg");
    expect(await alone.page.$(".maps")).toBeNull();
  });
});

describe("A text without a right answer", () => {
  const { solve } = tasks.dates();
  test.each([
    ["31/12/1999", "there is no month 31. Day first, it is 31 December 1999.", "1999-12-31"],
    ["31.2.2021", "February 2021 has 28 days, so there is no day 31", "2021-02-28"],
    ["20210230", "February 2021 has 28 days, so there is no day 30", "2021-02-28"],
    ["June 31, 2021", "June 2021 has 30 days, so there is no day 31", "2021-06-30"],
    ["2021-03-04", "This form was not taught. It means 4 March 2021.", "2021-03-04"],
    ["3-4-2021", "two readings: 4 March 2021 or 3 April 2021", "2021-04-03"],
    ["Thu 3 Mar 2021", "3 March 2021 is a Wednesday, not a Thursday", "2021-03-03"],
    ["the 3th of March, 2021", "It means 3 March 2021.", "2021-03-03"],
    ["２０２１年３月３日", "It means 3 March 2021.", "2021-03-03"],
    ["3 März 2021", "It means 3 March 2021.", "2021-03-03"],
    ["martes 6 septiembre 2022", "It means 6 September 2022.", "2022-09-06"],
    ["mardi 5 mai 2020", "not a date with a year of four digits, a month and a day", null],
    ["1.1.1850", "the years 1900 to 2099 only, not 1850", "1850-01-01"],
    ["5 May 0850", "the years 1900 to 2099 only, not 850", "0850-05-05"],
    ["29.2.0000", "the years 1900 to 2099 only, not 0", "0000-02-29"],
    ["3/2021", "not a date with a year of four digits, a month and a day", null],
    ["hello", "not a date with a year of four digits, a month and a day", null],
    ["32/13/2021", "not a date with a year of four digits, a month and a day", null],
    [" - ", "There is no date in this text", null],
  ])("is told from a date: %s", (text, words, iso) => {
    expect(solve?.(text)).toBeUndefined();
    const { why, instead, answer } = explainUntaught(text);
    expect(why).toContain(words);
    const isOtherYear = why.includes("only, not");
    expect(instead === null ? null : solve?.(instead)?.target.join("")).toBe(
      isOtherYear ? null : iso,
    );
    const isOneDate = /It means|Day first|only, not/.test(why);
    expect(answer).toBe(isOneDate ? iso : null);
  });
});

describe("An answer is aligned with the right one", () => {
  const right = [..."2021-03-03"];
  const placesIn = (written: string) => placesOf([...written], right);
  test.each([
    ["2021-03-03", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ["20210-03-03", [0, 1, 2, 3, null, 4, 5, 6, 7, 8, 9]],
    ["202-03-03", [0, 1, 2, 4, 5, 6, 7, 8, 9]],
    ["2021-13-03", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ["x2021-3-03", [null, 0, 1, 2, 3, 4, 6, 7, 8, 9]],
    ["", []],
  ])("with the fewest edits: %s", (written, places) => {
    expect(placesIn(written)).toEqual(places);
  });
});

describe("The gradient of an output", () => {
  const { source, target: written } = exampleOf(example);
  const row = 6;
  // Occurs once, so that the gradient of its row of the table is that of its place.
  const col = source.indexOf("M");

  /** The largest logit above the mean, from the probabilities. */
  function aboveMean(name: Name, top?: number): [value: number, top: number] {
    const [found] = models[name].probabilities([{ ...exampleOf(example), target: written }]);
    const { tokens = [], probabilities = new Float32Array() } = found ?? {};
    const size = tokens.length;
    const logs = Array.from(probabilities.subarray(row * size, (row + 1) * size), Math.log);
    const chosen = top ?? logs.indexOf(Math.max(...logs));
    return [(logs[chosen] as number) - logs.reduce((sum, x) => sum + x, 0) / size, chosen];
  }

  test.each(shown)("of %s is that of finite differences", (name) => {
    const model = models[name];
    const { weight } =
      model instanceof TransformerModel ? model.sourceEmbedding : model.encoder.embedding;
    const [, size = 0] = weight.shape;
    const [id = 0] = new Vocabulary(model.config.vocabulary.source).encode(["M"]);
    const [, top] = aboveMean(name);
    const step = 0.02;
    const slopes = Array.from({ length: size }, (_, d) => {
      const at = id * size + d;
      const exact = weight.data[at] as number;
      const [above, below] = [step, -step].map((by) => {
        weight.data[at] = exact + by;
        return aboveMean(name, top)[0];
      }) as [number, number];
      weight.data[at] = exact;
      return (above - below) / (2 * step);
    });
    const lengths = gradientLengths(heed, model, { source, written }, row);
    expect(lengths).toHaveLength(source.length);
    expect((lengths[col] as number) / Math.hypot(...slopes)).toBeCloseTo(1, 1.5);
  });
});

describe("A path", () => {
  const journey = { source: 22, target: 11, from: 4, to: 9 };

  test("without attention follows the states to the nearer end and passes the vector", () => {
    expect(lengthOf("rnn", journey)).toBe(4 + 1 + 10);
    expect(lengthOf("rnn", { ...journey, from: 20 })).toBe(1 + 1 + 10);
    expect(stationsOf("rnn", { ...journey, from: 1, to: 0 })).toEqual([
      // The layer that reads backward ends at the first character.
      { part: "encoder", place: 1, level: 1 },
      { part: "encoder", place: 0, level: 1 },
      { part: "vector", place: 0, level: 0 },
      { part: "decoder", place: 0, level: 0 },
    ]);
    const onward = stationsOf("rnn", { ...journey, from: 20, to: 0 });
    expect(onward.map(({ level }) => level)).toEqual([0, 0, 0, 0]);
  });

  test("with attention is one hop", () => {
    for (const name of ["bahdanau", "dot", "transformer"] as const)
      expect(lengthOf(name, journey)).toBe(1);
  });

  test("has the costs of its lengths and layers", () => {
    expect(costsOf("rnn", 2, journey)).toEqual({ across: 21, reading: 44, taught: 22, alone: 22 });
    const alone = { across: 1, reading: 3, taught: 3, alone: 33 };
    expect(costsOf("transformer", 3, journey)).toEqual(alone);
    expect(costsOf("transformer", 3, { source: 1, target: 11 })).toEqual({ ...alone, across: 0 });
  });
});

describe("The link of “RNN, Bahdanau, self-attention”", () => {
  testLink<State>({
    ...{ read, write, initial: initialState },
    opposite: {
      ...{ text: "3/4/2021 & more", between: "dot", way: "taught", layer: 0, head: 4 },
      weights: "trained",
      ...{ slip: { place: 9, token: "-" }, step: 3, row: 2, col: 7, range: "row", curve: "log" },
      network: { stack: "decoder", row: 2 },
      number: { part: "cross", of: "key", row: 3, col: 2 },
    },
    refused: [
      ...["between=rnn", "way=both", "layer=3", "head=5", "head=0", "slip=11:4", "slip=3:x"],
      ...[
        "slip=0:1",
        "step=14",
        "says=0",
        "from=49",
        "range=all",
        "network=both.1",
        "number=cross.key.1",
        "curve=cube",
        "toString=1",
      ],
    ],
    beside: ["date=3.3.2021", { text: "3.3.2021" }],
  });
});
