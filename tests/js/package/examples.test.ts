// Runs the examples of README.md and of the guides as a user would: from the installed package, in an empty folder. Each
// must print what its lines `// prints: ...` say. Recipes, whose code is in several files or needs other packages, are
// run by other tests of this folder.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { version } from "../../../package.json";
import { launchChromium } from "../../harness/chromium.mjs";
import { binarySizes, bundleSize, gzipped } from "../../harness/sizes.mjs";
import { compile, succeed } from "../child.js";
import { blocksOf, documentsOf } from "./examples.js";
import { closeBrowser, isolation } from "./places.js";
import { serve } from "./serve.js";

const root = join(import.meta.dirname, "../../..");
const { project } = inject("installed");
const home = join(project, "node_modules/heed");
const folder = join(project, "examples");

const documents = documentsOf(home);
const blocks = documents.flatMap(({ path, text }) => blocksOf(text, path));
const tested = (language: string) =>
  blocks
    .filter((block) => block.mark === "test" && block.language === language)
    .map((block) => ({ ...block, prints: printsOf(block.code) }));

const printsOf = (code: string) =>
  [...code.matchAll(/\/\/ prints: (.*)$/gm)].map(([, line]) => line as string);

/** The numbers of a matrix in CSV, without the names of its rows and columns. */
const cellsOf = (csv: string) =>
  csv
    .trimEnd()
    .split("\r\n")
    .slice(1)
    .flatMap((row) => row.split(",").slice(1).map(Number));

const fileOf = (name: string) => name.replace(/\W/g, "_");

beforeAll(async () => {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  // The optional peer, and the models of the repository, which the examples name.
  symlinkSync(join(root, "node_modules/@huggingface"), join(folder, "node_modules/@huggingface"));
  symlinkSync(join(root, "web/public/models"), join(folder, "models"));
  symlinkSync(join(root, "web/public/models/write"), join(folder, "write"));
  for (const { name, code } of tested("js"))
    writeFileSync(join(folder, `${fileOf(name)}.mjs`), code);
  const files = blocks
    .filter(({ mark, language }) => language === "ts" && /^(test$|not run)/.test(mark))
    .map(({ name, code }) => {
      const file = join(folder, `${fileOf(name)}.mts`);
      writeFileSync(file, code);
      return file;
    });
  // One run of the compiler, because most of its time is for the declarations of the package.
  const resolution = ["--module", "ESNext", "--moduleResolution", "Bundler", "--preserveSymlinks"];
  await compile(files, resolution, { cwd: folder });
}, 250_000);

afterAll(closeBrowser);

test("blocks are found, with their marks", () => {
  const markdown = [
    "<!-- test -->\n```ts\nconsole.log(1); // prints: 1\n```\n",
    "```js\nnot marked\n```\n",
    "```sh\nno program\n```\n",
    "<!-- not run: it needs a GPU -->\n\n```cpp\nint main() {}\n```\n",
  ].join("text\n");
  expect(blocksOf(markdown, "a.md")).toEqual([
    { name: "a.md 1", mark: "test", language: "ts", code: "console.log(1); // prints: 1\n" },
    { name: "a.md 2", mark: "", language: "js", code: "not marked\n" },
    { name: "a.md 3", mark: "not run: it needs a GPU", language: "cpp", code: "int main() {}\n" },
  ]);
});

describe("Every block of code", () => {
  const names = (mark: RegExp) =>
    blocks.filter((block) => mark.test(block.mark)).map(({ name }) => name);

  // types.test.ts compiles the blocks marked as types.
  test("is run or compiled, or says why not", () => {
    expect(names(/^(?!(test|recipe: \S+|types: \S+|not run: .{10,})$)/)).toEqual([]);
    expect(names(/^(test|recipe)/).length).toBeGreaterThan(30);
    expect(names(/^not run/).length).toBeLessThan(5);
  });

  test("that is a recipe has a test", () => {
    const tests = readdirSync(import.meta.dirname)
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
      .join("\n");
    for (const { mark } of blocks) {
      const [, first] = /^recipe: ([\w-]+)\//.exec(mark) ?? [];
      if (first !== undefined) expect(tests).toMatch(new RegExp(`["\`/]${first}["\`/]`));
    }
  });

  test.each(documents)("of $path: there is one", ({ path }) => {
    expect(blocks.filter(({ name }) => name.startsWith(`${path} `))).not.toEqual([]);
  });
});

test.for([...tested("js"), ...tested("ts")])(
  "example $name prints what it says",
  async ({ prints, name }) => {
    expect(prints).not.toEqual([]);
    const file = `${fileOf(name)}.mjs`;
    const output = await succeed(process.execPath, [file], { cwd: folder });
    expect(output.trimEnd().split("\n")).toEqual(prints);
  },
);

test("README.md's first program can be pasted into a file, and is short", () => {
  const [first] = tested("js");
  expect(first?.name).toBe("README.md 1");
  expect(first?.code.trim().split("\n").length).toBeLessThanOrEqual(10);
});

