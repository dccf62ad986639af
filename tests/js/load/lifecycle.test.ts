// Engines over a long time: many small calls, many engines, workers that end in the middle of a call, two threads with
// an engine each, and a process that is suspended. `./dev soak` does the same more often.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { load, type TensorData } from "heed";
import { describe, expect, test } from "vitest";
import { endurance } from "../../soak/endurance.js";
import { filesOf, llama } from "../checkpoints.js";
import { expectSameBits, Random, upload } from "../values.js";

const MB = 1e6;

describe("memory is flat and threads end after", () => {
  test.each([
    ["smallCalls", 10_000],
    ["loads", 20],
    ["trainingSteps", 100],
    ["deadWorkers", 3],
  ] as const)("%s, %d of them", async (name, count) => {
    const { before, after } = await endurance[name](count);
    expect(after.threads).toBe(before.threads);
    // The garbage collector does not free all unreachable objects. An engine alone has 17 MB.
    expect(after.heap).toBeLessThan(before.heap + 5 * MB);
    expect(after.rss).toBeLessThan(before.rss + 100 * MB);
  });
});

test("two threads of one process have an engine each, which compute the same at once", async () => {
  const data = new Random(5).array([1, 4, 512, 32]);
  const program = `
    const { parentPort, workerData } = require("node:worker_threads");
    import("heed").then(async ({ load }) => {
      const heed = await load({ threads: 2 });
      const x = heed.tensor(workerData.data, workerData.shape);
      parentPort.once("message", () => {
        for (let i = 0; i < 20; ++i)
          heed.scope(() => parentPort.postMessage(heed.attention(x, x, x).output.data.slice()));
        heed.dispose();
      });
      parentPort.postMessage("ready");
    });`;
  const worker = new Worker(program, { eval: true, execArgv: [], workerData: data });
  await once(worker, "message");
  const theirs: TensorData[] = [];
  worker.on("message", (output) => theirs.push(output));
  const heed = await load({ threads: 2 });
  worker.postMessage("begin");
  const x = upload(heed, data);
  const own = Array.from({ length: 20 }, () =>
    heed.scope(() => heed.attention(x, x, x).output.data.slice()),
  );
  await once(worker, "exit");
  heed.dispose();
  expect(theirs.length).toBe(20);
  for (const output of [...own, ...theirs]) expectSameBits(output, own[0] as TensorData);
});

/** How long a process is suspended, in milliseconds; 20,000 is a laptop that was closed and opened. */
const pause = Number(process.env.HEED_SUSPEND ?? 1500);

test("a process that is suspended during a call and a download goes on with both", async ({
  skip,
}) => {
  if (process.platform === "win32") skip("there is no SIGSTOP");
  const files = filesOf(llama({}, 3000));
  const weights = files["model.safetensors"] as Uint8Array;
  const half = Math.ceil(weights.length / 2);
  let sent = 0;
  let suspend = () => {};
  const suspended = new Promise<void>((resolve) => {
    suspend = resolve;
  });
  // The second half of the weights arrives while the process is suspended.
  const server = createServer(async ({ url = "", headers }, response) => {
    const bytes = files[url.slice(1)];
    if (bytes === undefined) return void response.writeHead(404).end();
    const [, first = "0", to] = /bytes=(\d+)-(\d*)/.exec(headers.range ?? "") ?? [];
    let from = Number(first);
    const end = to ? Number(to) + 1 : bytes.length;
    response.writeHead(headers.range ? 206 : 200, {
      "Content-Length": end - from,
      "Content-Range": `bytes ${from}-${end - 1}/${bytes.length}`,
    });
    if (bytes === weights && end > half && from < half) {
      response.write(bytes.subarray(from, half));
      from = half;
      sent = half;
      await suspended;
    }
    response.end(bytes.subarray(from, end));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entry = (name: string) =>
    JSON.stringify(new URL(`../../../dist/${name}.js`, import.meta.url).href);
  const program = `
    import { load } from ${entry("index")};
    import { loadModel } from ${entry("models")};
    const heed = await load({ threads: 2 });
    const x = heed.tensor(new Float32Array(4 * 2048 * 32).fill(1), [1, 4, 2048, 32]);
    let isLoaded = false;
    const model = loadModel(heed, ${JSON.stringify(address)}).then((model) => {
      isLoaded = true;
      return model;
    });
    let calls = 0, right = 0;
    while (!isLoaded || calls < 10) {
      const { output } = heed.attention(x, x, x);
      ++calls;
      if (output.data.every((value) => Math.abs(value - 1) < 1e-5)) ++right;
      output.dispose();
      if (calls === 1) console.log("computing");
      await new Promise((resolve) => setTimeout(resolve));
    }
    const { logits } = (await model).forward(heed.tensor(Int32Array.of(1, 2, 3), [1, 3]));
    console.log(calls === right, [...logits.data].every(Number.isFinite));
    process.exit();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  await expect.poll(() => output, { timeout: 60_000 }).toContain("computing");
  await expect.poll(() => sent, { timeout: 60_000 }).toBe(half);
  child.kill("SIGSTOP");
  suspend();
  await new Promise((resolve) => setTimeout(resolve, pause));
  child.kill("SIGCONT");
  const [status] = await once(child, "exit");
  server.closeAllConnections();
  server.close();
  expect(status).toBe(0);
  expect(output.trim().split("\n").at(-1)).toBe("true true");
});
