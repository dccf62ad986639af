// The code blocks of the package's documentation, with the mark above each.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Block {
  /** The document and the number of the block in it. */
  name: string;
  /** "test", "recipe: FILE", "types: FILE", "not run: REASON", or "" without a mark. */
  mark: string;
  language: string;
  code: string;
}

/** Languages whose code a test must run, unless its mark says why not. */
const runnable = new Set(["js", "jsx", "ts", "tsx", "mjs", "html", "vue", "svelte", "cpp"]);

export function blocksOf(markdown: string, document = ""): Block[] {
  const fenced = /(?:^<!-- ([^\n]+) -->\s*)?^```(\w+)\n(.*?)^```$/gms;
  return [...markdown.matchAll(fenced)]
    .filter(([, , language]) => runnable.has(language as string))
    .map(([, mark = "", language, code], i) => ({
      ...{ name: `${document} ${i + 1}`, mark },
      ...{ language: language as string, code: code as string },
    }));
}

/** The documents of an installed package that have code, by their paths. */
export function documentsOf(home: string): { path: string; text: string }[] {
  const guides = readdirSync(join(home, "web/guides")).map((name) => `web/guides/${name}`);
  return ["README.md", "bindings/js/README.md", "src/README.md", ...guides.sort()].map((path) => ({
    path,
    text: readFileSync(join(home, path), "utf8"),
  }));
}

/** The files of the recipes of a document. */
export function recipesOf(home: string, path: string): Record<string, string> {
  const recipe = /<!-- recipe: (\S+) -->\n```\w+\n(.*?)^```$/gms;
  return Object.fromEntries(
    [...readFileSync(join(home, path), "utf8").matchAll(recipe)].map(([, name, code]) => [
      name as string,
      code as string,
    ]),
  );
}
