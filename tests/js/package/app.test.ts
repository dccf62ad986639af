// A Vite app that uses the installed package, built and opened in Chromium under a strict policy.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "vite";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { succeed } from "../child.js";
import { closeBrowser, isolation, visit } from "./places.js";
import { type Served, serve } from "./serve.js";

const root = join(import.meta.dirname, "../../..");
const app = inject("installed").project;

/** The page's report of its engine, and of the engine in its worker. */
interface Report {
  info: { threads: number; crossOriginIsolated: boolean; reason: string | null; variant: string };
  weights: string[];
  /** Whether an attention that is large enough for threads had the right result. */
  large: boolean;
  /** Names of a module's parameters. */
  names: string[];
}

const files = {
  "index.html": `<!doctype html>
    <html lang="en">
      <head>
        <title>Heed in an app</title>
        <script type="module" src="/main.js"></script>
      </head>
      <body></body>
    </html>`,
  "report.js": `
    import { load } from "heed";
    import { nn } from "heed/nn";
    export async function report(options) {
      const heed = await load(options);
      return heed.scope(() => {
        const embeddings = [0, 1, 2, 3, 4].map((t) => [1, 2, 3, 4].map((e) => (4 * t + e) / 10));
        const entries = (a, b) => heed.tensor([[embeddings.map((row) => [row[a], row[b]])]]);
        const { weights } = heed.attention(entries(0, 1), entries(1, 0), entries(2, 3), {
          needWeights: true,
        });
        const x = heed.tensor(new Float32Array(4 * 512 * 32).fill(1), [1, 4, 512, 32]);
        const { output } = heed.attention(x, x, x, { isCausal: true });
        return {
          info: heed.info,
          weights: [...weights.data.slice(5, 10)].map((value) => value.toFixed(3)),
          names: Object.keys(new nn.Linear(heed, 2, 3).stateDict()),
          large: output.data.every((value) => Math.abs(value - 1) < 1e-5),
        };
      });
    }`,
  "worker.js": `
    import { report } from "./report.js";
    report({ threads: 2 }).then(postMessage, (error) => postMessage({ error: String(error) }));`,
  "main.js": `
    import { report } from "./report.js";
    const options = { threads: 2 };
    const variant = new URLSearchParams(location.search).get("variant");
    if (variant) options.variant = variant;
    const page = report(options).catch((error) => ({ error: String(error) }));
    const worker = new Promise((resolve) => {
      const started = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
      started.onmessage = ({ data }) => resolve(data);
      started.onerror = (event) => resolve({ error: event.message ?? "the worker did not start" });
    });
    globalThis.reports = Promise.all([page, worker]);`,
  "vite.config.js": `export default { worker: { format: "es" } };`,
};

const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
].join("; ");
let isolated: Served;
let plain: Served;

beforeAll(async () => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(app, name), text);
  const vite = join(root, "node_modules/vite/bin/vite.js");
  await succeed(process.execPath, [vite, "build"], { cwd: app });
  const headers = { "Content-Security-Policy": policy };
  isolated = await serve(join(app, "dist"), { ...headers, ...isolation });
  plain = await serve(join(app, "dist"), headers);
});

afterAll(async () => {
  isolated?.close();
  plain?.close();
  await closeBrowser();
});

const open = (url: string) => visit<Report[]>(url);

const names = ["weight", "bias"];
const weights = ["0.098", "0.133", "0.182", "0.248", "0.339"];

describe.each(["wide", "relaxed", "simd"])("a built app with the %s binary", (variant) => {
  test("computes with two threads on an isolated page, and in its worker", async () => {
    const { reports, complaints } = await open(`${isolated.url}?variant=${variant}`);
    expect(complaints).toEqual([]);
    const info = { threads: 2, crossOriginIsolated: true, reason: null };
    expect(reports).toMatchObject([
      { info: { ...info, variant }, weights, names, large: true },
      { info: { ...info, variant: "relaxed" }, weights, names, large: true },
    ]);
  });

  test("computes with one thread on a page that is not isolated, and says why", async () => {
    const { reports, complaints } = await open(`${plain.url}?variant=${variant}`);
    expect(complaints).toEqual([]);
    const info = {
      threads: 1,
      crossOriginIsolated: false,
      reason: expect.stringMatching(/^1 thread, because the page is not cross-origin isolated: .+/),
    };
    expect(reports).toMatchObject([
      { info: { ...info, variant }, weights, names, large: true },
      { info: { ...info, variant: "relaxed" }, weights, names, large: true },
    ]);
  });
});

test("a built app fetches only the binary that it uses, once for the page and once for the worker", async () => {
  const { fetched } = await open(isolated.url);
  expect(fetched.filter((path) => /heed-(simd|wide)/.test(path))).toEqual([]);
  expect(fetched.filter((path) => path.endsWith(".wasm")).length).toBeLessThanOrEqual(2);
  expect(fetched.some((path) => /heed-relaxed.*\.wasm$/.test(path))).toBe(true);
});

test("Vite's development server serves the package as it is", async () => {
  const server = await createServer({
    root: app,
    logLevel: "silent",
    server: { host: "127.0.0.1", port: 0, headers: isolation, ws: false, watch: null },
  });
  try {
    await server.listen();
    const { reports } = await open(server.resolvedUrls?.local[0] as string);
    const info = { threads: 2, crossOriginIsolated: true, reason: null };
    expect(reports).toMatchObject([
      { info, weights, names, large: true },
      { info, weights, names, large: true },
    ]);
  } finally {
    await server.close();
  }
});
