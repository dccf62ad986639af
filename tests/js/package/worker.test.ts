// heed/worker as installed: in Node, on a page without a bundler, and bundled by Vite and esbuild.

import { cpSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { load } from "heed";
import { build as buildWithVite } from "vite";
import { afterAll, describe, expect, inject, test } from "vitest";
import { launchChromium } from "../../harness/chromium.mjs";
import { run } from "../child.js";
import { closeBrowser, copyEngine, isolation, open, policy, writeFiles } from "./places.js";
import { serve } from "./serve.js";
import { expected, reportModule, type WorkerReport } from "./workers.js";

const { project } = inject("installed");
const home = join(project, "node_modules/heed");

afterAll(closeBrowser);

const main = 'import { report } from "./report.js"; globalThis.reports = report().catch(String);';
const page = '<script type="module" src="/main.js"></script>';

test("in Node an engine in a worker computes, and the process ends by itself", async () => {
  writeFiles(join(project, "worker-node"), {
    "report.mjs": reportModule(),
    "print.mjs": `
      import { report } from "./report.mjs";
      console.log(JSON.stringify(await report()));
      const { loadInWorker } = await import("heed/worker");
      console.log(await (await (await loadInWorker()).ones([2])).toArray()); // not disposed of`,
  });
  const finished = await run(process.execPath, ["print.mjs"], {
    cwd: join(project, "worker-node"),
    limit: 60_000,
  });
  const output = `${JSON.stringify(expected)}\n[ 1, 1 ]\n`;
  expect(finished).toEqual({ status: 0, output, errors: "" });
});

describe("on a page without a bundler", () => {
  const site = join(project, "worker-plain");
  cpSync(home, join(site, "heed"), { recursive: true });
  writeFiles(site, { "report.js": reportModule("./heed/dist/worker.min.js"), "main.js": main });

  test("computes under a strict policy", async () => {
    expect(await open<WorkerReport>(site, page)).toEqual(expected);
  });

  test("computes without isolation, where a call ends for its caller alone", async () => {
    const report = await open<WorkerReport>(site, page, policy);
    expect(report).toEqual({ ...expected, threads: 1, interrupts: false });
  });
});

test("Vite bundles the worker without any configuration", async () => {
  const root = join(project, "worker-vite");
  writeFiles(root, {
    "report.js": reportModule(),
    "main.js": main,
    "index.html": `<!doctype html><title>Heed</title>${page}`,
  });
  await buildWithVite({ root, logLevel: "silent", configFile: false });
  const headers = { ...isolation, ...policy };
  expect(await open<WorkerReport>(join(root, "dist"), undefined, headers)).toEqual(expected);
});

test("esbuild bundles a worker of one's own, with tasks", async () => {
  const source = join(project, "worker-esbuild");
  writeFiles(source, {
    "report.js": reportModule(),
    "tasks.js": `
      import * as nn from "heed/nn";
      import { serve } from "heed/worker/serve";
      serve({ double: ({ numbers }) => numbers.map((x) => 2 * x) }, { nn });`,
    "main.js": `
      import { loadInWorker } from "heed/worker";
      import { report } from "./report.js";
      const worker = () => new Worker("/tasks.js", { type: "module" });
      async function both() {
        const heed = await loadInWorker({ threads: 1, worker });
        const doubled = await heed.tasks.double({ numbers: [1, 2] });
        const missing = await heed.models.tasks.dates().catch((error) => error.message);
        return [await report({ worker }), doubled, missing];
      }
      globalThis.reports = both().catch(String);`,
  });
  const site = join(source, "site");
  await build({
    entryPoints: ["main.js", "tasks.js"].map((name) => join(source, name)),
    outdir: site,
    format: "esm",
    bundle: true,
    logLevel: "silent",
  });
  copyEngine(home, site);
  expect(await open<unknown>(site, page)).toEqual([
    expected,
    [2, 4],
    "models: expected heed/models among the libraries of `serve`, got none",
  ]);
});

test("two pages with four workers each compute at once, and their workers end with them", async () => {
  const site = join(project, "worker-pages");
  cpSync(home, join(site, "heed"), { recursive: true });
  writeFiles(site, {
    "main.js": `
      import { loadInWorker } from "./heed/dist/worker.js";
      const load = () => loadInWorker({ threads: 2, variant: "simd" });
      async function run() {
        const workers = await Promise.all([load(), load(), load(), load()]);
        globalThis.isReady = true;
        globalThis.end = () => { for (const heed of workers) heed.dispose(); };
        await new Promise((resolve) => { globalThis.begin = resolve; });
        return Promise.all(workers.map(async (heed, seed) => {
          const x = await heed.normal([1, 8, 512, 64], { seed });
          const outputs = [];
          const begin = Date.now();
          for (let turn = 0; turn < 10; ++turn)
            outputs.push((await heed.attention(x, x, x, { isCausal: true })).output);
          const sums = await Promise.all(outputs.map(async (y) => (await heed.sum(y)).item()));
          return { sums, begin, end: Date.now(), threads: heed.info.threads };
        }));
      }
      globalThis.reports = run();`,
    "index.html": `<!doctype html><title>Heed</title>${page}`,
  });
  interface OneWorker {
    sums: number[];
    begin: number;
    end: number;
    threads: number;
  }
  const served = await serve(site, { ...isolation, ...policy });
  const browser = await launchChromium();
  try {
    const pages = await Promise.all([browser.newPage(), browser.newPage()]);
    await Promise.all(pages.map((page) => page.goto(served.url)));
    for (const page of pages)
      await expect.poll(() => page.evaluate("globalThis.isReady"), { timeout: 30_000 }).toBe(true);
    // Each worker has one more for its engine's second thread.
    expect(pages.map((page) => page.workers().length)).toEqual([8, 8]);
    const reports = await Promise.all(
      pages.map((page) => page.evaluate<OneWorker[]>("(begin(), reports)")),
    );
    const all = reports.flat();
    expect(all.map(({ threads }) => threads)).toEqual(Array(8).fill(2));
    const lastBegin = Math.max(...all.map(({ begin }) => begin));
    for (const { end } of all) expect(end).toBeGreaterThan(lastBegin);
    const own = await load({ threads: 1, variant: "simd" });
    for (const [seed, { sums }] of (reports[0] as OneWorker[]).entries()) {
      const expected = own.scope(() => {
        const x = own.normal([1, 8, 512, 64], { seed });
        return own.sum(own.attention(x, x, x, { isCausal: true }).output).item();
      });
      expect(sums).toEqual(Array(10).fill(expected));
    }
    expect(reports[1]?.map(({ sums }) => sums)).toEqual(reports[0]?.map(({ sums }) => sums));
    own.dispose();
    await pages[0]?.close();
    expect(pages[1]?.workers().length).toBe(8);
    await pages[1]?.evaluate("end()");
    await expect.poll(() => pages[1]?.workers().length, { timeout: 20_000 }).toBe(0);
  } finally {
    await browser.close();
    served.close();
  }
});
