// `./dev release` in a copy of the repository, without building and testing; and the tool that counts coverage.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromLcov, fromLlvm, merged, ranges, report } from "../harness/coverage.mjs";
import { run, succeed } from "./child.js";

const root = join(import.meta.dirname, "../..");

/** What a release reads; the package's own contents are of no account here. */
const files = [
  ...[
    "dev",
    "package.json",
    "package-lock.json",
    "CHANGELOG.md",
    "README.md",
    "LICENSE",
    ".gitignore",
  ],
  ...["include/heed/heed.hpp", "tests/harness/release.mjs", "tests/harness/sizes.mjs"],
];

describe("A release", () => {
  let folder: string;
  const git = (...words: string[]) => succeed("git", words, { cwd: folder });
  const release = (...words: string[]) =>
    run("./dev", ["release", ...words, "--no-build", "--no-test"], { cwd: folder, limit: 120_000 });
  const read = (file: string) => readFileSync(join(folder, file), "utf8");
  const changed = () => git("status", "--porcelain");

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "heed-release-"));
    for (const file of files) cpSync(join(root, file), join(folder, file), { recursive: true });
    mkdirSync(join(folder, "dist"));
    for (const name of ["simd", "relaxed", "wide"])
      symlinkSync(join(root, `dist/heed-${name}.wasm`), join(folder, `dist/heed-${name}.wasm`));
    writeFileSync(
      join(folder, "CHANGELOG.md"),
      "# Changelog\n\n## 99.1.0\n\nSomething new.\n\n## 0.1.0 - 2026-01-01\n\nThe first.\n",
    );
    await git("init", "-q");
    await git("config", "user.name", "A tester");
    await git("config", "user.email", "tester@example.com");
    await git("add", "-A");
    await git("commit", "-qm", "A state");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ["1.2", "expected three numbers such as 1.2.3"],
    ["v99.1.0", "expected three numbers such as 1.2.3"],
    ["99.1.0-rc", "expected three numbers such as 1.2.3"],
    ["0.0.1", "or above, got 0.0.1"],
    ["99.2.0", 'expected an entry "## 99.2.0", got none'],
    ["0.1.0", 'expected "## 0.1.0" as its first entry'],
  ])("of %s is refused, and changes nothing", async (version, why) => {
    const { status, errors } = await release(version);
    expect(status).toBe(1);
    expect(errors).toContain(why);
    expect(await changed()).toBe("");
  });

  test("of a tree with changes is refused", async () => {
    writeFileSync(join(folder, "notes.txt"), "not committed");
    const { status, errors } = await release("99.1.0");
    rmSync(join(folder, "notes.txt"));
    expect(status).toBe(1);
    expect(errors).toContain("expected a working tree without changes");
    expect(errors).toContain("notes.txt");
  });

  test("of a version that was tagged is refused", async () => {
    await git("tag", "v99.1.0");
    const { status, errors } = await release("99.1.0");
    await git("tag", "-d", "v99.1.0");
    expect(status).toBe(1);
    expect(errors).toContain("there is a tag v99.1.0");
  });

  test("without a version, or with an unknown option, shows how it is used", async () => {
    expect((await release()).status).toBe(2);
    expect((await release("99.1.0", "--publish")).status).toBe(2);
  });

  test("that is tried changes no file, and tells all steps", async () => {
    const { status, output, errors } = await release("99.1.0", "--dry-run");
    expect([status, errors]).toEqual([0, expect.stringContaining("heed: sizes")]);
    expect(output).toContain("package.json: would have 99.1.0");
    expect(output).toMatch(/CHANGELOG\.md: would have "## 99\.1\.0 - \d{4}-\d\d-\d\d"/);
    expect(output).toContain("A dry run of the release 99.1.0: no file was changed.");
    expect(output).toContain("It was not built, tested by this command.");
    expect(output).toContain("do not publish it");
    expect(output).toMatch(/heed-simd\.wasm: \d+ bytes of at most \d+/);
    expect(output).toMatch(/npm publish build\/release\/heed-.*\.tgz/);
    expect(await changed()).toBe("");
  });

  test("that fails puts the files back", async () => {
    const moved = join(folder, "dist/heed-wide.wasm");
    rmSync(moved);
    const { status, errors } = await release("99.1.0");
    symlinkSync(join(root, "dist/heed-wide.wasm"), moved);
    expect(status).not.toBe(0);
    expect(errors).toContain("failed; CHANGELOG.md and the versions are as before");
    expect(await changed()).toBe("");
  });

  test("writes the version and the date wherever they stand, and publishes nothing", async () => {
    const { status, output } = await release("99.1.0");
    expect(status).toBe(0);
    expect(JSON.parse(read("package.json")).version).toBe("99.1.0");
    const lock = JSON.parse(read("package-lock.json"));
    expect([lock.version, lock.packages[""].version]).toEqual(["99.1.0", "99.1.0"]);
    expect(read("include/heed/heed.hpp")).toContain('#define HEED_VERSION "99.1.0"');
    expect(read("CHANGELOG.md")).toMatch(/^## 99\.1\.0 - \d{4}-\d\d-\d\d$/m);
    expect((await changed()).trim().split("\n").length).toBe(4);
    expect(existsSync(join(folder, "build/release/heed-99.1.0.tgz"))).toBe(true);
    expect(output).toContain("The release 99.1.0 is prepared, in build/release");
    expect(await git("tag", "--list")).toBe("");
  });
});

