// The types of the installed package, as TypeScript reads them: in the markup of frameworks, and without the DOM library.

import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { run } from "../child.js";
import { declarations, projectOf, uses } from "./markup.js";
import { writeFiles } from "./places.js";

const root = join(import.meta.dirname, "../../..");
const { project } = inject("installed");

/** The compiler's output for a project. */
async function compile(folder: string): Promise<string> {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { output } = await run(process.execPath, [compiler, "-p", folder], { limit: 110_000 });
  return output;
}

test("The guide has the declarations of all frameworks", () => {
  expect(Object.keys(declarations)).toEqual(Object.keys(uses));
});

// The types of Solid are a part of the matrix.
test.each(Object.keys(uses).filter((name) => name !== "solid"))(
  "The markup of %s has the elements' properties and events",
  async (name) => {
    const folder = join(project, "markup", name);
    writeFiles(folder, projectOf(name));
    for (const each of ["@types/react", "csstype", "preact", "svelte", "vue"]) {
      const link = join(folder, "node_modules", each);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, "node_modules", each), link);
    }
    expect(await compile(folder)).toBe("");
  },
);

describe("With skipLibCheck off", () => {
  const entries = ["heed", "heed/nn", "heed/models", "heed/worker", "heed/worker/serve"];
  const compiled = (name: string, lib: readonly string[], imported: readonly string[]) => {
    const folder = join(project, "libraries", name);
    const compilerOptions = {
      ...{ lib, types: [], target: "ES2022", module: "NodeNext", strict: true, noEmit: true },
      ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    };
    writeFiles(folder, {
      "use.mts": imported.map((entry, i) => `export * as e${i} from "${entry}";`).join("\n"),
      "tsconfig.json": JSON.stringify({ compilerOptions, files: ["use.mts"] }),
    });
    return compile(folder);
  };

  test("every entry compiles with the DOM library", async () => {
    expect(await compiled("dom", ["ES2022", "DOM"], [...entries, "heed/view"])).toBe("");
  });

  test("every entry but those of pictures compiles without the DOM library", async () => {
    expect(await compiled("bare", ["ES2022"], entries)).toBe("");
  });

  test("heed/view needs the DOM library", async () => {
    const output = await compiled("view", ["ES2022"], ["heed/view"]);
    const missing = new Set(Array.from(output.matchAll(/Cannot find name '(\w+)'/g), ([, n]) => n));
    expect(missing).toContain("HTMLElement");
  });
});
