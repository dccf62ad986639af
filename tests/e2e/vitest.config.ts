/** The page, driven like a person would, in real browsers. Build it first: `npm run build:web`. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** WebKit loses navigations on a busy machine, so nothing else may run at the same time. */
const alone = ["webkit.test.ts"];

export default defineConfig({
  cacheDir: fileURLToPath(new URL("../../build/vite", import.meta.url)),
  test: {
    root: fileURLToPath(new URL(".", import.meta.url)),
    globalSetup: "ending.ts",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    projects: [
      // Half of the time a browser waits for a clock or a frame, so two files in parallel take less time than one after
      // another.
      { include: ["*.test.ts"], exclude: alone, maxWorkers: 2, groupOrder: 0, name: "together" },
      { include: alone, maxWorkers: 1, groupOrder: 1, name: "alone" },
    ].map(({ include, exclude = [], maxWorkers, groupOrder, name }) => ({
      extends: true as const,
      oxc: { jsx: { runtime: "automatic" as const, importSource: "preact" } },
      // The files of a process share its Chromium, and the modules that they import.
      test: { name, include, exclude, maxWorkers, isolate: false, sequence: { groupOrder } },
    })),
  },
});
