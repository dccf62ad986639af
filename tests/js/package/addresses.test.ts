// The engine's files and workers at difficult addresses. The cases: an address with a path only, files of another
// origin, a server that isolates documents only, a moved bundle, and a page that is a file.

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type OutputFile } from "esbuild";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launchChromium } from "../../harness/chromium.mjs";
import { run } from "../child.js";
import { recipesOf } from "./examples.js";
import {
  closeBrowser,
  copyEngine,
  expectWorks,
  isolation,
  open,
  policy,
  programs,
  type Report,
  reportModule,
  writeFiles,
} from "./places.js";
import { type Headers, serve } from "./serve.js";
import { reportModule as remoteModule, expected as remoteReport } from "./workers.js";

const { project } = inject("installed");
const home = join(project, "node_modules/heed");

afterAll(closeBrowser);

const script = '<script type="module" src="/main.js"></script>';

/** The reports of an engine of this page, and of one in a worker. */
const both = (entry: string, workerEntry: string) => ({
  "here.js": reportModule(entry),
  "remote.js": remoteModule(workerEntry),
  "main.js": `
    import { report as here } from "./here.js";
    import { report as remote } from "./remote.js";
    const textOf = (error) => error.message;
    globalThis.reports = Promise.all([here().catch(textOf), remote().catch(textOf)]);`,
});
const works = [{ numbers: ["2.5752 true", "2.5752 true"], threads: 2, reason: null }, remoteReport];

describe("addresses that have a path only, as Next.js makes them", () => {
  const source = join(project, "path-only");
  // It has the properties that the class of Next.js has.
  const banner = `
    class PathOnly {
      constructor(path) { Object.assign(this, { href: path, pathname: path, origin: "", protocol: "" }); }
      toString() { return this.href; }
      get [Symbol.toStringTag]() { return "URL"; }
    }`;

  async function bundle(entry: string, outfile: string, folder: string): Promise<void> {
    const options = { bundle: true, format: "esm", write: false, logLevel: "error" } as const;
    const { outputFiles } = await build({ entryPoints: [join(source, entry)], ...options });
    const text = (outputFiles[0] as OutputFile).text.replace(
      /new URL\("\.\/((?:heed|worker)[^"]+)", import\.meta\.url\)/g,
      `new PathOnly("${folder}$1")`,
    );
    expect(text.match(/new PathOnly/g)?.length).toBeGreaterThan(4);
    writeFiles(source, { [outfile]: banner + text });
  }

  writeFiles(source, { ...both("heed", "heed/worker"), "print.js": programs["print.js"] });
  writeFiles(source, { "report.js": reportModule() });

  test("lead a page to its files, with all threads and a worker", async () => {
    await bundle("main.js", "site/main.js", "/media/");
    copyEngine(home, join(source, "site/media"));
    expect(await open(join(source, "site"), script)).toMatchObject(works);
  });

  test("lead a server to the installed package, or the error says what to configure", async () => {
    await bundle("print.js", "print.mjs", "/_next/static/media/");
    const program = join(source, "print.mjs");
    const found = await run(process.execPath, [program], { cwd: project, limit: 30_000 });
    expect(found).toMatchObject({ status: 0, errors: "" });
    expect(JSON.parse(found.output)).toMatchObject(works[0] as object);
    const { output } = await run(process.execPath, [program], { cwd: "/", limit: 30_000 });
    expect(output).toMatch(
      /^HeedError: heed-\w+\.mjs: expected a file of the engine on this server, or the package heed in \/, got file:\/\/\/_next\S+, which is missing; Next\.js needs serverExternalPackages: \["heed"\]/,
    );
  });
});

test("an engine in a worker starts from files of another origin", async () => {
  const foreign = await serve(home, { "Access-Control-Allow-Origin": "*" });
  const site = join(project, "foreign");
  writeFiles(site, both(`${foreign.url}dist/index.js`, `${foreign.url}dist/worker.js`));
  try {
    expect(await open(site, script, isolation)).toMatchObject(works);
    const refused = { ...isolation, "Content-Security-Policy": "worker-src 'self'" };
    const advice = `the content security policy of the page refuses workers from ${foreign.url}dist/`;
    const source = `it needs worker-src blob: ${foreign.url.slice(0, -1)}`;
    const [here, remote] = await open<[Report, string]>(site, script, refused);
    expect(here.reason).toBe(`1 thread, because ${advice}heed-relaxed.mjs: ${source}`);
    expect(remote).toContain(`${advice}workerThread.js: ${source}`);
  } finally {
    foreign.close();
  }
});

test("an engine in a worker starts where trusted types are required", async () => {
  const site = join(project, "trusted");
  cpSync(home, join(site, "heed"), { recursive: true });
  writeFiles(site, both("./heed/dist/index.js", "./heed/dist/worker.js"));
  const required = "require-trusted-types-for 'script'; trusted-types heed";
  const headers = { ...isolation, "Content-Security-Policy": required };
  expect(await open(site, script, headers)).toMatchObject(works);
});

