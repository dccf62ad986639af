// Packs the package as `npm publish` would, and installs it into an empty project, as a user would.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { succeed } from "../child.js";

const root = join(import.meta.dirname, "../../..");

/** The results of the tests of all environments: ./dev test --all prints this file. */
export const table = join(root, "build/places.md");

export interface Installed {
  /** The files in the tarball. */
  files: string[];
  /** A project that has the tarball installed and nothing else. */
  project: string;
}

declare module "vitest" {
  interface ProvidedContext {
    installed: Installed;
  }
}

/** Packs the package, and returns the tarball's path and its files. */
export async function pack(): Promise<{ tarball: string; files: string[] }> {
  const folder = join(root, "build/pack");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const report = await succeed("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: root,
  });
  const [{ filename, files }] = JSON.parse(report) as [
    { filename: string; files: { path: string }[] },
  ];
  return { tarball: join(folder, filename), files: files.map(({ path }) => path).sort() };
}

export default async function install(tests: TestProject): Promise<() => void> {
  const { tarball, files } = await pack();
  writeFileSync(
    table,
    "| where | works | binary | threads | what to configure |\n| - | - | - | - | - |\n",
  );
  // Outside of the repository, where no other package has the name "heed".
  const project = mkdtempSync(join(tmpdir(), "heed-project-"));
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  // The package has no dependencies, so npm needs no network.
  await succeed("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], {
    cwd: project,
  });
  tests.provide("installed", { files, project });
  return () => rmSync(project, { recursive: true });
}
