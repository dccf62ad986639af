/**
 * `<heed-lines>`, `<heed-tokens>` and `<heed-heads>` in a separate page with the Playground's content security policy.
 */
import type * as view from "heed/view";
import { describe, expect, test } from "vitest";
import { type ElementsPage, visiting } from "./elementsPage";

/** Most weight of the second row is on the first token, most of the third row on the second token, and so on. */
const weights = [
  [1, 0, 0, 0],
  [0.75, 0.25, 0, 0],
  [0.125, 0.625, 0.25, 0],
  [0.0625, 0.125, 0.5, 0.3125],
];
const tokens = ["the", "cat", "sat", "down"];
const usual = { data: weights, tokens, mask: "causal" };
const cross = [
  [0.25, 0.75, 0],
  [0.5, 0.25, 0.25],
];
const strange = ["😀", "👩‍👩‍👧‍👦", "שלום", "\n"];

/** Heads that differ: the one of layer l and number h moves a share h / 4 to the previous token. */
const stacked = (layers: number, heads: number) =>
  Array.from({ length: layers }, (_, layer) =>
    Array.from({ length: heads }, (_, head) =>
      weights.map((row, i) =>
        row.map((_, j) => {
          const share = (head + layer / 8) / (heads + 1);
          return i === 0 ? Number(j === 0) : j === i - 1 ? share : j === i ? 1 - share : 0;
        }),
      ),
    ),
  );

const refusals = [
  [{ head: 3 }, "head: expected a number below 1, got 3"],
  [{ mask: [[1]] }, "mask: expected [4, 4], got [1, 1]"],
] as const;