describe("Coverage", () => {
  test("lists runs of lines", () => {
    expect(ranges([9, 3, 4, 5, 5])).toBe("3-5, 9");
    expect(ranges([])).toBe("");
  });

  test("reads what Vitest writes", () => {
    const text = "SF:dist/a.js\nDA:1,2\nDA:2,0\nBRDA:1,0,0,3\nBRDA:1,0,1,0\nend_of_record\n";
    const [file] = fromLcov(text, "/r");
    expect([...(file?.lines ?? [])]).toEqual([
      [1, 2],
      [2, 0],
    ]);
    expect([...(file?.branches.values() ?? [])]).toEqual([
      [1, 3],
      [1, 0],
    ]);
  });

  test("adds up what runs in several places counted", () => {
    const [file] = merged(
      ["DA:1,2\nDA:2,0\nBRDA:1,0,0,2\nBRDA:1,0,1,0", "DA:1,0\nDA:3,1\nBRDA:1,0,1,4"].flatMap(
        (counts) => fromLcov(`SF:dist/a.js\n${counts}\nend_of_record\n`, "/r"),
      ),
    );
    expect([...(file?.lines ?? [])]).toEqual([
      [1, 2],
      [2, 0],
      [3, 1],
    ]);
    expect([...(file?.branches.values() ?? [])]).toEqual([
      [1, 2],
      [1, 4],
    ]);
  });

  test("reads what llvm-cov writes: a way that any instance of a template takes is taken", () => {
    const segments = [
      [1, 1, 5, true, true, false],
      [2, 3, 0, true, true, false],
      [3, 4, 5, true, false, false],
      [4, 2, 0, false, false, false],
    ];
    const branches = [
      [2, 1, 2, 5, 0, 4, 0, 0, 4],
      [2, 1, 2, 5, 1, 4, 0, 0, 4],
    ];
    const json = JSON.stringify({
      data: [{ files: [{ filename: "/r/src/a.cpp", segments, branches }] }],
    });
    const [file] = fromLlvm(json, "/r");
    expect([...(file?.lines ?? [])]).toEqual([
      [1, 5],
      [2, 5],
      [3, 0],
      [4, 5],
    ]);
    expect([...(file?.branches.values() ?? [])]).toEqual([
      [2, 1],
      [2, 8],
    ]);
  });

  test("prints totals, and the places that nothing runs", () => {
    const lines = new Map([
      [1, 1],
      [2, 0],
    ]);
    const branches = new Map<string, [number, number]>([
      ["a", [1, 0]],
      ["b", [2, 0]],
    ]);
    const text = report([{ file: "src/ops/a.cpp", lines, branches }]);
    expect(text).toMatch(/^C\+\+ +1 of +2 +50\.0 % +0 of +2 +0\.0 %$/m);
    expect(text).toContain("src/ops/a.cpp: lines 2; branches on 1");
  });
});
