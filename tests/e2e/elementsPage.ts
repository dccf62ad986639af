/** A page with the elements of `heed/view` in a bundle, served with the policy of the Playground. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import type * as view from "heed/view";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type BrowserName, borrow, complaintsOf, serve } from "./browsers";
import { type SavedFile, savedBy } from "./room";
import { launchWebKit, listener } from "./webkitPage";

declare global {
  /** The exports of the bundle, for the functions that a test evaluates in the page. */
  var heedView: typeof view;
  /** The events that the elements sent, as [name, detail], since they were last read. */
  var heardEvents: [string, unknown][];
  /** The listeners that have not ended, by the target's class and the event's name. */
  var openListeners: () => string[];
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const tokens = ["the", "cat", "sat"];
const weights = [
  [1, 0, 0],
  [0.75, 0.25, 0],
  [0.125, 0.625, 0.25],
];
const ofMatrix = { data: weights, tokens, mask: "causal" };
const numbers = [
  [1, 0, 2],
  [0, 1, -1],
  [2, 1, 0],
];

/**
 * For each element: its properties, the target that a test taps, and the events after the first and the second tap.
 * `<heed-heads>` always has one chosen head.
 */
export const elements = {
  "heed-matrix": {
    properties: ofMatrix,
    target: "canvas",
    told: ["heed-lock", { row: 1, col: 1, value: 0.25 }],
    toldAgain: ["heed-lock", null],
  },
  "heed-lines": {
    properties: ofMatrix,
    target: ".line-labels text:nth-of-type(2)",
    told: ["heed-select", { row: 1 }],
    toldAgain: ["heed-select", {}],
  },
  "heed-tokens": {
    properties: ofMatrix,
    target: ".piece:nth-of-type(2)",
    told: ["heed-select", { row: 1 }],
    toldAgain: ["heed-select", {}],
  },
  "heed-heads": {
    properties: { ...ofMatrix, data: [weights, numbers.map((row) => row.map(() => 1 / 3))] },
    target: ".thumbnail:nth-of-type(2) button",
    told: ["heed-select", { layer: 0, head: 1 }],
    toldAgain: ["heed-select", { layer: 0, head: 1 }],
  },
  "heed-steps": {
    properties: { q: numbers, k: numbers, v: numbers, tokens, mask: "causal" },
    target: "[data-matrix=q] canvas",
    told: ["heed-lock", { matrix: "q", row: 1, col: 1, value: 1 }],
    toldAgain: ["heed-lock", null],
  },
} as const;

export type Tag = keyof typeof elements;

const bundled = `import * as view from "heed/view"; globalThis.heedView = view; view.defineElements();`;

/** Counts the listeners on objects that outlive an element: the window, the document and media queries. */
function watchListeners(): void {
  const open: { name: string; target: EventTarget; listener: unknown; signal?: AbortSignal }[] = [];
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const outlives = (target: EventTarget) =>
    target === window || target === document || target instanceof MediaQueryList;
  EventTarget.prototype.addEventListener = function (name, listener, options) {
    const target = (this ?? window) as EventTarget;
    const signal = typeof options === "object" ? options?.signal : undefined;
    if (outlives(target)) open.push({ name, target, listener, ...(signal && { signal }) });
    addEventListener.call(target, name, listener, options);
  };
  EventTarget.prototype.removeEventListener = function (name, listener, options) {
    const target = (this ?? window) as EventTarget;
    const found = open.findIndex(
      (each) => each.name === name && each.target === target && each.listener === listener,
    );
    if (found >= 0) open.splice(found, 1);
    removeEventListener.call(target, name, listener, options);
  };
  globalThis.openListeners = () =>
    open
      .filter(({ signal }) => !signal?.aborted)
      .map(({ name, target }) => `${target.constructor.name} ${name}`);
  document.addEventListener("securitypolicyviolation", (event) => {
    console.error(`the Content-Security-Policy refused ${event.violatedDirective}`);
  });
}

export class ElementsPage {
  readonly page: Page;
  /** Messages of the console. WebKit reports them when its page is closed. */
  readonly complaints: string[];
  readonly #end: () => Promise<void>;

  private constructor(page: Page, end: () => Promise<void>) {
    this.page = page;
    this.complaints = complaintsOf(page);
    this.#end = end;
  }

