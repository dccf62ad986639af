/** Builds the page into build/web, a folder of files that any static host can serve from any place. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { serviceWorker } from "./offline.ts";

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The engine's glue starts its threads by its own file name and finds its binary beside it: those files keep their
 * names and stay together. Everything else gets a hash, for caches.
 */
function assetFileNames({ names }: { names: string[] }): string {
  return names.some((name) => /^heed-\w+\.(mjs|wasm)$/.test(name))
    ? "heed/[name][extname]"
    : "assets/[name]-[hash][extname]";
}

export default defineConfig({
  root: pathOf("."),
  base: "./",
  resolve: {
    alias: {
      "heed/models": pathOf("../dist/models.js"),
      "heed/nn": pathOf("../dist/nn.js"),
      heed: pathOf("../dist/index.js"),
    },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [serviceWorker(pathOf("service-worker.js"))],
  build: {
    outDir: pathOf("../build/web"),
    emptyOutDir: true,
    target: "es2022",
    // The strict Content-Security-Policy allows no data: scripts, and there is one script to load.
    assetsInlineLimit: 0,
    modulePreload: false,
    rolldownOptions: { output: { assetFileNames } },
  },
  worker: { format: "es", rolldownOptions: { output: { assetFileNames } } },
});
