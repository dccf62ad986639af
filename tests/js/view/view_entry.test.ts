// The entry heed/view in Node: its exports, its import without side effects, and its size in a bundle.

import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { bundleSize, pictures } from "../../harness/sizes.mjs";
import { run } from "../child.js";

const root = join(import.meta.dirname, "../../..");

/** Runs a module in Node, without a document, and returns its output. */
async function print(program: string): Promise<string> {
  const { output, status } = await run(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { cwd: root },
  );
  expect({ status, output }).toMatchObject({ status: 0 });
  return output.trim();
}

describe("heed/view in Node", () => {
  test("can be imported, and registers and makes nothing", async () => {
    const program = `
      const before = Reflect.ownKeys(globalThis);
      const view = await import("heed/view");
      const parts = await import("#parts");
      // The copies of a package find each other by one symbol.
      const added = Reflect.ownKeys(globalThis).filter((key) => !before.includes(key)).map(String);
      console.log(JSON.stringify([added, typeof view.HeedMatrix, typeof parts.rowsCsv]));
    `;
    const [added, ...kinds] = JSON.parse(await print(program));
    expect(kinds).toEqual(["function", "function"]);
    expect(added).toEqual([expect.stringMatching(/^Symbol\(heed \d/)]);
  });

  test("defines nothing where there are no elements", async () => {
    const program = `
      import { defineElements } from "heed/view";
      console.log(defineElements(), typeof customElements);
    `;
    expect(await print(program)).toBe("undefined undefined");
  });
});

describe("A bundle", () => {
  test("of all pictures and their parts has no file of the engine", async () => {
    const contents = 'export * from "heed/view"; export * from "#parts";';
    const { metafile } = await build({
      stdin: { contents, resolveDir: root },
      ...{ bundle: true, format: "esm", write: false, metafile: true, absWorkingDir: root },
    });
    const files = Object.keys(metafile.inputs).filter((file) => file !== "<stdin>");
    const isOfPictures =
      /^dist\/(view(Parts)?\.js|view\/.*|core\/(copies|error|objects|safetensorsHeader)\.js)$/;
    expect(files).toContain("dist/view/picture/paint.js");
    expect(files.filter((file) => !isOfPictures.test(file))).toEqual([]);
  });

  test("of all pictures is small", async () => {
    expect(await bundleSize('export * from "heed/view";', root)).toBeLessThan(pictures.all);
  });

  test("of one element has no other's code", async () => {
    const size = await bundleSize('import { matrix } from "heed/view"; matrix();', root);
    expect(size).toBeLessThan(pictures.matrix);
  });

  test("of a program that imports the entry for its types has nothing of it", async () => {
    expect(await bundleSize('import "heed/view";', root)).toBeLessThan(100);
  });
});