  /** @param body the page's own markup */
  static async open(name: BrowserName | "webkit", body = ""): Promise<ElementsPage> {
    const root = resolve(import.meta.dirname, "../..");
    const folder = mkdtempSync(join(tmpdir(), "heed-elements-"));
    await build({
      stdin: { contents: bundled, resolveDir: root },
      ...{ bundle: true, minify: true, format: "esm", outfile: join(folder, "main.js") },
    });
    const head = '<meta charset="utf-8"><title>Elements</title><link rel="icon" href="data:,">';
    const script =
      '<script src="./listener.js"></script><script type="module" src="./main.js"></script>';
    writeFileSync(join(folder, "listener.js"), name === "webkit" ? listener : "");
    const html = `<!doctype html><html lang="en"><head>${head}${script}</head><body>${body}</body></html>`;
    writeFileSync(join(folder, "index.html"), html);
    const server = await serve("--dir", folder);
    const browser: Browser = await (name === "webkit" ? launchWebKit({}) : borrow(name));
    const page = await browser.newPage();
    const opened = new ElementsPage(page, async () => {
      await page.close();
      if (name !== "chrome") await browser.close();
      server.stop();
      rmSync(folder, { recursive: true });
    });
    await page.setViewport({ width: 800, height: 900 });
    await page.evaluateOnNewDocument(watchListeners);
    await page.goto(server.url);
    await page.evaluate(() => customElements.whenDefined("heed-tokens").then(() => {}));
    return opened;
  }

  close(): Promise<void> {
    return this.#end();
  }

  /** Puts one element on the page, records its events, and waits until it is drawn. */
  async show(tag: string, properties: object): Promise<void> {
    await this.page.mouse.move(0, 0);
    await this.page.evaluate(
      async (tag, properties) => {
        document.body.replaceChildren();
        const element = document.createElement(tag) as view.HeedElement;
        globalThis.heardEvents = [];
        for (const name of ["heed-hover", "heed-lock", "heed-select", "heed-step", "heed-error"])
          element.addEventListener(name, (event) => {
            const { detail } = event as CustomEvent;
            const told = detail instanceof Error ? detail.message : detail;
            globalThis.heardEvents.push([name, told]);
          });
        document.body.append(element);
        await Object.assign(element, properties).updateComplete;
        // The first size that the observer reports may draw the element again.
        await new Promise((resolve) => setTimeout(resolve, 50));
        await element.updateComplete;
      },
      tag,
      properties,
    );
  }

  /** Sets properties of the element and waits until it is drawn. */
  async set(properties: object): Promise<void> {
    await this.page.evaluate(async (properties) => {
      const element = document.body.firstElementChild as view.HeedElement;
      await Object.assign(element, properties).updateComplete;
    }, properties);
  }

  /** The words of a part of the element, as a person sees them; "" of one that is hidden. */
  words(selector: string): Promise<string> {
    return this.page.evaluate((selector) => {
      const root = document.body.firstElementChild?.shadowRoot;
      const element = root?.querySelector<HTMLElement>(selector);
      return element?.checkVisibility() ? element.innerText.replace(/\s+/g, " ").trim() : "";
    }, selector);
  }

  /** The texts of all parts that a selector finds in the element, also of hidden ones. */
  texts(selector: string): Promise<(string | null)[]> {
    return this.page.evaluate((selector) => {
      const found = document.body.firstElementChild?.shadowRoot?.querySelectorAll(selector) ?? [];
      return [...found].map(({ textContent }) => textContent);
    }, selector);
  }

  /** The last announcement of the element to screen readers. */
  async heard(): Promise<string | null> {
    return (await this.texts("[aria-live]"))[0] ?? null;
  }

  /** The colour of the element's frame. */
  background(): Promise<string> {
    return this.page.evaluate(() => {
      const frame = document.body.firstElementChild?.shadowRoot?.firstElementChild;
      return frame ? getComputedStyle(frame).backgroundColor : "";
    });
  }

  /** The file that a menu of the element saves in a format. */
  saved(format: string, menu = ".save"): Promise<SavedFile> {
    const choose = (menu: string, format: string) => {
      const found = document.body.firstElementChild?.shadowRoot?.querySelector(menu);
      const buttons = [...(found?.querySelectorAll("button") ?? [])];
      buttons.find(({ textContent }) => textContent === format)?.click();
    };
    return savedBy(this.page, () => this.page.evaluate(choose, menu, format));
  }