test.for(tested("html"))("page $name draws what it says, from a file server", async ({ code }) => {
  const [, said] = /\/\/ draws: (.*)$/m.exec(code) ?? [];
  const numbers = said?.split(" ").map(Number) ?? expect.fail("expected a line // draws: ...");
  writeFileSync(join(project, "readme.html"), code);
  const browser = await launchChromium();
  try {
    for (const headers of [{}, isolation]) {
      const served = await serve(project, headers);
      const page = await browser.newPage();
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(`${served.url}readme.html`);
      await page.locator("heed-matrix canvas.alive").waitFor();
      const csv = await page.evaluate<string>(
        'document.querySelector("heed-matrix").updateComplete.then(() => document.querySelector("heed-matrix").csv())',
      );
      expect(cellsOf(csv).map((weight) => Math.round(1e4 * weight) / 1e4)).toEqual(numbers);
      expect(errors).toEqual([]);
      await page.close();
      served.close();
    }
  } finally {
    await browser.close();
  }
});

test.for(tested("cpp"))(
  "C++ example $name builds against the installed library and prints what it says",
  async ({ code, prints, name }, { skip }) => {
    const native = join(root, "build/native");
    const isBuilt = existsSync(join(native, "libheed.a"));
    if (!isBuilt) skip("build/native is not there: ./dev build native makes it");
    const prefix = join(folder, "prefix");
    await succeed("cmake", ["--install", native, "--prefix", prefix]);
    const source = join(folder, `cpp_${fileOf(name)}`);
    mkdirSync(source);
    writeFileSync(join(source, "main.cpp"), code);
    writeFileSync(
      join(source, "CMakeLists.txt"),
      [
        "cmake_minimum_required(VERSION 3.23)",
        "project(example LANGUAGES CXX)",
        `find_package(heed ${version.replace(/\.\d+$/, "")} REQUIRED)`,
        "add_executable(example main.cpp)",
        "target_link_libraries(example PRIVATE heed::heed)",
      ].join("\n"),
    );
    const made = join(source, "build");
    await succeed("cmake", ["-S", source, "-B", made, `-DCMAKE_PREFIX_PATH=${prefix}`]);
    await succeed("cmake", ["--build", made]);
    const output = await succeed(join(made, "example"), []);
    expect(prints).not.toEqual([]);
    expect(output.trimEnd().split("\n")).toEqual(prints);
  },
);

describe("README.md's table of sizes", () => {
  const readme = documents[0]?.text as string;
  /** The two cells of a row, in bytes; "none" is 0. */
  const row = (name: string) => {
    const line =
      readme.split("\n").find((line) => line.startsWith(`| ${name} |`)) ?? expect.fail(name);
    const cells = line.split("|").slice(2, 4);
    return cells.map((cell) => 1000 * Number(/([\d.]+) KB/.exec(cell)?.[1] ?? 0));
  };
  /** A size is rounded up, and by at most a tenth. */
  const expectSize = (said: number | undefined, bytes: number) => {
    expect(bytes).toBeLessThanOrEqual(said ?? 0);
    expect(bytes).toBeGreaterThan(0.9 * (said ?? 0));
  };

  test("has the size of a program that loads the engine", async () => {
    const [script, wasm] = row("`heed`");
    const program = 'import { load } from "heed"; load();';
    const glue = gzipped(join(home, "dist/heed-relaxed.mjs"));
    expectSize(script, (await bundleSize(program, project)) + glue);
    const { bytes } =
      binarySizes(join(home, "dist")).find(({ name }) => name.includes("relaxed")) ?? {};
    expectSize(wasm, bytes as number);
  });

  test.each([
    ["`heed/view`, all elements", 'export * from "heed/view";'],
    ["`heed/view`, one matrix", 'import { matrix } from "heed/view"; matrix();'],
  ])("has the size of %s", async (name, program) => {
    const [script, wasm] = row(name);
    expectSize(script, await bundleSize(program, project));
    expect(wasm).toBe(0);
  });

  test("has the size that the guide's comparison has, too", async () => {
    const guide = documents[1]?.text as string;
    const [, all, alone] = /\[all elements (\d+) KB\].*alone (\d+) KB/.exec(guide) ?? [];
    expect(1000 * Number(all)).toBe(row("`heed/view`, all elements")[0]);
    const program = 'import { heads } from "heed/view"; heads();';
    expectSize(1000 * Number(alone), await bundleSize(program, project));
  });

  test("has the size of the other library's smallest binary", () => {
    const said = Number(
      /smallest binary of onnxruntime-web, for the CPU, has ([\d.]+) MB/.exec(readme)?.[1],
    );
    const dist = join(root, "node_modules/onnxruntime-web/dist");
    expectSize(1e6 * said, gzipped(join(dist, "ort-wasm-simd-threaded.wasm")));
  });
});
