// Compiles and runs the examples of README.md and of the guides that follow a comment `<!-- test -->`. Each must print
// what its line `// prints: ...` says.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { version } from "../../package.json";
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

const guides = readdirSync(join(root, "web/guides")).map((name) => `web/guides/${name}`);
const documents = ["README.md", "bindings/js/README.md", ...guides.sort()].map((path) => ({
  path,
  text: readFileSync(join(root, path), "utf8"),
}));
const readme = (documents[0] as { text: string }).text;

/** Examples with a name such as "web/guides/memory.md 2". */
const numbered = (language: string) =>
  documents.flatMap(({ path, text }) =>
    examples(text, language).map((example, i) => ({ ...example, name: `${path} ${i + 1}` })),
  );

const fileOf = (name: string) => name.replace(/\W/g, "_");

beforeAll(async () => {
  rmSync(build, { recursive: true, force: true });
  mkdirSync(build, { recursive: true });
  const files = numbered("ts").map(({ name, code }) => {
    const file = join(build, `${fileOf(name)}.mts`);
    writeFileSync(file, code);
    return file;
  });
  // Inside the repository, the package's name resolves to the built package, as for a user. One run of the compiler,
  // because most of its time is for the declarations of the package.
  await succeed(
    process.execPath,
    [
      join(root, "node_modules/typescript/bin/tsc"),
      ...["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"],
      ...["--module", "NodeNext", "--target", "ES2022", "--lib", "ES2022,ESNext.Disposable,DOM"],
      ...["--typeRoots", join(root, "node_modules/@types"), "--types", "node"],
      ...files,
    ],
    { limit: 240_000 },
  );
}, 250_000);

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

// The files of recipes are run in a browser by package/recipes.test.ts.
test.each(documents)("$path has an example or a recipe that is tested", ({ text }) => {
  expect([...examples(text, "ts"), ...(text.match(/^<!-- recipe: .+ -->$/gm) ?? [])]).not.toEqual(
    [],
  );
});

test.each(["ts", "cpp"])("README.md has a %s example that is tested", (language) => {
  const found = examples(readme, language);
  expect(found).not.toEqual([]);
  for (const { prints } of found) expect(prints).not.toEqual([]);
});

test.for(numbered("ts"))(
  "TypeScript example $name compiles under strict rules and prints what it says",
  async ({ prints, name }) => {
    expect(prints).not.toEqual([]);
    const output = await succeed(process.execPath, [join(build, `${fileOf(name)}.mjs`)]);
    expect(output.trimEnd().split("\n")).toEqual(prints);
  },
);

test.for(numbered("cpp"))(
  "C++ example $name builds against the installed library and prints what it says",
  async ({ code, prints, name }, { skip }) => {
    const native = join(root, "build/native");
    const isBuilt = existsSync(join(native, "libheed.a"));
    if (!isBuilt) skip("build/native is not there: ./dev build native makes it");
    const prefix = join(build, "prefix");
    await succeed("cmake", ["--install", native, "--prefix", prefix]);
    const project = join(build, `cpp_${fileOf(name)}`);
    mkdirSync(project);
    writeFileSync(join(project, "main.cpp"), code);
    writeFileSync(
      join(project, "CMakeLists.txt"),
      [
        "cmake_minimum_required(VERSION 3.23)",
        "project(example LANGUAGES CXX)",
        `find_package(heed ${version.replace(/\.\d+$/, "")} REQUIRED)`,
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
