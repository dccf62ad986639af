/** The room "Learn": what of it is pure, and the room as a person meets it. */
import { load } from "heed";
import { describe, expect, test } from "vitest";
import { read, write } from "../../web/src/rooms/learn/link";
import type { CourseSnapshot, Snapshot } from "../../web/src/rooms/learn/messages";
import { mostKept, spacingAt, withMore } from "../../web/src/rooms/learn/past";
import solve from "../../web/src/rooms/learn/solve";
import { initialState, planOf, type State, setupsOf } from "../../web/src/rooms/learn/state";
import { Training } from "../../web/src/rooms/learn/training";
import { bestCourseHead, bestMass } from "../../web/src/rooms/learn/words";
import { formatShort, percent } from "../../web/src/shared/format";
import { type BrowserName, workersOf } from "./browsers";
import { Room } from "./room";
import { visits } from "./visits";

const seenWith = (masses: number[][]): CourseSnapshot => ({
  ...{ loss: 1, heldLoss: 1, exact: 0, masses, shares: [], answer: [] },
});

describe("What was learned", () => {
  const snapshot = (step: number): Snapshot => ({ step, showing: 0, courses: [] });

  test("is kept at few, evenly spread steps, and always at the last one", () => {
    let past: readonly Snapshot[] = [snapshot(0)];
    for (let step = 1; step <= 5003; ++step) {
      const isLook = step % spacingAt(step) === 0 || step === 7 || step === 5003;
      if (isLook) past = withMore(past, [snapshot(step)]);
      expect(past.length).toBeLessThanOrEqual(mostKept + 1);
    }
    const steps = past.map(({ step }) => step);
    expect(steps[0]).toBe(0);
    expect(steps.at(-1)).toBe(5003);
    const spacing = spacingAt(5003);
    expect(steps.slice(0, -1)).toEqual(steps.slice(0, -1).map((_, i) => i * spacing));
  });

  test("names the head that had the most on the right places over a few looks", () => {
    const looks = [seenWith([[Number.NaN], [0.5, 0.2]]), seenWith([[Number.NaN], [0.5, 0.6]])];
    expect(bestCourseHead(looks)).toMatchObject({ attention: 1, head: 0 });
    expect(bestMass(looks[1] as CourseSnapshot)).toBe(0.6);
    expect(bestMass(seenWith([[Number.NaN]]))).toBeNaN();
  });
});

describe("The link of “Learn”", () => {
  test("is empty for the first view, and says nothing that a task brings with it", () => {
    expect(write(initialState).toString()).toBe("");
    const dates: State = { ...initialState, task: "dates", ...planOf("dates") };
    expect(write(dates).toString()).toBe("task=dates");
    expect(read(new URLSearchParams("task=dates")).state).toEqual(dates);
  });

  test("gives back every setting that it was written from", () => {
    const state: State = {
      ...{ task: "pronouns", length: 12, heads: 8, layers: 2, size: 128, rate: 0.01, seed: 7 },
      ...{ positions: false, compare: true, at: 120, head: { attention: 1, head: 3 } },
      ...{ cell: { row: 2, col: 5 }, row: 3, outlined: false, range: "row", curve: "log" },
      text: "Alice gave it to Bob.",
    };
    expect(read(write(state))).toEqual({ state, notices: [] });
  });

  test("leaves out what no model can have, and says so", () => {
    const { state, notices } = read(new URLSearchParams("heads=3&rate=x&head=0.1&seed=5"));
    expect(state).toEqual({ ...initialState, seed: 5 });
    expect(notices).toHaveLength(3);
  });
});

test("One head and four are trained by the same seed and have equally many parameters", async () => {
  const heed = await load({ threads: 1 });
  const setups = setupsOf({ ...initialState, compare: true });
  const courses = setups.map((setup) => new Training(heed, setup).course());
  expect(courses.map(({ heads }) => heads)).toEqual([1, 4]);
  expect(new Set(courses.map(({ parameters }) => parameters)).size).toBe(1);
  expect(setups[0]).toEqual({ ...setups[1], options: { ...setups[1]?.options, heads: 1 } });
  heed.dispose();
});

test("A step that is ordered while a training begins is one of that training", async () => {
  const heed = await load({ threads: 1 });
  const { signal } = new AbortController();
  const context = { heed, signal, progress() {}, async pause() {} };
  const setups = setupsOf(initialState);
  const begun = solve({ kind: "begin", setups, text: null }, context);
  const stopped = solve({ kind: "train", steps: 1 }, context);
  expect(await begun).toMatchObject({ kind: "begun" });
  expect(await stopped).toEqual({ kind: "stopped", step: 1, why: "done" });
  heed.dispose();
});

