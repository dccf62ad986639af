/** Writes the service worker of a built page: the list of files to cache, followed by service-worker.js. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Plugin } from "vite";

const name = "service-worker.js";

/** The documentation (docs/build.mjs), which the page only links to. */
const documentation = "docs/";

/** Files that the page does not need: few browsers use the wide binary, and they fall back to the relaxed one. */
const aside = ["README.md", "preview.png", "heed/heed-wide.wasm"];

/** The folder of a model that is cached only after a person has opened its room. */
const large = "models/write/";

function hashOf(folder: string, files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest("hex").slice(0, 16);
}

export function serviceWorker(source: string): Plugin {
  let folder = "";
  return {
    name: "heed:service-worker",
    apply: "build",
    configResolved(config) {
      folder = config.build.outDir;
    },
    // Runs after all files are written, because some come from the bundler and others are copied.
    closeBundle() {
      const all = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
        .filter((file) => file !== name && !file.startsWith(documentation))
        .sort();
      const models = all.filter((file) => file.startsWith("models/"));
      const files = all.filter((file) => !file.startsWith("models/") && !aside.includes(file));
      const code = readFileSync(source, "utf8");
      // The page's own address is the address of its folder.
      const kept = files.map((file) => (file === "index.html" ? "./" : file));
      const version = createHash("sha256").update(code).update(hashOf(folder, files));
      const lines = [
        `const files = ${JSON.stringify(kept)};`,
        `const version = "${version.digest("hex").slice(0, 16)}";`,
        `const models = ${JSON.stringify(models.filter((file) => !file.startsWith(large)))};`,
        `const modelsVersion = "${hashOf(folder, models)}";`,
      ];
      writeFileSync(join(folder, name), `${lines.join("\n")}\n${code}`);
    },
  };
}
