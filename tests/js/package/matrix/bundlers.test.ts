// Bundlers that need some configuration, from the packed package to a page in Chromium. The default page
// is isolated and has a strict policy.

import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test } from "vitest";
import { run, succeed } from "../../child.js";
import {
  closeBrowser,
  copyEngine,
  expectWorks,
  isolation,
  open,
  programs,
  serviceWorker,
  serviceWorkerPage,
  writeFiles,
} from "../places.js";
import { expected, reportModule } from "../workers.js";

const folder = inject("matrix");
const limit = 240_000;
const tool = (path: string) => join(folder, "node_modules", path);
const home = tool("heed");

afterAll(closeBrowser);

const readReport = (project: string) =>
  JSON.parse(readFileSync(join(project, "report.json"), "utf8"));

const script = '<script type="module" src="/main.js"></script>';

/** The entry of a page that computes in a worker. */
const workerPage =
  'import { report } from "./workerReport.js"; globalThis.reports = report().catch(String);';

describe("webpack 5", () => {
  const project = join(folder, "webpack");
  writeFiles(project, {
    ...programs,
    "package.json": '{ "private": true }',
    "build.mjs": `
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
      });`,
  });

  test("needs nothing for a page", async () => {
    await succeed(process.execPath, [join(project, "build.mjs"), "main.js", "web"], { limit });
    expectWorks("webpack 5", await open(join(project, "web"), script));
  });

  test("needs nothing for Node", async () => {
    await succeed(process.execPath, [join(project, "build.mjs"), "print.js", "node"], { limit });
    const { output } = await run(process.execPath, [join(project, "node/main.js")], { cwd: "/" });
    expect(JSON.parse(output)).toMatchObject({
      numbers: ["2.5752 true", "2.5752 true"],
      threads: 2,
    });
  });

  test("bundles heed/worker for a page, and for Node", async () => {
    writeFiles(project, {
      "workerReport.js": reportModule(),
      "workerPage.js": workerPage,
      "workerPrint.js": `
        import { report } from "./workerReport.js";
        report().then((result) => console.log(JSON.stringify(result)));`,
    });
    await succeed(process.execPath, [join(project, "build.mjs"), "workerPage.js", "web"], {
      limit,
    });
    expect(await open<unknown>(join(project, "web"), script)).toEqual(expected);
    await succeed(process.execPath, [join(project, "build.mjs"), "workerPrint.js", "node"], {
      limit,
    });
    // The bundle needs nothing of the folder that it was made in.
    const moved = mkdtempSync(join(tmpdir(), "heed-webpack-"));
    renameSync(join(project, "node"), join(moved, "node"));
    const { output } = await run(process.execPath, [join(moved, "node/main.js")], { cwd: "/" });
    const scripts = readdirSync(join(moved, "node")).filter((name) => name.endsWith("main.js"));
    expect(scripts.length).toBeGreaterThan(1);
    for (const name of scripts)
      expect(readFileSync(join(moved, "node", name), "utf8")).not.toContain(home);
    rmSync(moved, { recursive: true });
    expect(JSON.parse(output)).toEqual(expected);
  });

  test("bundles the glue into a service worker", async () => {
    writeFiles(project, { "service.js": serviceWorker });
    await succeed(process.execPath, [join(project, "build.mjs"), "service.js", "webworker"], {
      limit,
    });
    writeFiles(join(project, "webworker"), { "page.js": serviceWorkerPage("main.js") });
    const page = '<script type="module" src="/page.js"></script>';
    expectWorks("a module service worker", await open(join(project, "webworker"), page));
  });
});

test("Rollup makes an ES module that runs beside the engine's files", async () => {
  const project = join(folder, "rollup");
  writeFiles(project, {
    ...programs,
    "build.mjs": `
      import { rollup } from "rollup";
      const plugin = {
        name: "resolve",
        resolveId: (id) => (id === "heed" ? import.meta.resolve("heed").slice("file://".length) : null),
      };
      const bundle = await rollup({ input: import.meta.dirname + "/main.js", plugins: [plugin] });
      await bundle.write({ file: import.meta.dirname + "/out/main.js", format: "es" });`,
  });
  await succeed(process.execPath, [join(project, "build.mjs")], { limit });
  copyEngine(home, join(project, "out"));
  expectWorks("esbuild, or Rollup, as ESM", await open(join(project, "out"), script));
});

test("Rollup bundles heed/worker with a script of one's own", async () => {
  const project = join(folder, "rollup-worker");
  writeFiles(project, {
    "workerReport.js": reportModule(),
    "tasks.js": `
      import * as nn from "heed/nn";
      import { serve } from "heed/worker/serve";
      serve({}, { nn });`,
    "main.js": `
      import { report } from "./workerReport.js";
      const worker = () => new Worker("/tasks.js", { type: "module" });
      globalThis.reports = report({ worker }).catch(String);`,
    "build.mjs": `
      import { rollup } from "rollup";
      const plugin = {
        name: "resolve",
        resolveId: (id) => (id.startsWith("heed") ? import.meta.resolve(id).slice("file://".length) : null),
      };
      const input = ["main", "tasks"].map((name) => import.meta.dirname + "/" + name + ".js");
      const bundle = await rollup({ input, plugins: [plugin] });
      await bundle.write({ dir: import.meta.dirname + "/out", format: "es" });`,
  });
  await succeed(process.execPath, [join(project, "build.mjs")], { limit });
  copyEngine(home, join(project, "out"));
  expect(await open<unknown>(join(project, "out"), script)).toEqual(expected);
});

