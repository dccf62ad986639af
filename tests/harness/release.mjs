/**
 * The parts of `./dev release` that read and write files. They check the conditions of a release,
 * write the files that have the version, and print the sizes of the packed files.
 *
 *   node tests/harness/release.mjs check|write VERSION [--dry-run]
 *   node tests/harness/release.mjs sizes ARCHIVE
 */
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { archive, binarySizes } from "./sizes.mjs";

const numbersOf = (version) => version.split(".").map(Number);

/** Negative if a is before b. */
function compared(a, b) {
  const [x, y] = [numbersOf(a), numbersOf(b)];
  return x[0] - y[0] || x[1] - y[1] || x[2] - y[2];
}

const git = (root, ...words) => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
const read = (root, file) => readFileSync(join(root, file), "utf8");

/** The entry of a version in the changelog: its heading, and whether there are words below it. */
function entryOf(changelog, version) {
  const heading = new RegExp(`^## ${version.replaceAll(".", "\\.")}( - .*)?$`, "m").exec(changelog);
  if (!heading) return null;
  const rest = changelog.slice(heading.index + heading[0].length);
  const words = rest.split(/^## /m)[0].trim();
  const isFirst = !/^## /m.test(changelog.slice(0, heading.index));
  return { heading: heading[0], date: heading[1]?.slice(3), words, isFirst };
}

/**
 * Why a version cannot be released; empty if it can.
 *
 * @param {string} root
 * @param {string} version
 * @returns {string[]}
 */
export function problems(root, version) {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version))
    return [`VERSION: expected three numbers such as 1.2.3, got "${version}"`];
  const found = [];
  const changed = git(root, "status", "--porcelain");
  if (changed !== "")
    found.push(`expected a working tree without changes, got\n${changed.replace(/^/gm, "    ")}`);
  const current = JSON.parse(read(root, "package.json")).version;
  if (compared(version, current) < 0)
    found.push(`VERSION: expected ${current} or above, got ${version}`);
  if (git(root, "tag", "--list", `v${version}`) !== "")
    found.push(`VERSION: expected one that was not released, but there is a tag v${version}`);
  const entry = entryOf(read(root, "CHANGELOG.md"), version);
  if (entry === null)
    found.push(
      `CHANGELOG.md: expected an entry "## ${version}", got none; write what is new there`,
    );
  else {
    if (entry.words === "") found.push(`CHANGELOG.md: expected words below "## ${version}"`);
    if (!entry.isFirst) found.push(`CHANGELOG.md: expected "## ${version}" as its first entry`);
    if (entry.date)
      found.push(`CHANGELOG.md: expected no date at "## ${version}", got ${entry.date}`);
  }
  return found;
}

/**
 * The files that have the version or the date, with their text after the release.
 *
 * @param {string} root
 * @param {string} version
 * @param {string} date
 * @returns {{ file: string, text: string }[]} the files that change
 */
export function edits(root, version, date) {
  const replace = (file, pattern, by) => {
    const before = read(root, file);
    if (!pattern.test(before)) throw new Error(`${file}: expected ${pattern}`);
    const text = before.replace(pattern, by);
    return text === before ? [] : [{ file, text }];
  };
  const lock = JSON.parse(read(root, "package-lock.json"));
  const isLocked = lock.version === version && lock.packages[""].version === version;
  lock.version = lock.packages[""].version = version;
  const heading = new RegExp(`^## ${version.replaceAll(".", "\\.")}$`, "m");
  return [
    ...replace("CHANGELOG.md", heading, `## ${version} - ${date}`),
    ...replace("package.json", /^ {2}"version": ".*"/m, `  "version": "${version}"`),
    ...(isLocked
      ? []
      : [{ file: "package-lock.json", text: `${JSON.stringify(lock, null, 2)}\n` }]),
    ...replace(
      "include/heed/heed.hpp",
      /^#define HEED_VERSION ".*"/m,
      `#define HEED_VERSION "${version}"`,
    ),
  ];
}

/** @returns {{ name: string, bytes: number, most: number }[]} */
const sizes = (root, file) => [
  ...binarySizes(join(root, "dist")),
  { name: file.split("/").at(-1), bytes: statSync(file).size, most: archive },
];

function main([what, given, option]) {
  const root = process.cwd();
  if (what === "check") {
    const found = problems(root, given);
    for (const problem of found) console.error(`heed: ${problem}`);
    return found.length === 0 ? 0 : 1;
  }
  if (what === "write") {
    const date = new Date().toISOString().slice(0, 10);
    for (const { file, text } of edits(root, given, date)) {
      if (option !== "--dry-run") writeFileSync(join(root, file), text);
      const now = file === "CHANGELOG.md" ? `"## ${given} - ${date}"` : given;
      console.log(`  ${file}: ${option === "--dry-run" ? "would have" : "has"} ${now}`);
    }
    return 0;
  }
  if (what === "sizes") {
    const all = sizes(root, given);
    for (const { name, bytes, most } of all)
      console.log(
        `  ${name}: ${bytes} bytes of at most ${most}${bytes > most ? ": TOO LARGE" : ""}`,
      );
    return all.some(({ bytes, most }) => bytes > most) ? 1 : 0;
  }
  throw new Error(`expected check, write or sizes, got ${what}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  process.exitCode = main(process.argv.slice(2));
