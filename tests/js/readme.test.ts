// Compiles and runs the examples of README.md and of the package's guide that follow a comment `<!-- test
// -->`. Each must print what its line `// prints: ...` says.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { succeed } from "./child.js";

const root = join(import.meta.dirname, "../..");
const build = join(root, "build/readme");

interface Example {
  code: string;
  /** The lines that the example should print. */
  prints: string[];
}

function examples(markdown: string, language: string): Example[] {
  const block = new RegExp(`^<!-- test -->\\s*^\`\`\`${language}\\n(.*?)^\`\`\``, "gms");
  return [...markdown.matchAll(block)].map(([, code]) => ({
    code: code as string,
    prints: [...(code as string).matchAll(/\/\/ prints: (.*)$/gm)].map(
      ([, line]) => line as string,
    ),
  }));
}

const readme = readFileSync(join(root, "README.md"), "utf8");
const guide = readFileSync(join(root, "bindings/js/README.md"), "utf8");

beforeAll(() => {
  rmSync(build, { recursive: true, force: true });
  mkdirSync(build, { recursive: true });
});

test("marked examples are found, with what they print", () => {
  const markdown = [
    "<!-- test -->\n```ts\nconsole.log(1); // prints: 1\n```\n",
    "```ts\nnot marked\n```\n",
    "<!-- test -->\n\n```cpp\nint main() {}\n```\n",
  ].join("text\n");
  expect(examples(markdown, "ts")).toEqual([
    { code: "console.log(1); // prints: 1\n", prints: ["1"] },
  ]);
  expect(examples(markdown, "cpp")).toEqual([{ code: "int main() {}\n", prints: [] }]);
});

test.each(["ts", "cpp"])("README.md has a %s example that is tested", (language) => {
  const found = examples(readme, language);
  expect(found).not.toEqual([]);
  for (const { prints } of found) expect(prints).not.toEqual([]);
});

const numbered = (language: string) =>
  examples(readme + guide, language).map((example, i) => ({ ...example, number: i + 1 }));

test.for(numbered("ts"))(
  "TypeScript example $number compiles under strict rules and prints what it says",
  async ({ code, prints, number }) => {
    // Inside the repository, the package's name resolves to the built package, as for a user.
    const name = `example${number}`;
    writeFileSync(join(build, `${name}.mts`), code);
    await succeed(process.execPath, [
      join(root, "node_modules/typescript/bin/tsc"),
      ...["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"],
      ...["--module", "NodeNext", "--target", "ES2022", "--lib", "ES2022,ESNext.Disposable,DOM"],
      ...["--typeRoots", join(root, "node_modules/@types"), "--types", "node"],
      join(build, `${name}.mts`),
    ]);
    const output = await succeed(process.execPath, [join(build, `${name}.mjs`)]);
    expect(output.trimEnd().split("\n")).toEqual(prints);
  },
);

test.for(numbered("cpp"))(
  "C++ example $number builds against the installed library and prints what it says",
  async ({ code, prints, number }, { skip }) => {
    const native = join(root, "build/native");
    const isBuilt = existsSync(join(native, "libheed.a"));
    if (!isBuilt) skip("build/native is not there: ./dev build native makes it");
    const prefix = join(build, "prefix");
    await succeed("cmake", ["--install", native, "--prefix", prefix]);
    const project = join(build, `cpp${number}`);
    mkdirSync(project);
    writeFileSync(join(project, "main.cpp"), code);
    writeFileSync(
      join(project, "CMakeLists.txt"),
      [
        "cmake_minimum_required(VERSION 3.23)",
        "project(example LANGUAGES CXX)",
        "find_package(heed 0.1 REQUIRED)",
        "add_executable(example main.cpp)",
        "target_link_libraries(example PRIVATE heed::heed)",
      ].join("\n"),
    );
    const made = join(project, "build");
    await succeed("cmake", ["-S", project, "-B", made, `-DCMAKE_PREFIX_PATH=${prefix}`]);
    await succeed("cmake", ["--build", made]);
    const output = await succeed(join(made, "example"), []);
    expect(output.trimEnd().split("\n")).toEqual(prints);
  },
);
