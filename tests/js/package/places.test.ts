// The package in common environments: in a page, its workers and frames, in Node, and bundled by esbuild.
// The other bundlers and runtimes are in matrix/, and Vite is in app.test.ts.

import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, describe, expect, inject, test } from "vitest";
import { run } from "../child.js";
import { engineFiles } from "../engine.js";
import {
  closeBrowser,
  copyEngine,
  expectWorks,
  isolation,
  open,
  programs,
  type Report,
  reportModule,
  serviceWorker,
  serviceWorkerPage,
  writeFiles,
} from "./places.js";

const { project } = inject("installed");
const home = join(project, "node_modules/heed");

afterAll(closeBrowser);

describe("a page without a bundler", () => {
  const site = join(project, "plain");
  const entry = "./heed/dist/index.min.js";
  const script = '<script type="module" src="/page.js"></script>';
  cpSync(home, join(site, "heed"), { recursive: true });
  writeFiles(site, {
    "report.js": reportModule(entry),
    "main.js": programs["main.js"],
    "worker.js": `
      import { report } from "./report.js";
      report().catch(String).then(postMessage);`,
    "frame.html": '<!doctype html><script type="module" src="/main.js"></script>',
    "service.js": `
      import { report } from "./report.js";
      import glue from "./heed/dist/heed-simd.mjs";
      self.onmessage = async ({ source }) => {
        const withoutGlue = await report().catch(String);
        source.postMessage([await report({ glue }).catch(String), withoutGlue]);
      };`,
    "page.js": `
      import { report } from "./report.js";
      const inWorker = () => new Promise((resolve) => {
        const worker = new Worker("worker.js", { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => resolve("the worker failed: " + event.message);
      });
      const inService = async () => {
        await navigator.serviceWorker.register("service.js", { type: "module" });
        const { active } = await navigator.serviceWorker.ready;
        return new Promise((resolve) => {
          navigator.serviceWorker.onmessage = ({ data }) => resolve(data);
          active.postMessage(null);
        });
      };
      const inFrame = () => new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.onload = () => resolve(frame.contentWindow.reports);
        frame.src = "frame.html";
        document.body.append(frame);
      });
      globalThis.reports = Promise.all([report(), inWorker(), inService(), inFrame()]
        .map((place) => place.catch(String)));`,
  });
  type Reports = [Report, Report, [Report, string], Report];

  test("computes under a strict policy, in its workers, its service worker and its frames", async () => {
    const [page, worker, [service, refusal]] = await open<Reports>(site, script);
    expectWorks("a page without a bundler, its workers and frames", page);
    expect(worker).toEqual(page);
    expectWorks("a module service worker", service);
    expect(refusal).toBe(
      "HeedError: glue: expected the default export of heed-simd.mjs or heed-relaxed.mjs, because a service worker has no import(), got none",
    );
  });

  test("computes with one thread without isolation, in frames too", async () => {
    const [page, worker, , frame] = await open<Reports>(site, script, {});
    expectWorks("the same without cross-origin isolation", page);
    expect(worker).toEqual(page);
    expect(frame).toEqual(page);
    expect(page.reason).toMatch(/not cross-origin isolated/);
  });
});

