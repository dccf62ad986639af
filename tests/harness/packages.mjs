// Packages that tests need in addition to the repository's, at the versions of a package-lock.json.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Installs the packages that one folder's package.json lists into another folder, unless they are
 * there.
 */
export function installPackages(listed, folder) {
  const lock = join(listed, "package-lock.json");
  const installed = join(folder, "node_modules/.installed-package-lock.json");
  if (existsSync(installed) && readFileSync(installed, "utf8") === readFileSync(lock, "utf8"))
    return;
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"])
    copyFileSync(join(listed, name), join(folder, name));
  // Not `npm ci`, which also needs the packages for other kinds of machines. Some registries lack
  // them.
  const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...options], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 600_000,
  });
  // Last, so that an interrupted installation is repeated.
  copyFileSync(lock, installed);
}
