/** The ways to share a room: a link with a preview, a frame in another page, an animated picture, a print. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { withAddress } from "../../web/site";
import { Steps } from "./steps";
import { visits } from "./visits";

const built = fileURLToPath(new URL("../../build/web", import.meta.url));

describe("What is shared", () => {
  const { open, enter } = visits(Steps, "chrome");

  const savedAs = async (room: Steps, scope: string, format: string): Promise<string> =>
    (await room.saved(scope, format)).text;

  test("makes a link for a class, which another page can frame", async () => {
    const room = await enter("#mask=causal&step=weights");
    await room.click("Make a link for teaching");
    await room.click("explanations", ".class-restrictions");
    await room.click(
      "Lock: people can only play, point and choose a demonstration or a view",
      ".class-restrictions",
    );
    const fields = () =>
      room.page.$$eval(".copy-field input", (all) => all.map((input) => input.value));
    const state = "mask=causal&step=weights";
    const url = room.page.url().replace(/#.*/, "");
    expect((await fields())[0]).toBe(`${url}#${state}&hide=text&lock=on`);
    await room.click("only the lines", ".class-restrictions");
    const link = `${url}#${state}&lock=on&embed=lines`;
    expect((await fields())[0]).toBe(link);
    // As high as the panel, once the preview has measured it.
    const code = async () => (await fields())[1] as string;
    const height = async () => Number(/ height="(\d+)"/.exec(await code())?.[1]);
    const preview = () =>
      room.page.$eval(".frame-preview iframe", (frame) => {
        const page = (frame as HTMLIFrameElement).contentDocument;
        const lines = page?.querySelector("main.embedded heed-lines")?.shadowRoot;
        return page && lines?.querySelector("path")
          ? Math.ceil(page.body.getBoundingClientRect().height)
          : 0;
      });
    await expect.poll(preview).toBeGreaterThan(100);
    await expect.poll(async () => (await height()) - (await preview())).toBe(0);
    expect(await height()).not.toBe(600);
    expect(await code()).toContain(`src="${link.replaceAll("&", "&amp;")}"`);
    const other = await open("about:blank");
    await other.openHostOf(url, await code());
    const drawn = () => other.countInFrame(link, "main.embedded heed-lines >>> svg");
    await expect.poll(drawn).toBeGreaterThan(0);
  });

  test("copies the link of the current view, and confirms it", async () => {
    const room = await enter("#mask=causal&step=scaled");
    await room.page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => {
        Object.assign(window, { copied: text });
      };
    });
    await room.click("Copy link", "header");
    await expect.poll(() => room.text("header .copy")).toBe("Link copied");
    const copied = () => room.page.evaluate(() => (window as { copied?: string }).copied);
    expect(await copied()).toBe(room.page.url());
    // Another view has another link, which is not yet copied.
    await room.click("Next →");
    await expect.poll(() => room.text("header .copy")).toBe("Copy link");
  });

  test("is printed in light colours, without controls, and complete while it plays", async () => {
    const room = await enter("#step=scores&time=1");
    const devtools = await room.page.createCDPSession();
    // Not by puppeteer's own calls, because each of them undoes the other.
    const emulate = (media: "print" | "screen") =>
      devtools.send("Emulation.setEmulatedMedia", {
        media,
        features: [{ name: "prefers-color-scheme", value: "dark" }],
      });
    await emulate("screen");
    // The red next to the number of a score on the diagonal. The first score is almost 0, so it has the page's colour.
    const redOf = async (place: number) => {
      const canvas = await room.canvas("scores");
      return canvas.evaluate((element, place) => {
        const { dataset, clientWidth, clientHeight } = element as HTMLElement;
        const context = new OffscreenCanvas(1, 1).getContext("2d");
        const [left, top] = [Number(dataset.left), Number(dataset.top)];
        const x = left + 4 + (place * (clientWidth - left)) / 5;
        const y = top + 4 + (place * (clientHeight - top)) / 5;
        context?.drawImage(element as HTMLCanvasElement, -x, -y);
        return context?.getImageData(0, 0, 1, 1).data[0];
      }, place);
    };
    const brightness = () => redOf(0);
    await expect.poll(brightness).toBeLessThan(60);
    await room.click("Play", ".transport");
    const moment = () => room.text(".transport .number");
    const begin = await moment();
    await expect.poll(moment).not.toBe(begin);
    await emulate("print");
    await expect.poll(brightness).toBeGreaterThan(200);
    // The last score is the largest, in blue.
    expect(await redOf(4)).toBeLessThan(60);
    expect(await room.text(".player .made")).toBe("complete");
    const isSeen = (selector: string) =>
      room.page.$eval(selector, (element) => element.checkVisibility());
    for (const part of [
      ".rooms",
      ".settings",
      ".transport",
      ".save",
      ".class-link",
      "header .copy",
    ])
      expect(await isSeen(part), part).toBe(false);
    for (const part of [
      "h1",
      ".legend",
      ".row-table td",
      "heed-lines >>> svg",
      "[role=tab] canvas",
    ])
      expect(await isSeen(part), part).toBe(true);
    await emulate("screen");
    await expect.poll(brightness).toBeLessThan(60);
    expect(await room.text(".player .made")).not.toBe("complete");
  });

  test("saves a map as an animated picture without a script", async () => {
    // In narrow cells, so that numbers have one decimal.
    const room = await enter("#room=recurrent", { width: 800 });
    const svg = await savedAs(room, "[data-matrix=transformer]", "moving SVG");
    // The page's own policy refuses inline styles.
    const other = await open("about:blank");
    const rows = await other.page.evaluate((svg) => {
      const { documentElement } = new DOMParser().parseFromString(svg, "image/svg+xml");
      return [...documentElement.querySelectorAll("g")].map(
        (row) => row.querySelectorAll("rect").length,
      );
    }, svg);
    expect(rows.length).toBeGreaterThan(8);
    expect(new Set(rows).size).toBe(1);
    for (const turn of rows.keys())
      expect(svg).toContain(`[data-plays="${turn}"]{animation:t${turn} `);
    expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(
      /script|href|http|@import/,
    );
    // A number that rounds to zero is drawn as a dot, which the legend explains.
    expect(svg).toContain(">·</text>");
    expect(svg).toMatch(/· less than 0\.0+5\b/);
    expect(svg).not.toMatch(/>0\.0+<\/text>/);
    // The rows appear one after another, so the first frame has fewer rows than the last.
    const inked = await other.page.evaluate((svg) => {
      const frame = document.createElement("div");
      frame.innerHTML = svg;
      document.body.append(frame);
      const moves = document.getAnimations().filter(({ effect }) => {
        const { target } = effect as KeyframeEffect;
        return target instanceof SVGGElement && frame.contains(target);
      });
      const visibleAt = (time: number) => {
        for (const move of moves) {
          move.pause();
          move.currentTime = time;
        }
        const groups = [...frame.querySelectorAll("g")];
        return groups.filter((group) => getComputedStyle(group).opacity === "1").length;
      };
      return [0, 2000, 7000].map(visibleAt);
    }, svg);
    expect(inked[0]).toBe(0);
    expect(inked[1]).toBeGreaterThan(0);
    expect(inked[1]).toBeLessThan(rows.length);
    expect(inked[2]).toBe(rows.length);
  });

  test("saves a training as an animation of a head over the snapshots", async () => {
    const room = await enter("#room=learn&length=4&size=16&head=3.1");
    const step = () =>
      room.page.$eval("[data-step]", (place) => Number((place as HTMLElement).dataset.step));
    await expect.poll(step, { timeout: 30_000 }).toBeGreaterThan(20);
    await room.click("Pause training");
    await expect.poll(() => room.text(".learn-place")).toContain("Paused");
    // Results of work that had begun still arrive.
    let before = -1;
    const rests = async () => {
      const [last, now] = [before, await step()];
      before = now;
      return now === last;
    };
    await expect.poll(rests, { interval: 300 }).toBe(true);
    const film = await savedAs(room, "[data-matrix=head-4]", "moving SVG");
    const last = await savedAs(room, "[data-matrix=head-4]", "SVG");
    await room.setSlider(".scrub", 0);
    await expect.poll(() => room.text(".transport-place")).toContain("step 0 of");
    const first = await savedAs(room, "[data-matrix=head-4]", "SVG");
    expect(film).toContain("learned</text>");
    expect(film).not.toMatch(/<script|href=/);
    const other = await open("about:blank");
    const seen = await other.page.evaluate(
      (film, stills) => {
        const shown = (svg: string) => {
          const frame = document.createElement("div");
          frame.innerHTML = svg;
          document.body.append(frame);
          return frame;
        };
        const fillOf = (rect: Element) => getComputedStyle(rect).fill;
        const frame = shown(film);
        const cells = [...frame.querySelectorAll("rect[id^=c]")];
        const names = [...frame.querySelectorAll("text[id^=m]")];
        const moves = document.getAnimations();
        const total = Number(moves[0]?.effect?.getComputedTiming().duration);
        const at = (time: number) => {
          for (const move of moves) {
            move.pause();
            move.currentTime = time;
          }
          const isSeen = (name: Element) => getComputedStyle(name).opacity === "1";
          return {
            names: names.filter(isSeen).map(({ textContent }) => textContent),
            fills: cells.map(fillOf),
          };
        };
        const played = [at(0), at(total - 10)];
        return {
          played,
          moments: names.length,
          // After the two rectangles of a pattern and the one of the page.
          stills: stills.map((svg) =>
            [...shown(svg).querySelectorAll("rect")].slice(3, 3 + cells.length).map(fillOf),
          ),
        };
      },
      film,
      [first, last],
    );
    expect(seen.moments).toBeGreaterThan(3);
    expect(seen.played[0]?.names).toEqual(["step 0"]);
    expect(seen.played[1]?.names).toEqual([/step \d+/.exec(last)?.[0]]);
    expect(seen.played.map(({ fills }) => fills)).toEqual(seen.stills);
    expect(seen.stills[0]).not.toEqual(seen.stills[1]);
  });

  test("saves a matrix of Step by step as an animation with its first row number by number", async () => {
    const room = await enter("#step=scores");
    // The queries of five tokens, each with two numbers.
    const svg = await savedAs(room, ".legends", "moving SVG");
    const other = await open("about:blank");
    const cells = await other.page.evaluate((svg) => {
      const { documentElement } = new DOMParser().parseFromString(svg, "image/svg+xml");
      return [...documentElement.querySelectorAll("g")].map(
        (part) => part.querySelectorAll("rect").length,
      );
    }, svg);
    expect(cells).toEqual([1, 1, 2, 2, 2, 2]);
  });

  /**
   * Returns, for each given time as a share of the duration, which marks are visible and how far each is along its
   * line. Also returns the number of animations with reduced motion.
   */
  const played = async (svg: string, marks: string, times: readonly number[]) => {
    expect(svg).not.toMatch(/<script|href=/);
    const { page } = await open("about:blank");
    const seen = await page.evaluate(
      (svg, marks, times) => {
        document.body.innerHTML = svg;
        const moves = document.getAnimations();
        const total = Number(moves[0]?.effect?.getComputedTiming().duration);
        const isSeenAt = (mark: SVGGeometryElement, share: number) => {
          const box = mark.getBBox();
          const point =
            mark instanceof SVGRectElement
              ? new DOMPoint(box.x + share * box.width, box.y + box.height / 2)
              : mark.getPointAtLength(share * mark.getTotalLength());
          const { x, y } = point.matrixTransform(mark.getScreenCTM() as DOMMatrix);
          const isDrawn = getComputedStyle(mark).opacity !== "0";
          return isDrawn && document.elementsFromPoint(x, y).includes(mark);
        };
        return times.map((time) => {
          for (const move of moves) {
            move.pause();
            move.currentTime = time * total;
          }
          return [...document.querySelectorAll<SVGGeometryElement>(marks)].map((mark) =>
            [0.1, 0.5, 0.9].map((share) => isSeenAt(mark, share)),
          );
        });
      },
      svg,
      marks,
      times,
    );
    await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
    const still = await page.evaluate(() => document.getAnimations().length);
    return { seen, still };
  };

  test("saves token lines as an animation, query by query", async () => {
    const room = await enter("#step=weights&mask=causal&mass=100");
    const svg = await savedAs(room, ".lines >>>", "moving SVG");
    const { seen, still } = await played(svg, "path", [0, 0.4, 0.99]);
    const counts = seen.map((marks) => marks.filter(([, middle]) => middle).length);
    expect(counts[0]).toBe(0);
    expect(counts[1]).toBeGreaterThan(0);
    expect(counts[1]).toBeLessThan(counts[2] as number);
    // Each of five queries attends to itself and to the tokens before it.
    expect(seen[2]).toHaveLength(15);
    expect(counts[2]).toBe(15);
    expect(still).toBe(0);
    const other = await savedAs(room, ".lines >>>", "SVG");
    expect(other).not.toContain("@keyframes");
  });

  test("saves the curves of a training as an animation", async () => {
    const room = await enter("#room=learn&length=4&size=16");
    const step = () =>
      room.page.$eval("[data-step]", (place) => Number((place as HTMLElement).dataset.step));
    await expect.poll(step, { timeout: 30_000 }).toBeGreaterThan(60);
    await room.click("Pause training");
    await expect.poll(() => room.text(".learn-place")).toContain("Paused");
    const svg = await savedAs(room, ".learn-curves", "moving SVG");
    // Skips the line of the shown step, which is the last step.
    const { seen, still } = await played(
      svg,
      "[data-plays=grow] path:nth-child(2)",
      [0, 0.4, 0.99],
    );
    const [first, middle, last] = seen.map((marks) => marks[0]);
    expect(first).toEqual([false, false, false]);
    expect([middle?.[0], middle?.[2]]).toEqual([true, false]);
    expect(last).toEqual([true, true, true]);
    expect(still).toBe(0);
  });

  test("saves the cache of a text as an animation", async () => {
    const room = await enter("#room=models&place=20");
    const svg = await savedAs(room, ".cache", "moving SVG");
    const { seen, still } = await played(svg, "[data-plays=grow] rect:first-child", [0, 0.4, 0.99]);
    const layer = [
      [false, false, false],
      [true, true, false],
      [true, true, true],
    ];
    expect(seen.map((marks) => marks[0])).toEqual(layer);
    expect(seen.map((marks) => marks.at(-1))).toEqual(layer);
    expect(still).toBe(0);
  });

  test("has a preview for links, with the address of its picture", () => {
    const html = readFileSync(join(built, "index.html"), "utf8");
    const of = (property: string) =>
      new RegExp(`<meta (?:property|name)="${property}"\\s+content="([^"]+)"`).exec(html)?.[1];
    expect(of("og:title")).toBe("See attention compute");
    expect(of("twitter:card")).toBe("summary_large_image");
    const picture = readFileSync(join(built, of("og:image") as string));
    // Width and height in the header of a PNG.
    expect(picture.toString("latin1", 1, 4)).toBe("PNG");
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(picture.length).toBeLessThan(100_000);
    expect(withAddress(html, "https://school.example/heed")).toContain(
      'content="https://school.example/heed/preview.png"',
    );
    expect(() => withAddress(html, "school.example")).toThrow("HEED_SITE is “school.example”");
  });
});
