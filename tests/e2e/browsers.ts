/** Starts the page's server and either browser, and collects messages that would appear in the console. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { launchFirefox, workersOfFirefox } from "../harness/firefox.mjs";
import { chromium } from "../harness/program.mjs";

export type BrowserName = "chrome" | "firefox";

/** Starts a browser. `flags` apply to Chromium only. */
export function launch(browser: BrowserName, flags: readonly string[] = []): Promise<Browser> {
  if (browser === "firefox") return launchFirefox();
  return puppeteer.launch({
    browser,
    executablePath: chromium(),
    headless: true,
    // Chromium's sandbox does not work for root. Without a graphics card, a process for it only costs time. The other
    // flags prevent requests to its maker's services, and the loading of the suggestions of its address bar, which takes
    // as much processor time as a page.
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--in-process-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
      ...flags,
    ],
  });
}

let sharedChromium: Promise<Browser> | undefined;

async function launchShared(): Promise<Browser> {
  const browser = await launch("chrome");
  const { pid, spawnargs } = browser.process() ?? {};
  const profile = spawnargs?.find((each) => each.startsWith("--user-data-dir="));
  // Vitest ends it at the end (see ending.ts).
  const { HEED_BROWSERS: folder } = process.env;
  if (folder) writeFileSync(join(folder, `${pid}`), profile?.split("=")[1] ?? "");
  return browser;
}

/**
 * A browser for one test file. The files of a process use one Chromium after another. Each has its own Firefox, because
 * there a page waited for 30 s after the pages of other files.
 */
export function borrow(name: BrowserName): Promise<Browser> {
  if (name === "firefox") return launch(name);
  sharedChromium ??= launchShared();
  return sharedChromium;
}

/** Closes a browser, but of the shared one only the pages: all but the first, which was there before them. */
export async function giveBack(browser: Browser | undefined): Promise<void> {
  if (!browser) return;
  if (browser !== (await sharedChromium)) return browser.close();
  const [, ...pages] = await browser.pages();
  await Promise.all(pages.map((page) => page.close()));
}

/** The addresses of the workers of a page that has an engine. */
export async function workersOf(page: Page): Promise<string[]> {
  const browser = page.browser();
  return /^firefox/i.test(await browser.version())
    ? workersOfFirefox(browser, "engine.worker")
    : page.workers().map((worker) => worker.url());
}

export interface Server {
  readonly url: string;
  stop(): void;
}

/**
 * Serves the built page by `web/serve.mjs`, on any free port. With fixed ports, a server of another test file took the
 * port of a server that was stopped, and a page that should be without a network got its answers.
 */
export function serve(...options: string[]): Promise<Server> {
  const script = fileURLToPath(new URL("../../web/serve.mjs", import.meta.url));
  const server = spawn(process.execPath, [script, "--port", "0", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    server.stdout.on("data", (text) => {
      said += text;
      const url = /http:\S+/.exec(said)?.[0];
      if (url) resolve({ url, stop: () => server.kill() });
    });
    server.on("exit", (code) => reject(new Error(`the server ended with code ${code}`)));
  });
}

/** A server of a test, at any free port of `host`. */
export async function listen(host: string, answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Collects errors and warnings of the console, and uncaught errors. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return complaints;
}