test("Vite builds the package and serves it in development", async () => {
  const project = join(folder, "vite");
  writeFiles(project, {
    ...programs,
    "index.html": `<!doctype html><title>Heed</title>${script}`,
    "vite.config.js": `export default { optimizeDeps: { exclude: ["heed"] } };`,
  });
  await succeed(process.execPath, [tool("vite/bin/vite.js"), "build"], { cwd: project, limit });
  expectWorks("Vite", await open(join(project, "dist")));
});

test("Parcel takes the subpaths with packageExports, and runs with wasmUrl", async () => {
  const project = join(folder, "parcel");
  writeFiles(project, {
    ...programs,
    "options.js": 'globalThis.options = { wasmUrl: "/engine" };',
    "main.js": `import "./options.js"; import { nn } from "heed/nn"; globalThis.nn = nn; ${programs["main.js"]}`,
    "index.html": `<!doctype html><title>Heed</title><script type="module" src="main.js"></script>`,
    "package.json": '{ "private": true, "@parcel/resolver-default": { "packageExports": true } }',
    // Parcel looks for its configuration beside this file.
    "package-lock.json": "{}",
  });
  const parcel = tool("parcel/lib/bin.js");
  const options = ["--dist-dir", "out", "--no-cache", "--no-autoinstall"];
  await succeed(process.execPath, [parcel, "build", "index.html", ...options], {
    cwd: project,
    limit,
  });
  copyEngine(home, join(project, "out/engine"));
  // Parcel writes an import map into the page, which a strict policy does not allow.
  expectWorks("Parcel", await open(join(project, "out"), undefined, isolation));
});

describe("Node's test environments with a DOM", () => {
  // The binary depends on the Node. The table has a row for this one if there is one.
  const node = existsSync(tool("node-20")) ? tool("node-20/bin/node") : process.execPath;

  const testFile = (from: string) => `
    import { writeFileSync } from "node:fs";
    import { pathToFileURL } from "node:url";
    import { expect, test } from "${from}";
    import { report } from "./report.js";
    test("computes", async () => {
      expect(typeof document).toBe("object");
      const dist = ${JSON.stringify(join(home, "dist"))};
      await report({ variant: "simd", wasmUrl: pathToFileURL(dist) });
      writeFileSync("report.json", JSON.stringify(await report()));
    }, 20_000);`;

  /** Every element shows its numbers, and writes nothing to the console. */
  const elementsFile = (from: string) => `
    import { expect, test } from "${from}";
    import { defineElements } from "heed/view";
    const data = [[1, 0], [0.25, 0.75]];
    test.each(["matrix", "heads", "lines", "tokens", "steps"])("<heed-%s> shows numbers", async (name) => {
      const complaints = [];
      console.error = console.warn = (...words) => complaints.push(words.join(" "));
      defineElements();
      const element = document.createElement("heed-" + name);
      Object.assign(element, { data, q: data, k: data, v: data, tokens: ["I", "see"], label: "Head 4" });
      document.body.append(element);
      await element.updateComplete;
      expect(element.error).toBe(null);
      expect(element.shadowRoot.innerHTML).toContain("Head 4");
      expect(element.csv().length).toBeGreaterThan(10);
      await expect(element.png()).rejects.toThrow("png: expected a canvas to draw on, got none");
      element.remove();
      expect(complaints).toEqual([]);
    });`;

  test("Vitest with jsdom needs nothing", async () => {
    const project = join(folder, "vitest");
    writeFiles(project, {
      ...programs,
      "heed.test.js": testFile("vitest"),
      "view.test.js": elementsFile("vitest"),
      "vitest.config.js": 'export default { test: { environment: "jsdom" } };',
    });
    await succeed(node, [tool("vitest/vitest.mjs"), "run"], { cwd: project, limit });
    expectWorks("Vitest or Jest with jsdom", readReport(project));
  });

  test("Jest with jsdom needs Node's flag for ES modules", async () => {
    const project = join(folder, "jest");
    writeFiles(project, {
      ...programs,
      "heed.test.js": testFile("@jest/globals"),
      "view.test.js": elementsFile("@jest/globals"),
      "package.json":
        '{ "type": "module", "jest": { "testEnvironment": "jsdom", "transform": {} } }',
    });
    const flags = ["--experimental-vm-modules"];
    await succeed(node, [...flags, tool("jest/bin/jest.js")], { cwd: project, limit });
    expectWorks("Vitest or Jest with jsdom", readReport(project));
  });
});
