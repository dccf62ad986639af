/** Drives any room of the page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, ElementHandle, Page } from "puppeteer-core";
import { complaintsOf } from "./browsers";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const impacts = ["minor", "moderate", "serious", "critical"] as const;

export interface Size {
  readonly width?: number;
  readonly height?: number;
}

export interface OpenOptions extends Size {
  readonly serviceWorker?: boolean;
}

const viewportOf = ({ width = 1440, height = width < 600 ? 740 : 900 }: Size) => ({
  width,
  height,
});

export interface SavedFile {
  readonly name: string;
  readonly text: string;
}

/** The file that a page saves because of an action. It is not downloaded. */
export async function savedBy(page: Page, act: () => Promise<unknown>): Promise<SavedFile> {
  const caught = await page.evaluateHandle(() => {
    const { createObjectURL } = URL;
    const { click } = HTMLAnchorElement.prototype;
    const blobs = new Map<string, Blob>();
    const files: { name: string; blob: Blob }[] = [];
    URL.createObjectURL = (made) => {
      const url = createObjectURL.call(URL, made);
      blobs.set(url, made as Blob);
      return url;
    };
    HTMLAnchorElement.prototype.click = function () {
      files.push({ name: this.download, blob: blobs.get(this.href) as Blob });
    };
    const restore = () => {
      Object.assign(URL, { createObjectURL });
      Object.assign(HTMLAnchorElement.prototype, { click });
    };
    return { files, restore };
  });
  try {
    await act();
    await page.waitForFunction(({ files }) => files.length > 0, {}, caught);
    return await caught.evaluate(async ({ files: [file] }) => ({
      name: file?.name ?? "",
      text: (await file?.blob.text()) ?? "",
    }));
  } finally {
    await caught.evaluate(({ restore }) => restore());
    await caught.dispose();
  }
}

export class Room {
  readonly page: Page;
  readonly complaints: string[];

  constructor(page: Page) {
    this.page = page;
    this.complaints = complaintsOf(page);
  }

