// A tool of the matrix as a table's row: its smallest project, how it builds, and how the page is served. The page
// computes with `load` and with `loadInWorker`, in Chromium, on an isolated page.

import { spawn } from "node:child_process";
import { cpSync, existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, inject, test } from "vitest";
import { succeed } from "../../child.js";
import {
  copyEngine,
  expectWorks,
  open,
  openAddress,
  programs,
  type Report,
  writeFiles,
} from "../places.js";
import { expected, reportModule, type WorkerReport } from "../workers.js";

const folder = inject("matrix");

/** A path in the packages of the matrix. */
export const tool = (path: string) => join(folder, "node_modules", path);

/** The packed package, as installed. */
export const home = tool("heed");

export const limit = 480_000;

export const script = '<script type="module" src="/main.js"></script>';

/** Node 24, for tools that need more than Node 20. */
export const node24 = "node-24/bin/node";

export interface Tool {
  /** The row of the guide's table. */
  place: string;
  /** The name of the project's folder. */
  name: string;
  files: Record<string, string>;
  /** The program of the matrix that runs the commands; by default the Node of the tests. */
  program?: string;
  /** The parameters of the program that builds. */
  build?: string[];
  /** The folder of the project into which the test copies the engine's files, as the guide asks. */
  engine?: string;
  /** The folder of the project with the page, or the parameters of the program that serves the page. */
  serve: string | ((port: string) => string[]);
  /** The response headers of a served folder; by default isolation and a strict policy. None without a server. */
  headers?: Record<string, string> | "file:";
  /** The path at which the server answers with its own report. */
  server?: string;
}

/** The files of every project. `start` makes the page's reports. */
const common = {
  "package.json": '{ "private": true, "type": "module", "dependencies": { "heed": "*" } }',
  "report.js": programs["report.js"],
  "workerReport.js": reportModule(),
  "start.js": `
    import { report } from "./report.js";
    import { report as workerReport } from "./workerReport.js";
    export function start() {
      const { options = [] } = globalThis; // of load and of loadInWorker
      globalThis.reports ??= Promise.all(
        [report, workerReport].map((run, i) => run(options[i]).catch(String)));
    }`,
  "main.js": 'import { start } from "./start.js"; start();',
  "index.html": `<!doctype html><title>Heed</title>${script}`,
};

/** The changes of the environment. Variables of the test runner would change what tools do. */
function environment(mode: "production" | "development", port = "") {
  const host = "127.0.0.1";
  return {
    ...{
      NODE_ENV: mode,
      NODE_OPTIONS: undefined,
      VITEST: undefined,
      TEST: undefined,
      CI: undefined,
    },
    ...{ PORT: port, HOST: host, NITRO_PORT: port, NITRO_HOST: host },
    ...{
      NEXT_TELEMETRY_DISABLED: "1",
      ASTRO_TELEMETRY_DISABLED: "1",
      NUXT_TELEMETRY_DISABLED: "1",
    },
    ...{ NG_CLI_ANALYTICS: "false", FORCE_COLOR: undefined },
  };
}

function freePort(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(String(port)));
    });
  });
}

/** Starts a server, calls `use` with its address, and ends it with all processes that it started. */
async function withServer<T>(
  program: string,
  parameters: string[],
  { cwd, env }: { cwd: string; env: Record<string, string | undefined> },
  use: (url: string) => Promise<T>,
): Promise<T> {
  const child = spawn(program, parameters, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text) => {
      output += text;
    });
  const url = `http://127.0.0.1:${env.PORT}/`;
  try {
    const answers = () =>
      child.exitCode === null
        ? fetch(url).then(
            (response) => response.status,
            () => undefined,
          )
        : expect.fail(`the server ended with ${child.exitCode}`);
    await expect.poll(answers, { timeout: 90_000, interval: 200 }).toBeDefined();
    return await use(url);
  } catch (error) {
    throw new Error(`${error}\nThe server's output:\n${output}`, { cause: error });
  } finally {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

type Reports = [Report | string, WorkerReport | string];

async function check(row: Tool): Promise<void> {
  const { place, name, files, build, engine, serve, headers, server } = row;
  const project = join(folder, name);
  const program = row.program === undefined ? process.execPath : tool(row.program);
  // Caches of tools may contain another version of the package.
  rmSync(project, { recursive: true, force: true });
  // As where it is installed: Vite serves no file from outside of the project.
  cpSync(home, join(project, "node_modules/heed"), { recursive: true });
  writeFiles(project, { ...common, ...files });
  if (build) await succeed(program, build, { cwd: project, limit, env: environment("production") });
  if (engine !== undefined) copyEngine(home, join(project, engine));
  const verify = ([page, worker]: Reports) => {
    expectWorks(place, page);
    const hasThreads = (page as Report).threads > 1;
    expect(worker).toEqual(hasThreads ? expected : { ...expected, threads: 1, interrupts: false });
  };
  if (typeof serve === "string") {
    const site = join(project, serve);
    const reports =
      headers === "file:"
        ? openAddress<Reports>(pathToFileURL(join(site, "index.html")).href)
        : open<Reports>(site, undefined, headers);
    return verify(await reports);
  }
  const port = await freePort();
  const env = environment(build ? "production" : "development", port);
  await withServer(program, serve(port), { cwd: project, env }, async (url) => {
    if (server !== undefined) {
      const text = await (await fetch(new URL(server, url))).text();
      const report: unknown = text.startsWith("{") ? JSON.parse(text) : text;
      const numbers = ["2.5752 true", "2.5752 true"];
      expect(report).toMatchObject({ numbers, threads: 2, reason: null });
    }
    verify(await openAddress(url));
  });
}

/** One test for each tool. */
export function testTools(tools: Tool[]): void {
  for (const one of tools) {
    const isMissing = one.program !== undefined && !existsSync(tool(one.program));
    test.skipIf(isMissing)(`${one.place}: ${one.name}`, () => check(one));
  }
}
