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
import { fromLcov, fromLlvm, merged, ranges, report } from "../../harness/coverage.mjs";
import { withAbsoluteLinks } from "../../harness/release.mjs";
import { run, succeed } from "../child.js";

const root = join(import.meta.dirname, "../../..");

/** The files that a release reads. The package's other contents do not matter here. */
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
  const repository = "https://github.com/owner/heed";
  const asked = (...words: string[]) =>
    run("./dev", ["release", ...words, "--no-build", "--no-test"], { cwd: folder, limit: 120_000 });
  const release = (...words: string[]) => asked(...words, "--repository", repository);
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

  test.each([
    [[], "expected the address of the repository, because package.json has none"],
    [["--repository", "http://github.com/owner/heed"], "expected an address such as"],
    [["--repository", "https://github.com/owner"], "got https://github.com/owner"],
    [["--repository", "https://github.com/owner/heed.git"], "expected an address such as"],
    [["--repository", "https://example.com/owner/heed"], "github.com, gitlab.com, codeberg.org"],
  ])("with the address %j is refused, and changes nothing", async (words, why) => {
    const { status, errors } = await asked("99.1.0", ...words);
    expect(status).toBe(1);
    expect(errors).toContain("--repository: expected");
    expect(errors).toContain(why);
    expect(await changed()).toBe("");
  });

  test("asks a person for the address", async () => {
    const asking = "script -qec './dev release 99.1.0 --dry-run --no-build --no-test' /dev/null";
    const output = await succeed("bash", ["-c", `echo ${repository} | ${asking}`], { cwd: folder });
    expect(output).toContain("The address of the repository");
    expect(output).toContain(`package.json: would have 99.1.0, ${repository}`);
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
    const noAddress = ["release", "99.1.0", "--repository"];
    expect((await run("./dev", noAddress, { cwd: folder })).status).toBe(2);
  });

  test("that is tried changes no file, and tells all steps", async () => {
    const { status, output, errors } = await release("99.1.0", "--dry-run");
    expect([status, errors]).toEqual([0, expect.stringContaining("heed: sizes")]);
    expect(output).toContain(`package.json: would have 99.1.0, ${repository}`);
    expect(output).toMatch(/CHANGELOG\.md: would have "## 99\.1\.0 - \d{4}-\d\d-\d\d"/);
    expect(output).toContain("A dry run of the release 99.1.0: no file was changed.");
    expect(output).toContain("It was not built, tested by this command.");
    expect(output).toContain("do not publish it");
    expect(output).toMatch(/heed-simd\.wasm: \d+ bytes of at most \d+/);
    for (const step of ["git push", "npm login", "npm publish", "npm view", "./dev site"])
      expect(output).toContain(`\n  ${step} `);
    expect(output).toMatch(/npm publish --access public build\/release\/heed-.*\.tgz/);
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
    expect(JSON.parse(read("package.json"))).toMatchObject({
      version: "99.1.0",
      repository: { type: "git", url: `git+${repository}.git` },
      homepage: `${repository}#readme`,
      bugs: `${repository}/issues`,
    });
    const lock = JSON.parse(read("package-lock.json"));
    expect([lock.version, lock.packages[""].version]).toEqual(["99.1.0", "99.1.0"]);
    expect(read("include/heed/heed.hpp")).toContain('#define HEED_VERSION "99.1.0"');
    expect(read("CHANGELOG.md")).toMatch(/^## 99\.1\.0 - \d{4}-\d\d-\d\d$/m);
    expect((await changed()).trim().split("\n").length).toBe(4);
    expect(existsSync(join(folder, "build/release/heed-99.1.0.tgz"))).toBe(true);
    expect(output).toContain("The release 99.1.0 is prepared, in build/release");
    expect(await git("tag", "--list")).toBe("");
  });

  test("packs a README whose links lead to the files of the tag, and leaves its own as it was", async () => {
    const archive = join(folder, "build/release/heed-99.1.0.tgz");
    const packed = await succeed("tar", ["-xOzf", archive, "package/README.md"]);
    const links = (text: string) => [...text.matchAll(/\]\(([^)\s]+)/g)].map(([, to]) => to);
    const relative = links(read("README.md")).filter((to) => !/^(https:|#)/.test(to as string));
    expect(relative.length).toBeGreaterThan(5);
    for (const to of relative) {
      const kind = to?.endsWith(".png") ? "raw" : "blob";
      expect(links(packed)).toContain(`${repository}/${kind}/v99.1.0/${to}`);
    }
    expect(links(packed).filter((to) => !/^(https:|#)/.test(to as string))).toEqual([]);
    expect(read("README.md")).toBe(readFileSync(join(root, "README.md"), "utf8"));
  });

  test("takes the address from package.json afterwards, and refuses another one", async () => {
    await git("commit", "-qam", "Release 99.1.0");
    writeFileSync(
      join(folder, "CHANGELOG.md"),
      read("CHANGELOG.md").replace("## 99.1.0", "## 99.2.0\n\nMore.\n\n## 99.1.0"),
    );
    await git("commit", "-qam", "More");
    expect(await asked("99.2.0", "--dry-run")).toMatchObject({ status: 0 });
    const { status, errors } = await asked("99.2.0", "--repository", `${repository}-2`);
    expect([status, errors]).toEqual([
      1,
      expect.stringContaining(`in package.json, ${repository}`),
    ]);
  });

  test.each([
    ["github.com", "/blob/v1.2.3/", "/raw/v1.2.3/"],
    ["gitlab.com", "/-/blob/v1.2.3/", "/-/raw/v1.2.3/"],
    ["codeberg.org", "/src/tag/v1.2.3/", "/raw/tag/v1.2.3/"],
  ])("makes links for %s, and leaves code, anchors and other sites alone", (host, page, bytes) => {
    const at = `https://${host}/owner/heed`;
    const code = "```md\n[a](b.md)\n```\n";
    const text = `[a](b/c.md#d) ![e](f.png) [g](#h) [i](https://j.k/l)\n${code}`;
    expect(withAbsoluteLinks(text, "1.2.3", at)).toBe(
      `[a](${at}${page}b/c.md#d) ![e](${at}${bytes}f.png) [g](#h) [i](https://j.k/l)\n${code}`,
    );
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