describe("esbuild", () => {
  const source = join(project, "esbuild");
  writeFiles(source, programs);
  const bundle = (entry: string, outfile: string, format: "esm" | "iife" | "cjs") =>
    build({
      entryPoints: [join(source, entry)],
      outfile,
      format,
      bundle: true,
      platform: format === "cjs" ? "node" : "browser",
      logLevel: "silent",
    });

  test("makes an ES module that runs beside the engine's files, and names them if they are missing", async () => {
    const site = join(source, "esm");
    await bundle("main.js", join(site, "main.js"), "esm");
    const script = '<script type="module" src="/main.js"></script>';
    const error = await open<string>(site, script);
    expect(error).toMatch(/^HeedError: \S+\/heed-relaxed\.mjs: expected to load the engine, got /);
    for (const name of [...engineFiles, "wasmUrl"]) expect(error).toContain(name);
    copyEngine(home, site);
    expectWorks("esbuild, Rollup or bun build, as ESM", await open(site, script));
  });

  test("makes a classic script that runs with wasmUrl, and asks for it if it is missing", async () => {
    const site = join(source, "iife");
    await bundle("main.js", join(site, "main.js"), "iife");
    const script = '<script src="/main.js"></script>';
    const error = await open<string>(site, script);
    expect(error).toMatch(/^HeedError: wasmUrl: expected the address of the engine's files, /);
    for (const name of engineFiles) expect(error).toContain(name);
    copyEngine(home, join(site, "engine"));
    writeFiles(site, { "options.js": 'globalThis.options = { wasmUrl: "/engine" };' });
    const given = `<script src="/options.js"></script>${script}`;
    expectWorks("esbuild as IIFE or CommonJS", await open(site, given));
  });

  test("makes a CommonJS file that runs in Node with wasmUrl", async () => {
    const folder = join(source, "cjs");
    await bundle("print.js", join(folder, "print.cjs"), "cjs");
    copyEngine(home, join(folder, "engine"));
    writeFiles(folder, {
      "main.cjs": `
        globalThis.options = { wasmUrl: require("node:path").join(__dirname, "engine") };
        require("./print.cjs");`,
    });
    const finished = await run(process.execPath, [join(folder, "main.cjs")], { cwd: "/" });
    expect(finished).toMatchObject({ status: 0, errors: "" });
    expect(JSON.parse(finished.output)).toMatchObject({ numbers: ["2.5752 true", "2.5752 true"] });
  });

  test("bundles the glue into a service worker", async () => {
    const site = join(source, "service");
    writeFiles(source, { "service.js": serviceWorker });
    await bundle("service.js", join(site, "service.js"), "esm");
    mkdirSync(site, { recursive: true });
    for (const name of engineFiles.filter((name) => name.endsWith(".wasm")))
      cpSync(join(home, "dist", name), join(site, name));
    writeFiles(site, { "page.js": serviceWorkerPage("service.js") });
    const script = '<script type="module" src="/page.js"></script>';
    expectWorks("a module service worker", await open(site, script, isolation));
  });
});

describe("in Node", () => {
  test("an import has no side effects: no global is used, and one symbol is defined", async () => {
    const text = `
      for (const name of ["WebAssembly", "fetch", "Worker", "navigator", "MessageChannel"])
        Object.defineProperty(globalThis, name, { get() { throw new Error(name + " was used"); } });
      const before = new Set(Reflect.ownKeys(globalThis));
      for (const name of ["heed", "heed/nn", "heed/models", "heed/worker", "heed/worker/serve"])
        await import(name);
      // Under this symbol copies of the package find each other: see bindings/js/core/copies.ts.
      console.log(Reflect.ownKeys(globalThis).filter((key) => !before.has(key)));`;
    writeFiles(project, { "server.mjs": text });
    const finished = await run(process.execPath, ["server.mjs"], { cwd: project, limit: 20_000 });
    expect(finished).toEqual({ status: 0, output: "[ Symbol(heed 0.1.0) ]\n", errors: "" });
  });

  test("a CommonJS file imports the package, and requires it if Node can", async () => {
    writeFiles(project, {
      "common.cjs": `
        const print = ({ load }) => load({ threads: 2 }).then((heed) =>
          console.log(heed.softmax(heed.tensor([0, 0])).data[0], heed.info.threads));
        (process.features.require_module ? print(require("heed")) : Promise.resolve())
          .then(() => import("heed")).then(print);`,
    });
    const { status, output } = await run(process.execPath, ["common.cjs"], { cwd: project });
    expect(status).toBe(0);
    expect(output).toMatch(/^(0\.5 2\n){1,2}$/);
  });
});

test("the README that npm shows begins with the package, and its links lead to files of the tarball", () => {
  const { files } = inject("installed");
  const readme = readFileSync(join(home, "README.md"), "utf8");
  expect(readme.indexOf("npm install heed")).toBeGreaterThan(0);
  expect(readme.indexOf("npm install heed")).toBeLessThan(readme.indexOf("./dev"));
  const links = [...readme.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(
    ([, target]) => target as string,
  );
  expect(links).not.toEqual([]);
  for (const link of links) if (!/^https:/.test(link)) expect(files).toContain(link);
});
