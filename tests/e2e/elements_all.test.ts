/** Tests every element of `heed/view`: accessibility, touch, print, forced colours, WebKit, and the memory that it keeps. */
import type * as view from "heed/view";
import { beforeAll, describe, expect, test } from "vitest";
import { type ElementsPage, elements, type Tag, visiting } from "./elementsPage";

const tags = Object.keys(elements) as Tag[];

/** Random weights and vectors of long tokens. */
function longText(count: number) {
  const tokens = Array.from({ length: count }, (_, i) => `${i} (Übergrößenträger)`);
  const rows = (size: number) =>
    tokens.map((_, i) => Array.from({ length: size }, (_, j) => ((7 * i + 3 * j) % 11) / 11));
  return { ...{ tokens, data: rows(count), q: rows(3), k: rows(3), v: rows(3) } };
}

/** The texts of the file that the element saves, and the pairs of them that overlap, without their leading. */
const textsOfFile = (room: ElementsPage) =>
  room.page.evaluate(async () => {
    const element = document.body.firstElementChild as view.HeedMatrix;
    const place = document.createElement("div");
    place.innerHTML = await element.svg();
    document.body.append(place);
    const found = [...place.querySelectorAll("text")].filter(({ textContent }) => textContent);
    const boxes = found.map((text) => {
      const { left, right, top, bottom, width, height } = text.getBoundingClientRect();
      const leading = Math.min(width, height) - Number.parseFloat(getComputedStyle(text).fontSize);
      const [x, y] = width < height ? [leading / 2, 0] : [0, leading / 2];
      return { left: left + x, right: right - x, top: top + y, bottom: bottom - y };
    });
    place.remove();
    const overlaps = boxes.flatMap((a, i) =>
      boxes.flatMap((b, j) => {
        const isOver = a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        return i < j && isOver ? [`${found[i]?.textContent} | ${found[j]?.textContent}`] : [];
      }),
    );
    return { texts: found.map(({ textContent }) => textContent), overlaps };
  });

const told = async (room: ElementsPage) =>
  (await room.events()).filter(([name]) => /select|lock/.test(name));

describe.for(["chrome", "firefox"] as const)("In %s", (name) => {
  let room: ElementsPage;
  visiting(name, (opened) => {
    room = opened;
  });

  test.for(tags)("<%s> has no fault of accessibility, light or dark", async (tag) => {
    for (const theme of ["light", "dark"]) {
      await room.show(tag, { ...elements[tag].properties, theme });
      expect(await room.faults()).toEqual([]);
      const { x, y } = await room.target(tag);
      await room.page.mouse.click(x, y);
      expect(await room.faults()).toEqual([]);
    }
    // All elements show a refusal in the same way.
    if (tag !== "heed-matrix") return;
    await room.set({ tokens: ["one"] });
    expect(await room.words("[role=alert]")).not.toBe("");
    expect(await room.faults()).toEqual([]);
  });

  test.for(tags)("<%s> listens to nothing where it is on no page, and comes back", async (tag) => {
    const listeners = () => room.page.evaluate(() => globalThis.openListeners());
    await room.page.evaluate(() => document.body.replaceChildren());
    const before = await listeners();
    await room.show(tag, { ...elements[tag].properties, playing: true });
    expect((await listeners()).length).toBeGreaterThan(before.length);
    const element = await room.page.evaluateHandle(() => {
      const element = document.body.firstElementChild as view.HeedSteps;
      element.remove();
      element.tokens = ["a", "b", "c"];
      return element;
    });
    expect(await listeners()).toEqual(before);
    if (tag === "heed-steps") {
      const isStill = await element.evaluate(async (element) => {
        const { time } = element;
        await new Promise((resolve) => setTimeout(resolve, 200));
        return element.time === time;
      });
      expect(isStill).toBe(true);
    }
    await element.evaluate(async (element) => {
      element.playing = false;
      document.body.append(element);
      await element.updateComplete;
    });
    const { x, y } = await room.target(tag);
    await room.page.mouse.click(x, y);
    await expect.poll(() => told(room)).toContainEqual(elements[tag].told);
    expect(await room.words("[part=content]")).toContain("b");
    await element.evaluate((element) => element.remove());
    await element.dispose();
    expect(await listeners()).toEqual(before);
  });

  test.for(tags)(
    "<%s> shows the words of a list that has changed and is set again",
    async (tag) => {
      await room.show(tag, {});
      const shown = await room.page.evaluate(async (properties) => {
        const element = document.body.firstElementChild as view.HeedMatrix;
        const tokens = ["the", "cat", "sat"];
        // The chosen head of <heed-heads> is a separate element, whose labels are text on the page.
        const seen = async () => {
          await element.updateComplete;
          const detail = element.shadowRoot?.querySelector("heed-lines");
          await detail?.updateComplete;
          const labels = detail?.shadowRoot?.querySelector(".line-labels");
          const words = labels?.textContent ?? element.svg();
          return [words.includes("cat"), words.includes("dog")];
        };
        Object.assign(element, { ...properties, tokens, view: "lines" });
        const before = await seen();
        tokens[1] = "dog";
        element.tokens = tokens;
        return [before, await seen()];
      }, elements[tag].properties as object);
      expect(shown).toEqual([
        [true, false],
        [false, true],
      ]);
    },
  );
});

