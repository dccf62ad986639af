import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, resolve } from "node:path";
import { defineBrowserProvider } from "@vitest/browser";
import { playwright } from "@vitest/browser-playwright";
import type { Connect } from "vite";
import { defineConfig } from "vitest/config";
import { chromiumIfFound } from "../harness/program.mjs";
import { revectorize } from "../harness/v8.mjs";
import { WebKit } from "../harness/webkit.mjs";

const root = resolve(import.meta.dirname, "../..");

interface Driven {
  goto(url: string): Promise<unknown>;
  close(): Promise<unknown>;
}

/** Adds a browser to Vitest, which only needs to open a page in it. */
const providerOf = (name: string, launch: () => Promise<Driven>) =>
  defineBrowserProvider({
    name,
    providerFactory: () => {
      let browser: Promise<Driven> | undefined;
      return {
        name,
        supportsParallelism: false,
        getCommandsContext: () => ({}),
        async openPage(_: string, url: string) {
          browser ??= launch();
          await (await browser).goto(url);
        },
        async close() {
          await (await browser)?.close();
        },
      };
    },
  });

const webkit = providerOf("webkit", () => WebKit.launch());
const firefox = providerOf("firefox", async () => {
  const { launchFirefox } = await import("../harness/firefox.mjs");
  const browser = await launchFirefox();
  const page = await browser.newPage();
  return { goto: (url) => page.goto(url), close: () => browser.close() };
});

const isolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

const shared = {
  root,
  // Node 20 does not support the syntax of `using`.
  oxc: { target: "es2022" as const },
};

const inNode = {
  server: { deps: { external: [/\/dist\//] } },
  testTimeout: 120_000,
  hookTimeout: 30_000,
};

/**
 * Lets coverage read the built package as Node runs it. Otherwise it reads Vite's output of the files, whose positions
 * differ from the counted ones. In Node, nothing else requests them from Vite.
 */
const asBuilt = {
  name: "as-built",
  enforce: "pre" as const,
  transform(_: string, id: string): void {
    if (id.startsWith(join(root, "dist/")))
      throw new Error(`${id}: expected Node to run it as it is`);
  },
};

/** Serves the script of the worker as bundlers copy it. Vitest would add imports that only work in a page. */
const asCopied = {
  name: "as-copied",
  configureServer({ middlewares }: { middlewares: Connect.Server }): void {
    const path = "/dist/workerThread.js";
    middlewares.use(path, (_: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { ...isolation, "Content-Type": "text/javascript" });
      response.end(readFileSync(join(root, path)));
    });
  },
};

/** The suites of the package's sources, in folders of the same names. */
const suites = ["tests/js/{core,house,load,models,nn,ops,view,worker}/*.test.ts"];

export default defineConfig({
  root,
  test: {
    maxWorkers: 2,
    projects: [
      {
        ...shared,
        plugins: [asBuilt],
        test: {
          name: "node",
          include: suites,
          // These tests need a page.
          exclude: [
            "tests/js/{load/browser,load/chosen_binary,worker/ended_worker}.test.ts",
            "tests/js/{models/kept,core/page_memory}.test.ts",
          ],
          ...inNode,
          execArgv: ["--expose-gc"],
        },
      },
      {
        ...shared,
        test: {
          name: "wide",
          // The suites of the kernels, with vectors of 256 bits, without the suites of arguments, files and the
          // trainer. A recent Node runs them: see package.json.
          include: [
            "tests/js/core/autograd.test.ts",
            "tests/js/nn/{nn_layers,nn_transformer,optim,training}.test.ts",
            "tests/js/ops/{arrays,attention,block_mask,half,kv_cache,linear}.test.ts",
            "tests/js/ops/{multi_head_attention,operations,right_calls,variants}.test.ts",
          ],
          ...inNode,
          execArgv: ["--expose-gc", revectorize],
        },
      },
      {
        ...shared,
        plugins: [asCopied],
        server: { headers: isolation },
        test: {
          name: "browser",
          // All files share one page, because each new page would compile the engine again.
          isolate: false,
          // The excluded tests run programs or read the repository, which only Node can do.
          include: suites,
          exclude: [
            "tests/js/house/*.test.ts",
            "tests/js/{core/border,load/lifecycle,load/node,ops/codegen,ops/out_of_memory}.test.ts",
            "tests/js/models/{fetched,model_sources,shipped_models,train_command,train_text}.test.ts",
            // These deflate with Node's zlib, or their subject is Node.
            "tests/js/view/{attention_files,view_command,view_entry,view_happy_dom,view_jsdom}.test.ts",
            // In a browser these tests check nothing more, and they take long.
            "tests/js/{ops/calls,models/strangers}.test.ts",
          ],
          globalSetup: "tests/js/files_server.ts",
          testTimeout: 30_000,
          hookTimeout: 30_000,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: {
                executablePath: chromiumIfFound() as string, // without a path, Playwright looks for its own
                args: ["--no-sandbox", "--js-flags=--expose-gc"],
              },
            }),
            instances: [{ browser: "chromium" }],
          },
        },
      },
      {
        ...shared,
        plugins: [asCopied],
        server: { headers: isolation },
        test: {
          name: "webkit",
          // A selection: loading, threads, memory, errors, each kind of attention and layer, files,
          // training, files that the browser keeps, GGUF, and models of each kind. The results of the
          // operations come from the same binary as in Chromium.
          include: [
            "tests/js/core/{scope,tensor,traps}.test.ts",
            "tests/js/{load/browser,load/load,models/kept}.test.ts",
            "tests/js/models/{encoders,gguf,seq2seq}.test.ts",
            "tests/js/nn/{nn_layers,safetensors,training}.test.ts",
            "tests/js/ops/{linear,right_calls,variants}.test.ts",
            "tests/js/worker/{worker,worker_cancel,worker_edges,worker_ownership}.test.ts",
          ],
          globalSetup: "tests/js/files_server.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
          browser: {
            enabled: true,
            ui: false, // drawing it takes a whole core
            screenshotFailures: false,
            provider: webkit,
            instances: [{ browser: "webkit" as never }],
          },
        },
      },
      {
        ...shared,
        plugins: [asCopied],
        server: { headers: isolation },
        test: {
          name: "firefox",
          // The files of models, and a model of each architecture, in a page and in its worker.
          include: ["tests/js/models/{encoders,families,gguf,language_models,seq2seq}.test.ts"],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          browser: {
            enabled: true,
            ui: false,
            screenshotFailures: false,
            provider: firefox,
            instances: [{ browser: "firefox" as never }],
          },
        },
      },
      {
        ...shared,
        test: {
          name: "package",
          include: ["tests/js/package/*.test.ts"],
          globalSetup: "tests/js/package/install.ts",
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...shared,
        test: {
          name: "matrix",
          include: ["tests/js/package/matrix/*.test.ts"],
          globalSetup: "tests/js/package/matrix/install.ts",
          testTimeout: 600_000,
        },
      },
    ],
  },
});
