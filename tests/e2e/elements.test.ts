/**
 * Uses the elements of `heed/view` as a person would, in a separate page with the Playground's content security policy.
 */
import type * as view from "heed/view";
import { describe, expect, test } from "vitest";
import { type ElementsPage, visiting } from "./elementsPage";

const scores = [
  [2, 0.5, 1],
  [0.25, 1.5, -1],
  [1, 1, 3],
];

/** The softmax of each row up to its own place, as a causal model has it. */
const weights = scores.map((row, i) => {
  const visible = row.map((score, j) => (j > i ? 0 : Math.exp(score)));
  const sum = visible.reduce((total, each) => total + each, 0);
  return visible.map((each) => each / sum);
});
const tokens = ["the", "cat", "sat"];
const usual = { data: weights, tokens, mask: "causal" };
const weightOf = (row: number, col: number) => weights[row]?.[col] ?? 0;

describe.for(["chrome", "firefox"] as const)("In %s, <heed-matrix>", (name) => {
  const markup = `<heed-matrix data="[1, 0, 0.25, 0.75]" shape=" 2, 2 " tokens=' ["I", "see"]' mask="causal" curve="sqrt"></heed-matrix>`;
  let room: ElementsPage;
  visiting(
    name,
    (opened) => {
      room = opened;
    },
    markup,
  );

  test("reads its attributes", async () => {
    const read = await room.page.evaluate(async () => {
      const element = document.querySelector("heed-matrix") as view.HeedMatrix;
      await element.updateComplete;
      return { csv: element.csv(), mask: element.mask, curve: element.curve, error: element.error };
    });
    const csv = '"","I","see"\r\n"I",1,0\r\n"see",0.25,0.75\r\n';
    expect(read).toEqual({ csv, mask: "causal", curve: "sqrt", error: null });
  });

  test("draws larger weights in stronger colours, and hatches what is hidden", async () => {
    await room.show("heed-matrix", usual);
    const [large, small] = [await room.colour(0, 0), await room.colour(1, 0)];
    expect(large.slice(0, 3)).toEqual([0, 34, 78]);
    expect(small[0]).toBeGreaterThan(large[0] as number);
    expect(await room.words("[part=legend]")).toBe("0 1 hidden save");
    expect(await room.words("[part=notes]")).toBe("");
  });

  test("shows the number of the cell that is pointed at, and tells of it", async () => {
    await room.show("heed-matrix", usual);
    expect(await room.words("[part=readout]")).toBe(
      "Point at a cell to see its number; a click keeps it.",
    );
    const { x, y } = await room.place(2, 1);
    await room.page.mouse.move(x, y);
    await expect
      .poll(() => room.words("[part=readout]"))
      .toBe("query 3 “sat”, key 2 “cat” weight 0.107; the largest of its row is 0.787");
    const detail = { row: 2, col: 1, value: weightOf(2, 1) };
    expect(await room.events()).toEqual([["heed-hover", detail]]);
    await room.page.mouse.move(0, 0);
    await expect.poll(() => room.events()).toEqual([["heed-hover", null]]);
    await expect.poll(() => room.words("[part=readout]")).toContain("Point at a cell");
  });

  test("says what tokens are", async () => {
    const roles = ["article", "subject", "verb"];
    await room.show("heed-matrix", { ...usual, roles, locked: { row: 2, col: 1 } });
    expect(await room.words("[part=readout]")).toContain(
      "query 3 “sat” (verb), key 2 “cat” (subject)",
    );
  });

  test("shows the softmax where the scores are known, and says so if it is not the weight", async () => {
    await room.show("heed-matrix", { ...usual, scores, locked: { row: 2, col: 0 } });
    expect(await room.words("[part=readout]")).toContain(
      "score 1.000; e^s ÷ Σ e^s = e^(1.000 − 3.000) ÷ 1.271 = 0.107",
    );
    await room.set({ data: [...weights.slice(0, 2), [0.5, 0.25, 0.25]] });
    expect(await room.words("[part=readout]")).toMatch(/= 0\.107, but the weight is 0\.500$/);
    await room.set({ data: scores, scores: null, kind: "scores" });
    expect(await room.words("[part=readout]")).toMatch(/÷ 1\.271 = 0\.107$/);
    expect(await room.words("[part=legend]")).toContain("−3.00 3.00");
  });

  test("keeps the cell that is clicked until Escape, and selects the row of a word", async () => {
    await room.show("heed-matrix", usual);
    const cell = await room.place(1, 0);
    await room.page.mouse.click(cell.x, cell.y);
    await expect.poll(() => room.words("[part=readout]")).toContain("kept; press Escape");
    const detail = { row: 1, col: 0, value: weightOf(1, 0) };
    expect((await room.events()).at(-1)).toEqual(["heed-lock", detail]);
    await room.page.keyboard.press("Escape");
    await expect.poll(() => room.words("[part=readout]")).not.toContain("kept");
    expect(await room.events()).toContainEqual(["heed-lock", null]);
    const word = await room.place(2, -1);
    await room.page.mouse.click(word.x, word.y);
    expect((await room.events()).at(-1)).toEqual(["heed-select", { row: 2 }]);
  });

  test("is read cell by cell by keyboard", async () => {
    await room.show("heed-matrix", { ...usual, label: "Head 4" });
    await room.page.keyboard.press("Tab");
    for (const key of [
      "ArrowDown",
      "ArrowDown",
      "End",
      "ArrowLeft",
      "ArrowRight",
      "ArrowRight",
    ] as const)
      await room.page.keyboard.press(key);
    expect(await room.heard()).toBe(
      "query 3 “sat”, key 3 “sat”: weight 0.787; the largest of its row is 0.787",
    );
    await room.page.keyboard.press("Home");
    await room.page.keyboard.press("Enter");
    expect((await room.events()).at(-1)).toEqual([
      "heed-lock",
      { row: 2, col: 0, value: weightOf(2, 0) },
    ]);
    await room.page.keyboard.press("ArrowUp");
    expect((await room.events()).at(-1)).toEqual([
      "heed-lock",
      { row: 1, col: 0, value: weightOf(1, 0) },
    ]);
    const named = await room.page.evaluate(() => {
      const canvas = document.body.firstElementChild?.shadowRoot?.activeElement;
      return [canvas?.getAttribute("role"), canvas?.getAttribute("aria-label")];
    });
    const summary =
      "Head 4, 3 rows and 3 columns, from 0.107 to 1.000. Arrow keys move. Enter keeps a cell.";
    expect(named).toEqual(["application", summary]);
  });

  test.for([
    [{ roles: ["article"] }, "roles: expected 3 texts, got 1"],
    [{ mask: [[true]] }, "mask: expected [3, 3], got [1, 1]"],
    [{ scores: [[1]] }, "scores: expected [1, 1, 3, 3], as data has, got [1, 1, 1, 1]"],
    [{ theme: "grey" }, 'theme: expected "auto" or "light" or "dark", got "grey"'],
    [{ head: 1 }, "head: expected a number below 1, got 1"],
    [{ locked: { row: 3, col: 0 } }, "locked: expected a cell of [3, 3], got [3, 0]"],
  ] as const)("says where it stands what does not fit: %o", async ([wrong, message]) => {
    await room.show("heed-matrix", { ...usual, ...wrong });
    expect(await room.words("[part=error]")).toBe(message);
    expect(await room.words("[part=content]")).toBe("");
    expect(await room.events()).toEqual([["heed-error", message]]);
    const code = () =>
      room.page.evaluate(() => (document.body.firstElementChild as view.HeedMatrix).error?.code);
    expect(["shape", "dtype", "option"]).toContain(await code());
    // Nothing that a person does brings the old picture back; Escape only releases a cell.
    if (!("locked" in wrong)) await room.page.keyboard.press("Escape");
    await room.set({ label: "another" });
    expect(await room.words("[part=error]")).toBe(message);
    const right = { ...usual, roles: null, scores: null, theme: "auto", head: 0, locked: null };
    await room.set(right);
    expect(await room.words("[part=error]")).toBe("");
    expect(await room.words("[part=legend]")).toContain("hidden");
  });

  test("draws rows that do not add up to 1 and numbers that are missing, and says so", async () => {
    await room.show("heed-matrix", {
      data: [
        [0.5, 0.2],
        [3, null],
      ],
    });
    expect(await room.words("[part=notes]")).toBe(
      "1 number missing (NaN): left empty. 1 row not adding up to 1: one adds up to 0.7.",
    );
    expect(await room.colour(1, 1)).toEqual([0, 0, 0, 0]);
    await room.set({ kind: "scores" });
    expect(await room.words("[part=notes]")).toBe("1 number missing (NaN): left empty.");
  });

  test("exports a picture with numbers that are missing and words that XML does not know", async () => {
    await room.show("heed-matrix", {
      data: [
        [null, 1],
        [0.5, 0.5],
      ],
      tokens: ["a\u0000", "\u001f"],
    });
    const made = await room.page.evaluate(() => {
      const element = document.body.firstElementChild as view.HeedMatrix;
      const svg = new DOMParser().parseFromString(element.svg(), "image/svg+xml");
      const texts = [...svg.querySelectorAll("text")].map(({ textContent }) => textContent);
      return { texts, broken: svg.querySelector("parsererror") !== null };
    });
    expect(made.broken).toBe(false);
    expect(made.texts).toEqual(expect.arrayContaining(["a\ufffd", "\ufffd", "0.500"]));
  });

  test("draws what a listener sets while it draws", async () => {
    await room.show("heed-matrix", usual);
    const shown = await room.page.evaluate(async () => {
      const element = document.body.firstElementChild as view.HeedMatrix;
      element.addEventListener("heed-error", () => {
        element.tokens = null;
      });
      element.tokens = ["the"];
      await element.updateComplete;
      await element.updateComplete;
      return element.shadowRoot?.querySelector("[part=error]")?.textContent;
    });
    expect(shown).toBe("");
  });

  test("has the colours and the range of the scores that are not hidden", async () => {
    const hidden = scores.map((row, i) => row.map((score, j) => (j > i ? -3.4e38 : score)));
    await room.show("heed-matrix", { ...usual, data: hidden, kind: "scores" });
    expect(await room.words("[part=legend]")).toContain("−3.00 3.00");
    const range = () =>
      room.page.evaluate(async () => {
        const element = document.body.firstElementChild as view.HeedMatrix;
        await element.updateComplete;
        const canvas = element.shadowRoot?.querySelector("canvas");
        return /from .*? to [^ ]*\d/.exec(canvas?.ariaLabel ?? "")?.[0];
      });
    expect(await range()).toBe("from 0.250 to 3.000");
    // The same list is read again if it is set again.
    await room.page.evaluate(() => {
      const element = document.body.firstElementChild as view.HeedMatrix;
      const data = element.data as number[][];
      (data[2] as number[])[2] = 5;
      element.data = data;
    });
    expect(await range()).toBe("from 0.250 to 5.000");
    await room.page.evaluate(() => {
      const element = document.body.firstElementChild as view.HeedMatrix;
      const size = 400;
      const data = Float32Array.from({ length: size * size }, (_, i) =>
        i % size > i / size ? -3.4e38 : (i % size) / 200,
      );
      Object.assign(element, { data, shape: [size, size], tokens: null });
    });
    await expect.poll(range).toBe("from 0.000 to 1.995");
  });

  test.for([
    [2, 2],
    [1, 1],
    [1, 30],
    [1, 60],
    [9, 1],
  ] as const)(
    "writes the titles of %i rows and %i columns within its picture",
    async ([rows, cols]) => {
      await room.show("heed-matrix", {});
      const titles = await room.page.evaluate(
        async (rows, cols) => {
          const titles: [string, boolean][] = [];
          const { fillText } = CanvasRenderingContext2D.prototype;
          CanvasRenderingContext2D.prototype.fillText = function (words, x, y) {
            const { width } = this.measureText(words);
            const [begin, end] = this.textAlign === "right" ? [x - width, x] : [x, x + width];
            const isInside = [begin, end].every((place) => {
              const at = this.getTransform().transformPoint({ x: place, y });
              const { canvas } = this;
              return at.x >= 0 && at.x <= canvas.width && at.y >= 0 && at.y <= canvas.height;
            });
            if (/queries|keys/.test(words)) titles.push([words, isInside]);
            fillText.call(this, words, x, y);
          };
          const element = document.body.firstElementChild as view.HeedMatrix;
          const row = Array.from({ length: cols }, () => 1 / cols);
          Object.assign(element, {
            data: Array.from({ length: rows }, () => row),
            keys: row.map((_, i) => `k${i}`),
            queries: Array.from({ length: rows }, (_, i) => `q${i}`),
          });
          await element.updateComplete;
          Object.assign(CanvasRenderingContext2D.prototype, { fillText });
          return titles;
        },
        rows,
        cols,
      );
      const words = titles.map(([words]) => words);
      expect(words).toContainEqual(expect.stringMatching(/^(← )?queries/));
      expect(words).toContainEqual(expect.stringMatching(/^keys.* →$/));
      if (rows === 2) expect(words).toContain("← queries attend");
      expect(titles.filter(([, isInside]) => !isInside)).toEqual([]);
    },
  );

  test("reads a large matrix anew where it was moved, and nothing without data", async () => {
    await room.show("heed-matrix", {});
    const read = await room.page.evaluate(async () => {
      const element = document.body.firstElementChild as view.HeedMatrix;
      const size = 1024;
      const data = new Float32Array(size * size).fill(0.5);
      Object.assign(element, { data, shape: [size, size] });
      await new Promise((resolve) => requestAnimationFrame(resolve));
      document.body.append(element);
      await element.updateComplete;
      await element.updateComplete;
      const part = (name: string) => element.shadowRoot?.querySelector(`[part=${name}]`);
      const before = [part("readout")?.textContent, part("notes")?.textContent];
      element.data = data.slice();
      await new Promise((resolve) => requestAnimationFrame(resolve));
      element.data = null;
      await element.updateComplete;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { before, after: part("notes")?.textContent };
    });
    expect(read.before).toEqual([
      "Point at a cell to see its number; a click keeps it.",
      "1024 rows not adding up to 1: one adds up to 512.",
    ]);
    expect(read.after).toBe("");
  });

  test("releases what a person chose if other numbers do not have it", async () => {
    await room.show("heed-matrix", usual);
    const [cell, word] = [await room.place(2, 1), await room.place(2, -1)];
    await room.page.mouse.click(cell.x, cell.y);
    await room.page.mouse.click(word.x, word.y);
    await room.events();
    const smaller = {
      data: [
        [1, 0],
        [0.5, 0.5],
      ],
      tokens: ["a", "b"],
    };
    await room.set(smaller);
    expect(await room.words("[part=error]")).toBe("");
    const told = await room.events();
    expect(told).toContainEqual(["heed-lock", null]);
    expect(told).toContainEqual(["heed-select", {}]);
    await room.set({ ...usual, row: 2 });
    await room.set(smaller);
    expect(await room.words("[part=error]")).toBe("row: expected a row of 2, got 2");
  });

  test("lets a kept cell go while its data is refused", async () => {
    await room.show("heed-matrix", usual);
    const { x, y } = await room.place(2, 1);
    await room.page.mouse.click(x, y);
    await room.set({ data: "weights" });
    await room.events();
    await room.page.keyboard.press("Escape");
    expect((await room.events()).at(-1)).toEqual(["heed-lock", null]);
  });

  test("has its cursor in a matrix that is smaller than before", async () => {
    await room.show("heed-matrix", usual);
    for (const key of ["Tab", "ArrowDown", "ArrowDown", "End"] as const)
      await room.page.keyboard.press(key);
    await room.page.evaluate(() => {
      document.body.firstElementChild?.shadowRoot?.querySelector("canvas")?.blur();
    });
    await room.set({
      data: [
        [1, 0],
        [0.5, 0.5],
      ],
      tokens: ["a", "b"],
    });
    await room.events();
    await room.page.evaluate(() => {
      const root = document.body.firstElementChild?.shadowRoot;
      root?.querySelector("canvas")?.focus({ focusVisible: true } as FocusOptions);
    });
    expect(await room.events()).toContainEqual(["heed-hover", { row: 1, col: 1, value: 0.5 }]);
  });

  test("says that a picture could not be saved", async () => {
    await room.show("heed-matrix", usual);
    await room.page.evaluate(async () => {
      const { toBlob } = HTMLCanvasElement.prototype;
      HTMLCanvasElement.prototype.toBlob = (done) => done(null);
      const root = document.body.firstElementChild?.shadowRoot;
      root?.querySelector<HTMLElement>(".save-choices button")?.click();
      await new Promise((resolve) => setTimeout(resolve, 300));
      Object.assign(HTMLCanvasElement.prototype, { toBlob });
    });
    expect(await room.words(".save output")).toBe("PNG not saved: the browser made no image");
  });

  test("shows nothing without data", async () => {
    await room.show("heed-matrix", { tokens });
    expect(await room.words("[part=frame]")).toBe("");
    expect(await room.events()).toEqual([]);
  });

  test("is dark or light, as its theme or the page says, and in the page's own colours", async () => {
    await room.show("heed-matrix", { ...usual, theme: "light" });
    expect(await room.background()).toBe("rgb(255, 255, 255)");
    await room.set({ theme: "dark" });
    expect(await room.background()).toBe("rgb(27, 28, 31)");
    expect((await room.colour(0, 0)).slice(0, 3)).toEqual([254, 232, 56]);
    await room.page.evaluate(() => {
      document.documentElement.style.colorScheme = "dark";
    });
    await room.show("heed-matrix", usual);
    expect(await room.background()).toBe("rgb(27, 28, 31)");
    await room.page.evaluate(() => {
      document.documentElement.style.colorScheme = "light";
      const { style } = document.body.firstElementChild as HTMLElement;
      style.setProperty("--heed-page", "light-dark(rgb(1 2 3), black)");
    });
    await room.set({ locale: "de-CH" });
    expect(await room.background()).toBe("rgb(1, 2, 3)");
    const svg = await room.page.evaluate(() =>
      (document.body.firstElementChild as view.HeedMatrix).svg(),
    );
    expect(svg).toContain('fill="rgb(1, 2, 3)"');
    await room.page.evaluate(() => {
      document.documentElement.style.colorScheme = "";
    });
  });

  test("is light on paper", async () => {
    await room.show("heed-matrix", { ...usual, theme: "dark" });
    const during = await room.page.evaluate(() => {
      const frame = document.body.firstElementChild?.shadowRoot?.firstElementChild;
      return ["beforeprint", "afterprint"].map((name) => {
        dispatchEvent(new Event(name));
        return frame?.className;
      });
    });
    expect(during).toEqual(["light", "dark"]);
  });

  test("writes numbers as its language does", async () => {
    await room.show("heed-matrix", { ...usual, locale: "de", locked: { row: 2, col: 1 } });
    expect(await room.words("[part=readout]")).toContain(
      "weight 0,107; the largest of its row is 0,787",
    );
    const svg = await room.page.evaluate(() =>
      (document.body.firstElementChild as view.HeedMatrix).svg(),
    );
    expect(svg).toContain(">0,787</text>");
  });

  test("exports its picture and its numbers", async () => {
    await room.show("heed-matrix", { ...usual, label: "Layer 3, head 4" });
    const made = await room.page.evaluate(async () => {
      const element = document.body.firstElementChild as view.HeedMatrix;
      const svg = new DOMParser().parseFromString(element.svg(), "image/svg+xml");
      const png = await element.png();
      return {
        texts: [...svg.querySelectorAll("text")].map(({ textContent }) => textContent),
        hidden: svg.querySelectorAll('rect[width="72"][fill="url(#hidden)"]').length,
        broken: svg.querySelector("parsererror") !== null,
        png: [png.type, [...new Uint8Array(await png.slice(1, 4).arrayBuffer())]],
        csv: element.csv().split("\r\n")[2],
        npy: [...new Float32Array(element.npy().slice(-36).buffer)],
      };
    });
    expect(made.texts).toEqual(
      expect.arrayContaining(["Layer 3, head 4", "cat", "0.787", "hidden"]),
    );
    expect([made.hidden, made.broken]).toEqual([3, false]);
    expect(made.png).toEqual(["image/png", [0x50, 0x4e, 0x47]]);
    expect(made.csv?.startsWith('"cat",0.2227')).toBe(true);
    expect(made.npy).toEqual(weights.flat().map(Math.fround));
  });

  test("exports before it stands on a page, and takes the page's colours when it does", async () => {
    const fills = await room.page.evaluate(() => {
      const element = heedView.matrix({ data: [[1]], theme: "light" });
      element.style.setProperty("--heed-page", "rgb(1 2 3)");
      const before = element.svg();
      document.body.replaceChildren(element);
      return [before, element.svg()].map(
        (svg) => /<rect width="\d{3}" height="\d+" fill="([^"]+)"/.exec(svg)?.[1],
      );
    });
    expect(fills).toEqual(["#ffffff", "rgb(1, 2, 3)"]);
  });

  test("saves by its menu, unless it has none", async () => {
    await room.show("heed-matrix", { ...usual, label: "Layer 3, head 4" });
    const formats = await room.texts(".save-choices button");
    const names: string[] = [];
    for (const format of formats) names.push((await room.saved(format ?? "")).name);
    const file = (ending: string) => `heed-layer-3-head-4${ending}`;
    expect(names).toEqual([".png", ".svg", "-moving.svg", ".csv", ".npy"].map(file));
    await room.set({ controls: "none" });
    expect(await room.words("[part=legend]")).toBe("0 1 hidden");
  });

  test("fits a narrow page, and follows its width", async () => {
    await room.show("heed-matrix", usual);
    const width = () =>
      room.page.evaluate(
        () =>
          document.body.firstElementChild?.shadowRoot
            ?.querySelector("canvas")
            ?.getBoundingClientRect().width,
      );
    const before = await width();
    await room.page.evaluate(() => {
      (document.body.firstElementChild as HTMLElement).style.width = "150px";
    });
    await expect.poll(width).toBeLessThanOrEqual(150);
    expect(before).toBeGreaterThan(200);
  });

  test("shows a head of many, and which one it is in its events", async () => {
    const none = weights.map((row) => row.map(() => 1 / 3));
    await room.show("heed-matrix", {
      data: [
        [none, none],
        [none, weights],
      ],
      layer: 1,
      head: 1,
      tokens,
    });
    const csv = await room.page.evaluate(() =>
      (document.body.firstElementChild as view.HeedMatrix).csv(),
    );
    expect(csv.split("\r\n")[1]).toBe('"the",1,0,0');
    await room.page.keyboard.press("Tab");
    expect(await room.events()).toEqual([
      ["heed-hover", { layer: 1, head: 1, row: 0, col: 0, value: 1 }],
    ]);
  });
});
