// Bundles the soak, which is TypeScript, for Node, and runs it. Packages are not bundled: "heed" is the built one.

import { join } from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname;
const outdir = join(here, "../../build/soak");
await build({
  entryPoints: ["main", "soak", "browser"].map((name) => join(here, `${name}.ts`)),
  outExtension: { ".js": ".mjs" },
  ...{ bundle: true, packages: "external", platform: "node", format: "esm", target: "es2022" },
  ...{ outdir, logLevel: "error" },
});
await import(join(outdir, process.argv.includes("--browser") ? "browser.mjs" : "main.mjs"));