  /**
   * Opens the page. Its service worker would outlive this test's server in the browser, so only some tests allow it.
   */
  static async open<R extends Room = Room>(
    this: new (
      page: Page,
    ) => R,
    browser: Browser,
    url: string,
    { serviceWorker = false, ...size }: OpenOptions = {},
  ): Promise<R> {
    const room = new this(await browser.newPage());
    await room.page.setViewport(viewportOf(size));
    await room.page.evaluateOnNewDocument((serviceWorker) => {
      // Firefox reports a violated policy only to listeners in the page itself.
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`the Content-Security-Policy refused ${event.violatedDirective}`);
      });
      if (!serviceWorker)
        Object.defineProperty(Navigator.prototype, "serviceWorker", { value: undefined });
    }, serviceWorker);
    await room.page.goto(url);
    return room;
  }

  /** Waits for the first answer of the engine. */
  async ready(): Promise<this> {
    await this.page.waitForSelector("[data-footnote]");
    return this;
  }

  /** Follows a link within the page: the text after the `#`. */
  async go(link: string): Promise<void> {
    await this.page.evaluate((link) => {
      location.hash = link;
    }, link);
  }

  /** Leaves the room for a room that computes nothing without a request, and opens it again at a link. */
  async reenter(link: string, size: Size): Promise<this> {
    const isThere = (words: string) =>
      document.querySelector("[data-footnote]")?.textContent?.includes(words) ?? false;
    const empty = "no model is open";
    await this.page.mouse.move(0, 0);
    await this.go("room=models&model=owner/name");
    await this.page.waitForFunction(isThere, {}, empty);
    await this.page.setViewport(viewportOf(size));
    await this.page.evaluate(() => scrollTo(0, 0));
    await this.go(link);
    await this.page.waitForFunction(
      (empty) => {
        const footnote = document.querySelector("[data-footnote]")?.textContent;
        return footnote !== undefined && !footnote?.includes(empty);
      },
      {},
      empty,
    );
    return this;
  }

  /** The text of an element, with one space between the texts of different blocks. */
  text(selector: string): Promise<string> {
    return this.page.$eval(selector, (element) => {
      const { innerText } = element as HTMLElement;
      return innerText.replace(/\s+/g, " ").trim();
    });
  }

  /** The numbers in the formula of the active cell: the dot product, the score and the weight. */
  async formula(): Promise<{ dot: number; score: number; weight: number }> {
    const text = (await this.text(".readout-formula")).replaceAll("−", "-");
    const found =
      /= (-?[\d.]+) score = .* = (-?[\d.]+) weight = [^=]*= [^=]* = ([\d.]+)/.exec(text) ?? [];
    const [dot = Number.NaN, score = Number.NaN, weight = Number.NaN] = found.slice(1).map(Number);
    return { dot, score, weight };
  }

  /** Selects a head of the room Models, and waits until it is selected. */
  async choose(key: string): Promise<void> {
    await this.page.click(`[data-head="${key}"] button`);
    await this.page.waitForSelector(`[data-head="${key}"] [aria-pressed=true]`);
  }

  /** Replaces the content of a field by typing. */
  async type(selector: string, text: string): Promise<void> {
    await this.page.focus(selector);
    await this.page.keyboard.down("Control");
    await this.page.keyboard.press("a");
    await this.page.keyboard.up("Control");
    await this.page.keyboard.type(text);
  }

  /** Sets a slider to a value, with the event of dragging. */
  async setSlider(selector: string, value: number): Promise<void> {
    await this.page.$eval(
      selector,
      (slider, value) => {
        (slider as HTMLInputElement).value = String(value);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      },
      value,
    );
  }

  /** Replaces the content of a field by pasting. */
  async paste(selector: string, text: string): Promise<void> {
    await this.page.$eval(
      selector,
      (element, text) => {
        (element as HTMLInputElement).focus();
        (element as HTMLInputElement).select();
        // The only way in browsers to insert text with all events of a person's input.
        if (text === "") document.execCommand("delete");
        else document.execCommand("insertText", false, text);
      },
      text,
    );
  }

  /** Scrolls an element into view and waits until it is still, because a person does not click on a moving element. */
  async still(element: ElementHandle<Element>): Promise<void> {
    if (!(await element.isIntersectingViewport({ threshold: 1 }))) await element.scrollIntoView();
    await element.evaluate(
      (element) =>
        new Promise<void>((resolve) => {
          let before = element.getBoundingClientRect();
          let still = 0;
          const look = () => {
            const now = element.getBoundingClientRect();
            still = now.x === before.x && now.y === before.y ? still + 1 : 0;
            before = now;
            if (still === 2) resolve();
            else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        }),
    );
  }

  /** The enabled label or button with the text `words` within `scope`. */
  async #clickable(words: string, scope: string): Promise<ElementHandle<Element>> {
    const found = await this.page.evaluateHandle(
      (words, scope) =>
        [...document.querySelectorAll(`${scope} :is(label, button, a, summary)`)].find(
          (element) => element.textContent?.trim() === words,
        ) ?? null,
      words,
      scope,
    );
    const element = found.asElement() as ElementHandle<Element> | null;
    if (!element) throw new Error(`there is nothing to click that says “${words}” in ${scope}`);
    if (await element.evaluate((element) => element.matches(":disabled, :has(:disabled)")))
      throw new Error(`“${words}” in ${scope} is disabled`);
    return element;
  }

  /** Clicks on an element. Returns null, or a description of the element that was hit instead. */
  async #clickAt(element: ElementHandle<Element>): Promise<string | null> {
    const strike = await this.page.evaluateHandle(() => ({
      target: new Promise<Element | null>((resolve) => {
        const hear = ({ target }: Event) => resolve(target as Element);
        // Longer than a page may be busy, because a late click must not be repeated.
        addEventListener("click", hear, { capture: true, once: true });
        setTimeout(() => {
          removeEventListener("click", hear, { capture: true });
          resolve(null);
        }, 10_000);
      }),
    }));
    await element.click();
    return strike.evaluate(async ({ target }, element) => {
      const hit = await target;
      if (!hit) return "nothing";
      return element.contains(hit) ? null : hit.outerHTML.slice(0, 100);
    }, element);
  }

  /**
   * Clicks on the label or button with the text `words` within `scope`. If it moves away at the moment of the click,
   * the click is repeated, as a person would do.
   */
  async click(words: string, scope = "body"): Promise<void> {
    for (let tries = 3; ; --tries) {
      const element = await this.#clickable(words, scope);
      const place = () =>
        element.evaluate((element) => JSON.stringify(element.getBoundingClientRect()));
      await this.still(element);
      const before = await place();
      const hit = await this.#clickAt(element);
      if (hit === null) return;
      const what = `a click at “${words}” in ${scope} hits ${hit}`;
      if ((await place()) === before) throw new Error(`${what}, which covers it`);
      if (tries === 1) throw new Error(`${what}, as it moves away from under every click`);
    }
  }

  /** The file that a menu within `scope` saves in a format. */
  async saved(scope: string, format: string): Promise<SavedFile> {
    await this.page.waitForSelector(`${scope} .save button`);
    const choose = (menu: Element, format: string) => {
      (menu as HTMLDetailsElement).open = true;
      const buttons = [...menu.querySelectorAll("button")];
      buttons.find(({ textContent }) => textContent === format)?.click();
    };
    return savedBy(this.page, () => this.page.$eval(`${scope} .save`, choose, format));
  }

  canvas(matrix: string): Promise<ElementHandle<Element>> {
    return this.page.waitForSelector(`main [data-matrix=${matrix}] canvas`) as Promise<
      ElementHandle<Element>
    >;
  }

  /** The centre of a cell on the screen, once the cell is still; rows and columns are counted from 0. */
  async cell(
    matrix: string,
    row: number,
    col: number,
    rows: number,
    cols: number,
  ): Promise<{ x: number; y: number }> {
    const canvas = await this.canvas(matrix);
    return canvas.evaluate(
      async (element, row, col, rows, cols) => {
        const place = () => {
          element.scrollIntoView({ block: "center" });
          return element.getBoundingClientRect();
        };
        // A figure that was just opened measures its width and may be drawn again.
        let box = place();
        for (let still = 0; still < 3; ) {
          await new Promise(requestAnimationFrame);
          const next = place();
          const hasMoved = ["left", "top", "width", "height"].some(
            (side) => next[side as "left"] !== box[side as "left"],
          );
          still = hasMoved ? 0 : still + 1;
          box = next;
        }
        const left = Number((element as HTMLElement).dataset.left);
        const top = Number((element as HTMLElement).dataset.top);
        // The page is enlarged on a wide screen.
        const zoom = box.width / (element as HTMLElement).offsetWidth;
        const [atLeft, atTop] = [zoom * left, zoom * top];
        return {
          x: box.left + atLeft + ((col + 0.5) * (box.width - atLeft)) / cols,
          y: box.top + atTop + ((row + 0.5) * (box.height - atTop)) / rows,
        };
      },
      row,
      col,
      rows,
      cols,
    );
  }

  /** The accessibility problems that axe finds, from an impact level on. */
  async violations(least: (typeof impacts)[number] = "serious"): Promise<string[]> {
    // Evaluated like the browser's developer tools, because the page's policy allows no foreign script.
    await this.page.evaluate(axe);
    const violations = await this.page.evaluate(async () => {
      const { run } = (window as unknown as { axe: typeof import("axe-core") }).axe;
      return (await run()).violations.map(({ id, impact, nodes }) => {
        const places = nodes.map(({ html }) => html.slice(0, 100));
        return { impact: impact ?? "critical", words: `${impact}: ${id} ${places}` };
      });
    });
    return violations
      .filter(({ impact }) => impacts.indexOf(impact) >= impacts.indexOf(least))
      .map(({ words }) => words);
  }

  /** By how many pixels the page is wider than its window. */
  sidewaysOverflow(): Promise<number> {
    return this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  }

  /** The texts of the buttons of save menus that are outside of the window when their menu is open. */
  saveButtonsOutside(): Promise<string[]> {
    return this.page.$$eval("main .save", (menus) =>
      menus.flatMap((menu) => {
        (menu as HTMLDetailsElement).open = true;
        const outside = [...menu.querySelectorAll("button")].filter((button) => {
          const { left, right } = button.getBoundingClientRect();
          return left < 0 || right > innerWidth;
        });
        (menu as HTMLDetailsElement).open = false;
        return outside.map(({ textContent }) => textContent ?? "");
      }),
    );
  }

  /** The part of the address after the `#`. */
  link(): Promise<string> {
    return this.page.evaluate(() => location.hash);
  }

  /**
   * Opens a page of the same host with the content `html`, and without the policy that forbids it frames; Chromium
   * only. Afterwards requests of workers sometimes fail, so the engine may not start.
   */
  async openHostOf(url: string, html: string): Promise<void> {
    const host = new URL("host.html", url).href;
    await this.page.setRequestInterception(true);
    this.page.on("request", (request) => {
      if (request.url() !== host) return void request.continue();
      void request.respond({
        contentType: "text/html",
        body: `<!doctype html><link rel="icon" href="data:,">${html}`,
      });
    });
    await this.page.goto(host);
  }

  /**
   * The number of elements in the frame at `url` that match a selector. Finds the frame again on each call, because a
   * frame that is still loading has another address.
   */
  async countInFrame(url: string, selector: string): Promise<number> {
    const frame = this.page.frames().find((frame) => frame.url() === url);
    return (await frame?.$$eval(selector, (all) => all.length).catch(() => 0)) ?? 0;
  }

  async close(): Promise<void> {
    await this.page.close();
  }
}