describe.each(["chrome", "firefox"] satisfies BrowserName[])("In %s, the room", (name) => {
  const { enter } = visits(Room, name, { start: "#room=learn" });
  const stepOf = (room: Room) =>
    room.page.$eval("[data-step]", (place) => Number((place as HTMLElement).dataset.step));
  const shownStep = async (room: Room) =>
    Number(/after step (\d+)/.exec(await room.text(".transport-place"))?.[1]);
  /** Stands at the very beginning. */
  async function stand(room: Room): Promise<void> {
    await room.click("Pause", ".transport");
    await room.click("Reset");
    await expect.poll(() => stepOf(room)).toBe(0);
    await expect.poll(() => shownStep(room)).toBe(0);
  }
  /** The last row of the table under a curve. */
  const lastRow = (room: Room, curve: number) =>
    room.page.$$eval(
      ".curve table",
      (tables, curve) =>
        [...(tables[curve]?.querySelectorAll("tbody tr:last-child td") ?? [])].map((cell) =>
          Number(cell.textContent),
        ),
      curve,
    );

  test("learns to reverse by itself, and its best head shows the diagonal", async () => {
    const room = await enter();
    await expect.poll(() => stepOf(room), { timeout: 50_000 }).toBeGreaterThan(200);
    await expect.poll(async () => (await lastRow(room, 1))[0]).toBeGreaterThan(0.6);
    expect((await lastRow(room, 1))[1]).toBeGreaterThan(0.6);
    await expect.poll(() => room.text(".learn-answer .tokens")).not.toContain("✗");
    expect(await room.page.$(".series-1")).not.toBeNull();
  });

  test("shows the numbers of the engine, step by step", async () => {
    const room = await enter("&seed=3");
    await stand(room);
    const heed = await load({ threads: 1 });
    const [setup] = setupsOf({ ...initialState, seed: 3 });
    if (!setup) throw new Error("there is one training");
    const training = new Training(heed, setup);
    let seen = await training.snapshot();
    for (let step = 1; step <= 3; ++step) {
      training.step();
      seen = await training.snapshot();
      await room.click("Next →");
      await expect.poll(() => shownStep(room)).toBe(step);
    }
    // The curves are drawn a few frames later.
    await expect
      .poll(async () => Math.abs(((await lastRow(room, 0))[1] ?? 0) - seen.heldLoss))
      .toBeLessThan(0.011);
    const [loss] = await lastRow(room, 0);
    // The browser's engine multiplies and adds at once, Node's one after the other.
    expect(loss).toBeCloseTo(seen.loss, 1);
    await expect
      .poll(async () => Math.abs(((await lastRow(room, 1))[1] ?? 0) - bestMass(seen)))
      .toBeLessThan(0.011);
    const [exact] = await lastRow(room, 1);
    expect(exact).toBe(Number(formatShort(seen.exact)));

    await room.page.click(".head-grid fieldset:last-of-type label:last-of-type");
    await expect.poll(() => room.text(".learn-large .matrix-name")).toContain("Head 4");
    const attention = training.attentions().at(-1);
    const shares = seen.shares.at(-1);
    if (!attention || !shares) throw new Error("there is an attention");
    const [rows, cols] = [attention.rows.length, attention.columns.length];
    const { x, y } = await room.cell("head-4", 2, 5, rows, cols);
    await room.page.mouse.move(x, y);
    const place = (3 * rows + 2) * cols + 5;
    await expect
      .poll(() => room.text(".readout"))
      .toContain(`“${attention.rows[2]}” (3) attends to “${attention.columns[5]}” (6)`);
    const { score, weight } = await room.formula();
    expect(Math.abs(score - (shares.scores[place] as number))).toBeLessThan(0.01);
    expect(Math.abs(weight - (shares.weights[place] as number))).toBeLessThan(0.002);
    const said = seen.masses.at(-1)?.[3] ?? Number.NaN;
    const written = Number(/([\d.]+) %/.exec(await room.text(".learn-mass"))?.[1]);
    expect(Math.abs(written - Number(/[\d.]+/.exec(percent(said))?.[0]))).toBeLessThanOrEqual(1);
    heed.dispose();
  });

  test("shows what a person types, and refuses what is not of its task", async () => {
    const room = await enter();
    await expect.poll(() => stepOf(room)).toBeGreaterThan(10);
    const before = await shownStep(room);
    await room.type(".learn-own input", "abca");
    await expect.poll(() => room.text(".learn-example .tokens")).toBe("a 1 b 2 c 3 a 4");
    await expect.poll(() => room.link()).toContain("text=abca");
    expect(await stepOf(room), "training goes on").toBeGreaterThanOrEqual(before);
    // It is answered right once it is learned, and the right places are those of its letters.
    const written = (text: string) => text.replace(/[^a-z]/g, "");
    await expect
      .poll(async () => written(await room.text(".learn-answer .tokens")), { timeout: 50_000 })
      .toBe("acba");
    const { x, y } = await room.cell("head-4", 1, 2, 5, 4);
    await room.page.mouse.move(x, y);
    await expect.poll(() => room.text(".readout")).toContain("“c” (2) attends to “c” (3)");
    expect(await room.text(".readout-formula")).toContain("a right place");
    await room.paste(".learn-own input", "ab3a");
    await expect.poll(() => room.text(".learn-example .notices")).toContain("does not know “3”");
    await room.paste(".learn-own input", "abcabcabc");
    await expect.poll(() => room.text(".learn-example .notices")).toContain("at most 8");
    expect(await room.text(".learn-example .tokens")).toBe("a 1 b 2 c 3 a 4");
    await room.click("Back to the held-out example");
    await expect.poll(() => room.text(".learn-example .tokens")).not.toBe("a 1 b 2 c 3 a 4");
    expect(await room.text(".learn-example .notices")).toBe("");
    await room.click("write dates");
    await room.type(".learn-own input", "3 May");
    await expect.poll(() => room.text(".learn-example .notices")).toContain("not a date");
  });

  test("goes on while its past is shown, and comes back", async () => {
    const room = await enter();
    await expect.poll(() => shownStep(room)).toBeGreaterThan(20);
    await room.click("← Back");
    await room.click("← Back");
    const looked = await shownStep(room);
    const before = await stepOf(room);
    await expect.poll(() => stepOf(room)).toBeGreaterThan(before + 10);
    expect(await shownStep(room)).toBe(looked);
    await expect.poll(() => room.link()).toContain(`at=${looked}`);
    await room.click("Show the current step");
    await expect.poll(() => shownStep(room)).toBeGreaterThan(looked);
    await room.click("Pause", ".transport");
    // What was under way when it was asked to pause may still end, and be told a moment later.
    let still = await stepOf(room);
    const hasStopped = async () => {
      const before = still;
      await new Promise((resolve) => setTimeout(resolve, 500));
      still = await stepOf(room);
      return still === before;
    };
    await expect.poll(hasStopped).toBe(true);
    expect(await hasStopped()).toBe(true);
    await room.click("Play", ".transport");
    await expect.poll(() => stepOf(room)).toBeGreaterThan(still);
  });

  test("trains one head beside four", async () => {
    const room = await enter("&compare=on");
    await expect.poll(() => stepOf(room)).toBeGreaterThan(5);
    const titles = await room.page.$$eval(".course h2", (all) => all.map((h) => h.textContent));
    expect(titles.map((title) => title?.replace(/\d+,\d+ p/, "p"))).toEqual([
      "One head parameters",
      "4 heads parameters",
    ]);
    const counts = titles.map((title) => /\d+,\d+/.exec(title ?? "")?.[0]);
    expect(counts[0]).toBe(counts[1]);
    expect(await room.page.$$eval(".curve", (all) => all.length)).toBe(3);
  });

  test("says when the numbers become NaN, and stays usable", async () => {
    const room = await enter("&rate=1000");
    await expect.poll(() => room.text(".notices")).toContain("A smaller learning rate");
    await room.page.focus(".slider input");
    await room.page.keyboard.press("Home");
    await expect.poll(() => room.text(".notices")).toBe("");
    await expect.poll(() => stepOf(room)).toBeGreaterThan(3);
  });

  test("ends its worker when it is left", async () => {
    const room = await enter();
    const engines = async () =>
      (await workersOf(room.page)).filter((url) => url.includes("engine.worker")).length;
    await expect.poll(engines).toBe(2);
    await room.click("Step by step", "nav.rooms");
    await room.page.waitForSelector("main.steps [data-matrix]");
    await expect.poll(engines).toBe(1);
    await room.click("Learn", "nav.rooms");
    await expect.poll(() => stepOf(room)).toBeGreaterThan(3);
  });

  test("learns its other tasks and begins anew with each", async () => {
    const room = await enter();
    // What is paused is this training, not the next.
    await room.click("Pause", ".transport");
    for (const [words, about, total] of [
      ["sort letters", "in the order of the alphabet", 1200],
      ["who is it?", "each pronoun", 3000],
      ["write dates", "year, month and day", 1200],
    ] as const) {
      await room.click(words);
      await expect.poll(() => room.text(".learn-example")).toContain(about);
      await expect.poll(() => stepOf(room)).toBeGreaterThan(5);
      expect(await room.text(".learn-place")).toContain(`of ${total}`);
    }
    await expect.poll(() => room.link()).toContain("task=dates");
  });
});
