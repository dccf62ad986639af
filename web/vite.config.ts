/** Builds the page into build/web, a folder of files that any static host can serve at any address. */
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { serviceWorker } from "./offline.ts";
import { ownAddress } from "./site.ts";

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The engine's glue starts its threads by its own file name and looks for its binary next to itself, so these files
 * keep their names and stay together. All other files get a hash, for caches.
 */
function assetFileNames({ names }: { names: string[] }): string {
  return names.some((name) => /^heed-\w+\.(mjs|wasm)$/.test(name))
    ? "heed/[name][extname]"
    : "assets/[name]-[hash][extname]";
}

/** Omits the package's own worker script: the page replaces it by a worker with its solvers. */
const withoutPackageWorker: Plugin = {
  name: "heed:without-package-worker",
  apply: "build",
  generateBundle: {
    order: "post",
    handler(_, bundle) {
      for (const file of Object.keys(bundle)) if (/workerThread/.test(file)) delete bundle[file];
    },
  },
};

export default defineConfig({
  root: pathOf("."),
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [
    ownAddress(process.env.HEED_SITE),
    withoutPackageWorker,
    serviceWorker(pathOf("service-worker.js")),
  ],
  build: {
    outDir: pathOf("../build/web"),
    emptyOutDir: true,
    target: "es2022",
    // The strict Content-Security-Policy allows no data: scripts, and there is one script to load.
    assetsInlineLimit: 0,
    modulePreload: false,
    // Modules that nearly all rooms use are one script, because many small ones compress worse and load later.
    rolldownOptions: {
      output: { assetFileNames, codeSplitting: { groups: [{ name: "page", minShareCount: 5 }] } },
    },
  },
  worker: { format: "es", rolldownOptions: { output: { assetFileNames } } },
});