  /** The faults that axe finds within the element. */
  async faults(): Promise<string[]> {
    await this.page.evaluate(axe);
    return this.page.evaluate(async () => {
      type Found = { violations: { id: string; nodes: { html: string }[] }[] };
      type Axe = { run(context: Element, options: object): Promise<Found> };
      const { axe } = globalThis as unknown as { axe: Axe };
      // The page around the element has no landmarks.
      const options = { rules: { region: { enabled: false } } };
      const { violations } = await axe.run(document.body, options);
      return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
    });
  }

  /** The middle of the target that is tapped in an element; for a canvas, the middle of its cells. */
  target(tag: Tag): Promise<{ x: number; y: number }> {
    return this.page.evaluate((selector) => {
      const found = document.body.firstElementChild?.shadowRoot?.querySelector(selector);
      if (!found) throw new Error(`there is no ${selector}`);
      found.scrollIntoView({ block: "center" });
      const { left, top, right, bottom } = found.getBoundingClientRect();
      const [before = 0, above = 0] = ["data-left", "data-top"].map((name) =>
        Number(found.getAttribute(name)),
      );
      return { x: (left + before + right) / 2, y: (top + above + bottom) / 2 };
    }, elements[tag].target);
  }

  /** The events since they were last read. */
  events(): Promise<[string, unknown][]> {
    return this.page.evaluate(() => globalThis.heardEvents.splice(0));
  }

  /**
   * The middle of a cell of the matrix, or with a negative column of a row's word, in the window.
   *
   * @param matrix the name of a matrix of `<heed-steps>`, of the same shape as q
   */
  async place(row: number, col: number, matrix?: string): Promise<{ x: number; y: number }> {
    return this.page.evaluate(
      (row, col, selector) => {
        const element = document.body.firstElementChild as view.HeedMatrix & view.HeedSteps;
        const canvas = element.shadowRoot?.querySelector(selector);
        if (!canvas) throw new Error("there is no canvas");
        const { left, top, width, height } = canvas.getBoundingClientRect();
        const data = (element.data ?? element.q) as number[][];
        const [rows, cols] = [data.length, data[0]?.length ?? 0];
        const [fromLeft = 0, fromTop = 0] = ["data-left", "data-top"].map((name) =>
          Number(canvas.getAttribute(name)),
        );
        const x = col < 0 ? fromLeft - 10 : fromLeft + ((col + 0.5) * (width - fromLeft)) / cols;
        return { x: left + x, y: top + fromTop + ((row + 0.5) * (height - fromTop)) / rows };
      },
      row,
      col,
      matrix ? `[data-matrix=${matrix}] canvas` : "canvas",
    );
  }

  /** The colour of the canvas near the lower left corner of a cell, where there is no number. */
  async colour(row: number, col: number): Promise<number[]> {
    const { x, y } = await this.place(row, col);
    return this.page.evaluate(
      (x, y) => {
        const canvas = document.body.firstElementChild?.shadowRoot?.querySelector("canvas");
        if (!canvas) throw new Error("there is no canvas");
        const { left, top, width } = canvas.getBoundingClientRect();
        const ratio = canvas.width / width;
        const [column, line] = [(x - left - 24) * ratio, (y - top + 10) * ratio] as const;
        // A copy: to read the canvas itself would change how the browser draws it.
        const pixel = new OffscreenCanvas(1, 1).getContext("2d");
        pixel?.drawImage(canvas, Math.round(column), Math.round(line), 1, 1, 0, 0, 1, 1);
        return [...(pixel?.getImageData(0, 0, 1, 1).data ?? [])];
      },
      x,
      y,
    );
  }
}

/** Opens one page for the tests of a `describe`, which must leave its console empty. */
export function visiting(name: BrowserName, opened: (room: ElementsPage) => void, body = ""): void {
  let room: ElementsPage;
  beforeAll(async () => {
    room = await ElementsPage.open(name, body);
    opened(room);
  });
  afterAll(async () => {
    const { complaints } = room;
    await room.close();
    expect(complaints).toEqual([]);
  });
}
