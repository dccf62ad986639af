import type { ComparedVectors, LabelledWeights } from "heed/models";
import { beforeAll, describe, expect, test } from "vitest";
import { Heads, Reference, reportOf } from "./heads";
import { visits } from "./visits";

const first = "Alice wrote a note and gave it to Bob.";
const kind = "Alice helped Clara because she was kind.";
/** The place of the pronoun in it. */
const she = 4;

/** Displayed numbers have three decimals; other instructions round otherwise. */
const decimals = 2.7;

describe.each(["chrome", "firefox"] as const)("In %s, the heads", (name) => {
  const { open, enter } = visits(Heads, name, { start: "#room=heads" });
  let reference: Reference;
  beforeAll(async () => {
    reference = await Reference.of("pronouns-encoder");
  });

  const pressed = (room: Heads) => room.text(".one-head .token[aria-pressed=true]");
  const numberIn = (text: string) => Number(text.replace("−", "-"));

  test("open with the pronoun selected, and say what it means", async () => {
    const room = await enter();
    expect(await pressed(room)).toBe("it");
    const answer = (await room.answers())[0]?.[1] ?? "";
    expect(answer).toMatch(/^note \d/);
    const shown = Number(/[\d.]+/.exec(answer)?.[0]);
    expect(shown).toBeCloseTo(await reference.probability(first, 6, "note"), decimals);
    expect(await room.text(".story")).toContain("The selected row is “it”");
    await expect.poll(() => room.link()).toBe("#room=heads");
  });

  test("have under each the number that the engine gives", async () => {
    const room = await enter();
    const weights = reference.weights(first);
    const mean = (numbers: number[]) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
    const entropy = (row: number[]) =>
      row.reduce((sum, w) => (w > 0 ? sum - w * Math.log2(w) : sum), 0);
    const measures: Record<string, (rows: number[][]) => number> = {
      "right places, here": (rows) => rows[6]?.[3] ?? Number.NaN,
      entropy: (rows) => mean(rows.map(entropy)),
      "largest weight": (rows) => mean(rows.map((row) => Math.max(...row))),
      "previous token": (rows) => mean(rows.slice(1).map((row, i) => row[i] as number)),
      "first token": (rows) => mean(rows.slice(1).map((row) => row[0] as number)),
      diagonal: (rows) => mean(rows.map((row, i) => row[i] as number)),
    };
    for (const [words, measure] of Object.entries(measures)) {
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

  test("have under each what the report says of examples held out", async () => {
    const room = await enter("&measure=heldOut");
    const shown = await room.numbers();
    const report = reportOf("pronouns-encoder");
    expect(shown).toHaveLength(report.length);
    for (const [i, { mass }] of report.entries())
      expect(numberIn(shown[i]?.text ?? "")).toBeCloseTo(mass, decimals);
  });

  test("of the model of shapes are seen on its picture", async () => {
    const room = await enter("&model=shapes");
    const [answer] = await room.answers();
    expect(answer?.[0]).toBe("which shape");
    expect(answer?.[1]?.split(" ")[0]).toBe(answer?.[3]);
    const { x, y } = await room.cell("patches", 2, 1, 6, 6);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.link()).toContain("row=15");
    expect(await room.text(".patches")).toContain("What patch 2,1 attends to");
    await room.click("Select the class token");
    await expect.poll(() => room.link()).toMatch(/row=1$/);
  });

  test("stand in the order of what is measured", async () => {
    const room = await enter("&measure=entropy");
    await room.click("by this measure", ".settings");
    const values = (await room.numbers()).map(({ text }) => numberIn(text));
    expect(values).toHaveLength(12);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    await expect.poll(() => room.link()).toContain("order=measure");
  });

  test("change the answer when one is dropped, and restore it", async () => {
    const room = await enter();
    await room.type("#heads-text", kind);
    await expect.poll(async () => (await room.answers())[0]?.[1]).toMatch(/^Alice /);
    await room.page.click(`${room.head("encoder.1.1")} input`);
    await expect.poll(async () => (await room.answers())[0]?.[2]).toMatch(/^Clara /);
    const shown = Number(/[\d.]+/.exec((await room.answers())[0]?.[2] ?? "")?.[0]);
    const dropped = [{ path: "encoder.layers.0.self_attn", head: 0 }];
    expect(shown).toBeCloseTo(await reference.probability(kind, she, "Clara", dropped), decimals);
    expect(await room.text(".answers thead")).toContain("without 1 head");
    await expect.poll(() => room.link()).toContain("drop=encoder.1.1");
    await room.click("restore");
    await expect.poll(async () => (await room.answers())[0]?.[2]).toBe("–");
  });

  test("show how each weight came about, and their rows as tables", async () => {
    const room = await enter("&head=encoder.1.1");
    const { x, y } = await room.cell("weights", 6, 3, 10, 10);
    await room.page.mouse.click(x, y);
    await expect.poll(() => room.text(".readout")).toContain("“it” attends to “note”");
    const [attention] = reference.attentions(first);
    const { rows, columns, weights, compared } = attention as LabelledWeights;
    const { query, key } = compared as ComparedVectors;
    const size = query.length / (rows * 4);
    const dots = Array.from({ length: columns }, (_, j) =>
      key
        .slice(j * size, (j + 1) * size)
        .reduce((sum, k, d) => sum + k * (query[6 * size + d] as number), 0),
    );
    const { dot, score, weight } = await room.formula();
    expect(dot).toBeCloseTo(dots[3] as number, 2);
    expect(score).toBeCloseTo((dots[3] as number) / Math.sqrt(size), decimals);
    expect(weight).toBeCloseTo(weights[6 * columns + 3] as number, decimals);
    await room.page.click(".row-details summary");
    const cells = (column: string) =>
      room.page.$$eval(`.row-table [data-column=${column}]`, (all) =>
        all.map(({ textContent }) => Number(textContent?.replace("−", "-"))),
      );
    await expect.poll(async () => (await cells("weight")).length).toBe(columns);
    for (const [j, score] of (await cells("score")).entries())
      expect(score).toBeCloseTo((dots[j] as number) / Math.sqrt(size), decimals);
    for (const [j, weight] of (await cells("weight")).entries())
      expect(weight).toBeCloseTo(weights[6 * columns + j] as number, decimals);
  });

  test("are compared by a signed difference", async () => {
    const room = await enter("&head=encoder.3.4");
    await room.page.select(".compare-field select", "encoder.3.1");
    const { x, y } = await room.cell("difference", 6, 3, 10, 10);
    await room.page.mouse.click(x, y);
    const weights = reference.weights(first);
    const [a, b] = [3, 0].map((h) => weights[2]?.[h]?.[6]?.[3] as number) as [number, number];
    await expect
      .poll(() => room.text(".readout-formula"))
      .toMatch(/^layer 3, head 4 less layer 3, head 1: /);
    const [, ...numbers] =
      /: ([\d.]+) − ([\d.]+) = (−?[\d.]+)/.exec(await room.text(".readout-formula")) ?? [];
    for (const [i, value] of [a, b, a - b].entries())
      expect(numberIn(numbers[i] ?? "")).toBeCloseTo(value, decimals);
    await expect.poll(() => room.link()).toContain("compare=encoder.3.1");
    await expect.poll(() => room.link()).toContain("cell=7.4");
  });

  test("stay in view when the model does not know a word, which is named", async () => {
    const room = await enter();
    await room.type("#heads-text", "Alice wrote a program");
    await expect.poll(() => room.text(".notices")).toContain("does not know “program”");
    expect(await room.page.$$(".thumbnail")).toHaveLength(12);
    await room.type("#heads-text", "Bob wrote a poem.");
    await expect.poll(() => room.text(".notices")).toContain("has no pronoun");
  });

  test("of a model that writes show each token's probability, and what is written without one", async () => {
    const room = await enter("&model=dates&drop=decoder.1.1");
    expect(await room.page.$$(".thumbnail")).toHaveLength(24);
    expect(await room.text(".written")).toBe(
      "By itself it writes 2075-12-14, without 1 head 2075-1-141.",
    );
    const rows = await room.answers();
    expect(rows.map(([head]) => head?.split(" ")[0])).toEqual([
      "asked",
      "with",
      "without",
      "right",
    ]);
    expect(rows[1]?.slice(1).map((cell) => cell.split(" ")[0])).toEqual([
      ...(rows[3]?.slice(1) ?? []),
    ]);
    await room.click("Another example");
    await expect.poll(() => room.link()).toContain("example=4");
    await expect.poll(() => room.text(".written")).not.toContain("2075-12-14");
  });

  test("can be reached by keyboard, cell by cell", async () => {
    const room = await enter();
    await room.page.focus("[data-matrix=weights] canvas");
    await room.page.keyboard.press("ArrowRight");
    await expect
      .poll(() => room.page.$eval("[aria-live=polite]", (element) => element.textContent))
      .toContain("attends to “wrote”");
    await room.page.keyboard.press("Enter");
    await expect.poll(() => room.link()).toContain("cell=1.2");
    await room.page.keyboard.press("Escape");
    await expect.poll(() => room.link()).not.toContain("cell=");
  });

  test("fit a window 360 pixels wide, whichever the model", async () => {
    const room = await enter("", { width: 360 });
    for (const model of ["pronouns", "dates", "sort", "reverse", "brackets"]) {
      await room.page.evaluate((model) => {
        location.hash = `#room=heads&model=${model}`;
      }, model);
      const asked = { pronouns: "it", brackets: "8" }[model] ?? "asked";
      await expect.poll(async () => (await room.answers())[0]?.[0]).toBe(asked);
      expect(await room.sidewaysOverflow(), model).toBeLessThanOrEqual(0);
    }
  });

  test("can be inspected but not changed under a teacher's lock", async () => {
    const room = await enter("&lock=on");
    await room.page.click(`${room.head("encoder.2.1")} button`);
    await expect.poll(() => room.link()).toContain("head=encoder.2.1");
    const fields = ".input :enabled, .thumbnail-drop :enabled, .switch :enabled";
    expect(await room.page.$$(fields)).toEqual([]);
    await room.click("entropy", ".settings");
    await expect.poll(() => room.link()).toContain("measure=entropy");
  });

  test("stand alone in another page's frame", async () => {
    const room = await open("&embed=heads&lock=on");
    await room.page.waitForSelector(".thumbnail");
    expect(await room.page.$$(".answer, .one-head, .input .sentence-field, footer")).toEqual([]);
  });
});
