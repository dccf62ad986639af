// Shared by the tests of all environments of the package: a small program, the page that runs it, and the
// table of the package's guide, of which each test checks a row.

import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright";
import { expect } from "vitest";
import { launchChromium } from "../../harness/chromium.mjs";
import { engineFiles } from "../engine.js";
import { table } from "./install.js";
import { serve } from "./serve.js";

const root = join(import.meta.dirname, "../../..");

export interface Report {
  numbers: string[];
  variant: string;
  threads: number;
  reason: string | null;
}

/** A module that computes with two engines, one of them with two threads, and reports the results. */
export const reportModule = (entry = "heed") => `
  import { load } from "${entry}";
  export async function report(options) {
    const first = await load({ threads: 2, ...options });
    const second = await load({ ...options, threads: 1 });
    const numbers = [first, second].map((heed) => heed.scope(() => {
      const x = heed.tensor([[[[1], [2], [3]]]]);
      const large = heed.tensor(new Float32Array(4 * 512 * 32).fill(2), [1, 4, 512, 32]);
      const { output } = heed.attention(large, large, large, { isCausal: true });
      const isRight = output.data.every((value) => Math.abs(value - 2) < 1e-5);
      return heed.attention(x, x, x).output.data[0].toFixed(4) + " " + isRight;
    }));
    const { variant, threads, reason } = first.info;
    first.dispose();
    second.dispose();
    return { numbers, variant, threads, reason };
  }`;

/** Programs that print, or keep for the test, what report() returns for \`globalThis.options\`. */
export const programs = {
  "report.js": reportModule(),
  "main.js": `
    import { report } from "./report.js";
    globalThis.reports = report(globalThis.options).catch(String);`,
  "print.js": `
    import { report } from "./report.js";
    report(globalThis.options).then((r) => console.log(JSON.stringify(r)), (e) => console.log(String(e)));`,
};

export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** A module service worker that sends its report to the page. It imports the glue, because it has no import(). */
export const serviceWorker = `
  import { report } from "./report.js";
  import glue from "heed/heed-simd.mjs";
  self.onmessage = ({ source }) =>
    report({ glue }).catch(String).then((result) => source.postMessage(result));`;

/** The script of a page that starts a service worker and asks for its report. */
export const serviceWorkerPage = (script: string) => `
  await navigator.serviceWorker.register("${script}", { type: "module" });
  const { active } = await navigator.serviceWorker.ready;
  globalThis.reports = new Promise((resolve) => {
    navigator.serviceWorker.onmessage = ({ data }) => resolve(data);
    active.postMessage(null);
  });`;

/** Copies the engine's files, as the guide asks users of some bundlers to do. */
export function copyEngine(home: string, to: string): void {
  for (const name of [...engineFiles, "workerThread.js"])
    cpSync(join(home, "dist", name), join(to, name));
}

const guide = "bindings/js/README.md";

const rows = new Map(
  readFileSync(join(root, guide), "utf8")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length === 6)
    .map((cells) => [cells[1] as string, cells.slice(2, 5) as [string, string, string]]),
);

/** Checks the report of an environment, and that the guide's row of that name is the same. */
export function expectWorks(place: string, report: Report | string): void {
  const { variant, threads, reason } = report as Report;
  // The result of attention over 1, 2, 3 for its first query: (e + 2 e^2 + 3 e^3) / (e + e^2 + e^3).
  expect(report).toMatchObject({ numbers: ["2.5752 true", "2.5752 true"] });
  const row = rows.get(place) ?? expect.fail(`${guide}: expected a row "${place}"`);
  const reported = [variant, threads === 2 ? "all" : "1"];
  expect(reported, `${place}: ${reason}`).toEqual(row.slice(0, 2));
  expect(reason === null).toBe(threads === 2);
  appendFileSync(table, `| ${[place, "yes", ...row].join(" | ")} |\n`);
}

export const isolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** The strictest policy that lets the engine and its threads run. */
export const policy = {
  "Content-Security-Policy": "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'",
};

let browser: Browser | undefined;

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
}

export interface Visit<T> {
  /** The final `reports`. */
  reports: T;
  /** The uncaught errors of the page. */
  errors: string[];
  /** The same, errors and warnings of its console, and answers that failed. */
  complaints: string[];
  /** The paths of the files that were fetched. */
  fetched: string[];
}

/** Opens a page, and returns its report and the addresses that it fetches. */
export async function visit<T>(url: string): Promise<Visit<T>> {
  browser ??= await launchChromium();
  const page: Page = await browser.newPage();
  try {
    const [errors, complaints, fetched]: [string[], string[], string[]] = [[], [], []];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => {
      errors.push(String(error));
      complaints.push(String(error));
    });
    page.on("requestfailed", (request) => complaints.push(`${request.url()} failed`));
    page.on("response", (response) => {
      fetched.push(new URL(response.url()).pathname);
      if (response.status() >= 400) complaints.push(`${response.url()}: ${response.status()}`);
    });
    await page.goto(url);
    // Not waitForFunction: it needs a policy that allows eval. A development server may reload the page meanwhile.
    const hasBegun = () => page.evaluate("globalThis.reports !== undefined").catch(() => false);
    for (let i = 0; i < 200 && !(await hasBegun()); ++i) await page.waitForTimeout(100);
    const reports = (await page.evaluate("globalThis.reports")) as T;
    return { reports, errors, complaints, fetched };
  } finally {
    await page.close();
  }
}

/** Opens a page that throws nothing, and returns the final `reports`. */
export async function openAddress<T = Report | string>(url: string): Promise<T> {
  const { reports, errors } = await visit<T>(url);
  expect(errors).toEqual([]);
  return reports;
}

/** Serves a folder and opens its index.html, or a page with this script. Returns the final `reports`. */
export async function open<T = Report | string>(
  folder: string,
  script?: string,
  headers: Parameters<typeof serve>[1] = { ...isolation, ...policy },
): Promise<T> {
  if (script !== undefined)
    writeFiles(folder, { "index.html": `<!doctype html><title>Heed</title>${script}` });
  const served = await serve(folder, headers);
  try {
    return await openAddress(served.url);
  } finally {
    served.close();
  }
}
