// The native bench: `./dev bench --native`, once heed_bench is built.
//
// Cases and rounds are the same as in the browser (browser.mjs). The native build is compared with
// each operator of onnxruntime-node that can compute a case (page/onnx_models.mjs). In a round
// heed_bench (Google Benchmark) runs briefly in a separate process, then each operator in this
// process, one after the other.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import ort from "onnxruntime-node";
import { chosen, parse } from "./options.mjs";
import { casesFor, inputsOf } from "./page/cases.mjs";
import { measureCase } from "./page/measure.mjs";
import { operatorsFor } from "./page/onnxruntime.mjs";
import { environment } from "./page.mjs";
import { publish, say } from "./report.mjs";

const program = resolve(import.meta.dirname, "../../build/native/heed_bench");
const variants = ["heed"];

// The scores of a longer sequence do not fit into the memory of a usual machine, and onnxruntime-node
// allocates all of it before it fails.
const longest = 4096;

/** Runs heed_bench for a case: KIND NAME=VALUE... */
function heedBench(one, threads, data, ...rest) {
  const { kind, window = [-1, -1], ...fields } = one;
  const [windowLeft, windowRight] = window;
  const sizes = Object.entries({ ...fields, threads, windowLeft, windowRight, data })
    .filter(([, value]) => ["number", "string", "boolean"].includes(typeof value))
    .map(([name, value]) => `${name}=${typeof value === "boolean" ? Number(value) : value}`);
  return execFileSync(program, [kind, ...sizes, ...rest], { encoding: "utf8" });
}

/** Our own contenders, measured for some `seconds`; inputs and answers go through a `folder`. */
const ownContender = (folder, seconds) => (name, threads) => ({
  name,
  prepare(one, inputs) {
    const data = join(folder, "inputs");
    const answer = join(folder, "answer");
    writeFileSync(data, "");
    for (const numbers of Object.values(inputs)) writeFileSync(data, numbers, { flag: "a" });
    return {
      answer() {
        heedBench(one, threads, data, `answer=${answer}`);
        const bytes = readFileSync(answer);
        return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
      },
      lasts: seconds * 4000, // Google Benchmark first determines the number of calls
      async sample() {
        const least = `--benchmark_min_time=${seconds}`;
        const warmUp = `--benchmark_min_warmup_time=${seconds}`;
        const output = heedBench(one, threads, data, "--benchmark_format=json", least, warmUp);
        return JSON.parse(output).benchmarks[0].real_time;
      },
    };
  },
});

function peersOf(threads, one, inputs) {
  const options = {
    ...{ executionProviders: ["cpu"], graphOptimizationLevel: "all" },
    ...{ intraOpNumThreads: threads, interOpNumThreads: 1, logSeverityLevel: 4 },
  };
  return operatorsFor("onnxruntime-node", () => ort, options, one, inputs);
}

async function main() {
  const options = parse();
  const { quick } = options;
  const cases = chosen(
    // Int8 scores are for the relaxed binary.
    casesFor({ ...options, native: true }).filter(
      ({ L, precision }) => !(L > longest) && !precision,
    ),
    options,
  );
  const folder = mkdtempSync(join(tmpdir(), "heed-bench-"));
  try {
    const where = environment(`Node ${process.versions.node}`, ["onnxruntime-node"]);
    const groups = [];
    for (const threads of options.threads) {
      const rows = [];
      for (const one of cases) {
        say(`${one.name}, ${threads} thread(s)`);
        const inputs = inputsOf(one);
        const row = await measureCase({
          ...{ one, inputs, threads, variants, limits: [], memoryBytes: () => Number.NaN },
          ownContender: ownContender(folder, quick ? 0.01 : 0.05),
          peers: peersOf(threads, one, inputs),
          budget: quick ? 60 : 1500,
        });
        rows.push(row);
      }
      groups.push({ threads, rows });
    }
    publish({ ...where, quick, groups }, options);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

try {
  await main();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
