// The packed package in all runtimes but the Node that runs the tests.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { run } from "../../child.js";
import { expectWorks, programs, writeFiles } from "../places.js";
import { expected, reportModule } from "../workers.js";

const folder = inject("matrix");
const project = join(folder, "runtimes");
writeFiles(project, {
  ...programs,
  "package.json": '{ "private": true, "type": "module" }',
  "required.cjs":
    'require("heed").load({ threads: 2 }).then((heed) => console.log(heed.info.threads));',
  "imported.cjs":
    'import("heed").then(({ load }) => load({ threads: 2 })).then((heed) => console.log(heed.info.threads));',
  "workerReport.js": reportModule(),
  "worker.js":
    'import { report } from "./workerReport.js"; console.log(JSON.stringify(await report()));',
});

const runtimes: [place: string, program: string, parameters: string[]][] = [
  ["Node 20", "node-20/bin/node", []],
  ["Node 22, 24, 26", "node-22/bin/node", []],
  ["Node 22, 24, 26", "node-24/bin/node", []],
  ["Node 22, 24, 26", "node-26/bin/node", []],
  ["Bun", "@oven/bun-linux-x64/bin/bun", []],
  ["Deno", "@deno/linux-x64-glibc/deno", ["run", "--allow-read"]],
];

describe.each(runtimes)("%s (%s)", (place, program, parameters) => {
  const path = join(folder, "node_modules", program);
  // They are optional dependencies, for this kind of machine only.
  const isMissing = !existsSync(path);
  const start = (file: string) => run(path, [...parameters, file], { cwd: project, limit: 60_000 });

  test.skipIf(isMissing)("computes with threads, and the process ends", async () => {
    const { status, output, errors } = await start("print.js");
    expect({ status, errors }).toEqual({ status: 0, errors: "" });
    expectWorks(place, output.startsWith("{") ? JSON.parse(output) : output);
  });

  test.skipIf(isMissing)("computes in a worker, and cancels a call there", async () => {
    const { status, output, errors } = await start("worker.js");
    expect({ status, errors }).toEqual({ status: 0, errors: "" });
    expect(JSON.parse(output)).toEqual(expected);
  });

  test.skipIf(isMissing).each(["required.cjs", "imported.cjs"])("runs %s", async (file) => {
    const { status, output } = await start(file);
    expect({ status, output }).toEqual({ status: 0, output: "2\n" });
  });
});
