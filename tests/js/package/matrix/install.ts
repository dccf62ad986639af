// Installs the packed package beside all bundlers and runtimes that it is tested with, at the versions of
// package-lock.json. That takes a minute and 1.4 GB, so only ./dev test --all does it.

import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { succeed } from "../../child.js";
import { pack } from "../install.js";

const root = join(import.meta.dirname, "../../../..");

declare module "vitest" {
  interface ProvidedContext {
    /** A folder whose node_modules has the package and the tools. */
    matrix: string;
  }
}

export default async function install(tests: TestProject): Promise<void> {
  const { tarball } = await pack();
  const folder = join(root, "build/matrix");
  mkdirSync(folder, { recursive: true });
  const lock = readFileSync(join(import.meta.dirname, "package-lock.json"), "utf8");
  const installed = join(folder, "node_modules/.installed-package-lock.json");
  if (!existsSync(installed) || readFileSync(installed, "utf8") !== lock) {
    for (const name of ["package.json", "package-lock.json"])
      copyFileSync(join(import.meta.dirname, name), join(folder, name));
    // Not `npm ci`, which also needs the packages of other kinds of machines. Not every registry has them.
    const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    await succeed("npm", ["install", ...options], { cwd: folder, limit: 600_000 });
    copyFileSync(join(import.meta.dirname, "package-lock.json"), installed);
  }
  const home = join(folder, "node_modules/heed");
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  await succeed("tar", ["xzf", tarball, "-C", home, "--strip-components", "1"]);
  tests.provide("matrix", folder);
}
