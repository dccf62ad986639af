// Runs cases in a page of headless Chromium, served with the isolation headers.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, resolve, sep } from "node:path";
import { chromium } from "playwright";

const root = resolve(import.meta.dirname, "../..");
const types = { ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };

async function answer(request, response) {
  const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
  response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
  if (path === "/") {
    return response
      .setHeader("Content-Type", "text/html")
      .end("<!doctype html><title>Cases</title>");
  }
  const file = normalize(join(root, path));
  const type = types[extname(file)];
  if (!file.startsWith(root + sep) || type === undefined) return response.writeHead(404).end();
  try {
    const body = await readFile(file);
    response.setHeader("Content-Type", type).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

/** @returns the reports of all cases in both binaries, each with the binary in its name */
export async function runInBrowser(cases) {
  const server = createServer(answer).listen(0);
  const browser = await chromium.launch({
    executablePath: process.env.HEED_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${server.address().port}/`);
    const reports = [];
    for (const variant of ["relaxed", "simd"]) {
      const part = await page.evaluate(
        async ([variant, cases]) => {
          const { load } = await import("/dist/index.js");
          const { runCase } = await import("/tests/conformance/compare.mjs");
          const heed = await load({ variant, threads: 2 });
          const reports = cases.map((testCase) => runCase(heed, testCase));
          heed.dispose();
          return reports;
        },
        [variant, cases],
      );
      reports.push(...part.map((report) => ({ ...report, name: `${report.name} (${variant})` })));
    }
    return reports;
  } finally {
    await browser.close();
    server.close();
  }
}
