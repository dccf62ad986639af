// Tests of features that only Node has: the end of a process, threads that can be counted, a runtime
// without relaxed SIMD.

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { load } from "heed";
import { nn, Tape } from "heed/nn";
import { expect, test } from "vitest";
import { run, runModule } from "../child.js";
import { hasRelaxedSimd } from "../engine.js";

const entry = JSON.stringify(new URL("../../../dist/index.js", import.meta.url).href);

/** The start of a program that computes with an engine of 4 threads. Each test adds the rest. */
const useAnEngine = `
  import { load } from ${entry};
  const heed = await load({ threads: 4 });
  const x = heed.tensor(new Float32Array(4 * 512 * 32).fill(1), [1, 4, 512, 32]);
  const { output } = heed.attention(x, x, x, { isCausal: true });
  console.log(heed.info.threads, output.data.every((value) => Math.abs(value - 1) < 1e-5));
`;

test("a Node process ends by itself after using an engine with 4 threads", async () => {
  const finished = await runModule(useAnEngine, { limit: 20_000 });
  expect(finished).toEqual({ status: 0, output: "4 true\n", errors: "" });
});

test("a Node process ends by itself after disposing of an engine with 4 threads", async () => {
  const finished = await runModule(`${useAnEngine} heed.dispose(); console.log("disposed");`, {
    limit: 20_000,
  });
  expect(finished).toEqual({ status: 0, output: "4 true\ndisposed\n", errors: "" });
});

