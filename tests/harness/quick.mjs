// node tests/harness/quick.mjs: prints what `./dev test --quick` runs, a line for each suite: its name, then its files.
// It reads the changes since the branch left main. On main, it reads the changes that are not committed, or else the
// last commit.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { basename } from "node:path";

function git(...words) {
  try {
    const text = execFileSync("git", words, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return text.split("\n").filter((line) => line !== "");
  } catch {
    return [];
  }
}

const [head] = git("rev-parse", "HEAD");
const [left = head] = git("merge-base", "HEAD", "main");
const uncommitted = [
  ...git("diff", "--name-only", "HEAD"),
  ...git("ls-files", "--others", "--exclude-standard"),
];
const isOnMain = left === head;
const base = isOnMain && uncommitted.length === 0 ? "HEAD~1" : left;
const changed = new Set([...git("diff", "--name-only", base), ...uncommitted]);

const e2e = readdirSync("tests/e2e").filter((name) => name.endsWith(".test.ts"));
const pages = (pattern) =>
  e2e.filter((name) => pattern.test(name)).map((name) => `tests/e2e/${name}`);
/** The tests that import a helper. */
const usersOf = (file) =>
  git("grep", "-l", `/${basename(file, ".ts")}`, "--", `${file.split("/", 2).join("/")}/*.test.ts`);
const existing = (file) => (existsSync(file) ? [file] : []);

/** The tests of a changed file. The first rule that fits counts. */
const rules = [
  [/^(src|include|tests\/cpp)\/|^CMake/, () => ({ cpp: ["all"] })],
  [/^bindings\/[^/]+$/, () => ({ node: ["tests/js/core/", "tests/js/load/", "tests/js/ops/"] })],
  [/^bindings\/js\/view\//, () => ({ node: ["tests/js/view/"], e2e: pages(/^elements/) })],
  [/^bindings\/js\/(\w+)\//, ([, folder]) => ({ node: [`tests/js/${folder}/`] })],
  [/^bindings\/js\/|\.md$|^dev$|^tests\/harness\//, () => ({ node: ["tests/js/house/"] })],
  [/^tests\/js\/.*\.test\.ts$/, ([file]) => ({ node: existing(file) })],
  [/^tests\/js\/(.*)\.ts$/, ([file]) => ({ node: usersOf(file) })],
  [/^tests\/e2e\/.*\.test\.ts$/, ([file]) => ({ e2e: existing(file) })],
  [/^tests\/e2e\/.*\.ts$/, ([file]) => ({ e2e: usersOf(file) })],
  [/^web\/src\/rooms\/models\//, () => ({ e2e: pages(/^(heads|write|yours)[._]/) })],
  [/^web\/src\/rooms\/(\w+)\//, ([, room]) => ({ e2e: pages(new RegExp(`^${room}[._]`)) })],
  [/^web\/src\/picture\/HeadGrid/, () => ({ e2e: pages(/^(heads|learn|recurrent|write)\./) })],
  [/^web\/src\//, () => ({ e2e: pages(/parts|shell/) })],
  [/^tests\/conformance\//, () => ({ conformance: ["all"] })],
];

const plan = new Map();
for (const file of [...changed].sort()) {
  const rule = rules.find(([pattern]) => pattern.test(file));
  for (const [suite, files] of Object.entries(rule?.[1](rule[0].exec(file)) ?? {}))
    plan.set(suite, new Set([...(plan.get(suite) ?? []), ...files]));
}
for (const [suite, files] of plan) if (files.size > 0) console.log(suite, ...files);
