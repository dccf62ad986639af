/** The part of puppeteer's page interface that `Room` needs, for WebKit, which puppeteer cannot drive. */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "puppeteer-core";
import { WebKit } from "../harness/webkit.mjs";

type Call = (...args: never[]) => unknown;

/**
 * Collects complaints of the page and its workers in a list of the page, because WebDriver gives no access to the
 * console.
 */
export const listener = `{
  const isPage = "document" in globalThis;
  const channel = new BroadcastChannel("complaints");
  const complaints = [];
  const tell = (text) => { if (isPage) complaints.push(text); else channel.postMessage(text); };
  if (isPage) globalThis.complaints = complaints;
  channel.onmessage = ({ data }) => complaints.push(data);
  for (const level of ["error", "warn"]) {
    const own = console[level];
    console[level] = (...args) => { tell(args.map(String).join(" ")); own.apply(console, args); };
  }
  addEventListener("error", (event) => tell(String(event.message ?? event.target?.outerHTML)), true);
  addEventListener("unhandledrejection", ({ reason }) => tell("unhandled rejection: " + reason));
  addEventListener("securitypolicyviolation", (event) => tell("refused: " + event.violatedDirective), true);
}`;

/** A copy of the built page that collects the complaints of the page and its workers. */
export async function listeningPage(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "heed-page-"));
  await cp(fileURLToPath(new URL("../../build/web", import.meta.url)), folder, { recursive: true });
  await writeFile(join(folder, "listener.js"), listener);
  const index = join(folder, "index.html");
  const html = await readFile(index, "utf8");
  await writeFile(index, html.replace("<head>", '<head><script src="./listener.js"></script>'));
  for (const name of await readdir(join(folder, "assets"))) {
    if (!name.includes(".worker-")) continue;
    const file = join(folder, "assets", name);
    await writeFile(file, `${listener}\n${await readFile(file, "utf8")}`);
  }
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** A reference to an object in the page. */
class Handle {
  readonly page: WebKitPage;
  readonly place: number;
  readonly isElement: boolean;

  constructor(page: WebKitPage, place: number, isElement: boolean) {
    this.page = page;
    this.place = place;
    this.isElement = isElement;
  }

  asElement(): Handle | null {
    return this.isElement ? this : null;
  }

  evaluate(call: Call, ...args: unknown[]): Promise<unknown> {
    return this.page.evaluate(call, this, ...args);
  }

  isIntersectingViewport(): Promise<unknown> {
    return this.evaluate((element: Element) => {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    });
  }

  scrollIntoView(): Promise<unknown> {
    return this.evaluate((element: Element) => element.scrollIntoView({ block: "center" }));
  }

  async click(): Promise<void> {
    const middle = await this.evaluate((element: Element) => {
      // The centre of the first line box, because a label of several lines may have no text at its own centre.
      const { left, top, width, height } = element.getClientRects()[0] as DOMRect;
      return { x: left + width / 2, y: top + height / 2 };
    });
    await this.page.webkit.point(middle as { x: number; y: number }, { click: true });
  }
}

/** WebDriver's codes of keys that are no characters. */
const keys: Readonly<Record<string, string>> = {
  Backspace: "\uE003",
  Enter: "\uE007",
  Tab: "\uE004",
  Control: "\uE009",
  Escape: "\uE00C",
  End: "\uE010",
  Home: "\uE011",
  ArrowLeft: "\uE012",
  ArrowUp: "\uE013",
  ArrowRight: "\uE014",
  ArrowDown: "\uE015",
};

class WebKitPage {
  readonly webkit: WebKit;
  readonly #hear: ((error: string) => void)[] = [];
  readonly keyboard = {
    down: (key: string) => this.webkit.keys([keys[key] ?? key], ["keyDown"]),
    up: (key: string) => this.webkit.keys([keys[key] ?? key], ["keyUp"]),
    press: (key: string) => this.webkit.keys([keys[key] ?? key]),
    type: (text: string) => this.webkit.keys(text),
  };
  readonly mouse = {
    move: (x: number, y: number) => this.webkit.point({ x, y }),
    click: (x: number, y: number) => this.webkit.point({ x, y }, { click: true }),
  };

  constructor(webkit: WebKit) {
    this.webkit = webkit;
  }

  on(event: string, hear: (error: string) => void): void {
    if (event === "pageerror") this.#hear.push(hear);
  }

  setViewport({ width, height }: { width: number; height: number }): Promise<void> {
    return this.webkit.resize(width, height);
  }

  /** The listener replaces the script that `Room.open` would run first. There are no service workers. */
  async evaluateOnNewDocument(): Promise<void> {}

  goto(url: string): Promise<void> {
    return this.webkit.goto(url);
  }

  async #run(source: string, args: readonly unknown[]): Promise<unknown> {
    const places = args.map((arg) =>
      arg instanceof Handle ? { held: arg.place } : { value: arg },
    );
    const unwrap = `({ held, value }) => held === undefined ? value : globalThis.held[held]`;
    return this.webkit.evaluate(`(args) => (${source})(...args.map(${unwrap}))`, [places]);
  }

  evaluate(call: Call, ...args: unknown[]): Promise<unknown> {
    return this.#run(String(call), args);
  }

  async evaluateHandle(call: Call, ...args: unknown[]): Promise<Handle> {
    const source = `async (...args) => {
      const found = await (${call})(...args);
      return [(globalThis.held ??= []).push(found) - 1, found instanceof Element];
    }`;
    const [place, isElement] = (await this.#run(source, args)) as [number, boolean];
    return new Handle(this, place, isElement);
  }

  $eval(selector: string, call: Call, ...args: unknown[]): Promise<unknown> {
    const source = `(selector, ...args) => {
      const element = document.querySelector(selector);
      if (!element) throw new Error("there is no " + selector);
      return (${call})(element, ...args);
    }`;
    return this.#run(source, [selector, ...args]);
  }

  $$eval(selector: string, call: Call, ...args: unknown[]): Promise<unknown> {
    const source = `(selector, ...args) => (${call})([...document.querySelectorAll(selector)], ...args)`;
    return this.#run(source, [selector, ...args]);
  }

  async waitForSelector(selector: string, { timeout = 30_000 } = {}): Promise<Handle> {
    return this.evaluateHandle(
      async (selector: string, timeout: number) => {
        for (const end = performance.now() + timeout; ; ) {
          const found = document.querySelector(selector);
          if (found) return found;
          if (performance.now() > end)
            throw new Error(`there is no ${selector} after ${timeout} ms`);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
      selector,
      timeout,
    );
  }

  async focus(selector: string): Promise<void> {
    await this.$eval(selector, (element: HTMLElement) => element.focus());
  }

  screenshot(): Promise<Buffer> {
    return this.webkit.screenshot();
  }

  /** Leaves the page, which ends its workers, and collects the complaints. */
  async close(): Promise<void> {
    const complaints = (await this.evaluate(
      () => (globalThis as { complaints?: string[] }).complaints ?? [],
    )) as string[];
    for (const complaint of complaints) for (const hear of this.#hear) hear(complaint);
    await this.webkit.goto("about:blank");
  }
}

/** A browser with one page at a time. */
export async function launchWebKit(options: Parameters<typeof WebKit.launch>[0]): Promise<Browser> {
  const webkit = await WebKit.launch(options);
  const browser = {
    newPage: async () => new WebKitPage(webkit) as unknown as Page,
    close: () => webkit.close(),
  };
  return browser as unknown as Browser;
}