describe.for(["chrome", "firefox"] as const)("In %s", (name) => {
  let room: ElementsPage;
  visiting(name, (opened) => {
    room = opened;
  });

  /** The middle of the part that a selector finds in the element, in coordinates of the window. */
  const middleOf = (selector: string, at = 0) =>
    room.page.evaluate(
      (selector, at) => {
        const found = document.body.firstElementChild?.shadowRoot?.querySelectorAll(selector)[at];
        if (!found) throw new Error(`there is no ${selector}`);
        const { left, top, width, height } = found.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
      },
      selector,
      at,
    );
  const point = async (selector: string, at = 0) => {
    const { x, y } = await middleOf(selector, at);
    await room.page.mouse.move(x, y);
  };
  const click = async (selector: string, at = 0) => {
    const { x, y } = await middleOf(selector, at);
    await room.page.mouse.click(x, y);
  };
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await room.page.keyboard.press(key as "Tab");
  };
  const all = (selector: string) => room.texts(selector);
  const heard = () => room.heard();
  const error = () =>
    room.page.evaluate(() => (document.body.firstElementChild as view.HeedElement).error?.message);

  describe.for(["heed-lines", "heed-tokens", "heed-heads"] as const)("<%s>", (tag) => {
    test.for(refusals)("says that it cannot show %o", async ([wrong, message]) => {
      await room.show(tag, { ...usual, ...wrong });
      expect(await error()).toBe(message);
      expect(await room.words("[role=alert]")).toBe(message);
      expect((await room.events()).filter(([name]) => name === "heed-error")).toHaveLength(1);
      await room.set({ ...usual, head: 0 });
      expect(await error()).toBeUndefined();
      expect(await room.words("[role=alert]")).toBe("");
    });

    test("takes one head of several layers, and as many keys as there are", async () => {
      const data = stacked(2, 3);
      await room.show(tag, { data, tokens, layer: 1, head: 2 });
      expect(await error()).toBeUndefined();
      const csv = await room.page.evaluate(() =>
        (document.body.firstElementChild as view.HeedLines).csv(),
      );
      expect(csv.split("\r\n")[2]).toBe(`"cat",${data[1]?.[2]?.[1]}`);
      await room.set({ data: cross, tokens: null, keys: ["a", "b", "c"], layer: 0, head: 0 });
      expect(await error()).toBeUndefined();
    });

    test("draws what is missing and rows that do not add up to one, and says so", async () => {
      await room.show(tag, {
        data: [
          [null, 1],
          [3, 1],
        ],
      });
      expect(await error()).toBeUndefined();
      const picture = await room.page.evaluate(() => {
        const element = document.body.firstElementChild as view.HeedLines;
        if (element.localName === "heed-tokens") element.row = 0;
        return element.svg();
      });
      expect(picture).toContain("<svg");
      expect(await error()).toBeUndefined();
      const notes = () =>
        room.page.evaluate(() => {
          const root = document.body.firstElementChild?.shadowRoot;
          const inner = root?.querySelector("heed-matrix")?.shadowRoot ?? root;
          return inner?.querySelector("[part=notes]")?.textContent;
        });
      await expect.poll(notes).toMatch(/1 number missing \(NaN\).*1 row not adding up to 1/);
    });

    test("shows words with emoji, of right-to-left scripts and of white space", async () => {
      await room.show(tag, { ...usual, tokens: strange, row: 2 });
      expect(await error()).toBeUndefined();
      const words = await room.page.evaluate(() => {
        const root = document.body.firstElementChild?.shadowRoot;
        return (root?.querySelector("heed-matrix")?.shadowRoot ?? root)?.textContent;
      });
      if (tag !== "heed-heads")
        for (const word of strange.slice(0, 3)) expect(words).toContain(word);
    });

    test("gives files", async () => {
      await room.show(tag, usual);
      const files = await room.page.evaluate(async () => {
        const element = document.body.firstElementChild as view.HeedLines;
        const png = await element.png();
        const bytes = [...new Uint8Array(await png.slice(0, 4).arrayBuffer())];
        const svg = new DOMParser().parseFromString(element.svg(), "image/svg+xml");
        const texts = [...svg.querySelectorAll("text")].map(({ textContent }) => textContent);
        return { csv: element.csv(), bytes, texts, npy: element.npy().length };
      });
      expect(files.csv.split("\r\n")[1]).toBe('"the",1,0,0,0');
      expect(files.bytes).toEqual([0x89, 0x50, 0x4e, 0x47]);
      expect(files.npy).toBe(128 + 4 * 16);
      for (const word of tokens) expect(files.texts).toContain(word);
    });

    test("of 2,048 tokens shows a picture, and gives it up for other data", async () => {
      const long = await room.page.evaluate(async (tag) => {
        const element = document.createElement(tag) as view.HeedLines;
        document.body.replaceChildren(element);
        const size = 2048;
        const data = new Float32Array(size * size);
        for (let i = 0; i < size; ++i) data[i * size + i] = 1;
        element.data = data;
        element.shape = [size, size];
        await new Promise((resolve) => requestAnimationFrame(resolve));
        element.data = data.slice();
        await element.updateComplete;
        const inner = element.shadowRoot?.querySelector("heed-matrix");
        await inner?.updateComplete;
        const isOpen = element.error === null;
        element.shape = null;
        element.data = [
          [1, 0],
          [0.5, 0.5],
        ];
        await element.updateComplete;
        return { isOpen, csv: element.csv() };
      }, tag);
      expect(long).toEqual({ isOpen: true, csv: '"","1","2"\r\n"1",1,0\r\n"2",0.5,0.5\r\n' });
    });
  });

  test("<heed-lines> releases a line that a person kept if other numbers do not have it", async () => {
    await room.show("heed-lines", usual);
    await press("Tab", "End", "ArrowRight", "Enter");
    expect((await room.events()).at(-1)).toEqual([
      "heed-lock",
      expect.objectContaining({ row: 3 }),
    ]);
    const smaller = { data: [[1]], tokens: ["a"], mask: null };
    await room.set(smaller);
    expect(await error()).toBeUndefined();
    expect(await room.events()).toContainEqual(["heed-lock", null]);
    await room.set({ ...usual, locked: { row: 3, col: 0 } });
    await room.set(smaller);
    expect(await error()).toBe("locked: expected a cell of [1, 1], got [3, 0]");
  });

  describe("<heed-lines>", () => {
    const counted = () =>
      room.page.evaluate(() => {
        const root = document.body.firstElementChild?.shadowRoot;
        const paths = (part: string) => root?.querySelectorAll(`${part} path`).length;
        return [paths(".line-others"), paths(".line-selected")];
      });

    test("draws the lines that carry the share, and those of the selected query in colour", async () => {
      await room.show("heed-lines", { ...usual, mass: 1, row: 3 });
      expect(await counted()).toEqual([6, 4]);
      expect(await room.words("[part=readout]")).toBe(
        "query 4 “down” attends most to “sat” 0.500, “down” 0.313, “cat” 0.125",
      );
      await room.set({ mass: 0.5, row: null });
      expect(await counted()).toEqual([4, 0]);
    });

    test("colours the token or the line that is pointed at, and keeps a line that is clicked", async () => {
      await room.show("heed-lines", { ...usual, mass: 0.5 });
      await point(".line-labels text", 2);
      await expect.poll(() => room.words("[part=readout]")).toContain("query 3 “sat” attends most");
      expect(await room.events()).toEqual([["heed-hover", { row: 2, col: 1, value: 0.625 }]]);
      await point(".line-labels text", 4);
      await expect.poll(() => room.words("[part=readout]")).toContain("key 1 “the” is attended to");
      await click(".line-labels text", 3);
      expect((await room.events()).at(-1)).toEqual(["heed-select", { row: 3 }]);
      const line = await middleOf(".token-lines svg");
      const { y } = await middleOf(".line-labels text", 0);
      await room.page.mouse.click(line.x, y);
      const kept = ["heed-lock", { row: 0, col: 0, value: 1 }];
      await expect.poll(() => room.events()).toContainEqual(kept);
      await expect.poll(() => room.words("[part=readout]")).toContain("kept; press Escape");
      await press("Escape");
      await expect.poll(() => room.events()).toContainEqual(["heed-lock", null]);
    });

    test("keeps a line that is clicked while the lines are drawn anew", async () => {
      await room.show("heed-lines", { ...usual, mass: 0.5 });
      const { x } = await middleOf(".token-lines svg");
      const { y } = await middleOf(".line-labels text", 0);
      await room.page.mouse.move(x, y);
      await room.page.mouse.down();
      await room.set({ mass: 0.6 });
      await room.page.mouse.up();
      const kept = ["heed-lock", { row: 0, col: 0, value: 1 }];
      await expect.poll(() => room.events()).toContainEqual(kept);
    });

    test("saves lines that play query by query, and all of them for those who want no motion", async () => {
      await room.show("heed-lines", { ...usual, mass: 1, row: 3 });
      const { text: svg } = await room.saved("moving SVG");
      expect(svg).not.toMatch(/<script|href=/);
      expect((await room.saved("SVG")).text).not.toContain("@keyframes");
      const page = await room.page.browser().newPage();
      const { seen, conditions } = await page.evaluate((svg) => {
        document.body.innerHTML = svg;
        const moves = document.getAnimations();
        const total = Number(moves[0]?.effect?.getComputedTiming().duration);
        const paths = [...document.querySelectorAll("path")];
        const seen = [0, 0.4, 0.99].map((time) => {
          for (const move of moves) {
            move.pause();
            move.currentTime = time * total;
          }
          return paths.filter((path) => getComputedStyle(path).opacity === "1").length;
        });
        const rules = [...(document.querySelector("style")?.sheet?.cssRules ?? [])];
        return { seen, conditions: rules.map((rule) => (rule as CSSMediaRule).conditionText) };
      }, svg);
      await page.close();
      // A line for each key that a query may see: one, two, three, four.
      expect([seen[0], seen[2]]).toEqual([0, 10]);
      expect(seen[1]).toBeGreaterThan(0);
      expect(seen[1]).toBeLessThan(10);
      expect(conditions).toEqual(["not (prefers-reduced-motion: reduce)"]);
      // Thousands of lines are a few shapes, which cannot play.
      const size = 40;
      const data = Array.from({ length: size }, () => Array(size).fill(1 / size));
      await room.set({ data, tokens: null, row: null });
      expect(await all(".save-choices button")).not.toContain("moving SVG");
      await room.set(usual);
      expect((await room.saved("moving SVG")).text).toContain("@keyframes");
    });

    test("is read by keyboard, from query to query and from line to line", async () => {
      await room.show("heed-lines", usual);
      await press("Tab", "ArrowDown", "ArrowDown", "ArrowDown");
      expect(await heard()).toContain("query 3 “sat” attends most to “cat” 0.625");
      await press("ArrowRight", "ArrowRight");
      expect(await heard()).toBe(
        "query 3 “sat”, key 3 “sat”: weight 0.250; the largest of its row is 0.625",
      );
      await press("Enter");
      expect((await room.events()).at(-1)).toEqual(["heed-lock", { row: 2, col: 2, value: 0.25 }]);
    });
  });

  describe("<heed-tokens>", () => {
    const shades = () =>
      room.page.evaluate(() =>
        [...(document.body.firstElementChild?.shadowRoot?.querySelectorAll(".piece") ?? [])].map(
          (piece) => (piece as HTMLElement).dataset.weight ?? null,
        ),
      );

    test("shades by what the kept token attends to, or by what attends to it", async () => {
      await room.show("heed-tokens", { ...usual, row: 1 });
      expect(await shades()).toEqual(["0.75", "0.25", null, null]);
      await room.set({ direction: "to" });
      expect(await shades()).toEqual([null, "0.25", "0.625", "0.125"]);
      expect(await room.words("[part=readout]")).toContain("key 2 “cat” is attended to most by");
    });

    test("shades when what did not fit is mended, and after a move while it reads", async () => {
      await room.show("heed-tokens", { ...usual, tokens: ["a"], row: 1 });
      await room.set({ tokens });
      expect(await shades()).toEqual(["0.75", "0.25", null, null]);
      const shaded = await room.page.evaluate(async () => {
        const element = document.body.firstElementChild as view.HeedTokens;
        const size = 1024;
        const data = new Float32Array(size * size).fill(1 / size);
        Object.assign(element, { data, shape: [size, size], tokens: null, mask: null });
        element.range = "head";
        await new Promise((resolve) => requestAnimationFrame(resolve));
        document.body.append(element);
        await element.updateComplete;
        await element.updateComplete;
        return element.shadowRoot?.querySelectorAll(".piece[data-weight]").length;
      });
      expect(shaded).toBe(1024);
    });

    test("leaves a token empty of which the weight is missing, and releases one that is gone", async () => {
      await room.show("heed-tokens", {
        data: [[null, 1, 0], weights[0], weights[0]].map((row) => row?.slice(0, 3)),
      });
      await click(".piece", 2);
      await click(".piece", 0);
      await expect.poll(shades).toEqual([null, "1", "0"]);
      await click(".piece", 2);
      await room.events();
      await room.set({ data: [[1]] });
      expect(await error()).toBeUndefined();
      expect(await room.events()).toContainEqual(["heed-select", {}]);
    });

    test("follows the pointer, keeps what is clicked, and says the weight between two", async () => {
      await room.show("heed-tokens", usual);
      await point(".piece", 2);
      await expect.poll(shades).toEqual(["0.125", "0.625", "0.25", null]);
      expect(await room.events()).toEqual([["heed-hover", { row: 2, col: 1, value: 0.625 }]]);
      await click(".piece", 2);
      expect((await room.events()).map(([name]) => name)).toEqual(["heed-select", "heed-lock"]);
      await point(".piece", 0);
      await expect
        .poll(() => room.words("[part=readout]"))
        .toContain("query 3 “sat”, key 1 “the”: weight 0.125");
      expect((await room.events()).at(-1)).toEqual([
        "heed-hover",
        { row: 2, col: 0, value: 0.125 },
      ]);
      await press("Escape");
      expect(await room.events()).toContainEqual(["heed-select", {}]);
    });

    test("is read by keyboard", async () => {
      await room.show("heed-tokens", usual);
      await press("Tab", "Home", "ArrowRight");
      expect(await heard()).toContain("query 2 “cat” attends most to “the” 0.750");
      await press("Enter", "End");
      expect(await heard()).toContain("query 4 “down” attends most to “sat” 0.500");
      expect((await room.events()).filter(([name]) => name === "heed-select")).toEqual([
        ["heed-select", { row: 1 }],
        ["heed-select", { row: 3 }],
      ]);
    });

    test("has two texts if queries and keys differ", async () => {
      await room.show("heed-tokens", {
        data: cross,
        queries: ["ein", "Hund"],
        keys: ["a", "big", "dog"],
      });
      await click("[part=queries] .piece", 0);
      await expect.poll(shades).toEqual([null, null, "0.25", "0.75", "0"]);
      await point("[part=keys] .piece", 1);
      await expect.poll(() => room.words("[part=readout]")).toContain("key 2 “big”: weight 0.750");
    });
  });

  describe("<heed-heads>", () => {
    const labels = () => all(".thumbnail-words > span:first-child");
    const focused = () =>
      room.page.evaluate(() => {
        const { activeElement } = document.body.firstElementChild?.shadowRoot ?? {};
        return activeElement?.querySelector(".thumbnail-words")?.textContent?.split(" ")[0];
      });

    test("shows all heads by layer, or sorted by a measure, with the measure below", async () => {
      await room.show("heed-heads", { data: stacked(2, 3), tokens, order: "previous" });
      await expect.poll(labels).toEqual(["2.3", "1.3", "2.2", "1.2", "2.1", "1.1"]);
      expect((await all("[data-measure]"))[0]).toBe("0.53");
      expect(await room.words(".about")).toContain("previous token, the largest first");
      await room.set({ order: "diagonal" });
      await expect.poll(labels).toEqual(["1.1", "2.1", "1.2", "2.2", "1.3", "2.3"]);
      await room.set({ order: "layer" });
      await expect.poll(labels).toEqual(["1", "2", "3", "1", "2", "3"]);
      await expect.poll(() => all("[data-measure]")).not.toContain("…");
    });

    test("shows the chosen head in detail, as a matrix or as lines, and tells of it", async () => {
      await room.show("heed-heads", { data: stacked(2, 3), tokens });
      await expect.poll(labels).toHaveLength(6);
      await click(".thumbnail button", 4);
      expect(await room.events()).toContainEqual(["heed-select", { layer: 1, head: 1 }]);
      await expect.poll(() => room.words("h3")).toBe("Layer 2, head 2");
      const row = () =>
        room.page.evaluate(
          () => (document.body.firstElementChild as view.HeedHeads).csv().split("\r\n")[2],
        );
      const expected = [0.28125, 0.71875].join();
      expect(await row()).toBe(`"cat",${expected},0,0`);
      const corner = await room.page.evaluate(() => {
        const root = document.body.firstElementChild?.shadowRoot?.querySelector("heed-matrix");
        const canvas = root?.shadowRoot?.querySelector("canvas");
        if (!canvas) throw new Error("there is no canvas");
        const { right, bottom } = canvas.getBoundingClientRect();
        return { x: right - 10, y: bottom - 10 };
      });
      await room.events();
      await room.page.mouse.move(corner.x, corner.y);
      await expect
        .poll(async () => (await room.events()).at(-1))
        .toEqual(["heed-hover", expect.objectContaining({ layer: 1, head: 1 })]);
      await room.set({ view: "lines" });
      const lines = () =>
        room.page.evaluate(() => {
          const root = document.body.firstElementChild?.shadowRoot?.querySelector("heed-lines");
          return root?.shadowRoot?.querySelectorAll(".line-others path").length;
        });
      await expect.poll(lines).toBeGreaterThan(0);
    });

    test("shows a mask that is set later in all pictures, and one that is set again", async () => {
      await room.show("heed-heads", { data: stacked(2, 3), tokens, curve: "sqrt" });
      await expect.poll(labels).toHaveLength(6);
      /** The pixel in the upper right corner of a small picture: its last key is later than its first query. */
      const corners = () =>
        room.page.evaluate(() =>
          [
            ...(document.body.firstElementChild?.shadowRoot?.querySelectorAll<HTMLCanvasElement>(
              ".thumbnail canvas",
            ) ?? []),
          ].map((canvas) => {
            const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
            copy?.drawImage(canvas, 0, 0);
            const [x, y] = [0.9 * canvas.width, 0.1 * canvas.height].map(Math.round);
            return (
              copy
                ?.getImageData(x ?? 0, y ?? 0, 1, 1)
                .data.slice(0, 3)
                .join() ?? ""
            );
          }),
        );
      await expect.poll(corners).toEqual(Array(6).fill("255,255,255"));
      await room.set({ mask: "causal" });
      await expect.poll(corners).not.toContain("255,255,255");
      const csvOfHidden = await room.page.evaluate(async () => {
        const element = document.body.firstElementChild as view.HeedHeads;
        const mask = new Uint8Array(16).fill(1);
        const hidden = async () => {
          element.mask = mask;
          await element.updateComplete;
          const svg = element.svg();
          return svg.split("url(#hidden)").length - 1;
        };
        const before = await hidden();
        mask.fill(0, 1, 4);
        return [before, await hidden()];
      });
      expect((csvOfHidden[1] as number) - (csvOfHidden[0] as number)).toBeGreaterThanOrEqual(3);
    });

    test("saves all heads: as a picture with titles, measures and a legend, and their weights", async () => {
      const data = stacked(2, 3);
      await room.show("heed-heads", { data, tokens, mask: "causal", label: "A model" });
      const made = await room.page.evaluate(async () => {
        const element = document.body.firstElementChild as view.HeedHeads;
        const parse = (svg: string) => new DOMParser().parseFromString(svg, "image/svg+xml");
        const svg = parse(await element.svgOfAll());
        const [first] = svg.querySelectorAll("image");
        const picture = new Image();
        picture.src = first?.getAttribute("href") ?? "";
        await picture.decode();
        const context = new OffscreenCanvas(4, 4).getContext(
          "2d",
        ) as OffscreenCanvasRenderingContext2D;
        context.drawImage(picture, 0, 0);
        const png = await element.pngOfAll();
        const { width, height } = await createImageBitmap(png);
        const npy = element.npyOfAll();
        element.order = "previous";
        const sorted = parse(await element.svgOfAll());
        const words = (file: Document) =>
          [...file.querySelectorAll("text")].map(({ textContent }) => textContent);
        return {
          broken: svg.querySelector("parsererror") !== null,
          ...{
            words: words(svg),
            sorted: words(sorted),
            images: svg.querySelectorAll("image").length,
          },
          hatched: svg.querySelectorAll('rect[width="68"][fill="url(#hidden)"]').length,
          pixels: [...context.getImageData(0, 0, 4, 4).data].map(String),
          size: [width / svg.documentElement.clientWidth || width, width, height],
          viewBox: svg.documentElement.getAttribute("viewBox"),
          header: new TextDecoder().decode(npy.slice(0, 128)),
          weights: [...new Float32Array(npy.slice(128).buffer)],
        };
      });
      expect(made.broken).toBe(false);
      expect([made.images, made.hatched]).toEqual([6, 6]);
      expect(made.words.join(" ")).toMatch(
        /^A model One row for each layer. Below each head: its number, and entropy. 1 /,
      );
      expect(made.words).toEqual(expect.arrayContaining(["1", "2", "3", "0.61", "hidden"]));
      // By layer and head: as on the page, the head with the most weight on the previous token comes first.
      const heads = made.sorted.filter((words) => /^\d\.\d$/.test(words ?? ""));
      expect(heads).toEqual(["2.3", "1.3", "2.2", "1.2", "2.1", "1.1"]);
      // In the first head each token attends to itself, so only the first cell of the first row is visible.
      const pixel = (row: number, col: number) =>
        made.pixels.slice(4 * (4 * row + col), 4 * (4 * row + col) + 4).join();
      expect([pixel(0, 0), pixel(1, 1), pixel(1, 0), pixel(0, 1)]).toEqual([
        "0,34,78,255",
        "0,34,78,255",
        "255,255,255,255",
        "0,0,0,0",
      ]);
      const [, , width, height] = (made.viewBox ?? "").split(" ").map(Number);
      expect(made.size.slice(1)).toEqual([2 * (width ?? 0), 2 * (height ?? 0)]);
      expect(made.header).toContain("'shape': (2, 3, 4, 4)");
      expect(made.weights).toEqual(data.flat(3).map(Math.fround));
    });

    test("saves a number that is missing in the colour of the page, and not as a hidden one", async () => {
      const data = [weights.map((row, i) => row.map((value, j) => (i + j === 1 ? NaN : value)))];
      await room.show("heed-heads", { data, tokens, mask: "causal", theme: "dark" });
      const pixels = await room.page.evaluate(async () => {
        const element = document.body.firstElementChild as view.HeedHeads;
        const svg = new DOMParser().parseFromString(await element.svgOfAll(), "image/svg+xml");
        const picture = new Image();
        picture.src = svg.querySelector("image")?.getAttribute("href") ?? "";
        await picture.decode();
        const context = new OffscreenCanvas(4, 4).getContext("2d");
        context?.drawImage(picture, 0, 0);
        return [...(context?.getImageData(0, 0, 2, 2).data ?? [])];
      });
      // The second cell of the first row is hidden, and the first one of the second row is missing.
      expect([pixels.slice(4, 8), pixels.slice(8, 12)]).toEqual([
        [0, 0, 0, 0],
        [27, 28, 31, 255],
      ]);
    });

    test("saves heads that were never on the screen, and by its menu", async () => {
      const values = await room.page.evaluate(async () => {
        const [layers, count, size] = [30, 4, 32];
        const data = new Float32Array(layers * count * size * size).fill(1 / size);
        const element = heedView.heads({ data, shape: [layers, count, size, size], range: "head" });
        const outside = await element.svgOfAll();
        document.body.replaceChildren(element);
        await element.updateComplete;
        return outside.split(">5.00<").length - 1;
      });
      expect(values).toBe(120);
      const menu = "details:has(> summary[aria-label='Save all heads: Attention heads'])";
      const formats = await all(`${menu} button`);
      expect(formats).toEqual(["PNG", "SVG", "NPY"]);
      for (const format of formats) {
        const { name } = await room.saved(format ?? "", menu);
        expect(name).toBe(`heed-attention-heads-all-heads.${format?.toLowerCase()}`);
      }
      await room.set({ controls: "none" });
      expect(await all(menu)).toEqual([]);
    });

    test("shows what tokens are in the chosen head", async () => {
      const roles = ["article", "subject", "verb", "adverb"];
      await room.show("heed-heads", { ...usual, roles });
      const words = await room.page.evaluate(async () => {
        const detail = document.body.firstElementChild?.shadowRoot?.querySelector("heed-matrix");
        if (!detail) throw new Error("there is no chosen head");
        detail.locked = { row: 2, col: 1 };
        await detail.updateComplete;
        return detail.shadowRoot?.querySelector("[part=readout]")?.textContent;
      });
      expect(words).toContain("query 3 “sat” (verb), key 2 “cat” (subject)");
    });

    test("shows the first head if other data does not have the one that a person chose", async () => {
      await room.show("heed-heads", { data: stacked(2, 3), tokens });
      await expect.poll(labels).toHaveLength(6);
      await click(".thumbnail button", 4);
      await room.events();
      await room.set({ data: weights });
      expect(await error()).toBeUndefined();
      expect(await room.events()).toContainEqual(["heed-select", { layer: 0, head: 0 }]);
      expect(await room.words("h3")).toBe("Layer 1, head 1");
      await room.set({ layer: 1 });
      expect(await error()).toBe("layer: expected a number below 1, got 1");
    });

    const tabStops = () =>
      room.page.evaluate(() => {
        const root = document.body.firstElementChild?.shadowRoot;
        return [...(root?.querySelectorAll('.thumbnail [tabindex="0"]') ?? [])].map((button) =>
          Number((button.parentElement as HTMLElement).dataset.index),
        );
      });

    test("moves one focus through the grid by keyboard, and Enter chooses", async () => {
      await room.show("heed-heads", { data: stacked(3, 4), tokens, controls: "none" });
      await expect.poll(labels).toHaveLength(12);
      await press("Tab");
      expect(await focused()).toBe("1");
      await press("ArrowRight", "ArrowDown", "End");
      expect(await focused()).toBe("4");
      await press("Enter");
      expect(await room.events()).toContainEqual(["heed-select", { layer: 1, head: 3 }]);
      await press("ArrowUp", "Home", "ArrowUp");
      expect(await focused()).toBe("1");
      expect(await tabStops()).toHaveLength(1);
    });

    test("keeps its focus in another order, and its tab stop with fewer heads", async () => {
      await room.show("heed-heads", { data: stacked(3, 4), tokens, controls: "none" });
      await expect.poll(labels).toHaveLength(12);
      await press("Tab", "ArrowDown", "End");
      expect(await tabStops()).toEqual([7]);
      await room.set({ order: "entropy" });
      await expect
        .poll(() => room.words(".thumbnail:focus-within .thumbnail-words"))
        .toMatch(/^2\.4/);
      expect(await tabStops()).toEqual([7]);
      await room.set({ data: stacked(1, 2), order: "layer" });
      await expect.poll(labels).toHaveLength(2);
      expect(await tabStops()).toEqual([0]);
    });

    test("computes only the heads that are on the screen", async () => {
      await room.page.evaluate(async () => {
        const element = document.createElement("heed-heads") as view.HeedHeads;
        document.body.replaceChildren(element);
        const size = 64;
        element.data = new Float32Array(40 * 8 * size * size).fill(1 / size);
        element.shape = [40, 8, size, size];
        await element.updateComplete;
      });
      const painted = () =>
        room.page.evaluate(
          () =>
            document.body.firstElementChild?.shadowRoot?.querySelectorAll(
              ".thumbnail canvas[width]",
            ).length ?? 0,
        );
      await expect.poll(painted).toBeGreaterThan(8);
      const heads = () =>
        room.page.evaluate(
          () => document.body.firstElementChild?.shadowRoot?.querySelectorAll(".thumbnail").length,
        );
      // Each frame draws one row.
      let filled: number | undefined = 0;
      const isStill = async () => {
        const was = filled;
        filled = await heads();
        return filled === was;
      };
      await expect.poll(isStill, { interval: 200 }).toBe(true);
      await room.page.evaluate(() => {
        const root = document.body.firstElementChild?.shadowRoot;
        const buttons = [...(root?.querySelectorAll<HTMLElement>(".thumbnail button") ?? [])];
        buttons.at(-1)?.focus({ preventScroll: true });
      });
      await press("a");
      expect(await heads()).toBe(filled);
      const before = await painted();
      expect(before).toBeLessThan(200);
      await room.page.evaluate(() => {
        const scroll = document.body.firstElementChild?.shadowRoot?.querySelector(".scroll");
        if (scroll) scroll.scrollTop = scroll.scrollHeight;
      });
      await expect.poll(painted).toBeGreaterThan(before);
    });
  });
});
