/** Uses `<heed-steps>` as a person would, in a separate page with the Playground's content security policy. */
import type * as view from "heed/view";
import { describe, expect, test } from "vitest";
import { ElementsPage, visiting } from "./elementsPage";

const q = [
  [1, 0, 2],
  [0, 1, -1],
  [2, 1, 0],
];
const k = [
  [1, 1, 0],
  [0, 2, 1],
  [-1, 0, 1],
];
const v = [
  [1, 10],
  [2, 20],
  [4, 40],
];
const tokens = ["the", "cat", "sat"];
const usual = { q, k, v, tokens, mask: "causal", scale: 0.5 };

/** The scores of the last query, scaled, and their softmax. */
const scores = [3, 2, -2];
const powers = scores.map((score) => Math.exp(0.5 * score));
const sum = powers.reduce((a, b) => a + b);
const weights = powers.map((power) => power / sum);
const output = [0, 1].map((d) =>
  weights.reduce((all, weight, j) => all + weight * (v[j]?.[d] as number), 0),
);

describe.for(["chrome", "firefox"] as const)("In %s, <heed-steps>", (name) => {
  let room: ElementsPage;
  visiting(name, (opened) => {
    room = opened;
  });

  const readout = () => room.words("[part=readout]");
  const place = () => room.words(".transport-place");
  const press = (words: string) =>
    room.page.evaluate(async (words) => {
      const element = document.body.firstElementChild as view.HeedSteps;
      const buttons = element.shadowRoot?.querySelectorAll("button") ?? [];
      [...buttons].find(({ textContent }) => textContent === words)?.click();
      await element.updateComplete;
    }, words);
  const heard = () => room.heard();
  const state = () =>
    room.page.evaluate(async () => {
      const element = document.body.firstElementChild as view.HeedSteps;
      // The events of the last step come when it is drawn.
      await element.updateComplete;
      const { time, step, steps, playing, duration } = element;
      return { time, step, steps, playing, duration };
    });
  test("shows what is given, and goes on by its buttons", async () => {
    await room.show("heed-steps", usual);
    expect(await place()).toBe("Step 1 of 30 Q, K, V, given");
    expect(await room.words("[part=figure]")).toContain("Q 3 × 3");
    await press("Next →");
    expect(await place()).toBe("Step 2 of 30 Scores, the first number");
    // Terms of one product, of the last query, which sees all keys.
    expect(await readout()).toBe(
      "Scores, “sat” attends to “the” QKᵀ[3, 1] = 2.000 × 1.000, so far 2.000",
    );
    await press("Next →");
    expect(await readout()).toContain("2.000 × 1.000 + 1.000 × 1.000, so far 3.000");
    expect(await heard()).toContain("Scores, the first number. Scores, “sat” attends to “the”:");
    await press("← Back");
    expect(await place()).toBe("Step 2 of 30 Scores, the first number");
    const events = (await room.events()).filter(([name]) => name === "heed-step");
    expect(events).toEqual([
      ["heed-step", { step: 0, steps: 30, stage: "inputs" }],
      ["heed-step", { step: 1, steps: 30, stage: "scores" }],
      ["heed-step", { step: 2, steps: 30, stage: "scores" }],
      ["heed-step", { step: 1, steps: 30, stage: "scores" }],
    ]);
  });

  test("shows the same at a time, whatever was shown before", async () => {
    await room.show("heed-steps", usual);
    const seen: string[][] = [[], []];
    for (const texts of seen)
      for (const time of [30, 2.5, 12, 0, 17.25]) {
        await room.set({ time });
        texts.push(`${await place()} ${await readout()}`);
      }
    expect(seen[0]).toEqual(seen[1]);
    expect(new Set(seen[0]).size).toBe(5);
  });

  test("plays to its end at its speed, and from there anew", async () => {
    await room.show("heed-steps", { ...usual, speed: 60 });
    const { duration, steps } = await state();
    expect(duration).toBeGreaterThan(15);
    await room.events();
    const start = Date.now();
    await room.set({ playing: true });
    await expect.poll(async () => (await state()).playing, { timeout: 5000 }).toBe(false);
    expect(Date.now() - start).toBeGreaterThan((800 * (duration - 2)) / 60);
    expect((await state()).step).toBe(steps - 1);
    const told = (await room.events()).map(([, detail]) => (detail as view.StepDetail).step);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.at(-1)).toBe(steps - 1);
    await room.set({ speed: 1 });
    await press("Play");
    await expect.poll(async () => (await state()).step).toBeLessThan(3);
    await press("Pause");
    expect((await state()).playing).toBe(false);
  });

  test("plays as soon as it has numbers, and other ones to their own end", async () => {
    await room.show("heed-steps", { playing: true, speed: 1000 });
    expect((await state()).time).toBe(0);
    await room.set(usual);
    await expect.poll(async () => (await state()).playing, { timeout: 5000 }).toBe(false);
    const { time } = await state();
    await room.set({ time: 0, speed: 1 });
    await room.set({ playing: true });
    const longer = { k: [...k, ...k], v: [...v, ...v], mask: null };
    await room.set({ ...longer, tokens: null, speed: 1000 });
    await expect.poll(async () => (await state()).playing, { timeout: 5000 }).toBe(false);
    const end = await state();
    expect(end.step).toBe(end.steps - 1);
    expect(end.time).not.toBe(time);
  });

  test("does not play where it is on no page", async () => {
    const before = await room.page.evaluate(async (usual) => {
      const element = heedView.steps({ ...usual, playing: true } as Partial<view.HeedSteps>);
      element.svg();
      await new Promise((resolve) => setTimeout(resolve, 200));
      const { time } = element;
      document.body.replaceChildren(element);
      return time;
    }, usual);
    expect(before).toBe(0);
    await room.page.waitForFunction(
      () => (document.body.firstElementChild as view.HeedSteps).time > 0,
    );
  });

  test("saves a matrix that is drawn transposed with its own words", async () => {
    await room.show("heed-steps", { ...usual, queries: ["a", "b", "c"] });
    await press("Scores");
    const { text } = await room.saved("CSV", ".named-legend:has([aria-label*='(K)'])");
    const csv = text.split("\r\n");
    expect(csv).toEqual([...['"","the","cat","sat"', '"1",1,0,-1', '"2",1,2,0', '"3",0,1,1', ""]]);
  });

  test("releases a query that a person chose if other numbers do not have it", async () => {
    await room.show("heed-steps", usual);
    await press("Scores");
    const { x, y } = await room.place(2, -1, "q");
    await room.page.mouse.click(x, y);
    const cell = await room.place(2, 0, "q");
    await room.page.mouse.click(cell.x, cell.y);
    await expect.poll(readout).toContain("Q");
    await room.set({ q: q.slice(0, 1), tokens: null, mask: null });
    expect(await room.words("[part=error]")).toBe("");
    expect(await room.events()).toContainEqual(["heed-select", {}]);
  });

  test("plays a chosen stage from its beginning", async () => {
    await room.show("heed-steps", usual);
    await press("Output");
    expect(await place()).toBe("Step 30 of 30 Output, complete");
    await press("Weights");
    expect(await place()).toMatch(/Weights, complete$/);
    const { step } = await state();
    await press("Play");
    await expect.poll(place).toMatch(/Weights, the sum of “sat”$/);
    await press("Pause");
    expect((await state()).step).toBeLessThan(step);
  });

  test("is read step by step by keyboard", async () => {
    await room.show("heed-steps", usual);
    await room.page.keyboard.press("Tab");
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"] as const)
      await room.page.keyboard.press(key);
    await expect.poll(place).toContain("Step 3 of 30");
    await room.page.keyboard.press("End");
    await expect.poll(place).toContain("Step 30 of 30");
    await expect.poll(heard).toMatch(/^Output, complete\. Each value is multiplied/);
    await room.page.keyboard.press("Home");
    await expect.poll(place).toContain("Step 1 of 30");
    const slider = await room.page.evaluate(() =>
      document.body.firstElementChild?.shadowRoot
        ?.querySelector("[type=range]")
        ?.getAttribute("aria-valuetext"),
    );
    expect(slider).toBe("Step 1 of 30: Q, K, V, given");
  });

  test("explains the cell that is pointed at, and keeps the one that is clicked", async () => {
    await room.show("heed-steps", usual);
    await press("Weights");
    await room.events();
    const { x, y } = await room.place(2, 1, "weights");
    await room.page.mouse.move(x, y);
    const [weight, power] = [weights[1] as number, powers[1] as number];
    await expect
      .poll(readout)
      .toBe(
        `Weights, “sat” attends to “cat” A[3, 2] = e^1.000 ÷ (e^1.500 + e^1.000 + e^(−1.000)) = ${power.toFixed(3)} ÷ ${sum.toFixed(3)} = ${weight.toFixed(3)}`,
      );
    const [[event, detail] = []] = await room.events();
    expect(event).toBe("heed-hover");
    expect(detail).toMatchObject({ matrix: "weights", row: 2, col: 1 });
    expect((detail as view.CellDetail).value).toBeCloseTo(weight, 12);
    await room.page.mouse.click(x, y);
    await room.page.mouse.move(0, 0);
    expect(await readout()).toContain("A[3, 2]");
    await room.page.keyboard.press("Escape");
    await expect.poll(readout).not.toContain("A[3, 2]");
  });

  test("tells screen readers of the numbers that are not hidden", async () => {
    const told = (matrix: string) =>
      room.page.evaluate((matrix) => {
        const root = document.body.firstElementChild?.shadowRoot;
        const canvas = root?.querySelector(`[data-matrix=${matrix}] canvas`);
        return canvas?.getAttribute("aria-label");
      }, matrix);
    const [least, largest] = [Math.min, Math.max].map((most) => most(...weights).toFixed(3));
    await room.show("heed-steps", usual);
    await press("Weights");
    expect(await told("weights")).toMatch(`Weights, 3 rows and 3 columns, from ${least} to 1.000.`);
    await room.set({ mask: null });
    expect(await told("weights")).toMatch(`from ${least} to ${largest}.`);
  });

  test("computes another query's row first where a person chooses it", async () => {
    await room.show("heed-steps", usual);
    await press("Scores");
    const { x, y } = await room.place(1, -1, "q");
    await room.page.mouse.click(x, y);
    expect((await room.events()).at(-1)).toEqual(["heed-select", { row: 1 }]);
    await room.set({ step: 1 });
    expect(await readout()).toContain("Scores, “cat” attends to “the”");
  });

  test("exports each matrix in its numbers and as a picture", async () => {
    await room.show("heed-steps", { ...usual, label: "Head 4" });
    const made = await room.page.evaluate(async () => {
      const element = document.body.firstElementChild as view.HeedSteps;
      const svg = new DOMParser().parseFromString(element.svg("weights"), "image/svg+xml");
      const png = await element.png("output");
      return {
        texts: [...svg.querySelectorAll("text")].map(({ textContent }) => textContent),
        png: png.type,
        csv: element.csv("output").split("\r\n"),
        npy: [...new Float32Array(element.npy("weights").slice(-12).buffer)],
        shown: element.csv().split("\r\n")[1],
      };
    });
    expect(made.texts).toContain("Head 4: Weights (A)");
    expect(made.texts).toContain("cat");
    expect(made.png).toBe("image/png");
    const row = made.csv[3]?.split(",") ?? [];
    expect(row[0]).toBe('"sat"');
    for (const [d, value] of output.entries()) expect(Number(row[d + 1])).toBeCloseTo(value, 6);
    for (const [j, weight] of weights.entries()) expect(made.npy[j]).toBeCloseTo(weight, 6);
    expect(made.shown).toBe('"the",1,0,2');
  });

  test.for([
    [{ k: [[1, 2]] }, "k: expected rows of 3, as q has, got 2"],
    [{ tokens: ["the"] }, "tokens: expected 3 texts, got 1"],
    [{ row: 3 }, "row: expected a number below 3, got 3"],
    [{ speed: 0 }, "speed: expected a number above 0, got 0"],
    [{ time: -1 }, "time: expected a number of at least 0, got -1"],
    [{ scale: "2" }, 'scale: expected a finite number or null, got "2"'],
  ] as const)("says where it stands what does not fit: %o", async ([wrong, message]) => {
    await room.show("heed-steps", { ...usual, ...wrong });
    expect(await room.words("[part=error]")).toBe(message);
    expect(await room.words("[part=content]")).toBe("");
    expect(await room.events()).toEqual([["heed-error", message]]);
    await room.set({ ...usual, head: 0, row: null, speed: 1, time: 0 });
    expect(await room.words("[part=error]")).toBe("");
    expect(await place()).toBe("Step 1 of 30 Q, K, V, given");
  });

  test("leaves numbers empty that are not known, and says so", async () => {
    await room.show("heed-steps", { ...usual, q: [q[0], [null, 1, -1], q[2]] });
    expect(await room.words("[part=notes]")).toBe(
      "1 number of q, k and v missing (NaN): what is computed from them is left empty.",
    );
  });

  test("hides its buttons without controls, and draws in its theme", async () => {
    await room.show("heed-steps", { ...usual, controls: "none", theme: "dark", time: 3 });
    expect(await room.words("[part=transport]")).toBe("");
    expect(await room.words("[part=figure]")).not.toContain("save");
    expect(await room.background()).toBe("rgb(27, 28, 31)");
  });
});

test("With reduced motion, <heed-steps> has steps and nothing that plays", async () => {
  const room = await ElementsPage.open("chrome");
  await room.page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  await room.show("heed-steps", { ...usual, playing: true });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { time, buttons } = await room.page.evaluate(() => {
    const element = document.body.firstElementChild as view.HeedSteps;
    const all = element.shadowRoot?.querySelectorAll<HTMLElement>(".transport button") ?? [];
    const shown = [...all].filter((button) => button.checkVisibility());
    return { time: element.time, buttons: shown.map(({ textContent }) => textContent) };
  });
  await room.close();
  expect(time).toBe(0);
  expect(buttons).toEqual(["← Back", "Next →"]);
});
