// The tarball: its contents, and the installed package.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { binarySizes, pageFiles } from "../../harness/sizes.mjs";
import { run, succeed } from "../child.js";
import { engineFiles } from "../engine.js";

const root = join(import.meta.dirname, "../../..");
const { files, project } = inject("installed");
const home = join(project, "node_modules/heed");
const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as {
  name: string;
  scripts?: Record<string, string>;
  dependencies?: unknown;
  peerDependencies?: object;
  peerDependenciesMeta?: object;
  optionalDependencies?: unknown;
  bin?: unknown;
  types: string;
  exports: Record<string, string | Record<string, string>>;
};

test("the tarball holds what users need and nothing else", () => {
  const modules = (readdirSync(join(root, "bindings/js"), { recursive: true }) as string[])
    // The page alone imports viewParts, by its name in this repository.
    .filter((name) => name.endsWith(".ts") && name !== "viewParts.ts")
    .map((name) => name.replace(/\.ts$/, ""));
  const expected = [
    "package.json",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "bindings/js/README.md",
    "src/README.md",
    "tests/bench/RESULTS.md",
    ...readdirSync(join(root, "web/guides")).map((name) => `web/guides/${name}`),
    "web/playground.png",
    "web/train/README.md",
    ...engineFiles.map((name) => `dist/${name}`),
    ...["simd", "relaxed"].map((name) => `dist/heed-${name}.d.mts`),
    ...modules.flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`]),
    ...Object.keys(pageFiles).map((name) => `dist/${name}.min.js`),
  ];
  // The types that the linker writes are allowed, because the package's types refer to them.
  const isPart = /^dist\/(heed-module\.d\.ts|part-[A-Z\d]+\.min\.js)$/;
  const own = files.filter((path) => !isPart.test(path));
  expect(own).toEqual(expected.sort());
});

test("installing runs no script and brings no other package", () => {
  const hooks = ["preinstall", "install", "postinstall", "prepare", "prepublish"];
  expect(Object.keys(manifest.scripts ?? {}).filter((name) => hooks.includes(name))).toEqual([]);
  expect(manifest.dependencies).toBeUndefined();
  // Tokenizers and chat templates are for those who want them.
  const optional = {
    "@huggingface/jinja": { optional: true },
    "@huggingface/tokenizers": { optional: true },
  };
  expect(Object.keys(manifest.peerDependencies ?? {})).toEqual(Object.keys(optional));
  expect(manifest.peerDependenciesMeta).toEqual(optional);
  expect(manifest.optionalDependencies).toBeUndefined();
  expect(manifest.bin).toEqual({ heed: "./dist/cli.js" });
  const packages = readdirSync(join(project, "node_modules")).filter((name) => name[0] !== ".");
  expect(packages).toEqual(["heed"]);
});

describe("exports", () => {
  test.each(Object.entries(manifest.exports))("%s leads to files that are there", (_, target) => {
    const targets = typeof target === "string" ? [target] : Object.values(target);
    expect(targets.length).toBeGreaterThan(0);
    for (const path of targets) expect(existsSync(join(home, path))).toBe(true);
  });

  test("types come first among the conditions", () => {
    const conditional = Object.values(manifest.exports).filter((x) => typeof x === "object");
    expect(conditional.length).toBeGreaterThan(0);
    for (const target of conditional) expect(Object.keys(target)[0]).toBe("types");
    expect(existsSync(join(home, manifest.types))).toBe(true);
  });

  test("the modules and their .wasm files are reached by subpath", async () => {
    const text = `for (const name of ${JSON.stringify(engineFiles)}) console.log(import.meta.resolve("heed/" + name))`;
    writeFileSync(join(project, "resolve.mjs"), text);
    const output = await succeed(process.execPath, ["resolve.mjs"], { cwd: project });
    for (const name of engineFiles) expect(output).toContain(`/node_modules/heed/dist/${name}\n`);
  });
});

test.each(binarySizes(join(home, "dist")))("$name has fewer than $most bytes gzipped", (size) => {
  const { name, bytes, most } = size;
  const wasm = readFileSync(join(home, `dist/${name}`));
  expect(WebAssembly.validate(wasm) || !name.includes("simd")).toBe(true);
  expect(bytes).toBeLessThan(most);
});

describe("entries for pages without a bundler", () => {
  /** The files that an entry of one's own imports. */
  function reached(file: string, found = new Set<string>()): Set<string> {
    if (found.has(file)) return found;
    found.add(file);
    const text = readFileSync(join(home, "dist", file), "utf8");
    for (const [, name] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g))
      reached(name as string, found);
    return found;
  }

  test.each(Object.entries(pageFiles))("%s is at most %d files", (name, most) => {
    expect(reached(`${name}.min.js`).size).toBeLessThanOrEqual(most);
  });

  test("import all their parts, at once or later", () => {
    const pages = files.filter((path) => path.endsWith(".min.js"));
    const texts = pages.map((path) => readFileSync(join(home, path), "utf8"));
    const parts = pages.filter((path) => path.includes("/part-"));
    expect(parts.length).toBeGreaterThan(2);
    const isImported = (part: string) =>
      texts.some((text) => text.includes(`"./${basename(part)}"`));
    expect(parts.filter((part) => !isImported(part))).toEqual([]);
  });

  test("work together", async () => {
    const program = `
      import { load } from "./node_modules/heed/dist/index.min.js";
      import { loadModel } from "./node_modules/heed/dist/models.min.js";
      import { nn } from "./node_modules/heed/dist/nn.min.js";
      import { HeedError, loadInWorker } from "./node_modules/heed/dist/worker.min.js";
      const heed = await load({ threads: 2 });
      console.log(new nn.Linear(heed, 2, 3).forward(heed.ones([1, 2])).shape, heed.info.threads);
      try { heed.softmax(1); } catch (error) { console.log(error instanceof HeedError); }
      await loadModel(heed, "./nowhere").catch((error) => console.log(error instanceof HeedError));
      const remote = await loadInWorker({ threads: 1 });
      console.log(await (await remote.ones([2])).toArray());
      remote.dispose();`;
    writeFileSync(join(project, "pages.mjs"), program);
    const finished = await run(process.execPath, ["pages.mjs"], { cwd: project, limit: 30_000 });
    const output = "[ 1, 3 ] 2\ntrue\ntrue\n[ 1, 1 ]\n";
    expect(finished).toEqual({ status: 0, output, errors: "" });
  });
});

test("in Node the package attends with threads, and the process ends", async () => {
  const program = `
    import { HeedError, load } from "heed";
    const heed = await load({ threads: 3 });
    const x = heed.tensor(new Float32Array(4 * 256 * 32).fill(2), [1, 4, 256, 32]);
    const { output, weights } = heed.attention(x, x, x, { isCausal: true, needWeights: true });
    console.log(output.data.every((value) => Math.abs(value - 2) < 1e-5), weights.data[257]);
    try { heed.softmax(1); } catch (error) { console.log(error instanceof HeedError, error.code); }
    console.log(heed.info.threads);
  `;
  writeFileSync(join(project, "attend.mjs"), program);
  const finished = await run(process.execPath, ["attend.mjs"], { cwd: project, limit: 30_000 });
  expect(finished).toEqual({ status: 0, output: "true 0.5\ntrue dtype\n3\n", errors: "" });
});

test("in Node the package's models learn a task, are saved and read back", async () => {
  const program = `
    import { load } from "heed";
    import { configOf, createModel, evaluate, loadModel, recipeOf, saveModel, Trainer, tasks } from "heed/models";
    const heed = await load({ threads: 2 });
    const task = tasks.copy({ letters: 3, maxLength: 4 });
    const model = createModel(heed, configOf(task, "transformer", { size: 32, layers: 1 }));
    const { recipe } = recipeOf("copy", "transformer");
    const trainer = new Trainer(model, task, { recipe: { ...recipe, steps: 100 } });
    while (!trainer.finished) trainer.step();
    const examples = Array.from({ length: 64 }, (_, i) => trainer.examples(i + 1)[0]);
    const { exact } = await evaluate(loadModel(heed, saveModel(model)), examples);
    console.log(exact > 0.9);
  `;
  writeFileSync(join(project, "models.mjs"), program);
  const finished = await run(process.execPath, ["models.mjs"], { cwd: project, limit: 60_000 });
  expect(finished).toEqual({ status: 0, output: "true\n", errors: "" });
});

// Matrix tests compile them with TypeScript 5.4 itself.
test("the types name nothing that TypeScript before 5.7 lacks", () => {
  const declarations = files.filter((path) => /\.d\.m?ts$/.test(path));
  expect(declarations.length).toBeGreaterThan(20);
  for (const path of declarations)
    expect(readFileSync(join(home, path), "utf8"), path).not.toMatch(/(8|16|32|64)Array</);
});
