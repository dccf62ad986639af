/** The elements of `heed/view` within other documents, and their PNG, which needs no image address. */
import type * as view from "heed/view";
import { describe, expect, test } from "vitest";
import { type ElementsPage, elements, type Tag, visiting } from "./elementsPage";

const tags = Object.keys(elements) as Tag[];
const long = { tokens: ["<the>", "a long word", "sat"], label: "What “sat” & others attend to" };

/** Draws the PNG of the element, and the browser its SVG; returns how much they differ, from 0 to 255. */
async function differences(name: "svg" | "svgOfAll"): Promise<{ mean: number; most: number }> {
  const element = document.body.firstElementChild as view.HeedHeads;
  const png = await createImageBitmap(await (name === "svg" ? element.png() : element.pngOfAll()));
  const svg = new Image();
  svg.src = URL.createObjectURL(new Blob([await element[name]()], { type: "image/svg+xml" }));
  await svg.decode();
  const { width, height } = png;
  const [drawn, expected] = [png, svg].map((picture) => {
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context?.drawImage(picture, 0, 0, width, height);
    return context?.getImageData(0, 0, width, height).data as Uint8ClampedArray;
  }) as [Uint8ClampedArray, Uint8ClampedArray];
  // Letters are smoothed in several ways, so each value is the mean of 8 × 8 pixels.
  const side = 8;
  let [sum, most, count] = [0, 0, 0];
  for (let y = 0; y + side <= height; y += side)
    for (let x = 0; x + side <= width; x += side)
      for (let channel = 0; channel < 4; ++channel) {
        let difference = 0;
        for (let i = 0; i < side; ++i)
          for (let j = 0; j < side; ++j) {
            const at = 4 * ((y + i) * width + x + j) + channel;
            difference += (drawn[at] as number) - (expected[at] as number);
          }
        const mean = Math.abs(difference) / side ** 2;
        sum += mean;
        most = Math.max(most, mean);
        count += 1;
      }
  return { mean: sum / count, most };
}

describe.for(["chrome", "firefox"] as const)("In %s", (name) => {
  let room: ElementsPage;
  visiting(name, (opened) => {
    room = opened;
  });

  test.for(tags)("the PNG of <%s> is what the browser makes of its SVG", async (tag) => {
    for (const theme of ["light", "dark"]) {
      await room.show(tag, { ...elements[tag].properties, ...long, theme, view: "lines" });
      const files = tag === "heed-heads" ? (["svg", "svgOfAll"] as const) : (["svg"] as const);
      for (const file of files) {
        const found = await room.page.evaluate(differences, file);
        expect(found.mean).toBeLessThan(0.5);
        expect(found.most).toBeLessThan(30);
      }
    }
  });

  test.for(tags)("<%s> works in the document of a frame, and back", async (tag) => {
    await room.show(tag, elements[tag].properties);
    await room.page.evaluate(() => {
      const frame = document.body.appendChild(document.createElement("iframe"));
      frame.style.cssText = "width: 700px; height: 600px; color-scheme: light";
    });
    const seen = () =>
      room.page.evaluate(async (selector) => {
        const frame = document.querySelector("iframe") as HTMLIFrameElement;
        const inner = frame.contentDocument as Document;
        const element = (document.body.querySelector(":scope > :not(iframe)") ??
          inner.body.firstElementChild) as view.HeedMatrix;
        await element.updateComplete;
        const root = element.shadowRoot as ShadowRoot;
        const part = getComputedStyle(root.querySelector("[part=frame]") as Element);
        const target = root.querySelector(selector) as HTMLElement;
        let colours: number | undefined;
        if (target instanceof HTMLCanvasElement) {
          const { width, height } = target;
          // A copy: to read the canvas itself would change how the browser draws it.
          const copy = new OffscreenCanvas(width, height).getContext("2d");
          copy?.drawImage(target, 0, 0);
          const pixels = copy?.getImageData(0, 0, width, height).data;
          colours = new Set(new Uint32Array(pixels?.buffer ?? [])).size;
        }
        return {
          error: element.error?.message ?? null,
          sheets: root.adoptedStyleSheets.length,
          look: [part.display, part.color, part.backgroundColor],
          isSeen: target.getBoundingClientRect().width > 0,
          isDrawn: colours === undefined || colours > 3,
        };
      }, elements[tag].target);
    const move = (into: "frame" | "page") =>
      room.page.evaluate((into) => {
        const frame = document.querySelector("iframe") as HTMLIFrameElement;
        const inner = (frame.contentDocument as Document).body;
        if (into === "frame") inner.append(document.body.firstElementChild as Element);
        else document.body.prepend(inner.firstElementChild as Element);
      }, into);
    const listeners = await room.page.evaluate(() => globalThis.openListeners());
    const before = await seen();
    expect(before).toMatchObject({ error: null, sheets: 2, isSeen: true, isDrawn: true });
    await move("frame");
    expect(await seen()).toEqual(before);
    // The page that it left has no listener that would keep it in memory.
    const own = "HTMLDocument securitypolicyviolation";
    expect(await room.page.evaluate(() => globalThis.openListeners())).toEqual([own]);
    await room.page.evaluate(async () => {
      const frame = document.querySelector("iframe") as HTMLIFrameElement;
      const element = frame.contentDocument?.body.firstElementChild as view.HeedMatrix;
      element.theme = "dark";
      await element.updateComplete;
      element.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    });
    expect((await seen()).look.at(-1)).toBe("rgb(27, 28, 31)");
    await move("page");
    await room.set({ theme: "auto" });
    expect(await seen()).toEqual(before);
    expect(await room.page.evaluate(() => globalThis.openListeners())).toEqual(listeners);
  });
});

describe("In chrome", () => {
  let room: ElementsPage;
  visiting("chrome", (opened) => {
    room = opened;
  });

  test("an element in a popup follows the popup, and outlives it", async () => {
    await room.show("heed-matrix", {});
    const seen = await room.page.evaluate(async (properties) => {
      // It has not been in a document with a window yet.
      const element = globalThis.heedView.matrix(properties);
      const popup = open("about:blank", "", "width=400,height=400") as Window;
      const canvas = () => element.shadowRoot?.querySelector("canvas") as HTMLCanvasElement;
      const drawn = async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        await element.updateComplete;
        const sheets = element.shadowRoot?.adoptedStyleSheets.length;
        return [element.error?.message ?? null, canvas().clientWidth > 0, sheets];
      };
      popup.document.body.append(element);
      element.label = "In a popup";
      const inPopup = [await drawn(), canvas().getAttribute("aria-label")?.slice(0, 10)];
      popup.close();
      await new Promise((resolve) => setTimeout(resolve, 300));
      document.body.append(element);
      element.label = "Back again";
      return [inPopup, [await drawn(), canvas().getAttribute("aria-label")?.slice(0, 10)]];
    }, elements["heed-matrix"].properties as object);
    expect(seen).toEqual([
      [[null, true, 2], "In a popup"],
      [[null, true, 2], "Back again"],
    ]);
  });
});
