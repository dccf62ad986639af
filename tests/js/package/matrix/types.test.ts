// The types and the manifest of the packed package, checked by other programs.

import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { run } from "../../child.js";
import { projectOf } from "../markup.js";
import { writeFiles } from "../places.js";

const folder = inject("matrix");
const tool = (path: string) => join(folder, "node_modules", path);
const limit = 240_000;
const tarball = join(folder, "../pack/heed-0.1.0.tgz");

describe.each(["5.4", "5.9", "7"])("TypeScript %s", (version) => {
  const cases = [
    { module: "NodeNext", moduleResolution: "NodeNext", lib: ["ES2022"], types: [] },
    { module: "NodeNext", moduleResolution: "NodeNext", lib: ["ES2022", "DOM"], types: ["node"] },
    { module: "Node16", moduleResolution: "Node16", lib: ["ES2022"], types: ["node"] },
    { module: "ESNext", moduleResolution: "Bundler", lib: ["ES2022", "DOM"], types: [] },
  ];

  test.each(cases)("compiles with $module, $lib, types $types", async (options) => {
    const { module, lib, types } = options;
    const project = join(folder, "types", [version, module, ...lib, ...types].join("-"));
    const hasDom = lib.includes("DOM");
    writeFiles(project, {
      "package.json": '{ "type": "module" }',
      "use.ts": `
        import { type Heed, load, type LoadOptions, type Tensor } from "heed";
        import glue from "heed/heed-simd.mjs";
        import { configOf, createModel, type TaskModel, tasks } from "heed/models";
        import { nn, optim, safetensors, valueAndGrad } from "heed/nn";
        const options: LoadOptions = { glue, threads: 1, wasmUrl: "/heed/", wasm: new Uint8Array(1) };
        const heed: Heed = await load(options);
        export const learner: TaskModel = createModel(heed, configOf(tasks.dates(), "dot"));
        const x: Tensor = heed.tensor([[[[1]]]]);
        export const bytes: Uint8Array = safetensors.write({ x });
        const layer = new nn.Linear(heed, 1, 1);
        const run = () => heed.sum(layer.forward(x));
        new optim.AdamW(layer).step(valueAndGrad(layer, run).gradients);
        x.dispose();`,
      "page.ts": `
        import { load } from "heed";
        import { generate, safetensors } from "heed/nn";
        const response = await fetch("engine.wasm");
        const heed = await load({ wasmUrl: new URL("https://localhost/"), wasm: response });
        await load({ wasm: await WebAssembly.compile(await response.arrayBuffer()) });
        export const blob = new Blob([safetensors.write({ x: heed.tensor([1]) })]);
        export const call: typeof generate = (heed, step, options) =>
          generate(heed, step, { ...options, signal: new AbortController().signal });
        // @ts-expect-error: neither an address nor a string
        await load({ wasmUrl: { href: 3 } });
        // @ts-expect-error: a list is not bytes
        await load({ wasm: 3 });`,
      "tsconfig.json": JSON.stringify({
        compilerOptions: {
          ...{ ...options, target: "ES2022", strict: true, noEmit: true },
          // skipLibCheck is off, so the package's own types are checked.
          ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        },
        files: hasDom ? ["use.ts", "page.ts"] : ["use.ts"],
      }),
    });
    const compiler = tool(`typescript-${version}/bin/tsc`);
    const { status, output } = await run(process.execPath, [compiler, "-p", project], { limit });
    expect({ status, output }).toEqual({ status: 0, output: "" });
  });
});

test("The markup of Solid has the elements' properties and events", async () => {
  const project = join(folder, "types/solid");
  writeFiles(project, projectOf("solid"));
  const compiler = tool("typescript-5.9/bin/tsc");
  const { status, output } = await run(process.execPath, [compiler, "-p", project], { limit });
  expect({ status, output }).toEqual({ status: 0, output: "" });
});

test("publint finds nothing", async () => {
  const program = [tool("publint/src/cli.js"), "run", tarball, "--strict"];
  const { status, output, errors } = await run(process.execPath, program, { limit });
  expect({ status, text: output + errors }).toMatchObject({ status: 0 });
  expect(output).toContain("All good!");
});

// The test ignores three reports. Runtimes of "node10" support neither \`exports\` nor ES modules, so they cannot load
// the package at all. \`require\` gets an ES module, which Node has allowed since 20.19 and 22.12. Binaries have no
// types.
test("are-the-types-wrong finds nothing", async () => {
  const program = [
    ...[tool("@arethetypeswrong/cli/dist/index.js"), tarball, "--profile", "node16"],
    ...["--ignore-rules", "cjs-resolves-to-esm"],
    ...["--exclude-entrypoints", "heed-simd.wasm", "heed-relaxed.wasm", "heed-wide.wasm"],
  ];
  const { status, output, errors } = await run(process.execPath, program, { limit });
  expect({ status, text: output + errors }).toMatchObject({ status: 0 });
});
