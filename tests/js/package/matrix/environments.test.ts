// The packed package in test environments with a DOM.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, inject, test } from "vitest";
import { succeed } from "../../child.js";
import { expectWorks, programs, writeFiles } from "../places.js";
import { home, limit, tool } from "./tools.js";

const folder = inject("matrix");

const readReport = (project: string) =>
  JSON.parse(readFileSync(join(project, "report.json"), "utf8"));

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
