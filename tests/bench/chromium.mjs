// Starts Chromium, and talks to the worker that measures.

import { accessSync, constants, readFileSync } from "node:fs";
import os from "node:os";
import { delimiter, join } from "node:path";
import { chromium } from "playwright";

const root = new URL("../../", import.meta.url);

function chromiumProgram() {
  if (process.env.HEED_CHROMIUM) return process.env.HEED_CHROMIUM;
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const program = join(folder, "chromium");
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not in this folder.
    }
  }
  throw new Error("chromium: expected on the PATH, or its path in HEED_CHROMIUM");
}

export function launchChromium() {
  return chromium.launch({
    executablePath: chromiumProgram(),
    // Chromium's own sandbox does not run as root; the rest keeps its background work away.
    args: ["--no-sandbox", "--disable-gpu", "--disable-component-update"],
  });
}

/** Opens the page. `ask` calls one of the functions that page/worker.mjs offers. */
export async function openBench(browser, url) {
  const page = await browser.newPage();
  const crashed = new Promise((_, reject) => {
    page.on("crash", () => reject(new Error("the page crashed")));
  });
  crashed.catch(() => {}); // it may crash while nothing is asked of it
  await page.goto(`${url}/bench/index.html`);
  return {
    async ask(method, argument) {
      const answer = page.evaluate((call) => globalThis.ask(...call), [method, argument]);
      const { result, error } = await Promise.race([answer, crashed]);
      if (error) throw new Error(error);
      return result;
    },
    close: () => page.close(),
  };
}

function versionOf(packageFile) {
  return JSON.parse(readFileSync(new URL(packageFile, root), "utf8")).version;
}

/** What the figures depend on. */
export function environment(browser) {
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cpu: os.cpus()[0]?.model.trim() ?? "unknown CPU",
      cores: os.availableParallelism(),
      // What else was running: near zero on a machine that does nothing but measure.
      load: Number(os.loadavg()[0].toFixed(2)),
    },
    browser: `Chromium ${browser.version()}`,
    versions: {
      heed: versionOf("package.json"),
      "onnxruntime-web": versionOf("node_modules/onnxruntime-web/package.json"),
      node: process.versions.node,
    },
  };
}
