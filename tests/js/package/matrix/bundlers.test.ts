// Bundlers without a server, from the packed package to a page in Chromium.

import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test } from "vitest";
import { run, succeed } from "../../child.js";
import {
  closeBrowser,
  expectWorks,
  isolation,
  open,
  programs,
  serviceWorker,
  serviceWorkerPage,
  writeFiles,
} from "../places.js";
import { expected, reportModule } from "../workers.js";
import { home, limit, script, testTools, tool } from "./tools.js";

const folder = inject("matrix");

afterAll(closeBrowser);

/** Rollup needs a plugin that resolves packages. */
const rollup = `
  const resolve = {
    name: "resolve",
    resolveId: (id) => (id.startsWith("heed") ? import.meta.resolve(id).slice("file://".length) : null),
  };
  export default { input: "main.js", plugins: [resolve], output: { dir: "out", format: "es" } };`;

const webpack = `
  import webpack from "webpack";
  const [entry, target] = process.argv.slice(2);
  webpack({
    context: import.meta.dirname,
    mode: "production",
    target,
    entry: "./" + entry,
    output: { path: import.meta.dirname + "/" + target, filename: "main.js" },
    performance: false,
  }, (error, result) => {
    console.log(error ?? result.toString({ preset: "errors-warnings" }));
    process.exitCode = error || result.hasErrors() || result.hasWarnings() ? 1 : 0;
  });`;

const page = `<!doctype html><title>Heed</title>${script}`;
const inOut = { "out/index.html": page };
const asModules = { place: "esbuild, Rollup or bun build, as ESM", engine: "out", serve: "out" };
const esbuild = [tool("esbuild/bin/esbuild"), "--bundle"];

testTools([
  {
    ...asModules,
    name: "esbuild",
    files: inOut,
    build: [...esbuild, "main.js", "--format=esm", "--outdir=out"],
  },
  {
    ...asModules,
    name: "rollup",
    files: { ...inOut, "rollup.config.js": rollup },
    build: [tool("rollup/dist/bin/rollup"), "-c"],
  },
  {
    ...asModules,
    name: "bun-build",
    files: inOut,
    program: "@oven/bun-linux-x64/bin/bun",
    build: ["build", "./main.js", "--outdir", "out"],
  },
  {
    place: "webpack 5",
    name: "webpack-page",
    files: { "build.mjs": webpack, "web/index.html": page },
    build: ["build.mjs", "main.js", "web"],
    serve: "web",
  },
  {
    place: "Parcel",
    name: "parcel",
    files: {
      "options.js": 'globalThis.options = Array(2).fill({ wasmUrl: "/engine" });',
      "main.js": `
        import "./options.js";
        import { nn } from "heed/nn";
        import { start } from "./start.js";
        globalThis.nn = nn;
        start();`,
      "index.html":
        '<!doctype html><title>Heed</title><script type="module" src="main.js"></script>',
      "package.json": '{ "private": true, "@parcel/resolver-default": { "packageExports": true } }',
      // Parcel reads its configuration in the folder of this file.
      "package-lock.json": "{}",
    },
    build: [
      ...[tool("parcel/lib/bin.js"), "build", "index.html"],
      ...["--dist-dir", "out", "--no-cache", "--no-autoinstall"],
    ],
    engine: "out/engine",
    serve: "out",
    // Parcel writes an import map into the page, which a strict policy does not allow.
    headers: isolation,
  },
  {
    place: "a page that is a file (`file:`), as in Electron",
    name: "file",
    files: {
      "out/index.html": '<!doctype html><meta charset="utf-8"><script src="main.js"></script>',
      "worker.js": `
        import glue from "heed/heed-relaxed.mjs";
        import * as models from "heed/models";
        import * as nn from "heed/nn";
        import { serve } from "heed/worker/serve";
        serve({}, { nn, models }, { glue });`,
      "main.js": `
        import glue from "heed/heed-relaxed.mjs";
        import wasm from "heed/heed-relaxed.wasm";
        import { start } from "./start.js";
        import script from "./worker.txt";
        const worker = () => new Worker(URL.createObjectURL(new Blob([script])));
        globalThis.options = [{ glue, wasm }, { worker, wasm }];
        start();`,
      "build.mjs": `
        import { build } from "esbuild";
        const options = { bundle: true, format: "iife", loader: { ".wasm": "binary", ".txt": "text" } };
        await build({ ...options, entryPoints: ["worker.js"], outfile: "worker.txt" });
        await build({ ...options, entryPoints: ["main.js"], outfile: "out/main.js" });`,
    },
    build: ["build.mjs"],
    serve: "out",
    headers: "file:",
  },
]);

describe("webpack 5", () => {
  const project = join(folder, "webpack");
  writeFiles(project, {
    ...programs,
    "package.json": '{ "private": true }',
    "build.mjs": webpack,
  });
  const build = (entry: string, target: string) =>
    succeed(process.execPath, [join(project, "build.mjs"), entry, target], { limit });

  test("needs nothing for Node", async () => {
    await build("print.js", "node");
    const { output } = await run(process.execPath, [join(project, "node/main.js")], { cwd: "/" });
    expect(JSON.parse(output)).toMatchObject({
      numbers: ["2.5752 true", "2.5752 true"],
      threads: 2,
    });
  });

  test("bundles heed/worker for Node", async () => {
    writeFiles(project, {
      "workerReport.js": reportModule(),
      "workerPrint.js": `
        import { report } from "./workerReport.js";
        report().then((result) => console.log(JSON.stringify(result)));`,
    });
    await build("workerPrint.js", "node");
    // The bundle needs nothing of the folder that it was made in.
    const moved = mkdtempSync(join(tmpdir(), "heed-webpack-"));
    renameSync(join(project, "node"), join(moved, "node"));
    const { output } = await run(process.execPath, [join(moved, "node/main.js")], { cwd: "/" });
    const scripts = readdirSync(join(moved, "node")).filter((name) => name.endsWith("js"));
    expect(scripts.length).toBeGreaterThan(1);
    for (const name of scripts)
      expect(readFileSync(join(moved, "node", name), "utf8")).not.toContain(home);
    rmSync(moved, { recursive: true });
    expect(JSON.parse(output)).toEqual(expected);
  });

  test("bundles the glue into a service worker", async () => {
    writeFiles(project, { "service.js": serviceWorker });
    await build("service.js", "webworker");
    writeFiles(join(project, "webworker"), { "page.js": serviceWorkerPage("main.js") });
    const page = '<script type="module" src="/page.js"></script>';
    expectWorks("a module service worker", await open(join(project, "webworker"), page));
  });
});