test("in Node a wasmUrl without a scheme is a path from the working directory", async () => {
  const folder = mkdtempSync(join(tmpdir(), "heed files #"));
  try {
    mkdirSync(join(folder, "engine"));
    for (const name of ["heed-simd.mjs", "heed-simd.wasm"])
      copyFileSync(new URL(`../../../dist/${name}`, import.meta.url), join(folder, "engine", name));
    const text = `
      import { load } from ${entry};
      const given = ["engine", "./engine/", ${JSON.stringify(join(folder, "engine"))}];
      const all = given.map((wasmUrl) => ({ wasmUrl }));
      for (const options of [...all, { wasm: "engine/heed-simd.wasm" }]) {
        const heed = await load({ variant: "simd", threads: 2, ...options });
        console.log(heed.add(heed.tensor([1]), heed.tensor([2])).data[0] - 3 + heed.info.threads);
      }
      const { code, message } = await load({ variant: "simd", wasmUrl: "C:\\\\files" }).catch((e) => e);
      console.log(code, message.slice(0, message.indexOf(": expected")));`;
    const finished = await runModule(text, { cwd: folder });
    const missing = `load ${pathToFileURL(join(folder, "C:\\files")).href}/heed-simd.mjs`;
    expect(finished).toEqual({ status: 0, output: `${"2\n".repeat(4)}${missing}\n`, errors: "" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a Node process runs until its own work is done", async () => {
  const finished = await runModule(
    `${useAnEngine} setTimeout(() => console.log(heed.softmax(x).size), 200);`,
    { limit: 20_000 },
  );
  expect(finished).toEqual({ status: 0, output: "4 true\n65536\n", errors: "" });
});

test("a scope with an async function fails once: later errors of the function are ignored", async () => {
  const finished = await runModule(
    `
    import { load } from ${entry};
    const heed = await load({ threads: 1 });
    try {
      heed.scope(async () => {
        const tensor = heed.tensor([1]);
        await Promise.resolve();
        return tensor.toArray();
      });
    } catch (error) {
      console.log(error.code);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    `,
    { limit: 20_000 },
  );
  expect(finished).toEqual({ status: 0, output: "option\n", errors: "" });
});

test("a program given on the command line has threads, too", async () => {
  // By default, threads start with the flags of the process, and they reject this flag.
  const finished = await run(process.execPath, ["--input-type=module", "--eval", useAnEngine], {
    limit: 20_000,
  });
  expect(finished).toEqual({ status: 0, output: "4 true\n", errors: "" });
});

test("a refused call of load ends the process only by its error", async () => {
  const finished = await runModule(
    `
    import { load } from ${entry};
    for (const options of [{ wasmUrl: "file:///nowhere" }, { threads: 0 }])
      await load({ threads: 2, ...options }).catch((error) => console.log(error.code));
    `,
    { limit: 20_000 },
  );
  expect(finished).toEqual({ status: 0, output: "load\noption\n", errors: "" });
});

test("abandoned tensors are freed when the garbage collector finds them", async () => {
  const finished = await runModule(
    `
    import { load } from ${entry};
    const heed = await load({ threads: 1, maxMemory: 16 * 2 ** 20 });
    for (let round = 0; round < 50; ++round) {
      heed.tensor(new Float32Array(2 ** 18));
      gc();
      await new Promise((resolve) => setTimeout(resolve));
    }
    console.log("there was room");
    `,
    { flags: ["--expose-gc"], limit: 20_000 },
  );
  expect(finished).toEqual({ status: 0, output: "there was room\n", errors: "" });
});

test("abandoned caches, packed weights and block masks are freed too", async () => {
  const finished = await runModule(
    `
    import { load } from ${entry};
    const heed = await load({ threads: 1, maxMemory: 16 * 2 ** 20 });
    const rows = heed.ones([1, 1, 128, 512]);
    const weight = heed.ones([512, 512]);
    const make = [
      () => heed.createKvCache({ heads: 1, headSize: 512, capacity: 1024 }).append(rows, rows),
      () => heed.packWeights(weight),
      () => heed.blockMask(({ k }) => k % 2 === 0, { queries: 480, keys: 1280 }),
    ];
    for (const abandon of make) {
      for (let round = 0; round < 50; ++round) {
        abandon();
        gc();
        await new Promise((resolve) => setTimeout(resolve));
      }
    }
    await new Promise((resolve) => setTimeout(resolve));
    const { caches, packedWeights, blockMasks } = heed.memory();
    console.log([caches, packedWeights, blockMasks].every(({ count }) => count <= 1));
    `,
    { flags: ["--expose-gc"], limit: 60_000 },
  );
  expect(finished).toEqual({ status: 0, output: "true\n", errors: "" });
});

test("objects that are abandoned after their engine's end cause no error", async () => {
  const finished = await runModule(
    `
    import { load } from ${entry};
    const heed = await load({ threads: 1 });
    let held = [heed.ones([4]), heed.packWeights(heed.ones([2, 2]))];
    await new Promise((resolve) => setTimeout(resolve));
    heed.dispose();
    held = undefined;
    for (let round = 0; round < 5; ++round) {
      gc();
      await new Promise((resolve) => setTimeout(resolve));
    }
    console.log("quiet");
    `,
    { flags: ["--expose-gc"], limit: 20_000 },
  );
  expect(finished).toEqual({ status: 0, output: "quiet\n", errors: "" });
});

test("Node prints the objects of an engine briefly, without the engine", async () => {
  const heed = await load({ threads: 1 });
  const shown = (value: unknown) => inspect(value, { depth: 20, showHidden: true });
  const tensor = heed.tensor([[1, 2.5]]);
  const linear = new nn.Linear(heed, 2, 1);
  expect(shown(tensor)).toBe("Tensor(float32, [1, 2]) [[  1, 2.5]]");
  expect(shown({ tensor })).toBe("{ tensor: Tensor(float32, [1, 2]) [[  1, 2.5]] }");
  expect(shown(linear)).toBe("Linear(weight [1, 2], bias [1])");
  expect(shown(heed)).toMatch(/^Heed\([\d.]+, (simd|relaxed), threads 1\)$/);
  expect(shown(heed.packWeights(tensor))).toMatch(
    /^PackedWeights\(float32, \[1, 2\], \d+ bytes\)$/,
  );
  const tape = new Tape([tensor]);
  expect(shown(tape).length).toBeLessThan(1000);
  heed.dispose();
  expect(shown(tensor)).toBe("Tensor(float32, [1, 2], disposed)");
  expect(shown(heed)).toMatch(/, disposed\)$/);
});

test("each of many tensors made at once is freed once, by dispose or by the garbage collector", async () => {
  const finished = await runModule(
    `
    import { load } from ${entry};
    const heed = await load({ threads: 1, maxMemory: 16 * 2 ** 20 });
    const kept = heed.tensor([1, 2, 3]);
    for (let round = 0; round < 20; ++round) {
      const made = Array.from({ length: 3000 }, () => heed.tensor(new Float32Array(256)));
      for (let i = 0; i < made.length; i += 2) made[i].dispose();
      made.length = 0;
      await new Promise((resolve) => setTimeout(resolve));
      gc();
      await new Promise((resolve) => setTimeout(resolve));
    }
    console.log(heed.add(kept, kept).toArray().join());
    `,
    { flags: ["--expose-gc"], limit: 20_000 },
  );
  expect(finished).toEqual({ status: 0, output: "2,4,6\n", errors: "" });
});

test.each([
  [1, 300],
  [2, 40],
])(
  "the memory of engines with %i threads is freed when they are disposed of",
  async (threads, turns) => {
    // The engines stay alive. Each has used 4 MiB.
    const finished = await runModule(
      `
    import { load } from ${entry};
    const used = async () => {
      for (let round = 0; round < 3; ++round) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return process.memoryUsage().rss / 2 ** 20;
    };
    const disposed = [];
    const make = async () => {
      const heed = await load({ threads: ${threads}, warmUp: false });
      heed.ones([4, 256, 1024]);
      heed.dispose();
      disposed.push(heed);
    };
    for (let turn = 0; turn < 10; ++turn) await make();
    const before = await used();
    for (let turn = 0; turn < ${turns}; ++turn) await make();
    const grown = (await used()) - before;
    console.log(disposed.length, grown < ${turns} ? "flat" : \`\${grown} MiB more\`);
    `,
      { flags: ["--expose-gc"], limit: 100_000 },
    );
    expect(finished).toEqual({ status: 0, output: `${turns + 10} flat\n`, errors: "" });
  },
);

test("the engine starts if a program may not read the number of cores, as in Deno", async () => {
  const finished = await runModule(
    `
    import os from "node:os";
    os.cpus = () => { throw new Error("Requires sys access"); };
    ${useAnEngine}
    `,
    { limit: 20_000 },
  );
  expect(finished).toEqual({ status: 0, output: "4 true\n", errors: "" });
});

test("the engine starts without MessageChannel, which Jest with jsdom lacks", async () => {
  const finished = await runModule(`delete globalThis.MessageChannel; ${useAnEngine}`, {
    limit: 20_000,
  });
  expect(finished).toEqual({ status: 0, output: "4 true\n", errors: "" });
});

test("loading an engine changes nothing global", async () => {
  const finished = await runModule(
    `
    const before = Object.getOwnPropertyNames(globalThis);
    ${useAnEngine}
    console.log(Object.getOwnPropertyNames(globalThis).filter((name) => !before.includes(name)));
    `,
    { limit: 20_000 },
  );
  expect(finished).toEqual({ status: 0, output: "4 true\n[]\n", errors: "" });
});

test("the glue is minified", () => {
  for (const variant of ["simd", "relaxed"]) {
    const glue = readFileSync(new URL(`../../../dist/heed-${variant}.mjs`, import.meta.url));
    expect(gzipSync(glue).length).toBeLessThan(10_500);
  }
});

test("relaxed SIMD is refused in a Node without it", async ({ skip }) => {
  if (hasRelaxedSimd) skip("this Node has relaxed SIMD");
  for (const variant of ["relaxed", "wide"] as const)
    await expect(load({ variant })).rejects.toMatchObject({
      name: "HeedError",
      code: "unsupported",
      message: `variant: expected "simd", because this WebAssembly engine has no relaxed SIMD, got "${variant}"`,
    });
});

test("relaxed SIMD is chosen in a Node with it", async ({ skip }) => {
  const flags = hasRelaxedSimd ? [] : ["--experimental-wasm-relaxed-simd"];
  const known = await runModule("", { flags });
  if (known.status !== 0) skip("this Node knows no flag for relaxed SIMD");
  const finished = await runModule(`${useAnEngine} console.log(heed.info.variant);`, {
    flags,
    limit: 20_000,
  });
  expect(finished).toEqual({ status: 0, output: "4 true\nrelaxed\n", errors: "" });
});

test("each requested thread takes part in a large attention", async ({ skip }) => {
  if (process.platform !== "linux") skip("threads are looked at in /proc");
  // The threads of the process and the processor time of each, before and after.
  const finished = await runModule(
    `
    import { readFileSync, readdirSync } from "node:fs";
    import { load } from ${entry};
    const used = () => new Map(readdirSync("/proc/self/task").map((id) => {
      const fields = readFileSync(\`/proc/self/task/\${id}/stat\`, "utf8").split(") ")[1].split(" ");
      return [id, Number(fields[11])];
    }));
    (await load({ threads: 1 })).dispose();
    const before = used();
    const heed = await load({ threads: 3, warmUp: false });
    // The threads run when load returns, so this test does not wait for them.
    const started = [...used()].filter(([id]) => !before.has(id));
    const x = heed.tensor(new Float32Array(8 * 2048 * 64).fill(0.01), [1, 8, 2048, 64]);
    for (let round = 0; round < 4; ++round) heed.scope(() => void heed.attention(x, x, x));
    const after = used();
    const busy = started.filter(([id, time]) => after.get(id) > time + 5);
    console.log(started.length, busy.length);
    `,
    { limit: 60_000 },
  );
  expect(finished).toEqual({ status: 0, output: "2 2\n", errors: "" });
});
