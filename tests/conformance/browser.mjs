// Runs cases in a page of headless Chromium or Firefox, in all binaries, on two threads.

import { join, resolve } from "node:path";
import { serve } from "../harness/server.mjs";

const root = resolve(import.meta.dirname, "../..");

/** Loads only the package that drives this browser. */
async function launch(name) {
  if (name === "firefox") return (await import("../harness/firefox.mjs")).launchFirefox();
  return (await import("../harness/chromium.mjs")).launchChromium();
}

/** @returns the reports of all cases in all binaries, each with the binary in its name */
export async function runInBrowser(cases, name) {
  const server = await serve({ heed: join(root, "dist"), conformance: import.meta.dirname });
  const browser = await launch(name);
  try {
    const page = await browser.newPage();
    await page.goto(`${server.url}/conformance/page.html`);
    const reports = [];
    for (const variant of ["relaxed", "simd", "wide"]) {
      const part = await page.evaluate(
        async ([variant, cases]) => {
          const { load } = await import("/heed/index.js");
          const nn = await import("/heed/nn.js");
          const models = await import("/heed/models.js");
          const { runCase } = await import("/conformance/compare.mjs");
          const heed = await load({ variant, threads: 2 });
          const reports = [];
          for (const testCase of cases) reports.push(await runCase({ heed, nn, models }, testCase));
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
    server.stop();
  }
}
