/** Starts the page's server and either browser, and collects messages that would appear in the console. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { launchFirefox, workersOfFirefox } from "../harness/firefox.mjs";
import { programOf } from "../harness/program.mjs";

export type BrowserName = "chrome" | "firefox";

/** Starts a browser. `flags` apply to Chromium only. */
export function launch(browser: BrowserName, flags: readonly string[] = []): Promise<Browser> {
  if (browser === "firefox") return launchFirefox();
  const chromes = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
  const executablePath = programOf("HEED_CHROMIUM", ...chromes);
  return puppeteer.launch({
    browser,
    executablePath,
    headless: true,
    // Chromium's sandbox does not work for root. The other flags prevent requests to its maker's services.
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...flags,
    ],
  });
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

/** Serves the built page by `web/serve.mjs`. */
export function serve(...options: string[]): Promise<Server> {
  const script = fileURLToPath(new URL("../../web/serve.mjs", import.meta.url));
  const server = spawn(process.execPath, [script, "--port", "4100", ...options], {
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

/** Collects errors and warnings of the console, and uncaught errors. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return complaints;
}
