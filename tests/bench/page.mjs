// Sends requests to the worker that measures, and describes the machine and the browser.

import { readFileSync } from "node:fs";
import os from "node:os";

const root = new URL("../../", import.meta.url);

/**
 * Opens the page, with playwright's browser or puppeteer's. `ask` calls one of the functions of
 * page/worker.mjs.
 */
export async function openBench(browser, url) {
  const page = await browser.newPage();
  const crashed = new Promise((_, reject) => {
    page.on("crash", () => reject(new Error("the page crashed")));
  });
  crashed.catch(() => {}); // it may crash while no request is pending
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

/** The machine, the browser and the versions. */
export function environment(runtime, packages) {
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: {
      cpu: os.cpus()[0]?.model.trim() ?? "unknown CPU",
      cores: os.availableParallelism(),
      // The load before the run: near zero on an idle machine.
      load: Number(os.loadavg()[0].toFixed(2)),
    },
    runtime,
    versions: {
      heed: versionOf("package.json"),
      ...Object.fromEntries(
        packages.map((name) => [name, versionOf(`node_modules/${name}/package.json`)]),
      ),
    },
  };
}
