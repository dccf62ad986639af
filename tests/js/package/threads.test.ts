// Pages that make the start of threads difficult or impossible: files of a foreign origin, content security
// policies, trusted types, scripts that do not load. In Chromium and in Firefox.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LoadOptions } from "heed";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launchChromium } from "../../harness/chromium.mjs";
import { launchFirefox } from "../../harness/firefox.mjs";
import { isolation } from "./places.js";
import { type Served, serve } from "./serve.js";

const packed = join(inject("installed").project, "node_modules/heed");
const root = join(inject("installed").project, "threads");

/** The common interface of both browser drivers. */
interface Page {
  goto(url: string): Promise<unknown>;
  evaluate(script: string): Promise<unknown>;
  on(event: "pageerror", handle: (error: unknown) => void): void;
  close(): Promise<void>;
}
interface Browser {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

let foreign: Served;
const servers: Served[] = [];

beforeAll(async () => {
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "index.html"), '<!doctype html><html lang="en"><title>Threads</title>');
  writeFileSync(join(root, "silent.js"), "");
  writeFileSync(join(root, "broken.js"), "throw new Error('broken');");
  foreign = await serve(packed, { "Access-Control-Allow-Origin": "*" });
});

afterAll(() => {
  for (const server of [foreign, ...servers]) server?.close();
});

interface Report {
  threads: number;
  reason: string | null;
  isRight: boolean;
  unhandled: string[];
}

/** Loads the package from the foreign origin into an isolated page with this policy. */
async function visit(browser: Browser, policy: string, options: LoadOptions): Promise<Report> {
  const own = await serve(root, { ...isolation, "Content-Security-Policy": policy });
  servers.push(own);
  const page = await browser.newPage();
  try {
    await page.goto(own.url);
    return (await page.evaluate(`(async () => {
      const unhandled = [];
      addEventListener("unhandledrejection", ({ reason }) => unhandled.push(String(reason)));
      addEventListener("error", ({ message }) => unhandled.push(message));
      const { load } = await import("${foreign.url}dist/index.js");
      const heed = await load(${JSON.stringify({ threads: 3, variant: "simd", ...options })});
      const x = heed.ones([1, 4, 512, 32]);
      const { output } = heed.attention(x, x, x, { isCausal: true });
      const isRight = output.data.every((value) => Math.abs(value - 1) < 1e-5);
      do await new Promise((resolve) => setTimeout(resolve, 50));
      while (heed.info.reason?.includes("not begun yet"));
      const { threads, reason } = heed.info;
      heed.dispose();
      return { threads, reason, isRight, unhandled };
    })()`)) as Report;
  } finally {
    await page.close();
  }
}

describe.each([
  ["Chromium", launchChromium as unknown as () => Promise<Browser>],
  ["Firefox", launchFirefox as unknown as () => Promise<Browser>],
])("in %s", (_, launch) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  const allThreads = { threads: 3, reason: null, isRight: true, unhandled: [] };
  const oneThread = (reason: string) => ({
    threads: 1,
    reason: expect.stringContaining(`1 thread, because ${reason}`),
    isRight: true,
    unhandled: [],
  });

  test("threads start from files of a foreign origin", async () => {
    expect(await visit(browser, "", {})).toEqual(allThreads);
  });

  test("threads start from the address in workerUrl", async () => {
    const workerUrl = `${foreign.url}dist/heed-relaxed.mjs`;
    expect(await visit(browser, "", { workerUrl })).toEqual(allThreads);
  });

  test("threads start if trusted types are required and the policy of the package is allowed", async () => {
    const required = "require-trusted-types-for 'script'";
    expect(await visit(browser, required, {})).toEqual(allThreads);
    expect(await visit(browser, `${required}; trusted-types heed`, {})).toEqual(allThreads);
  });

  const refused = "the content security policy of the page refuses workers from http://127.0.0.1:";
  const needed = ": it needs worker-src blob: http://127.0.0.1:";

  test("the engine has one thread if no worker is allowed", async () => {
    const report = await visit(browser, "worker-src 'none'", {});
    expect(report).toEqual(oneThread(refused));
    expect(report.reason).toContain(needed);
  });

  test("the engine has one thread if the policy allows no blobs, and its advice is right", async () => {
    const policy = "worker-src 'self'";
    const report = await visit(browser, policy, {});
    expect(report).toEqual(oneThread(refused));
    expect(report.reason).toContain(needed);
    const advice = report.reason?.split("it needs ")[1] as string;
    expect(await visit(browser, advice, {})).toEqual(allThreads);
  });

  test("the engine has one thread if its policy of trusted types is not allowed", async () => {
    const policy = "require-trusted-types-for 'script'; trusted-types another";
    const advice =
      "the page requires trusted types: its content security policy needs trusted-types heed";
    expect(await visit(browser, policy, {})).toEqual(oneThread(advice));
  });

  test("the engine has one thread if the script of the workers is missing or fails", async () => {
    for (const name of ["missing.js", "broken.js"]) {
      const report = await visit(browser, "", { workerUrl: `/${name}` });
      expect(report).toEqual(oneThread("a worker could not be started from http://127.0.0.1:"));
      expect(report.reason).toContain(name);
    }
  });

  test("load stops waiting for silent workers after some seconds", async () => {
    const report = await visit(browser, "", { workerUrl: "/silent.js" });
    expect(report).toEqual(oneThread("their workers did not load within 5 s"));
  });

  test("threads that load does not wait for join later, or the reason says why not", async () => {
    const options = { waitForThreads: false };
    expect(await visit(browser, "", options)).toEqual(allThreads);
    expect(await visit(browser, "worker-src 'none'", options)).toEqual(oneThread(refused));
  });
});

/** The numbers and names of a process or thread in /proc: its state first, its parent second. */
function statOf(path: string): string[] {
  try {
    return readFileSync(`/proc/${path}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  } catch {
    return []; // It has ended.
  }
}

function isOurs(process_: string): boolean {
  const parent = statOf(process_)[1] ?? "0";
  return parent === String(process.pid) || (parent !== "0" && isOurs(parent));
}

/** The processor time of each worker of a page, in hundredths of a second. */
function timesOfWorkers(): number[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isOurs(name));
  const threads = processes.flatMap((id) =>
    readdirSync(`/proc/${id}/task`).map((thread) => `${id}/task/${thread}`),
  );
  return threads
    .filter((path) => readFileSync(`/proc/${path}/comm`, "utf8").startsWith("DedicatedWorker"))
    .map((path) => Number(statOf(path)[11]) + Number(statOf(path)[12]));
}

test("all threads compute in Chromium while the page never yields", async ({ skip }) => {
  if (process.platform !== "linux") skip("threads are looked at in /proc");
  const own = await serve(inject("installed").project, isolation);
  servers.push(own);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`${own.url}threads/index.html`);
    await page.evaluate(`(async () => {
      const { load } = await import("/node_modules/heed/dist/index.js");
      const heed = await load({ threads: 2, warmUp: false });
      const x = heed.ones([1, 8, 1024, 64]);
      const end = performance.now() + 2000;
      while (performance.now() < end) heed.scope(() => void heed.attention(x, x, x));
      globalThis.heed = heed;
    })()`);
    // A worker whose thread does not run has used none.
    const times = timesOfWorkers();
    expect(times).toHaveLength(1);
    expect(times[0]).toBeGreaterThan(10);
  } finally {
    await browser.close();
  }
});
