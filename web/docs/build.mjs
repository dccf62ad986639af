/**
 * Writes the documentation into FOLDER, which is the folder build/web/docs of the built page by default.
 *
 *   node web/docs/build.mjs [FOLDER]
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildSync } from "esbuild";
import { rootOf } from "./entries.mjs";
import { pages, pictures } from "./site.mjs";

const folder = resolve(process.argv[2] ?? rootOf("build/web/docs"));
const all = await pages();
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { file, html } of all) writeFileSync(join(folder, file), html);
writeFileSync(
  join(folder, "sections.json"),
  JSON.stringify(all.flatMap(({ sections }) => sections)),
);
buildSync({
  ...{ entryPoints: [rootOf("dist/view.js")], outfile: join(folder, "view.js") },
  ...{ bundle: true, minify: true, format: "esm", target: "es2022", logLevel: "warning" },
});
cpSync(rootOf("node_modules/minisearch/dist/es/index.js"), join(folder, "minisearch.js"));
const own = ["docs.css", "docs.js", "moved.js"].map((name) => `web/docs/${name}`);
const files = ["web/src/app/styles/base.css", ...own, ...pictures];
for (const path of files) cpSync(rootOf(path), join(folder, path.split("/").at(-1)));
console.log(`${all.length} pages of documentation in ${folder}`);
