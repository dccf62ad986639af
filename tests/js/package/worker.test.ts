// heed/worker as installed: in Node, on a page without a bundler, and bundled by Vite and esbuild.

import { cpSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { build as buildWithVite } from "vite";
import { afterAll, describe, expect, inject, test } from "vitest";
import { run } from "../child.js";
import { closeBrowser, copyEngine, isolation, open, policy, writeFiles } from "./places.js";

const { project } = inject("installed");
const home = join(project, "node_modules/heed");

afterAll(closeBrowser);

interface WorkerReport {
  numbers: number[];
  threads: number;
  interrupts: boolean;
  code: string;
  model: number[];
}

/** Computes in a worker, and cancels a call that would take seconds. */
const reportModule = (entry = "heed/worker") => `
  import { loadInWorker } from "${entry}";
  export async function report(options) {
    const heed = await loadInWorker({ threads: 2, ...options });
    const x = await heed.tensor([1, 2]);
    const numbers = [...(await (await heed.multiply(x, 2)).data)];
    const large = await heed.zeros([1, 16, 4096, 64]);
    const controller = new AbortController();
    const call = heed.attention(large, large, large, { signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    const { code } = await call.catch((error) => error);
    const layer = await heed.nn.Linear(heed, 2, 3);
    const { shape: model } = await layer.forward(await heed.reshape(x, [1, 2]));
    const { threads } = heed.info;
    const interrupts = heed.isInterruptible;
    heed.dispose();
    return { numbers, threads, interrupts, code, model };
  }`;

const main = 'import { report } from "./report.js"; globalThis.reports = report().catch(String);';
const page = '<script type="module" src="/main.js"></script>';

const expected: WorkerReport = {
  numbers: [2, 4],
  threads: 2,
  interrupts: true,
  code: "cancelled",
  model: [1, 3],
};

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
  writeFiles(site, { "report.js": reportModule("./heed/dist/worker.js"), "main.js": main });

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