describe("a server that isolates documents only", () => {
  const site = join(project, "documents-only");
  beforeAll(() => {
    cpSync(home, join(site, "heed"), { recursive: true });
    writeFiles(site, both("./heed/dist/index.js", "./heed/dist/worker.js"));
  });
  const documents =
    (also: Headers = {}) =>
    (path: string): Headers =>
      path.endsWith(".html") ? { ...isolation, ...also } : {};

  test("lets all workers start", async () => {
    expect(await open(site, script, documents())).toMatchObject(works);
  });

  test("lets a worker start again, and from the second load on threads that load does not wait for", async () => {
    writeFiles(site, {
      "again.js": `
        import { load } from "./heed/dist/index.js";
        import { loadInWorker } from "./heed/dist/worker.js";
        async function run() {
          const remote = await loadInWorker({ threads: 1 });
          const restarted = remote.restart();
          const ones = await (await remote.ones([2])).toArray(); // called while it starts
          await restarted;
          (await load({ threads: 3 })).dispose();
          const heed = await load({ threads: 3, waitForThreads: false });
          while (heed.info.reason?.includes("not begun yet"))
            await new Promise((resolve) => setTimeout(resolve, 20));
          return [ones, heed.info.threads, heed.info.reason];
        }
        globalThis.reports = run().catch(String);`,
    });
    const again = '<script type="module" src="/again.js"></script>';
    expect(await open(site, again, documents())).toEqual([[1, 1], 3, null]);
  });

  test("starts none if the policy allows no blobs, and the reasons name header and policy", async () => {
    const [here, remote] = await open<[Report, string]>(site, script, documents(policy));
    const reason = (name: string) =>
      new RegExp(
        `a worker could not be started from http:\\S+/heed/dist/${name}: it is missing, or its response lacks ` +
          "the header Cross-Origin-Embedder-Policy: require-corp, which an isolated page needs unless its content " +
          "security policy has worker-src blob:$",
      );
    expect(here).toMatchObject({
      threads: 1,
      reason: expect.stringMatching(reason("heed-relaxed.mjs")),
    });
    expect(remote).toMatch(reason("workerThread.js"));
  });
});

describe("esbuild", () => {
  const source = join(project, "one-file-worker");
  writeFiles(source, { "report.js": remoteModule() });
  const bundle = (outfile: string, format: "esm" | "iife", options: string) => {
    writeFiles(source, {
      "main.js": `
        import { report } from "./report.js";
        globalThis.reports = report(${options}).catch((error) => error.message);`,
    });
    const entryPoints = [join(source, "main.js")];
    return build({ entryPoints, outfile, format, bundle: true, logLevel: "silent" });
  };

  test("needs no configuration for a worker, beside the engine's files", async () => {
    const site = join(source, "esm");
    await bundle(join(site, "main.js"), "esm", "");
    copyEngine(home, site);
    expect(await open(site, script)).toEqual(remoteReport);
  });

  test("takes the worker from the folder of wasmUrl, and names it if it is missing", async () => {
    const site = join(source, "iife");
    await bundle(join(site, "main.js"), "iife", '{ wasmUrl: "/engine" }');
    const classic = '<script src="/main.js"></script>';
    mkdirSync(join(site, "engine"), { recursive: true });
    expect(await open(site, classic)).toMatch(
      /a worker could not be started from http:\S+\/engine\/workerThread\.js: it is missing, or .+; the folder of wasmUrl must have workerThread\.js of the package's dist folder, or pass the option worker$/,
    );
    copyEngine(home, join(site, "engine"));
    expect(await open(site, classic)).toEqual(remoteReport);
  });
});

describe("a page that is a file", () => {
  const bundle = (entry: string, outfile: string) =>
    build({
      ...{ entryPoints: [entry], outfile, bundle: true, format: "iife", logLevel: "silent" },
      loader: { ".wasm": "binary", ".txt": "text" },
    });

  /** Opens a folder with page.js as files, and returns the value of an expression there. */
  async function valueIn(folder: string, expression: string): Promise<unknown> {
    const html =
      '<!doctype html><meta charset="utf-8"><title>Heed</title><body><script src="page.js"></script>';
    writeFileSync(join(folder, "index.html"), html);
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(pathToFileURL(join(folder, "index.html")).href);
      return await page.waitForFunction(expression).then((value) => value.jsonValue());
    } finally {
      await browser.close();
    }
  }

  test("computes with one script that contains everything", async () => {
    const source = join(project, "file");
    writeFiles(source, {
      "report.js": reportModule(),
      "main.js": `
        import glue from "heed/heed-relaxed.mjs";
        import wasm from "heed/heed-relaxed.wasm";
        import { report } from "./report.js";
        report({ glue, wasm }).catch(String).then((found) => { globalThis.found = found; });`,
    });
    await bundle(join(source, "main.js"), join(source, "page.js"));
    const place = "a page that is a file (`file:`), as in Electron";
    expectWorks(place, (await valueIn(source, "globalThis.found")) as Report);
  });

  test("computes in a worker, as the guide shows", async () => {
    const source = join(project, "offline");
    const recipes = recipesOf(home, "bindings/js/README.md");
    for (const name of ["worker.ts", "page.ts"])
      writeFiles(source, { [name]: recipes[`offline/${name}`] as string });
    await bundle(join(source, "worker.ts"), join(source, "worker.txt"));
    await bundle(join(source, "page.ts"), join(source, "page.js"));
    expect(await valueIn(source, "document.body.innerText")).toBe("2,3");
  });
});
