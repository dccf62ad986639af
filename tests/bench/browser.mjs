// The side-by-side browser bench: `./dev bench`, or `npm run bench` once dist/ is built.
//
// What is measured. Attention in both of Heed's binaries, and in onnxruntime-web's WebAssembly
// provider as its two operators for it, ONNX `Attention` (opset 23) and `MultiHeadAttention`
// (com.microsoft); the faster of the two is the best peer. All run in one worker of one headless
// Chromium page with cross-origin isolation, and with the same number of threads.
//
// How. First the answers: Heed against a double-precision oracle, and Heed against the peer, in
// every case; a wrong answer ends the run with exit code 1 and nothing is timed. Then each case is
// warmed up, until V8 has compiled it for good, and timed in rounds; in a round everything runs
// once, one after the other, so that a slow moment of the machine hits all alike. Medians are
// quoted. A call is timed from JavaScript and back, with what it allocates. Heed's inputs stay in
// the engine, as its interface has it; onnxruntime-web copies inputs in and the output out on every
// run and offers no other way. "copies" is what that would add to a call of Heed's.
//
// GFLOP/s counts one multiply-add as two operations, in both products, for the pairs of a query and
// a key that it may see: under a causal mask half the square. The peak is that of registers alone:
// independent accumulators fed with relaxed multiply-adds (with mul and add for the simd binary),
// timed in the same rounds. With N threads it is N times that of one.
//
// Cases are in page/cases.mjs. What can run them is a contender, with one file each in page/.

import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { launchChromium } from "../harness/chromium.mjs";
import { serve } from "../harness/server.mjs";
import { environment, openBench } from "./page.mjs";
import { describe, table } from "./report.mjs";

const usage = `Usage: ./dev bench [--quick] [--threads N] [--json FILE]

  --quick       small cases and few rounds: shows that the bench works, not how fast anything is
  --threads N   measure with N threads too, besides one
  --json FILE   write every figure to a file
`;

function parse() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        threads: { type: "string", default: "1" },
        json: { type: "string" },
      },
    });
    const threads = Number(values.threads);
    if (!Number.isInteger(threads) || threads < 1 || threads > 64)
      throw new Error(`--threads: expected a whole number from 1 to 64, got ${values.threads}`);
    return { ...values, threads: threads === 1 ? [1] : [1, threads] };
  } catch (error) {
    process.stderr.write(`bench: ${error.message}\n${usage}`);
    process.exit(2);
  }
}

const root = resolve(import.meta.dirname, "../..");
const folders = {
  bench: join(import.meta.dirname, "page"),
  heed: join(root, "dist"),
  "onnxruntime-web": join(root, "node_modules/onnxruntime-web/dist"),
};

const say = (text) => process.stderr.write(`bench: ${text}\n`);

/** Compares and then times every case with one number of threads, on a page of its own. */
async function run(browser, url, threads, quick) {
  const bench = await openBench(browser, url);
  try {
    const cases = await bench.ask("start", { threads, quick });
    for (const name of cases)
      say(`${name}, ${threads} thread(s): ${await bench.ask("compare", name)}`);
    const rows = [];
    for (const name of cases) {
      say(`timing ${name}, ${threads} thread(s)`);
      rows.push(await bench.ask("measure", name));
    }
    return rows;
  } finally {
    await bench.close();
  }
}

async function main() {
  const { quick, threads, json } = parse();
  const server = await serve(folders);
  let browser;
  try {
    browser = await launchChromium();
    const where = environment(browser);
    const rows = [];
    for (const count of threads) rows.push(...(await run(browser, server.url, count, quick)));
    console.log(`${describe(where)}\n\n${table(rows)}`);
    if (quick) console.log("\nA quick run shows that the bench works; its figures mean nothing.");
    if (json) writeFileSync(json, `${JSON.stringify({ ...where, quick, rows }, null, 2)}\n`);
  } finally {
    await browser?.close();
    server.stop();
  }
}

try {
  await main();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