describe.for(["chrome", "firefox"] as const)("In the files of %s", (name) => {
  let room: ElementsPage;
  visiting(name, (opened) => {
    room = opened;
  });

  test.for(tags)("<%s> writes no texts over each other, at 52 or at 300 tokens", async (tag) => {
    for (const count of [52, 300]) {
      const { tokens, data, q, k, v } = longText(count);
      await room.show(tag, tag === "heed-steps" ? { tokens, q, k, v } : { tokens, data });
      const { texts, overlaps } = await textsOfFile(room);
      expect(overlaps).toEqual([]);
      const whole = texts.filter((text) => tokens.includes(text ?? ""));
      if (tag !== "heed-matrix") continue;
      // A label for every row and every column, or for every fourth.
      expect(whole).toHaveLength(count === 52 ? 104 : 150);
    }
  });
});

describe("In chrome", () => {
  let room: ElementsPage;
  visiting("chrome", (opened) => {
    room = opened;
  });

  test.for(tags)("<%s> keeps no numbers that are taken from it", async (tag) => {
    await room.show(tag, {});
    await room.page.evaluate(async (properties) => {
      const element = document.body.firstElementChild as view.HeedElement;
      const flat = (lists: unknown): unknown => {
        if (!Array.isArray(lists) || typeof lists.flat(3)[0] !== "number") return lists;
        const shape: number[] = [];
        for (let each: unknown = lists; Array.isArray(each); each = each[0])
          shape.push(each.length);
        return { shape, data: Float32Array.from(lists.flat(3)) };
      };
      const given = Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [name, flat(value)]),
      );
      const held = Object.values(given).flatMap((value) => {
        const { data } = Object(value);
        return data instanceof Float32Array ? [new WeakRef(data.buffer)] : [];
      });
      Object.assign(globalThis, { held });
      await Object.assign(element, given).updateComplete;
      // Creates the state of a pointed cell and the drawing that is kept for a file.
      (element as view.HeedMatrix).svg();
    }, elements[tag].properties as object);
    const { x, y } = await room.target(tag);
    await room.page.mouse.click(x, y);
    await room.set({ data: null, q: null, k: null, v: null });
    const devtools = await room.page.createCDPSession();
    const held = async () => {
      await devtools.send("HeapProfiler.collectGarbage");
      return room.page.evaluate(() => {
        const { held } = globalThis as unknown as { held: WeakRef<ArrayBuffer>[] };
        return held.map((each) => each.deref() !== undefined);
      });
    };
    await expect.poll(held).toEqual(tag === "heed-steps" ? [false, false, false] : [false]);
    await devtools.detach();
    // And it shows numbers again.
    await room.set(elements[tag].properties);
    await expect
      .poll(() =>
        room.page.evaluate(
          (selector) =>
            document.body.firstElementChild?.shadowRoot?.querySelector(selector) !== null,
          elements[tag].target,
        ),
      )
      .toBe(true);
  });

  test.for(tags)("<%s> is light on paper, without buttons", async (tag) => {
    await room.show(tag, { ...elements[tag].properties, theme: "dark" });
    const look = () =>
      room.page.evaluate(() => {
        const root = document.body.firstElementChild?.shadowRoot as ShadowRoot;
        const inner = root.querySelector("heed-matrix")?.shadowRoot;
        const all = [root, inner].flatMap((each) => [...(each?.querySelectorAll("*") ?? [])]);
        const isSeen = (element: Element) => (element as HTMLElement).checkVisibility();
        return {
          page: getComputedStyle(root.firstElementChild as Element).backgroundColor,
          controls: all
            .filter((each) => each.matches("button, select, input, summary") && isSeen(each))
            .filter((each) => !each.closest(".thumbnail")).length,
          pictures: all.filter((each) => each.matches("canvas, svg, .piece") && isSeen(each))
            .length,
        };
      });
    const before = await look();
    expect(before).toMatchObject({ page: "rgb(27, 28, 31)" });
    expect(before.controls).toBeGreaterThan(0);
    await room.page.emulateMediaType("print");
    const { pictures } = before;
    await expect.poll(look).toEqual({ page: "rgb(255, 255, 255)", controls: 0, pictures });
    await room.page.emulateMediaType();
  });

  test.for(tags)("<%s> keeps its colours where the system chooses all others", async (tag) => {
    const devtools = await room.page.createCDPSession();
    const force = (value: string) =>
      devtools.send("Emulation.setEmulatedMedia", {
        features: [{ name: "forced-colors", value }],
      });
    await room.show(tag, elements[tag].properties);
    await force("active");
    const forced = await room.page.evaluate(() => {
      const root = document.body.firstElementChild?.shadowRoot as ShadowRoot;
      const inner = root.querySelector("heed-matrix")?.shadowRoot ?? root;
      const pictures = [...inner.querySelectorAll("canvas, .legend-strip, .piece, .hatched")];
      return {
        isForced: matchMedia("(forced-colors: active)").matches,
        adjusted: pictures.filter((each) => getComputedStyle(each).forcedColorAdjust !== "none")
          .length,
        border: getComputedStyle(root.firstElementChild as Element).borderTopStyle,
      };
    });
    const faults = await room.faults();
    await force("none");
    await devtools.detach();
    expect(forced).toEqual({ isForced: true, adjusted: 0, border: "solid" });
    expect(faults).toEqual([]);
  });

  describe("on a phone", () => {
    beforeAll(() =>
      room.page.setViewport({ width: 390, height: 700, isMobile: true, hasTouch: true }),
    );

    test.for(tags)("<%s> is chosen by a tap, and released by another one", async (tag) => {
      await room.show(tag, elements[tag].properties);
      const { x, y } = await room.target(tag);
      await room.events();
      await room.page.touchscreen.tap(x, y);
      await expect.poll(() => told(room)).toContainEqual(elements[tag].told);
      await room.page.touchscreen.tap(x, y);
      await expect.poll(() => told(room)).toContainEqual(elements[tag].toldAgain);
    });

    test.for(tags)("<%s> lets the page scroll under a finger, and be enlarged", async (tag) => {
      await room.show(tag, elements[tag].properties);
      await room.page.evaluate(() => {
        document.body.style.paddingBlock = "2000px";
      });
      const { x, y } = await room.target(tag);
      await room.events();
      const before = await room.page.evaluate(() => scrollY);
      const finger = await room.page.touchscreen.touchStart(x, y);
      for (let moved = 20; moved <= 200; moved += 20) await finger.move(x, y - moved);
      await finger.end();
      await expect.poll(() => room.page.evaluate(() => scrollY)).toBeGreaterThan(before + 100);
      expect(await told(room)).toEqual([]);
      const actions = await room.page.evaluate((selector) => {
        const found = document.body.firstElementChild?.shadowRoot?.querySelector(selector);
        const all: string[] = [];
        for (let each = found ?? null; each; each = each.parentElement)
          all.push(getComputedStyle(each).touchAction);
        document.body.style.paddingBlock = "";
        return all;
      }, elements[tag].target);
      for (const action of actions) expect(action).toMatch(/auto|manipulation|pinch-zoom/);
    });
  });
});
