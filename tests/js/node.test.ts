// What only Node has: an end of the process, threads that can be counted, a runtime without relaxed
// SIMD.

import { load } from "heed";
import { expect, test } from "vitest";
import { run, runModule } from "./child.js";
import { hasRelaxedSimd } from "./engine.js";

const entry = JSON.stringify(new URL("../../dist/index.js", import.meta.url).href);

/** A program that uses an engine with 4 threads in earnest; what to do with it then is up to the test. */
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

test("a Node process goes on as long as its own work takes", async () => {
  const finished = await runModule(
    `${useAnEngine} setTimeout(() => console.log(heed.softmax(x).size), 200);`,
    { limit: 20_000 },
  );
  expect(finished).toEqual({ status: 0, output: "4 true\n65536\n", errors: "" });
});

test("a scope that was given an async function fails once: what it goes on with troubles nobody", async () => {
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
  // Threads are started with the process's own flags unless told otherwise, and refuse this one.
  const finished = await run(process.execPath, ["--input-type=module", "--eval", useAnEngine], {
    limit: 20_000,
  });
  expect(finished).toEqual({ status: 0, output: "4 true\n", errors: "" });
});

test("wrong words to load end no process but by the error itself", async () => {
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

test("tensors that were forgotten are freed when the garbage collector finds them", async () => {
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

test("of many tensors made at once each is freed once, by its owner or after it", async () => {
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

test("relaxed SIMD is refused by a Node that lacks it", async ({ skip }) => {
  if (hasRelaxedSimd) skip("this Node has relaxed SIMD");
  await expect(load({ variant: "relaxed" })).rejects.toMatchObject({
    name: "HeedError",
    code: "unsupported",
    message:
      'variant: expected "simd", because this WebAssembly engine has no relaxed SIMD, got "relaxed"',
  });
});

test("relaxed SIMD is chosen by a Node that has it", async ({ skip }) => {
  const flags = hasRelaxedSimd ? [] : ["--experimental-wasm-relaxed-simd"];
  const known = await runModule("", { flags });
  if (known.status !== 0) skip("this Node knows no flag for relaxed SIMD");
  const finished = await runModule(`${useAnEngine} console.log(heed.info.variant);`, {
    flags,
    limit: 20_000,
  });
  expect(finished).toEqual({ status: 0, output: "4 true\nrelaxed\n", errors: "" });
});

test("each thread asked for takes part in a large attention", async ({ skip }) => {
  if (process.platform !== "linux") skip("threads are looked at in /proc");
  // The process's threads, and the processor time that each has used, before and after.
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
    const heed = await load({ threads: 3 });
    // An engine is there before all its threads are.
    let started = [];
    while (started.length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      started = [...used()].filter(([id]) => !before.has(id));
    }
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
