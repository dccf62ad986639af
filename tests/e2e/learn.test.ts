/** The room "Learn" in a browser. */
import { load } from "heed";
import { describe, expect, test } from "vitest";
import { formatShort } from "#parts";
import { slowPace, slowSteps } from "../../web/src/rooms/learn/past";
import { initialState, setupsOf } from "../../web/src/rooms/learn/state";
import { Training } from "../../web/src/rooms/learn/training";
import { bestMass } from "../../web/src/rooms/learn/words";
import { percent } from "../../web/src/shared/format";
import { type BrowserName, workersOf } from "./browsers";
import { Room } from "./room";
import { visits } from "./visits";

describe.each(["chrome", "firefox"] satisfies BrowserName[])("In %s, the room", (name) => {
  const { enter, reenter, it } = visits(Room, name, { start: "#room=learn&slow=off" });
  const stepOf = (room: Room) =>
    room.page.$eval("[data-step]", (place) => Number((place as HTMLElement).dataset.step));
  const shownStep = async (room: Room) =>
    Number(/step (\d+) of/.exec(await room.text(".transport-place"))?.[1]);
  const status = (room: Room) => room.text(".learn-place");
  /** The example of the pictures; undefined while they show another one. */
  const exampleOf = (room: Room) =>
    room.page.$eval(".work", (element) => (element as HTMLElement).dataset.example);
  const scrubTo = (room: Room, index: number) => room.setSlider(".scrub", index);
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

  test("learns to reverse automatically, and its best head shows the anti-diagonal", async () => {
    const room = await reenter();
    await expect.poll(() => stepOf(room), { timeout: 50_000 }).toBeGreaterThan(200);
    await expect.poll(async () => (await lastRow(room, 1))[0]).toBeGreaterThan(60);
    expect((await lastRow(room, 1))[1]).toBeGreaterThan(60);
    const found = async () =>
      /answer positions: (\d) of (\d), with at least 50 %/.exec(await room.text(".learn-finders"));
    await expect.poll(async () => (await found())?.slice(1)).toEqual(["3", "4"]);
    await expect.poll(() => room.text(".learn-answer .tokens")).not.toContain("✗");
    expect(await room.page.$(".series-1")).not.toBeNull();
    const curve = ".learn-curves > :nth-child(2)";
    expect(await room.text(`${curve} .curve-legend`)).toContain("unseen examples right");
    const { text: csv } = await room.saved(curve, "CSV");
    expect(csv.replace("\ufeff", "")).toMatch(/^"step","unseen examples right, percent",/);
    expect(csv).not.toMatch(/[“”‘’]/);
  });

  test("shows the numbers of the engine, step by step", async () => {
    const room = await reenter("&seed=3&train=off");
    expect(await stepOf(room)).toBe(0);
    expect(await status(room)).toBe("Not trained yet");
    const heed = await load({ threads: 1 });
    const [setup] = setupsOf({ ...initialState, seed: 3 });
    if (!setup) throw new Error("there is one training");
    const training = new Training(heed, setup);
    let seen = await training.snapshot();
    for (let step = 1; step <= 3; ++step) {
      training.step();
      seen = await training.snapshot();
      await room.click("One step");
      await expect.poll(() => shownStep(room)).toBe(step);
    }
    await expect
      .poll(async () => Math.abs(((await lastRow(room, 0))[1] ?? 0) - seen.heldLoss))
      .toBeLessThan(0.011);
    const [loss] = await lastRow(room, 0);
    // The browser's engine uses fused multiply-add, Node's does not.
    expect(loss).toBeCloseTo(seen.loss, 1);
    await expect
      .poll(async () => Math.abs(((await lastRow(room, 1))[1] ?? 0) - 100 * bestMass(seen)))
      .toBeLessThan(1.1);
    const [exact] = await lastRow(room, 1);
    expect(exact).toBe(Number(formatShort(100 * seen.exact)));

    await room.page.focus(".head-grid .layer:last-child button");
    await room.page.keyboard.press("End");
    await room.page.keyboard.press("Enter");
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

  test("shows typed text at every step, and greys pictures of another text", async () => {
    const room = await reenter("&train=off");
    const field = ".learn-example input";
    const place = () =>
      room.page.$eval(".learn-large", (element) => element.getBoundingClientRect().top + scrollY);
    const before = await place();
    // The grid draws all heads of another text in one frame, so its height stays the same.
    const heights = await room.page.evaluateHandle(() => {
      const seen = new Set<number | undefined>();
      const look = () => {
        seen.add(document.querySelector(".head-grid .layers")?.clientHeight);
        requestAnimationFrame(look);
      };
      look();
      return seen;
    });
    await room.type(field, "ABCA");
    await expect.poll(() => exampleOf(room)).toBe("abca");
    expect(await heights.evaluate((seen) => [...seen].length)).toBe(1);
    await expect.poll(() => room.link()).toContain("text=ABCA");
    await room.click("Train");
    // After training the answer is right, and the answer positions belong to the letters of this text.
    const written = (text: string) => text.replace(/[^a-z]/g, "");
    await expect
      .poll(async () => written(await room.text(".learn-answer .tokens")), { timeout: 50_000 })
      .toBe("acba");
    await room.click("Pause training");
    const { x, y } = await room.cell("head-4", 1, 2, 5, 4);
    await room.page.mouse.move(x, y);
    await expect.poll(() => room.text(".readout")).toContain("“c” (2) attends to “c” (3)");
    expect(await room.text(".readout-formula")).toContain("an answer position");
    // A text that is typed now is also shown at the first steps, although it was typed after them.
    await room.paste(field, "zebra");
    await expect.poll(() => exampleOf(room)).toBe("zebra");
    await scrubTo(room, 0);
    await expect.poll(() => shownStep(room)).toBe(0);
    await expect.poll(() => exampleOf(room)).toBe("zebra");
    expect(written(await room.text(".learn-answer .tokens"))).not.toBe("arbez");
    const opacity = () =>
      room.page.$eval(".learn-courses", (element) => Number(getComputedStyle(element).opacity));
    await expect.poll(opacity).toBe(1);
    for (const [text, why, offered] of [
      ["ab3a你好", "does not know the marked characters", "aba"],
      ["abcabcabc", "up to 8 tokens; these are 9", "abcabcab"],
      ["abcabcabc".repeat(100), "These are 900 tokens", "abcabcab"],
      ["", "Nothing is typed", "heads"],
    ] as const) {
      await room.paste(field, text);
      await expect.poll(() => room.text(".unread-why")).toContain(why);
      expect(await room.text(".unread button")).toBe(`Use “${offered}”`);
      expect(await exampleOf(room)).toBeUndefined();
      expect(await opacity()).toBeLessThan(0.5);
    }
    await room.page.click(".unread button");
    await expect.poll(() => exampleOf(room)).toBe("heads");
    await room.click("Back to the unseen example");
    await expect.poll(() => exampleOf(room)).not.toBe("heads");
    await expect.poll(place).toBe(before);
    await room.click("dates");
    await room.paste(field, "3 May");
    await expect.poll(() => room.text(".unread-why")).toContain("not a date");
  });

  it("continues while earlier steps are replayed, and erases none of them", async () => {
    const room = await reenter();
    const count = async () =>
      Number(/Snapshot \d+ of (\d+)/.exec(await room.text(".transport-place"))?.[1]);
    await expect.poll(() => shownStep(room)).toBeGreaterThan(20);
    await room.click("← Back");
    await room.click("← Back");
    const looked = await shownStep(room);
    const before = await stepOf(room);
    await expect.poll(() => stepOf(room)).toBeGreaterThan(before + 10);
    expect(await shownStep(room)).toBe(looked);
    await expect.poll(() => room.link()).toContain(`at=${looked}`);
    await room.click("Show the newest snapshot");
    await expect.poll(() => shownStep(room)).toBeGreaterThan(looked);
    await room.click("Pause training");
    // A step that was running when pause was requested may still end, and its news may arrive a moment later.
    let still = await stepOf(room);
    const hasStopped = async () => {
      const before = still;
      await new Promise((resolve) => setTimeout(resolve, 500));
      still = await stepOf(room);
      return still === before;
    };
    await expect.poll(hasStopped).toBe(true);
    const kept = await count();
    await scrubTo(room, 1);
    await expect.poll(() => shownStep(room)).toBe(5);
    await room.click("Play");
    await expect.poll(() => shownStep(room)).toBe(still);
    expect([await count(), await stepOf(room)]).toEqual([kept, still]);
    await room.click("Train");
    await expect.poll(() => stepOf(room)).toBeGreaterThan(still);
    expect(await count()).toBeGreaterThanOrEqual(kept);
    await room.click("Train again");
    await expect.poll(() => stepOf(room)).toBeLessThan(still);
  });

  it("trains slowly at first, and shows a training again that is over", async () => {
    const room = await reenter("&length=4&size=16&train=off&slow=on");
    expect(await room.link()).not.toContain("slow");
    const begin = Date.now();
    await room.click("Train");
    await expect.poll(() => stepOf(room)).toBeGreaterThan(20);
    expect(Date.now() - begin).toBeGreaterThan(20 * slowPace);
    // The switch goes into the link, and the training continues at once at its full speed.
    await room.click(`Slow start, ${slowSteps} steps`);
    await expect.poll(() => room.link()).toContain("slow=off");
    await expect.poll(() => status(room), { timeout: 30_000 }).toBe("The training is complete");
    const last = await shownStep(room);
    await room.click("Watch again");
    await expect.poll(() => shownStep(room)).toBeLessThan(last / 2);
    await expect.poll(() => shownStep(room)).toBeGreaterThan(0);
    await room.click("Pause");
    const paused = await shownStep(room);
    expect(paused).toBeLessThan(last);
    expect(await stepOf(room)).toBe(last);
  });

  it("asks for the order of the letters only with positions", async () => {
    const room = await reenter("&train=off&head=20.1");
    await expect.poll(() => room.text(".learn-hope")).toContain("an anti-diagonal appear");
    // The link names a head that the model does not have.
    await expect
      .poll(() => room.text(".notices"))
      .toBe("The link's head is “20.1”, but it takes a head of this model; it was left out.");
    await room.page.click(".head-grid li button");
    await expect.poll(() => room.text(".notices")).toBe("");
    await room.click("Add positions");
    await expect.poll(() => room.text(".learn-hope")).toContain("but not their order");
  });

  it("has a logarithmic axis for the loss", async () => {
    const room = await reenter("&at=100");
    await expect.poll(() => stepOf(room), { timeout: 50_000 }).toBeGreaterThan(200);
    const ticks = () =>
      room.page.$eval(".curve svg[role=img]", (svg) =>
        [...svg.querySelectorAll("text")].map(({ textContent }) => Number(textContent)),
      );
    await expect.poll(ticks).toContain(0.1);
    expect(await ticks()).toContain(1);
    expect(await ticks()).not.toContain(0.5);
  });

  test("saves the queries and the keys of its large head", async () => {
    const room = await reenter("&train=off");
    const columns = await exampleOf(room);
    const menu = ":has(> .save > summary[aria-label^='Save the keys of'])";
    const { text } = await room.saved(menu, "CSV");
    const lines = text.trim().split("\r\n");
    expect(lines).toHaveLength(1 + 8);
    // Four heads with eight numbers each.
    expect(lines[0]).toBe(`"",${Array.from({ length: 8 }, (_, i) => `"${i + 1}"`).join(",")}`);
    expect(lines.slice(1).map((line) => line[1])).toEqual([...(columns ?? "")]);
  });

  it("trains one head beside four", async () => {
    const room = await reenter("&compare=on");
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

  test("reports that the numbers became NaN, and stays usable", async () => {
    const room = await reenter("&rate=1000");
    await expect.poll(() => status(room)).toContain("lower the learning rate");
    await room.page.focus(".slider input");
    await room.page.keyboard.press("Home");
    await expect.poll(() => status(room)).toBe("Training");
    await expect.poll(() => stepOf(room)).toBeGreaterThan(3);
  });

  test("ends its worker when the person leaves the room", async () => {
    const room = await reenter();
    const engines = async () =>
      (await workersOf(room.page)).filter((url) => url.includes("engine.worker")).length;
    await expect.poll(engines).toBe(2);
    await room.click("Step by step", "nav.rooms");
    await room.page.waitForSelector("main.steps [data-matrix]");
    await expect.poll(engines).toBe(1);
    await room.click("Learn", "nav.rooms");
    await expect.poll(() => stepOf(room)).toBeGreaterThan(3);
  });

  it("waits for “Train” if the system asks for reduced motion", async () => {
    const room = await enter();
    await room.page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    await room.page.reload();
    await expect.poll(() => status(room)).toBe("Not trained yet");
    await room.click("Train");
    await expect.poll(() => stepOf(room)).toBeGreaterThan(3);
    // So does the next training.
    await room.click("sort");
    await expect.poll(() => status(room)).toBe("Not trained yet");
    expect(await room.text(".settings")).not.toContain("Starts by itself");
  });

  test("has the text field above its pictures on a telephone, and shows the whole answer", async () => {
    const room = await reenter("&task=dates&train=off", { width: 360 });
    const boxes = () =>
      room.page.evaluate(() =>
        [".learn-example input", ".learn-answer", ".learn-large canvas"].map(
          (part) => document.querySelector(part)?.getBoundingClientRect().top ?? Number.NaN,
        ),
      );
    const [field, answer, picture] = await boxes();
    expect(field).toBeLessThan(answer as number);
    expect(answer).toBeLessThan(picture as number);
    expect(picture).toBeLessThan(740 - 100);
    const cut = () =>
      room.page.$$eval(".learn-answer .token", (tokens) =>
        tokens.filter((token) => token.scrollWidth > token.clientWidth).map((t) => t.textContent),
      );
    expect(await cut()).toEqual([]);
    // The reason why a text cannot be read covers the grey pictures below the field; nothing moves.
    await room.paste(".learn-example input", "3 May");
    await expect.poll(() => room.text(".unread-why")).toContain("not a date");
    expect(await boxes()).toEqual([field, answer, picture]);
    expect(await room.sidewaysOverflow()).toBeLessThanOrEqual(0);
  });

  it("learns its other tasks and starts again with each", async () => {
    const room = await reenter();
    // The button pauses this training, not the next one.
    await room.click("Pause training");
    for (const [words, about, total] of [
      ["sort", "in the order of the alphabet", 1200],
      ["pronouns", "each pronoun", 3000],
      ["dates", "year, month and day", 1200],
    ] as const) {
      await room.click(words);
      await expect.poll(() => room.text(".learn-example")).toContain(about);
      await expect.poll(() => room.text(".transport-place")).toContain(`of ${total}`);
      await expect.poll(() => stepOf(room)).toBeGreaterThan(5);
    }
    await expect.poll(() => room.link()).toContain("task=dates");
  });
});
