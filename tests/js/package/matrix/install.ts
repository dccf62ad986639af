// Installs the packed package with all bundlers and runtimes that it is tested with, at the versions of
// package-lock.json. The installation takes two minutes and 2.1 GB, so only ./dev test --all does it.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { installPackages } from "../../../harness/packages.mjs";
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
  installPackages(import.meta.dirname, folder);
  const home = join(folder, "node_modules/heed");
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  await succeed("tar", ["xzf", tarball, "-C", home, "--strip-components", "1"]);
  tests.provide("matrix", folder);
}
